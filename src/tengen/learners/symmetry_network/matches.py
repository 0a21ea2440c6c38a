"""Play games between networks, or against a random mover, in kernels; know no other player.

Colours alternate, komi and area counting are those of the paper's tournament unless said otherwise.
Stronger opponents and ratings are the arena's business.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board.kernels import new_state
from tengen.errors import SpecError
from tengen.learners.symmetry_network.game_kernels import duel, open_at_random
from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.statistics import Rate

SIMPLE = {"random": -1.0, "maxlib": -2.0}
"""The betas that make a side of `duel` play at random or for liberties."""


def play_match(
    a: SymmetryNetwork,
    b: SymmetryNetwork | str | None,
    *,
    games: int = 10,
    size: int = 9,
    komi: float = 3.5,
    beta: float = 20.0,
    seed: int = 0,
    openings: int = 0,
    workers: int = 1,
) -> Rate:
    """Play a match; what the arguments mean stands at `play_games`."""
    options: dict[str, Any] = {"size": size, "komi": komi, "beta": beta, "openings": openings}
    scores, _ = play_games(a, b, games=games, seed=seed, workers=workers, **options)
    return Rate.of(scores)


def play_games(
    a: SymmetryNetwork,
    b: SymmetryNetwork | str | None,
    *,
    games: int,
    size: int,
    komi: float,
    beta: float,
    seed: int,
    openings: int,
    workers: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Return the score of every game from A's view, komi included, and its plies.

    A has Black in even games. `b` may be "random" (also None), a random mover that fills no eyes,
    or "maxlib", the player for liberties. Moves are drawn with `beta`; 1e9 and more takes the best
    that fills no own eye. `openings` random plies come first, the same for two games with colours
    exchanged.
    """
    if b is None or isinstance(b, str):
        if (b or "random") not in SIMPLE:
            raise SpecError(f"opponent {b!r}: a network, or one of {', '.join(SIMPLE)}")
        other, other_beta = a, SIMPLE[b or "random"]
    else:
        other, other_beta = b, beta

    sides = a.side(beta), other.side(other_beta)

    def play(i: int) -> tuple[int, float]:
        state = new_state(size, size)
        open_at_random(state, openings, seed, i // 2)
        moves = np.zeros(3 * size * size, np.int64)
        black, white = sides if i % 2 == 0 else sides[::-1]
        plies, area = duel(black, white, state, len(moves), seed, i, moves)
        score = area - komi
        return plies, score if i % 2 == 0 else -score

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            rows = list(pool.map(play, range(games)))
    else:
        rows = [play(i) for i in range(games)]
    return np.array([score for _, score in rows]), np.array([float(plies) for plies, _ in rows])
