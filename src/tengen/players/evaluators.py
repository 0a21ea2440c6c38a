"""Evaluators, policies and networks by name: built in, a trained model, or a class; experts.

Built-in evaluators: `playouts` (mean score of heavy playouts), `static` (the static player plays
both sides to the end), `area` (Tromp-Taylor count of the position). Built-in policies: `uniform`
(legal moves that fill no own eye) and `static` (a softmax of the static player's values). A name
such as `python:package.module:Class` is a class of the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.board import Board, index_of, play_to_end, playouts
from tengen.board.playouts import shape_table
from tengen.contracts import Evaluator, Player, Policy
from tengen.errors import ModelError, SpecError
from tengen.game.endgame import candidates, estimate_by_playouts
from tengen.models import load_evaluator, load_learner, load_policy
from tengen.players.network_search import SearchNetwork
from tengen.players.plugins import PREFIX, make_plugged_evaluator, make_plugged_policy
from tengen.players.simple import finish_score, static_move_values
from tengen.players.static_kernels import finish_static, verdicts

_Source = TypeVar("_Source")


class _PlayoutEvaluator:
    """The mean score of heavy playouts, seeded by the position."""

    scale = 5.0
    """Points that turn even chances into 73 %; a rough figure for playouts' spread."""

    def __init__(self, playouts: int = 64) -> None:
        self.playouts = playouts

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the mean final score for Black, komi included, one per board."""
        return np.array([self._run(board)[0] for board in boards], np.float64)

    def ownership(self, board: Board) -> FloatArray:
        """Return who owned each point, +1 Black to -1 White."""
        return self._run(board)[1]

    def _run(self, board: Board) -> tuple[float, FloatArray]:
        seed = board.hash >> 1
        result = playouts(board, self.playouts, seed=seed, kind="heavy", threads=1)
        return result.mean_score, result.ownership


class AreaEvaluator:
    """The Tromp-Taylor count of the position as it stands."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the count for Black, komi included, one per board."""
        return np.array([board.area_score() for board in boards], np.float64)


class _StaticEvaluator:
    """The score after the static player has finished the game for both sides."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the final score for Black, komi included, one per board."""
        return np.array([finish_score(board) for board in boards], np.float64)


class _UniformPolicy:
    """Equal probabilities for legal moves that fill no own eye; pass when there is none."""

    def priors(self, board: Board) -> FloatArray:
        """Return equal probabilities over the candidates."""
        out = np.zeros(board.rows * board.cols + 1)
        moves = candidates(board)
        cells = [index_of(p, board.rows, board.cols) for p in moves] or [-1]
        out[cells] = 1 / len(cells)
        return out


class _StaticPolicy:
    """A softmax of the static player's values; `temperature` is in its points."""

    def __init__(self, temperature: float = 1.5) -> None:
        self.temperature = temperature

    def priors(self, board: Board) -> FloatArray:
        """Return a softmax over legal moves; pass where there is none."""
        values = static_move_values(board)
        out = np.zeros(board.rows * board.cols + 1)
        usable = np.isfinite(values)
        if not usable.any():
            out[-1] = 1.0
            return out
        bent = values[usable] / self.temperature
        out[:-1][usable] = np.exp(bent - bent.max())
        total: FloatArray = out / out.sum()
        return total


EVALUATORS: dict[str, Callable[[], Evaluator]] = {
    "playouts": _PlayoutEvaluator,
    "static": _StaticEvaluator,
    "area": AreaEvaluator,
}
POLICIES: dict[str, Callable[[], Policy]] = {"uniform": _UniformPolicy, "static": _StaticPolicy}


def make_evaluator(name: str) -> Evaluator:
    """Return the built-in evaluator, the class or the model of this name."""
    return _find(name, EVALUATORS, make_plugged_evaluator, load_evaluator)


def make_policy(name: str) -> Policy:
    """Return the built-in policy, the class or the model of this name."""
    return _find(name, POLICIES, make_plugged_policy, load_policy)


def make_network(name: str, *, shared: bool = False) -> SearchNetwork:
    """Return the network of this name; with `shared`, the one instance of this process."""
    try:
        found = load_learner(name, shared=shared)
    except ModelError as mistake:
        raise SpecError(str(mistake)) from None
    if not isinstance(found, SearchNetwork):
        raise SpecError(f"{name}: is not a network with moves, winner and score")
    return found


def _find(
    name: str,
    built_in: Mapping[str, Callable[[], _Source]],
    plug_in: Callable[[str], _Source],
    load: Callable[[str], _Source],
) -> _Source:
    if name in built_in:
        return built_in[name]()
    if name.startswith(PREFIX):
        return plug_in(name)
    try:
        return load(name)
    except ModelError as mistake:
        raise SpecError(f"{mistake}; built in: {', '.join(built_in)}") from None


# ----- Experts -----


class BuiltinExpert:
    """Score by short variations of the static player and heavy playouts.

    A score is an expectation, not the result of one game, so it need not be an integer. It is a
    function of the position and the seed. Superko is ignored. By default it runs 300 playouts per
    score up to 100 points, 160 up to 200, then 96 (10 to 40 ms). Threads share the boards.
    """

    def __init__(self, *, playouts: int | None = None, threads: int = 1) -> None:
        self.playouts = playouts
        self.threads = threads

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        scores = np.array([-board.white_bonus for board in boards], np.float64)
        words = np.array([int(seed) & ((1 << 62) - 1) for seed in seeds], np.int64)
        sizes = [(board.rows, board.cols) for board in boards]
        for size in set(sizes):
            group = [i for i, each in enumerate(sizes) if each == size]
            states = np.stack([boards[i].state for i in group])
            scores[group] += self.finish_states(states, words[group])[0]
        return scores

    def finish_states(self, states: IntArray, seeds: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score states of one size without the GIL; return scores without komi, and ownership."""
        cells = int(states[0, -1, 0] * states[0, -1, 1])
        scores, ownership = np.zeros(len(states)), np.zeros((len(states), cells))
        total = self.playouts or (300 if cells <= 100 else 160 if cells <= 200 else 96)
        each = max(1, min(15, total // 8))
        shapes, variations = shape_table(), max(1, total // each)

        def run(part: slice) -> None:
            found = scores[part], ownership[part]
            verdicts(states[part], shapes, variations, each, seeds[part], *found)

        edges = np.linspace(0, len(states), min(self.threads, len(states)) + 1).astype(int)
        parts = [slice(a, b) for a, b in pairwise(edges.tolist())]
        if len(parts) == 1:
            run(parts[0])
        else:
            with ThreadPoolExecutor(len(parts)) as pool:
                list(pool.map(run, parts))
        return scores, ownership


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
