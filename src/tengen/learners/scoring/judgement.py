"""Decide which blocks are alive, given their logits, and measure the doubts about the decision.

The decision is consistent (see `settle`). Stones in seki are those that the careful count finds
alive with fewer than two eyes. A lopsided count speaks against a doubtful decision: whoever is far
behind resigns, and games that are played to the end are close. Prisoners and komi are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import counting_kernels as k
from tengen.learners.scoring.features import Described
from tengen.learners.scoring.kernels import settle

DOUBTS = 14
"""Number of doubts, the inputs from which the chance of a right count is learned."""
_POINTS, _CAUTION = 14.0, 1.0
"""To flip a decision, the count must become closer by this many points per unit of its logit and of
caution. Fitted to held-out training games; 10 to 16 points do as well.
"""


@dataclass
class Judgement:
    """Which parts are alive, what every point counts for, and the doubts."""

    alive: BoolArray
    logit: FloatArray
    dead: BoolArray
    """The dead stones as a grid."""
    kinds: NDArray[np.int8]
    doubts: FloatArray


@dataclass
class _Answer:
    """A consistent choice of dead blocks and its careful count."""

    alive: BoolArray
    changes: int
    dead: BoolArray
    kinds: NDArray[np.int8]
    margin: int


def _answer(described: Described, logit: FloatArray) -> _Answer:
    rows, cols = described.grid.shape
    alive = (logit >= 0) | (described.colour == 0)
    changes = settle(described.line, cols + 1, described.part, len(logit), logit, alive)
    stones = described.colour > 0
    if stones.any() and not alive[stones].any():
        # No block is left that could have killed the others: the game has hardly begun.
        alive[:] = True
        changes += 1
    dead = np.ascontiguousarray((~alive & stones)[described.part_grid])
    kinds = np.zeros((rows, cols), np.int8)
    margin = k.territory_margin(described.grid, dead, True, kinds)
    return _Answer(alive, changes, dead, kinds, margin)


def _likeliest(described: Described, logit: FloatArray) -> _Answer:
    """Return the answer of the logits, or that with one bond flipped if it is far closer."""
    first = best = _answer(described, logit)
    most = 0.0
    blocks = described.blocks
    for number in np.unique(described.bond[blocks]):
        bond = blocks[described.bond[blocks] == number]
        doubt = float(np.average(np.abs(logit[bond]), weights=described.size[bond])) + _CAUTION
        if doubt + most >= abs(first.margin) / _POINTS:
            continue
        turned = logit.copy()
        turned[bond] *= -1
        other = _answer(described, turned)
        gain = (abs(first.margin) - abs(other.margin)) / _POINTS - doubt
        if gain > most:
            best, most = other, gain
    if most > 0:
        best.changes += 1
    return best


def judge(described: Described, logit: FloatArray) -> Judgement:
    """Turn the logits of all parts into one consistent answer."""
    rows, cols = described.grid.shape
    found = _likeliest(described, logit)
    alive, dead, kinds = found.alive, found.dead, found.kinds
    plain = np.zeros((rows, cols), np.int8)
    plain_margin = k.territory_margin(described.grid, dead, False, plain)
    blocks = described.colour > 0
    z = np.abs(logit[blocks])
    against = np.where(alive[blocks] == (logit[blocks] >= 0), z, -z)
    size = described.size[blocks].astype(np.float64)
    doubt = 1.0 / (1.0 + np.exp(np.clip(against, -30, 30)))
    points = rows * cols
    dame = (kinds == k.DAME) | (kinds == k.NOBODY)
    seki = (kinds >= k.BLACK_SEKI_STONE) & (kinds <= k.WHITE_SEKI_STONE)
    opened = (kinds == k.BLACK_OPEN) | (kinds == k.WHITE_OPEN)
    unsure = 1.0 - np.abs(described.ownership)
    doubts = np.array([
        np.log(doubt.sum() + 1e-4),
        np.log((doubt * size).sum() + 1e-4),
        against.min(initial=30.0),
        float(found.changes > 0),
        float(seki.any()),
        np.log1p(np.count_nonzero(opened)),
        np.log1p(np.count_nonzero(dame)),
        np.count_nonzero(dame) / points,
        float(unsure.mean()),
        np.count_nonzero(described.grid == 0) / points,
        float(np.isin(kinds, (k.BLACK_FALSE_EYE, k.WHITE_FALSE_EYE)).any()),
        min(abs(float(found.margin - plain_margin)), 9.0),
        float(unsure[(described.grid == 0).ravel()].mean()) if (described.grid == 0).any() else 1.0,
        np.log(points),
    ])  # fmt: skip
    return Judgement(alive, logit, dead, kinds, doubts)
