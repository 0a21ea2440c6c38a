"""Burzillo's scoring network as it was printed, with both its gradients; it does not score.

For every block r = v . [W (x + a) + b]; for every empty region the numbers of black and white
blocks beside it, the sums of their r and its size go through s = g . [V (. + c) + d]; the score,
White-positive, is komi, prisoners, the regions' s and the dead stones' 2 size. The paper's formula
for the gradient has the wrong sign for everything before r; `printed=True` keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tengen.arrays import FloatArray, IntArray

Energy = Literal["step", "linear"]


@dataclass
class PaperGames:
    """Games as flat arrays: blocks, empty regions, which of them touch, and what is known."""

    x: FloatArray
    """Features of all blocks of all games, scaled (the paper scales nothing)."""
    colour: IntArray
    size: FloatArray
    block_game: IntArray
    region_game: IntArray
    region_size: FloatArray
    edge_region: IntArray
    edge_block: IntArray
    offset: FloatArray
    """Per game: komi less Black's prisoners plus White's."""
    score: FloatArray
    """Per game: the recorded score, White-positive."""


def initial(features: int, hidden: int, seed: int) -> list[FloatArray]:
    """Return small random parameters [W, a, b, v, V, c, d, g]."""
    rng = np.random.default_rng(seed)
    shapes: list[tuple[int, ...]] = [
        (hidden, features), (features,), (hidden,), (hidden,), (4, 5), (5,), (4,), (4,),
    ]  # fmt: skip
    return [rng.uniform(-0.1, 0.1, shape) for shape in shapes]


def forward(
    p: list[FloatArray], games: PaperGames, energy: Energy
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the predicted scores, every block's r, and every region's vector."""
    w, a, b, v, big, c, d, g = p
    r = ((games.x + a) @ w.T + b) @ v
    white = games.colour[games.edge_block] == 2
    n = len(games.region_game)
    vectors = np.zeros((n, 5))
    for side, mask in ((0, ~white), (1, white)):
        at, blocks = games.edge_region[mask], games.edge_block[mask]
        vectors[:, side] = np.bincount(at, minlength=n)
        vectors[:, 2 + side] = np.bincount(at, weights=r[blocks], minlength=n)
    vectors[:, 4] = games.region_size
    s = ((vectors + c) @ big.T + d) @ g
    sign = np.where(games.colour == 2, -1.0, 1.0)
    fallen = 2 * games.size * sign * ((r > 0) if energy == "step" else r)
    count = len(games.score)
    scores = (
        games.offset
        + np.bincount(games.region_game, weights=s, minlength=count)
        + np.bincount(games.block_game, weights=fallen, minlength=count)
    )
    return scores, r, vectors


def energy_and_gradient(
    p: list[FloatArray], games: PaperGames, *, energy: Energy = "step", printed: bool = False
) -> tuple[float, list[FloatArray], FloatArray]:
    """Return the mean of |true - predicted|, its gradient and the predictions.

    With `printed` the part of the gradient that goes through r has the paper's sign: plus.
    """
    w, a, b, v, big, c, d, g = p
    scores, _, vectors = forward(p, games, energy)
    error = games.score - scores
    count = len(scores)
    # dE/dscore = -sign(error), zero at zero as the paper says.
    outer = -np.sign(error) / count
    pull = outer[games.region_game]
    shifted = vectors + c
    inside = shifted @ big.T + d
    d_g = pull @ inside
    d_big = np.outer(g, pull @ shifted)
    d_c = pull.sum() * (big.T @ g)
    d_d = pull.sum() * g
    through = big.T @ g
    white = games.colour[games.edge_block] == 2
    d_r: FloatArray = np.bincount(
        games.edge_block,
        weights=pull[games.edge_region] * np.where(white, through[3], through[2]),
        minlength=len(games.colour),
    ).astype(np.float64)
    if energy == "linear":
        sign = np.where(games.colour == 2, -1.0, 1.0)
        d_r = d_r + 2 * games.size * sign * outer[games.block_game]
    if printed:
        d_r = -d_r
    x = games.x + a
    d_v = d_r @ (x @ w.T + b)
    d_w = np.outer(v, d_r @ x)
    d_b = d_r.sum() * v
    d_a = d_r.sum() * (w.T @ v)
    return (
        float(np.abs(error).mean()),
        [d_w, d_a, d_b, d_v, d_big, d_c, d_d, d_g],
        scores,
    )
