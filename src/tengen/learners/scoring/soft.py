"""A score that can be differentiated: expected territory from every block's chance to live.

The repair of the paper's energy. A region belongs to a colour as far as some block of that colour
beside it lives; a dead stone is worth two points to the enemy. Labels are final scores alone, and
the loss is Huber's, so that a few wrong records do little harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tengen.arrays import FloatArray
from tengen.learners.scoring import network
from tengen.learners.scoring.paper import PaperGames
from tengen.learners.scoring.rprop import Rprop

_DELTA = 5.0


def expected_margins(alive: FloatArray, games: PaperGames) -> tuple[FloatArray, FloatArray]:
    """Return every game's expected margin for Black, without komi and prisoners, and its slope.

    The slope is the derivative of the margin of its own game by every block's probability.
    """
    sign = np.where(games.colour == 1, 1.0, -1.0)
    doomed = np.clip(1.0 - alive, 1e-9, 1.0)
    n, count = len(games.region_game), len(games.score)
    slope = 2.0 * games.size * sign
    held = np.zeros(n)
    for colour in (1, 2):
        mine = games.colour[games.edge_block] == colour
        at, blocks = games.edge_region[mine], games.edge_block[mine]
        nobody = np.exp(np.bincount(at, weights=np.log(doomed[blocks]), minlength=n))
        side = 1.0 if colour == 1 else -1.0
        held += side * np.where(np.bincount(at, minlength=n) > 0, 1.0 - nobody, 0.0)
        pull = side * games.region_size[at] * nobody[at] / doomed[blocks]
        slope = slope + np.bincount(blocks, weights=pull, minlength=len(alive))
    lost = -2.0 * games.size * sign * (1.0 - alive)
    margins: FloatArray = np.bincount(
        games.region_game, weights=games.region_size * held, minlength=count
    ).astype(np.float64)
    margins = margins + np.bincount(games.block_game, weights=lost, minlength=count)
    return margins, slope


def soft_loss(
    weights: Sequence[FloatArray], games: PaperGames
) -> tuple[float, list[FloatArray], FloatArray]:
    """Return the mean Huber loss of the expected margins, its gradient and the probabilities."""
    w, b, v, c = weights
    hidden = np.tanh(games.x @ w + b)
    alive = network.sigmoid(np.clip(hidden @ v + c[0], -network.LIMIT, network.LIMIT))
    margins, slope = expected_margins(alive, games)
    # The record is White-positive and holds komi and prisoners.
    error = margins - (games.offset - games.score)
    size = np.abs(error)
    loss = np.where(size < _DELTA, 0.5 * error**2, _DELTA * (size - 0.5 * _DELTA))
    outer = np.clip(error, -_DELTA, _DELTA) / len(error)
    dz = outer[games.block_game] * slope * alive * (1.0 - alive)
    dh = np.outer(dz, v) * (1.0 - hidden**2)
    return (
        float(loss.mean()),
        [games.x.T @ dh, dh.sum(axis=0), hidden.T @ dz, np.array([dz.sum()])],
        alive,
    )


def train_soft(
    games: PaperGames,
    *,
    hidden: int = 25,
    epochs: int = 100,
    seed: int = 0,
    tell: Callable[[int, float], None] = lambda epoch, loss: None,
) -> list[FloatArray]:
    """Fit a network to final scores by iRprop- in full batches; return its weights."""
    weights = network.initial(games.x.shape[1], hidden, seed)
    weights[3][:] = 1.0  # most blocks live
    way = Rprop(first=0.01, most=1.0)
    for epoch in range(epochs):
        loss, gradients, _ = soft_loss(weights, games)
        way.step(weights, gradients, loss)
        tell(epoch, loss)
    return weights
