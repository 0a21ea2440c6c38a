"""Training as the author's published program (gobot, branch finalProject) does it.

It differs from the paper's text. The gradient before r has the right sign, but:

- the bounds of RPROP's steps follow the steps themselves, which all begin at 0.1, so no step ever
  shrinks or grows: every weight moves by 0.1 per game, with the sign of one game's gradient;
- a region's hidden units each see one element of its vector, times the sum of their weights;
- r < 0 means dead, and dead stones and prisoners with komi count for the wrong side of the energy
  or of the prediction;
- gradients of the second layer take a bias of the first, and one is overwritten instead of summed;
- a prediction, a floating-point number, counts as right only if it equals the score exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.arrays import BoolArray, FloatArray
from tengen.board import WHITE
from tengen.papers.scoring_failure.games import PaperGames
from tengen.scoring.network import Rprop

HIDDEN = 20
STEP = 0.1
Parameters = list[FloatArray]


def initial_parameters(features: int, seed: int) -> Parameters:
    """Return parameters [W, a, b, v, V, c, d, g] drawn from -1 to 1."""
    rng = np.random.default_rng(seed)
    shapes: list[tuple[int, ...]] = [
        (HIDDEN, features), (features,), (HIDDEN,), (HIDDEN,), (4, 5), (5,), (4,), (4,),
    ]  # fmt: skip
    return [rng.uniform(-1.0, 1.0, shape) for shape in shapes]


def predict(p: Parameters, games: PaperGames) -> tuple[FloatArray, BoolArray]:
    """Return the predicted scores, positive for White, and which blocks are dead."""
    r, _, vectors = _forward(p, games)
    dead = r < 0
    awards = _awards(p, vectors)
    return games.totals(games.offset, awards, -2 * games.size * games.sign * dead), dead


def _forward(p: Parameters, games: PaperGames) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return every block's r and hidden units, and every region's vector."""
    w, a, b, v, *_ = p
    hidden = (games.x + a) @ w.T + b
    r = hidden @ v
    return r, hidden, games.region_vectors(r)


def _awards(p: Parameters, vectors: FloatArray) -> FloatArray:
    big, c, d, g = p[4:]
    awards: FloatArray = ((vectors + c)[:, :4] * big.sum(axis=1) + d) @ g
    return awards


def gradient(p: Parameters, game: PaperGames) -> Parameters:
    """Return the gradient of one game as the program computes it."""
    _, a, b, v, big, c, _, g = p
    w = p[0]
    r, hidden, vectors = _forward(p, game)
    energy = int(game.score[0] + game.offset[0] - _awards(p, vectors).sum())
    energy += int((2 * game.size * game.sign)[r < 0].sum())
    if energy == 0:
        return [np.zeros(array.shape) for array in p]
    white = game.colour[game.edge_block] == WHITE
    pull = np.where(white, g @ big[:, 3], g @ big[:, 2])
    edges = game.edge_block
    on_x = pull @ (game.x[edges] + a)
    found = [
        -np.outer(v, on_x), -pull.sum() * (v @ w), -pull.sum() * v, -(pull @ hidden[edges]),
        -np.outer(g, (vectors + c).sum(axis=0)), g[3] * big[3], -len(vectors) * g,
        -(big @ (vectors + c).sum(axis=0)) - len(vectors) * b[:4],
    ]  # fmt: skip
    return found if energy > 0 else [-array for array in found]


@dataclass
class _Steps:
    """The program's RPROP: steps of one size, taken back where the gradient flips."""

    last: Parameters
    taken: list[list[FloatArray]]  # the last two steps; a flip leaves a stale one

    def step(self, p: Parameters, found: Parameters) -> None:
        """Change the parameters in place."""
        for number, (array, mine) in enumerate(zip(p, found, strict=True)):
            flipped = mine * self.last[number] < 0
            move = -np.sign(mine) * STEP
            before, older = self.taken[number]
            # The matrices take back their step's size instead of the step itself.
            back = np.full(array.shape, STEP) if array.ndim == 2 else before
            array += np.where(flipped, -back, move)
            self.taken[number] = [np.where(flipped, older, move), before]
            self.last[number] = np.where(flipped, 0.0, mine)


def train(
    games: PaperGames, *, steps: int, seed: int, adaptive: bool = False
) -> tuple[Parameters, list[float]]:
    """Train on one game after the other; return the parameters and the mean error per pass.

    With `adaptive` RPROP's steps grow and shrink as they should.
    """
    p = initial_parameters(games.x.shape[1], seed)
    way: _Steps | Rprop = (
        Rprop(first=STEP)
        if adaptive
        else _Steps(
            [np.ones(array.shape) for array in p],
            [[np.full(array.shape, STEP), np.full(array.shape, STEP)] for array in p],
        )
    )
    each = games.one_by_one()
    errors = [_error(p, games)]
    for _ in range(steps):
        for game in each:
            way.step(p, gradient(p, game))
        errors.append(_error(p, games))
    return p, errors


def _error(p: Parameters, games: PaperGames) -> float:
    return float(np.abs(predict(p, games)[0] - games.score).mean())
