"""Make the paper's network and compute it plainly; the kernels do the same on sparse inputs.

One hidden layer of sigmoid units and sigmoid outputs: a single one (the score, or the chance to
win, of the side that has just moved) or one for every cell (that side's chance to own it).
"""

from __future__ import annotations

import math

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, EMPTY
from tengen.board.kernels import new_state
from tengen.learners.opening_td.candidate_kernels import Room
from tengen.learners.opening_td.features import FeatureSet, geometry, most_active
from tengen.learners.opening_td.game_kernels import Memory
from tengen.learners.opening_td.kernels import Net

TARGETS = ("score", "win", "ownership")
"""What the outputs mean: the score, the chance to win, or the chance to own each cell."""

CLIP = 0.02
"""Targets for a sigmoid stay this far from 0 and 1, which it cannot reach."""


def make_net(inputs: int, hidden: int, outputs: int, seed: int) -> Net:
    """Return a network with weights drawn uniformly from within 1 / sqrt(fan-in)."""
    rng = np.random.default_rng([seed, 2003])

    def draw(fan_in: int, *shape: int) -> FloatArray:
        bound = 1 / math.sqrt(fan_in)
        return rng.uniform(-bound, bound, shape)

    return Net(
        draw(inputs, inputs, hidden),
        draw(inputs, hidden),
        draw(hidden, hidden, outputs),
        draw(hidden, outputs),
    )


def predict(net: Net, inputs: FloatArray) -> FloatArray:
    """Return the outputs for one dense input vector."""
    activity = _sigmoid(inputs @ net.w1 + net.b1)
    return _sigmoid(activity @ net.w2 + net.b2)


def gradient(net: Net, inputs: FloatArray, error: FloatArray) -> Net:
    """Return the gradient of `error @ predict(net, inputs)` by all weights.

    With error = target - prediction this is the direction in which TD moves the weights.
    """
    activity = _sigmoid(inputs @ net.w1 + net.b1)
    outputs = _sigmoid(activity @ net.w2 + net.b2)
    at_outputs = error * outputs * (1 - outputs)
    at_hidden = (net.w2 @ at_outputs) * activity * (1 - activity)
    return Net(np.outer(inputs, at_hidden), at_hidden, np.outer(activity, at_outputs), at_outputs)


def largest_score(rows: int, cols: int, komi: float) -> float:
    """Return the score that outputs of 0 and 1 stand for: all points and komi, rounded up to tens.

    >>> largest_score(9, 9, 5.5)
    90.0
    """
    return math.ceil((rows * cols + abs(komi)) / 10) * 10.0


def score_to_output(score: float, largest: float) -> float:
    """Turn a score into what a sigmoid can say, clipped."""
    return min(max(0.5 + score / (2 * largest), CLIP), 1 - CLIP)


def output_to_score(output: float, largest: float) -> float:
    """Turn an output back into a score."""
    return (output - 0.5) * 2 * largest


def make_room(chosen: FeatureSet, rows: int, cols: int, hidden: int, outputs: int) -> Room:
    """Allocate what the kernels work in."""
    cells, words = rows * cols, geometry(rows, cols).beside.shape[1]
    orientations = len(geometry(rows, cols).turned)
    active = most_active(chosen, rows, cols)
    powers = np.zeros((2, hidden))
    return Room(
        after=new_state(rows, cols),
        keys=np.zeros((orientations, (cells + 31) // 32), np.uint64),
        other_keys=np.zeros((orientations, (cells + 31) // 32), np.uint64),
        masks=np.zeros((3, words), np.uint64),
        scratch=np.zeros((3, words), np.uint64),
        index=np.zeros(active, np.int64),
        value=np.zeros(active),
        fixed=np.zeros(hidden),
        base=np.zeros((orientations, hidden)),
        known=np.zeros(orientations, np.bool_),
        sums=np.zeros(hidden),
        activity=np.zeros(hidden),
        output=np.zeros(outputs),
        values=np.zeros(cells),
        moves=np.zeros(cells, np.int64),
        chances=np.zeros(cells),
        error=np.zeros(outputs),
        slopes=np.zeros(hidden),
        head=np.zeros(cells, np.int64),
        facts=np.zeros((cells, 4), np.int64),
        spread=np.zeros((cells, 3, words), np.uint64),
        shift=np.zeros((orientations, cells, 2, hidden)),
        shifted=np.zeros((orientations, cells, 2), np.int64),
        cell=np.zeros(cells, np.int64),
        facing=np.zeros(cells, np.int64),
        joint=np.zeros((cells, 4), np.int64),
        hidden=np.zeros((cells, hidden)),
        powers=powers,
        power_bits=powers.view(np.int64),
    )


def make_memory(
    chosen: FeatureSet, rows: int, cols: int, hidden: int, outputs: int, plies: int
) -> Memory:
    """Allocate what one opening is remembered in."""
    active = min(most_active(chosen, rows, cols), 1 + 6 * plies)
    return Memory(
        np.zeros((plies, active), np.int64),
        np.zeros((plies, active)),
        np.zeros(plies, np.int64),
        np.full(plies, BLACK, np.int64),
        np.zeros(plies, np.int64),
        np.zeros((plies, hidden)),
        np.zeros((plies, outputs)),
        np.zeros((plies, hidden, outputs)),
        np.zeros((plies, outputs)),
        np.full(plies, EMPTY, np.int64),
        np.zeros(plies),
        np.zeros(plies),
        np.zeros(plies + 1, np.int64),
    )


def _sigmoid(x: FloatArray) -> FloatArray:
    """Squash numbers to between 0 and 1."""
    return np.asarray(1.0 / (1.0 + np.exp(-x)), np.float64)
