"""Improve a trained network by evolution: keep what wins games, without gradient or targets.

The paper ends with the idea that evolution might steady its learning. Here pairs of mutants, one
the mirror image of the other, play the same games against fixed opponents; the network moves
towards the winners (an evolution strategy with antithetic sampling and momentum), and the result
is the average of the networks on the way. Moves are the best after one ply, as in play; no search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.errors import SpecError
from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_games
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.settings import Settings
from tengen.models.checkpoints import Checkpoints

FloatArray = NDArray[np.float64]

BEST = 1e9
"""The beta that takes the best move."""

LEAST = 0.02
"""Numbers smaller than this mutate as if they were this large."""

LATE = 3
"""How much the average prefers late generations: one of age t counts as t to this power."""


@dataclass(frozen=True)
class Evolution:
    """How to evolve: everything that decides the result, with the network and the opponents."""

    generations: int = 400
    pairs: int = 64  # mutants and their mirror images in a generation
    games: int = 2  # of each mutant, all against one of the opponents
    spread: float = 0.15  # of the mutations, relative to the numbers
    step: float = 0.002  # of the network, likewise
    momentum: float = 0.9
    points: float = 15.0  # a win by so many is worth tanh 1 = 0.76 of the greatest
    komi: float = 7.5
    openings: int = 4  # random plies before each game
    size: int = 9
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a plan that makes no sense."""
        for name in ("generations", "pairs", "games"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} {getattr(self, name)} must be at least 1")
        if not 0 <= self.momentum < 1 or self.points <= 0:
            raise SpecError("momentum lies in [0, 1), points are more than 0")


def fitness(
    network: SymmetryNetwork, opponent: SymmetryNetwork | str, plan: Evolution, seed: int
) -> float:
    """Return the mean of tanh(score / points) over the games of one mutant, between -1 and 1."""
    scores, _ = play_games(
        *(network, opponent),
        games=plan.games,
        size=plan.size,
        komi=plan.komi,
        beta=BEST,
        seed=seed,
        openings=plan.openings,
    )
    return float(np.tanh(scores / plan.points).mean())


def told_who_moved(network: SymmetryNetwork) -> SymmetryNetwork:
    """Return a network that plays the same and can learn to tell who has just moved.

    Colours that were tied are untied: it has more free numbers, and the same weights at first.
    """
    settings = replace(network.settings or Settings(), colour=False, turn=True)
    old, new = Packing(network.architecture), Packing(settings.architecture)
    copies = np.bincount(new.source, minlength=settings.architecture.size)
    free = new.collect(old.flat(network.free_)) / copies
    return SymmetryNetwork.from_free(free, settings, network.games_)


def evolve_against(
    network: SymmetryNetwork,
    opponents: Sequence[SymmetryNetwork | str],
    plan: Evolution,
    *,
    workers: int = 1,
    folder: Path | None = None,
    watch: Callable[[int, SymmetryNetwork, float], None] = lambda _g, _n, _f: None,
) -> SymmetryNetwork:
    """Return the average network after all generations; a function of all but `workers`.

    Pair k of a generation meets opponent k modulo their number. `watch` gets the generation, the
    average so far, and the mean fitness of the mutants. With a `folder` the state is kept there
    every ten generations and gone on with; a plan that differs in more than its length is refused.
    """
    settings, games = network.settings, network.games_
    scale = np.maximum(np.abs(network.free_), LEAST)
    centre, average = network.free_.copy(), network.free_.copy()
    drift = np.zeros(len(centre))
    kept = Checkpoints(folder) if folder is not None else None
    state = {**asdict(plan), "generations": 0, "opponents": len(opponents)}
    begin = 0
    if kept is not None and (found := kept.latest()) is not None:
        if found.state != state or found.arrays["scale"].shape != scale.shape:
            raise SpecError(f"{kept.folder}: keeps an evolution by another plan")
        begin, scale = found.step, found.arrays["scale"]
        centre, average, drift = (found.arrays[name] for name in ("centre", "average", "drift"))

    def judge(job: tuple[FloatArray, int, int]) -> float:
        numbers, seed, rival = job
        mutant = SymmetryNetwork.from_free(numbers, settings, games)
        return fitness(mutant, opponents[rival], plan, seed)

    with ThreadPoolExecutor(workers) as pool:
        for generation in range(begin, plan.generations):
            rng = np.random.default_rng([plan.seed, generation])
            noise = rng.normal(size=(plan.pairs, len(centre)))
            first = (plan.seed * 1_000_003 + generation) * plan.pairs
            jobs = [
                (centre + sign * plan.spread * scale * noise[k], first + k, k % len(opponents))
                for k in range(plan.pairs)
                for sign in (1, -1)
            ]
            found_values = pool.map(judge, jobs) if workers > 1 else map(judge, jobs)
            values = np.array(list(found_values)).reshape(plan.pairs, 2)
            pull = (values[:, 0] - values[:, 1]) @ noise
            drift = plan.momentum * drift + (1 - plan.momentum) * pull
            length = np.sqrt(np.mean(drift**2))
            if length > 0:
                centre = centre + plan.step * scale * drift / length
            done = generation + 1
            average = average + (centre - average) * (LATE + 1) / (done + LATE)
            here = SymmetryNetwork.from_free(average, settings, games)
            if kept is not None and (done % 10 == 0 or done == plan.generations):
                arrays = {"centre": centre, "average": average, "drift": drift, "scale": scale}
                kept.save(done, arrays, state)
            watch(done, here, float(values.mean()))
    return SymmetryNetwork.from_free(average, settings, games)
