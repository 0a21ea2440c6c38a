"""Improve a trained network by evolution: keep what wins games, without gradient or targets.

The paper ends with the idea that evolution might steady its learning. Here pairs of mutants, one
the mirror image of the other, play the same games against fixed opponents; the network moves
towards the winners (an evolution strategy with antithetic sampling and momentum), and the result
is the average of the networks on the way. Moves are the best after one ply, as in play; no search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from tengen.arrays import FloatArray
from tengen.learners.symmetry_network.game_kernels import BEST
from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_games
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.settings import EvolutionSettings, SymmetrySettings
from tengen.models.runs import Run
from tengen.models.settings import fingerprint

_LEAST = 0.02
"""Numbers smaller than this mutate as if they were this large."""

_LATE = 3
"""How much the average prefers late generations: one of age t counts as t to this power."""


def fitness(
    network: SymmetryNetwork,
    opponent: SymmetryNetwork | str,
    settings: EvolutionSettings,
    seed: int,
) -> float:
    """Return the mean of tanh(score / points) over the games of one mutant, between -1 and 1."""
    scores, _ = play_games(
        *(network, opponent),
        games=settings.games,
        size=settings.size,
        komi=settings.komi,
        beta=BEST,
        seed=seed,
        openings=settings.openings,
    )
    return float(np.tanh(scores / settings.points).mean())


def told_who_moved(network: SymmetryNetwork) -> SymmetryNetwork:
    """Return a network that plays the same and can learn to tell who has just moved.

    Colours that were tied are untied: it has more free numbers, and the same weights at first.
    """
    settings = replace(network.settings or SymmetrySettings(), colour=False, turn=True)
    old, new = Packing(network.architecture), Packing(settings.architecture)
    copies = np.bincount(new.source, minlength=settings.architecture.size)
    free = new.collect(old.flat(network.free_)) / copies
    return SymmetryNetwork.from_free(free, settings, network.games_)


def open_run(
    folder: Path,
    settings: EvolutionSettings,
    network: SymmetryNetwork,
    opponents: Sequence[SymmetryNetwork | str],
    *,
    resume: bool,
) -> Run[EvolutionSettings]:
    """Claim a folder for an evolution, or go on with the run in it: as `Run.open`."""
    rivals = [o if isinstance(o, str) else fingerprint(o.free_) for o in opponents]
    data = {"model": fingerprint(network.free_), "opponents": fingerprint(*rivals)}
    return Run.open(folder, "symmetry-network evolve", settings, data=data, resume=resume)


def evolve_against(
    network: SymmetryNetwork,
    opponents: Sequence[SymmetryNetwork | str],
    settings: EvolutionSettings,
    *,
    workers: int = 1,
    run: Run[EvolutionSettings] | None = None,
    watch: Callable[[int, float], None] = lambda _generation, _fitness: None,
) -> SymmetryNetwork:
    """Return the average network after all generations; a function of all but `workers`.

    Pair k of a generation meets opponent k modulo their number. `watch` gets the generation and the
    mean fitness of its mutants. In a run it goes on where that stands; the state is kept every ten
    generations.
    """
    scale = np.maximum(np.abs(network.free_), _LEAST)
    centre, average = network.free_.copy(), network.free_.copy()
    drift, begin = np.zeros(len(centre)), 0
    if run is not None and run.start is not None:
        found = run.start.arrays
        begin, scale = run.start.step, found["scale"]
        centre, average, drift = found["centre"], found["average"], found["drift"]

    def judge(job: tuple[FloatArray, int, int]) -> float:
        numbers, seed, rival = job
        mutant = SymmetryNetwork.from_free(numbers, network.settings, network.games_)
        return fitness(mutant, opponents[rival], settings, seed)

    with ThreadPoolExecutor(workers) as pool:
        for generation in range(begin, settings.generations):
            rng = np.random.default_rng([settings.seed, generation])
            noise = rng.normal(size=(settings.pairs, len(centre)))
            first = (settings.seed * 1_000_003 + generation) * settings.pairs
            jobs = [
                (centre + sign * settings.spread * scale * noise[k], first + k, k % len(opponents))
                for k in range(settings.pairs)
                for sign in (1, -1)
            ]
            judged = list(pool.map(judge, jobs) if workers > 1 else map(judge, jobs))
            values = np.array(judged).reshape(settings.pairs, 2)
            pull = (values[:, 0] - values[:, 1]) @ noise
            drift = settings.momentum * drift + (1 - settings.momentum) * pull
            length = np.sqrt(np.mean(drift**2))
            if length > 0:
                centre = centre + settings.step * scale * drift / length
            done = generation + 1
            average = average + (centre - average) * (_LATE + 1) / (done + _LATE)
            if run is not None:
                run.note(done, fitness=float(values.mean()))
                if done % 10 == 0 or done == settings.generations:
                    arrays = {"centre": centre, "average": average, "drift": drift, "scale": scale}
                    run.save(done, arrays)
            watch(done, float(values.mean()))
    return SymmetryNetwork.from_free(average, network.settings, network.games_)
