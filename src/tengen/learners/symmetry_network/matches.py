"""Play games between networks, or against a random mover, in kernels; know no other player.

Colours alternate, komi and area counting are those of the paper's tournament unless said otherwise.
Stronger opponents and ratings are the arena's business.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.board.kernels import new_state
from tengen.errors import SpecError
from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.match_kernels import duel, open_at_random
from tengen.statistics import Rate, Trend, spearman, wilson

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
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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

    def play(i: int) -> tuple[int, float]:
        state = new_state(size, size)
        open_at_random(state, openings, seed, i // 2)
        moves = np.zeros(3 * size * size, np.int64)
        sides = [(a, beta), (other, other_beta)]
        (black, beta_b), (white, beta_w) = sides if i % 2 == 0 else sides[::-1]
        plies, area = duel(
            *(black.nets, white.nets, black.cats, white.cats, black.table, white.table),
            *(black.prize, white.prize, beta_b, beta_w),
            *(state, len(moves), seed, i, moves),
        )
        score = area - komi
        return plies, score if i % 2 == 0 else -score

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            rows = list(pool.map(play, range(games)))
    else:
        rows = [play(i) for i in range(games)]
    return np.array([score for _, score in rows]), np.array([float(plies) for plies, _ in rows])


def round_robin(
    players: Sequence[SymmetryNetwork],
    *,
    games: int = 10,
    size: int = 9,
    komi: float = 3.5,
    beta: float = 20.0,
    seed: int = 0,
    workers: int = 1,
    watch: Callable[[int, int], None] = lambda _i, _j: None,
) -> NDArray[np.float64]:
    """Play all pairs and return points[i, j], what i scored against j (draws half)."""
    n = len(players)
    points = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            result = play_match(
                players[i],
                players[j],
                games=games,
                size=size,
                komi=komi,
                beta=beta,
                seed=seed * 1_000_003 + i * n + j,
                workers=workers,
            )
            points[i, j] = result.win_rate * games
            points[j, i] = games - points[i, j]
            watch(i, j)
    return points


@dataclass(frozen=True)
class Curve:
    """Strength over training: the paper's Figure 1, with a test of its trend."""

    games: list[int]
    rates: list[float]
    intervals: list[tuple[float, float]]
    correlation: float  # Spearman's, untrained network left out
    p_value: float
    slope: float  # points of win rate per 100,000 games
    best: int  # games behind the best snapshot


def learning_curve(games: Sequence[int], points: NDArray[np.float64], per_pair: int) -> Curve:
    """Turn a round robin over snapshots into win rates with intervals and a trend test."""
    played = per_pair * (len(games) - 1)
    rates = points.sum(1) / played
    trained = [i for i, g in enumerate(games) if g > 0]
    at = np.array([games[i] for i in trained], dtype=np.float64)
    rank = spearman(at, rates[trained])
    line = Trend.through((at / 1e5).tolist(), rates[trained].tolist())
    return Curve(
        [int(g) for g in games],
        [float(r) for r in rates],
        [wilson(float(won), played) for won in points.sum(1)],
        rank.r if rank else 0.0,
        rank.p if rank else 1.0,
        line.slope,
        int(games[int(np.argmax(rates))]),
    )
