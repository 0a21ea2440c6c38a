"""Decide which blocks are alive, given their logits, and measure the doubts about the decision.

The decision is consistent (see `settle`). Stones in seki are those that the careful count finds
alive with fewer than two eyes. A lopsided count is evidence against a doubtful decision: players
far behind resign, so games played to the end are close. Prisoners and komi are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import counting_kernels as k
from tengen.scoring.features import Described, bordered, pool
from tengen.scoring.kernels import settle
from tengen.scoring.network import Ensemble, sigmoid

DOUBTS = 14  # number of doubts, the inputs from which the chance of a right count is learned
_POINTS, _CAUTION = 14.0, 1.0
"""To flip a decision, the count must become closer by this many points per unit of its logit and of
caution. Fitted to held-out training games; 10 to 16 points work as well.
"""


@dataclass
class Judgement:
    """A consistent choice of dead blocks, its careful count, and the doubts about it."""

    alive: BoolArray  # per part
    changes: int  # decisions that differ from the logits
    dead: BoolArray  # the dead stones as a grid
    kinds: NDArray[np.int8]  # what every point counts for
    margin: int
    doubts: FloatArray = field(default_factory=lambda: np.zeros(DOUBTS))

    @property
    def seki(self) -> BoolArray:
        """The stones in seki as a grid."""
        return (self.kinds >= k.BLACK_SEKI_STONE) & (self.kinds <= k.WHITE_SEKI_STONE)


def _answer(described: Described, logit: FloatArray) -> Judgement:
    position = described.position
    stones = position.colour > 0
    alive = (logit >= 0) | ~stones
    part, width = bordered(position.part, -1), position.grid.shape[1] + 1
    changes = settle(position.line, width, part, len(logit), logit, alive)
    if stones.any() and not alive[stones].any():
        # No block is left that could have killed the others: the game has hardly begun.
        alive[:] = True
        changes += 1
    dead = (~alive)[position.part]
    kinds = np.zeros(position.grid.shape, np.int8)
    margin = k.territory_margin(position.grid, dead, True, kinds)
    return Judgement(alive, changes, dead, kinds, margin)


def judgement_of(described: Described, logit: FloatArray) -> Judgement:
    """Turn the logits of all parts into one consistent answer.

    The answer follows the logits, or the logits with one bond flipped if that count is far closer.
    """
    blocks = described.position.blocks
    bonds = described.bond[blocks]
    first = best = _answer(described, logit)
    most = 0.0
    doubts = pool(np.abs(logit[blocks]), described.position.size[blocks], bonds) + _CAUTION
    for number in np.flatnonzero(bonds == blocks):  # the first block of each bond
        bond, doubt = blocks[bonds == bonds[number]], doubts[number]
        if doubt + most >= abs(first.margin) / _POINTS:
            continue
        turned = logit.copy()
        turned[bond] *= -1
        other = _answer(described, turned)
        gain = (abs(first.margin) - abs(other.margin)) / _POINTS - doubt
        if gain > most:
            best, most = other, gain
    best.changes += most > 0
    best.doubts = _doubts(described, logit, best)
    return best


def _doubts(described: Described, logit: FloatArray, found: Judgement) -> FloatArray:
    """Return DOUBTS numbers from which the chance of a right count is learned."""
    grid, kinds, blocks = described.position.grid, found.kinds, described.position.blocks
    plain_margin = k.territory_margin(grid, found.dead, False, np.zeros_like(kinds))
    z = np.abs(logit[blocks])
    against = np.where(found.alive[blocks] == (logit[blocks] >= 0), z, -z)
    doubt = 1.0 / (1.0 + np.exp(np.clip(against, -30, 30)))
    dame = np.count_nonzero((kinds == k.DAME) | (kinds == k.NOBODY))
    opened = (kinds == k.BLACK_OPEN) | (kinds == k.WHITE_OPEN)
    false_eyes = (kinds == k.BLACK_FALSE_EYE) | (kinds == k.WHITE_FALSE_EYE)
    unsure, empty = 1.0 - np.abs(described.ownership), grid.ravel() == 0
    return np.array([
        np.log(doubt.sum() + 1e-4),
        np.log((doubt * described.position.size[blocks]).sum() + 1e-4),
        against.min(initial=30.0),
        found.changes > 0,
        found.seki.any(),
        np.log1p(np.count_nonzero(opened)),
        np.log1p(dame),
        dame / grid.size,
        unsure.mean(),
        np.count_nonzero(empty) / grid.size,
        false_eyes.any(),
        min(abs(found.margin - plain_margin), 9),
        unsure[empty].mean() if empty.any() else 1.0,
        np.log(grid.size),
    ], np.float64)  # fmt: skip


@dataclass
class Safety:
    """Networks that vote on whether a count is right, and the chance required to call it safe."""

    votes: Ensemble
    least: float

    def chances(self, doubts: FloatArray) -> FloatArray:
        """Return the probabilities that counts are right, one per row of doubts."""
        return sigmoid(self.votes.vote(doubts))

    def trusts(self, chance: float) -> bool:
        """Return whether a count with this chance is safe."""
        return bool(chance > 0.5 and chance >= self.least)
