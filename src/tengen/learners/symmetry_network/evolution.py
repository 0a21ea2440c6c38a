"""Improve a trained network by evolution: keep what wins games, without gradient or targets.

The paper ends with the idea that evolution might steady its learning. Here pairs of mutants, one
the mirror image of the other, play the same games against fixed opponents; the network moves
towards the winners (an evolution strategy with antithetic sampling and momentum). Moves are the
best after one ply, as in play; no search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_match

FloatArray = NDArray[np.float64]

BEST = 1e9
"""The beta that takes the best move."""

LEAST = 0.02
"""Numbers smaller than this mutate as if they were this large."""


@dataclass(frozen=True)
class Evolution:
    """How to evolve: everything that decides the result, with the network and the seed."""

    generations: int = 40
    pairs: int = 8  # mutants and their mirror images in a generation
    games: int = 10  # of each mutant against each opponent
    spread: float = 0.1  # of the mutations, relative to the numbers
    step: float = 0.05  # of the network, likewise
    momentum: float = 0.8
    komi: float = 7.5
    openings: int = 4  # random plies before each game
    size: int = 9
    seed: int = 0


def fitness(
    network: SymmetryNetwork,
    opponents: Sequence[SymmetryNetwork | str],
    plan: Evolution,
    seed: int,
) -> float:
    """Return the mean over opponents of the share won plus the mean score in forties of points."""
    total = 0.0
    for opponent in opponents:
        result = play_match(
            *(network, opponent),
            games=plan.games,
            size=plan.size,
            komi=plan.komi,
            beta=BEST,
            seed=seed,
            openings=plan.openings,
        )
        total += result.win_rate + result.margin / 40
    return total / len(opponents)


def evolve_against(
    network: SymmetryNetwork,
    opponents: Sequence[SymmetryNetwork | str],
    plan: Evolution,
    *,
    workers: int = 1,
    watch: Callable[[int, SymmetryNetwork, float], None] = lambda _g, _n, _f: None,
) -> SymmetryNetwork:
    """Return the network after all generations; a function of its arguments but for `workers`.

    `watch` gets the generation, the network after it, and the mean fitness of its mutants.
    """
    rng = np.random.default_rng(plan.seed)
    settings, games = network.settings, network.games_
    centre = network.free_.copy()
    scale = np.maximum(np.abs(centre), LEAST)
    drift = np.zeros(len(centre))

    def judge(job: tuple[FloatArray, int]) -> float:
        numbers, seed = job
        mutant = SymmetryNetwork.from_free(numbers, settings, games)
        return fitness(mutant, opponents, plan, seed)

    with ThreadPoolExecutor(workers) as pool:
        for generation in range(plan.generations):
            noise = rng.normal(size=(plan.pairs, len(centre)))
            first = (plan.seed * 1_000_003 + generation) * plan.pairs
            jobs = [
                (centre + sign * plan.spread * scale * noise[k], first + k)
                for k in range(plan.pairs)
                for sign in (1, -1)
            ]
            found = list(pool.map(judge, jobs)) if workers > 1 else [judge(job) for job in jobs]
            values = np.array(found).reshape(plan.pairs, 2)
            pull = (values[:, 0] - values[:, 1]) @ noise
            pull /= 2 * plan.pairs * (values.std() + 1e-9)
            drift = plan.momentum * drift + (1 - plan.momentum) * pull
            length = np.sqrt(np.mean(drift**2))
            if length > 0:
                centre = centre + plan.step * scale * drift / length
            here = SymmetryNetwork.from_free(centre, settings, games)
            watch(generation + 1, here, float(values.mean()))
    return SymmetryNetwork.from_free(centre, settings, games)
