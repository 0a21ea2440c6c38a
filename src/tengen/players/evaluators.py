"""Evaluators, policies and networks by name: built in, a trained model, or a class.

Built-in evaluators: `playouts` (mean score of heavy playouts), `static` (the static player plays
both sides to the end), `area` (Tromp-Taylor count of the position). Built-in policies: `uniform`
(legal moves that fill no own eye) and `static` (a softmax of the static player's values). A name
such as `python:package.module:Class` is a class of the user's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, index_of, playouts
from tengen.contracts import Evaluator, Policy
from tengen.errors import ModelError, SpecError
from tengen.game.endgame import candidates
from tengen.models import load_evaluator, load_learner, load_policy
from tengen.players.network_search import SearchNetwork
from tengen.players.plugins import PREFIX, make_plugged_evaluator, make_plugged_policy

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
        from tengen.players.simple import finish_score

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
        from tengen.players.simple import static_move_values

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
    """Return the network of this name: a model with moves, winner, score and ownership.

    With `shared`, return the one instance of this process.
    """
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
