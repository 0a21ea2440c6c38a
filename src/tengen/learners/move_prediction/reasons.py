"""Say which features speak for a predicted move, by their own weights in the full recipe.

The network adds what features say together; these reasons are only what each group says alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.board import index_of
from tengen.learners.move_prediction import feature_kernels as f
from tengen.learners.move_prediction.family_kernels import PLAIN, salt
from tengen.learners.move_prediction.model import FullModel
from tengen.learners.move_prediction.patterns import template_size

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.learners.move_prediction.learner import MovePredictor

GROUPS: tuple[tuple[int, str], ...] = (
    (f.COORDINATE, "place on the board"),
    (f.LINE, "distance from the edges"),
    (f.RELATIVE, "place beside earlier moves"),
    (f.PAIR, "distance from the last two moves"),
    (f.CAPTURE, "captures"),
    (f.ESCAPE, "saves stones"),
    (f.ATARI, "gives atari"),
    (f.DOUBLE, "gives double atari"),
    (f.SELF_ATARI, "stays in atari"),
    (f.LIBERTY, "liberties after it"),
    (f.ENEMY, "liberties of enemies beside it"),
    (f.OF_LAST, "takes a liberty of the last move"),
    (f.OF_ATTACKED, "liberty of an attacked block"),
    (f.CONTACT, "blocks it touches"),
    (f.KO_MOVE, "takes a ko"),
    (f.NEAREST, "nearest stones"),
    (f.DENSITY, "stones around, 9x9"),
    (f.CROWD, "stones around, 5x5"),
    (f.LADDER, "a ladder"),
    (f.MOVE_END, "the position"),
    (f.DIRECT, "patterns"),
)
"""First feature of each group, and what it is about."""


@dataclass(frozen=True)
class Reasons:
    """What speaks for a move: groups of features with their weight, strongest first.

    A weight is the move's own less the mean of all legal moves, in logits. `pattern` counts the
    points of the largest known pattern of stones around the move, 0 if none is known.
    """

    weights: list[tuple[str, float]]
    pattern: int


def reasons_of(
    predictor: MovePredictor, board: Board, moves: Sequence[int], count: int = 3
) -> list[Reasons]:
    """Return what speaks for each of some legal moves; nothing for models of other recipes."""
    model = predictor.model_
    if not isinstance(model, FullModel):
        return [Reasons([], 0) for _ in moves]
    size = (board.rows, board.cols)
    rooms: dict[tuple[int, int], Any] = {}
    points, _ = model.priors(board, rooms)
    _, room = rooms[size]
    sums = _sums(model, room[1][: len(points)], room[2][: len(points)])
    sums -= sums.mean(axis=0)
    places = {int(point): place for place, point in enumerate(points)}
    rings = room[0][board.turn - 1]
    found = []
    for move in moves:
        own = sums[places[move]]
        best = [int(g) for g in np.argsort(-own, kind="stable")[:count] if own[g] > 0]
        weights = [(GROUPS[g][1], float(own[g])) for g in best]
        # The eight hashes of each template, of which the smallest stands for all.
        hashes = np.bitwise_xor.accumulate(rings[index_of(move, *size)], axis=0).min(axis=1)
        found.append(Reasons(weights, _largest(model, hashes)))
    return found


def _sums(model: FullModel, features: NDArray[np.int32], widths: IntArray) -> FloatArray:
    """Return the sum of weights by move and group."""
    starts = np.array([start for start, _ in GROUPS])
    sums = np.zeros((len(features), len(GROUPS)))
    for place, width in enumerate(widths):
        own = features[place, :width]
        groups = np.searchsorted(starts, own, side="right") - 1
        np.add.at(sums[place], groups, model.weights[own])
    return sums


def _largest(model: FullModel, hashes: IntArray) -> int:
    """Return the points of the largest template whose pattern of stones is known."""
    keys = [int(value) ^ int(salt(PLAIN, ring)) for ring, value in enumerate(hashes)]
    known = np.isin(np.array(keys, np.int64), model.dictionary.keys)
    return max((template_size(int(ring)) for ring in np.flatnonzero(known)), default=0)
