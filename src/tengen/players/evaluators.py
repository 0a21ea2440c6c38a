"""Evaluators, policies and networks by name: built in, a trained model, or a class; experts.

Built-in evaluators: `playouts` (mean score of heavy playouts), `static` (the static player plays
both sides to the end), `area` (Tromp-Taylor count of the position). Built-in policies: `uniform`
(legal moves that fill no own eye) and `static` (a softmax of the static player's values). A name
such as `python:package.module:Class` is a user's class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, PlayoutResult, index_of, play_to_end, playouts
from tengen.board.playouts import shape_table
from tengen.contracts import Evaluator, Player, Policy
from tengen.errors import ModelError, SpecError, TengenError
from tengen.game.endgame import candidates, estimate_by_playouts
from tengen.models import load_evaluator, load_learner, load_policy
from tengen.players.network_search import SearchNetwork
from tengen.players.plugins import PREFIX, Role, make_plugged, split_target
from tengen.players.simple import finish_score, static_move_values, stones_played
from tengen.players.static_kernels import verdict

_TEMPERATURE = 1.5
"""Temperature of the static policy, in points."""

_Source = TypeVar("_Source")


class _PlayoutEvaluator:
    """The mean score of heavy playouts, seeded by the position."""

    scale = 5.0
    """Lead in points that gives a win probability of 73 %; a rough figure for playouts' spread."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        return np.array([self._run(board).mean_score for board in boards], np.float64)

    def ownership(self, board: Board) -> FloatArray:
        return self._run(board).ownership

    def _run(self, board: Board) -> PlayoutResult:
        return playouts(board, 64, seed=board.hash >> 1, kind="heavy", threads=1)


class AreaEvaluator:
    """The Tromp-Taylor count of the position as it stands."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the count for Black, komi included, one per board."""
        return np.array([board.area_score() for board in boards], np.float64)


class _StaticEvaluator:
    """The score after the static player has finished the game for both sides."""

    def values(self, boards: Sequence[Board]) -> FloatArray:
        return np.array([finish_score(board) for board in boards], np.float64)


class _UniformPolicy:
    """Equal probabilities for legal moves that fill no own eye; pass when there is none."""

    def priors(self, board: Board) -> FloatArray:
        out = np.zeros(board.rows * board.cols + 1)
        cells = [index_of(p, board.rows, board.cols) for p in candidates(board)] or [-1]
        out[cells] = 1 / len(cells)
        return out


class _StaticPolicy:
    """A softmax of the static player's values; pass where there is no move."""

    def priors(self, board: Board) -> FloatArray:
        values = np.append(static_move_values(board), -np.inf) / _TEMPERATURE
        if not np.isfinite(values).any():
            values[-1] = 0
        weights = np.exp(values - values.max())
        return np.asarray(weights / weights.sum(), np.float64)


EVALUATORS: dict[str, Callable[[], Evaluator]] = {
    "playouts": _PlayoutEvaluator,
    "static": _StaticEvaluator,
    "area": AreaEvaluator,
}
POLICIES: dict[str, Callable[[], Policy]] = {"uniform": _UniformPolicy, "static": _StaticPolicy}


def make_evaluator(name: str) -> Evaluator:
    """Return the built-in evaluator, the class or the model of this name."""
    return _find(name, EVALUATORS, "evaluator", load_evaluator)


def make_policy(name: str) -> Policy:
    """Return the built-in policy, the class or the model of this name."""
    return _find(name, POLICIES, "policy", load_policy)


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
    role: Role,
    load: Callable[[str], _Source],
) -> _Source:
    if name in built_in:
        return built_in[name]()
    if name.startswith(PREFIX):
        return cast(_Source, make_plugged(*split_target(name), role, name))
    try:
        return load(name)
    except ModelError as mistake:
        raise SpecError(f"{mistake}; built in: {', '.join(built_in)}") from None


# ----- Experts -----


class BuiltinExpert:
    """Score by short variations of the static player and heavy playouts.

    The score is an expectation, a function of the position and the seed; superko is ignored. By
    default it runs 300 playouts up to 100 points, 160 up to 200, then 96 (10 to 40 ms).
    """

    def __init__(self, *, playouts: int | None = None) -> None:
        self.playouts = playouts

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([self._score(b, s) for b, s in zip(boards, seeds, strict=True)], np.float64)

    def _score(self, board: Board, seed: int) -> float:
        cells = board.rows * board.cols
        if board.rules.scoring == "territory":
            raise TengenError("the builtin expert counts area only; let `static` finish the games")
        total = self.playouts or (300 if cells <= 100 else 160 if cells <= 200 else 96)
        each = max(1, min(15, total // 8))
        word = int(seed) & ((1 << 62) - 1)
        score = verdict(board.state, shape_table(), max(1, total // each), each, word)
        return float(score) - board.white_bonus


class PlayoutExpert:
    """An expert that scores a position by the mean of heavy playouts, without a search."""

    def __init__(self, n: int = 64) -> None:
        self.n = n

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the mean score for Black, komi included, one per board."""
        pairs = zip(boards, seeds, strict=True)
        found = [playouts(b, self.n, seed=s, kind="heavy", threads=1) for b, s in pairs]
        return np.array([each.mean_score for each in found])


class PlayerExpert:
    """One player that plays both sides to the end; dead stones are found by playouts."""

    def __init__(self, player: Player) -> None:
        self.player = player

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> FloatArray:
        """Return the final score for Black, komi included, one per board."""
        return np.array([self._score(b, s) for b, s in zip(boards, seeds, strict=True)], np.float64)

    def close(self) -> None:
        """Close the player."""
        close = getattr(self.player, "close", None)
        if close is not None:
            close()

    def _score(self, board: Board, seed: int) -> float:
        rng = np.random.default_rng(int(seed))
        end = play_to_end(board.copy(), lambda b: self.player.choose(b, rng))
        area = float(np.sign(estimate_by_playouts(end).ownership).sum())
        if board.rules.scoring == "territory":
            area -= stones_played(end.state)
        return area - board.white_bonus


class StaticExpert(PlayerExpert):
    """The static player, playing both sides to the end in one kernel, in a few milliseconds.

    Unlike `PlayerExpert` it captures no dead stones before it passes, checks simple ko only and
    judges dead stones by 16 playouts instead of 64: a score may differ by some points.
    """

    def _score(self, board: Board, seed: int) -> float:
        return finish_score(board)
