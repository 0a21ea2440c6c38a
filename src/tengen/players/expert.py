"""Experts, which finish openings for both sides and score them: built in, or any player."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.board import Board, play_to_end
from tengen.board.playouts import shape_table
from tengen.contracts import Player
from tengen.players.static_kernels import DEFAULT_WEIGHTS, SETTINGS, finish_static, verdicts

_LEAD = 8
"""Plies of the rule player before playouts take over, in every other variation."""

_NOISE = 1.0
"""Temperature of those plies, in the rule player's points."""

_BEND = 2.0
"""How strongly the share of playouts that own a point is bent towards certainty."""


class BuiltinExpert:
    """Score by short variations of the static player and heavy playouts.

    A score is an expectation, not the result of one game, so it need not be an integer. It is a
    function of the position and the seed. Superko is ignored.

    Parameters
    ----------
    playouts
        Playouts per score; by default 300 up to 100 points, 160 up to 200, then 96: 10 to 40 ms.
    threads
        Threads that share the boards; the scores are the same.
    """

    def __init__(self, *, playouts: int | None = None, threads: int = 1) -> None:
        self.playouts = playouts
        self.threads = threads

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        scores = np.zeros(len(boards))
        for group in _groups(boards):
            part = [boards[i] for i in group]
            scores[group] = self._run(part, [seeds[i] for i in group])[0]
        return scores - np.array([board.white_bonus for board in boards], np.float64)

    def finish_states(self, states: IntArray, seeds: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score states (games, FIELDS, N) of one size; return scores without komi, ownership.

        Releases the GIL throughout.
        """
        cells = int(states[0, -1, 0] * states[0, -1, 1])
        scores, ownership = np.zeros(len(states)), np.zeros((len(states), cells))
        settings, shapes = self.settings(cells), shape_table()

        def run(part: slice) -> None:
            verdicts(
                states[part],
                DEFAULT_WEIGHTS,
                shapes,
                settings,
                seeds[part],
                scores[part],
                ownership[part],
            )

        edges = np.linspace(0, len(states), min(self.threads, len(states)) + 1).astype(int)
        parts = [slice(a, b) for a, b in pairwise(edges.tolist())]
        if len(parts) == 1:
            run(parts[0])
        else:
            with ThreadPoolExecutor(len(parts)) as pool:
                list(pool.map(run, parts))
        return scores, ownership

    def settings(self, cells: int) -> FloatArray:
        """Return the kernel's settings for a board of so many points, see `static_kernels`."""
        total = self.playouts or (300 if cells <= 100 else 160 if cells <= 200 else 96)
        each = max(1, min(15, total // 8))
        settings = np.array([max(1, total // each), _LEAD, each, _NOISE, _BEND])
        assert len(settings) == SETTINGS
        return settings

    def _run(self, boards: Sequence[Board], seeds: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        states = np.stack([board.state for board in boards])
        mask = (1 << 62) - 1
        return self.finish_states(states, np.array([int(s) & mask for s in seeds], np.int64))


class PlayerExpert:
    """One player that plays both sides to the end; area counting, dead stones by playouts.

    The player gets a generator made from the seed. A game ends at two passes, a resignation
    (counted as it stands by playouts) or 3 x points plies.
    """

    def __init__(self, player: Player) -> None:
        self.player = player

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the final score for Black, komi included, one per board."""
        return np.array(
            [self._finish(b.copy(), int(s)) for b, s in zip(boards, seeds, strict=True)], np.float64
        )

    def close(self) -> None:
        """Close the player."""
        close = getattr(self.player, "close", None)
        if close is not None:
            close()

    def _finish(self, board: Board, seed: int) -> float:
        from tengen.game.endgame import estimate_by_playouts

        rng = np.random.default_rng(seed)
        play_to_end(board, lambda b: self.player.choose(b, rng))
        return float(np.sign(estimate_by_playouts(board).ownership).sum()) - board.white_bonus


class StaticExpert(PlayerExpert):
    """The static player, playing both sides to the end in one kernel, in a few milliseconds.

    Unlike `PlayerExpert` with the same player it captures no dead stones before it passes, looks
    for simple ko only and judges what is dead by 16 playouts instead of 64, so that a score may
    differ by some points.
    """

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the final score for Black, komi included; the seeds are ignored."""
        shapes = shape_table()
        areas = [float(finish_static(b.state.copy(), shapes)) for b in boards]
        return np.array(areas) - np.array([b.white_bonus for b in boards], np.float64)


def _groups(boards: Sequence[Board]) -> list[list[int]]:
    """Return the indices of the boards of each size."""
    sizes: dict[tuple[int, int], list[int]] = {}
    for i, board in enumerate(boards):
        sizes.setdefault((board.rows, board.cols), []).append(i)
    return list(sizes.values())
