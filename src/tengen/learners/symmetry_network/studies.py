"""Compare designs of networks after equal training: the tables beyond the paper's figure.

A table is a list of variants; the first is the reference. Every variant is trained with the same
number of games for every seed, then plays the reference of the same seed and the player for
liberties. Trained networks are kept in a folder, so that a table can be stopped and gone on with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import SpecError
from tengen.learners.symmetry_network.features import Categories
from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_match, round_robin
from tengen.learners.symmetry_network.settings import Settings
from tengen.learners.symmetry_network.training import Trainer
from tengen.statistics import wilson

LIBERTIES = Categories(mode="liberties")


@dataclass(frozen=True)
class Variant:
    """One row of a table: what differs from the table's settings; `population` > 0: evolved."""

    name: str
    changes: dict[str, Any]
    population: int = 0


TABLES: dict[str, tuple[Variant, ...]] = {
    "categories": (
        Variant("eyes and openings (paper)", {}),
        Variant("liberties", {"categories": LIBERTIES}),
        Variant("mixed", {"categories": Categories(mode="mixed")}),
        Variant("both, twelve", {"categories": Categories(mode="both")}),
        Variant("none", {"categories": Categories(mode="none")}),
    ),
    "outputs": (
        Variant("seven", {"categories": LIBERTIES}),
        Variant("one", {"categories": LIBERTIES, "single": True, "capture": 0.0, "stone": 1.0}),
    ),
    "tying": (
        Variant("tied by symmetry (paper)", {"categories": LIBERTIES}),
        Variant("and by colour", {"categories": LIBERTIES, "colour": True}),
        Variant("and told who moved", {"categories": LIBERTIES, "turn": True}),
        Variant("12 T units", {"categories": LIBERTIES, "mixture": {"T": 12}}),
        Variant("plain, one unit", {"categories": LIBERTIES, "tied": False, "mixture": {"T": 1}}),
        Variant(
            "plain, one unit, augmented",
            {"categories": LIBERTIES, "tied": False, "mixture": {"T": 1}, "augment": True},
        ),
        Variant("plain, 12 units", {"categories": LIBERTIES, "tied": False}),
        Variant(
            "plain, 12 units, augmented",
            {"categories": LIBERTIES, "tied": False, "augment": True},
        ),
    ),
    "depth": (
        Variant("one layer (paper)", {"categories": LIBERTIES}),
        Variant("linear", {"categories": LIBERTIES, "linear_games": 10**9}),
        *(
            Variant(f"{name} layers", {"categories": LIBERTIES, "layers": layers})
            for layers, name in ((2, "two"), (3, "three"), (4, "four"), (5, "five"), (6, "six"))
        ),
        Variant("recurrent, two steps", {"categories": LIBERTIES, "steps": 2}),
    ),
    "opponents": (
        Variant("itself", {"categories": LIBERTIES, "turn": True}),
        Variant("half against maxlib", {"categories": LIBERTIES, "turn": True, "maxlib": 0.5}),
    ),
    "evolution": (
        Variant("one training", {"categories": LIBERTIES}),
        Variant("four, the better half kept", {"categories": LIBERTIES}, population=4),
    ),
}


@dataclass(frozen=True)
class Row:
    """What a table says of a variant: shares with 95 % intervals over all seeds' games."""

    name: str
    weights: int
    seeds: int
    seconds: float
    """Processor seconds of one training."""
    against_first: float | None
    first_interval: tuple[float, float] | None
    against_maxlib: float
    maxlib_interval: tuple[float, float]


def study(
    table: str,
    base: Settings,
    *,
    seeds: Sequence[int] = (0,),
    matches: int = 200,
    folder: Path | None = None,
    only: Sequence[str] = (),
    workers: int = 1,
    watch: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Train the variants of a table and return its rows; `base` has games, rate, size and so on.

    Matches are played at beta 20 and komi 3.5 against the reference, one ply and the best move at
    komi 7.5 against maxlib. `only` restricts the rows, by parts of their names; the first stays.

    Raises
    ------
    SpecError
        For a table that does not exist.
    """
    if table not in TABLES:
        raise SpecError(f"no table {table!r}; there are {', '.join(TABLES)}")
    rows: list[Row] = []
    firsts: list[SymmetryNetwork] = []
    for number, variant in enumerate(TABLES[table]):
        if number and only and not any(word in variant.name for word in only):
            continue
        used, points, liberty = [], [], []
        for i, seed in enumerate(seeds):
            settings = replace(base, **{**variant.changes, "seed": seed})
            path = folder / f"{table}-{number}-{seed}.safetensors" if folder else None
            network, seconds = _trained(settings, variant.population, path, workers)
            used.append(seconds)
            watch(f"{variant.name}, seed {seed}: trained in {seconds:.0f} s")
            if number == 0:
                firsts.append(network)
            else:
                result = play_match(
                    *(network, firsts[i]),
                    games=matches,
                    size=base.size,
                    seed=seed,
                    workers=workers,
                )
                points.append(result.win_rate)
            options: dict[str, Any] = {"size": base.size, "seed": seed, "workers": workers}
            simple = play_match(network, "maxlib", games=matches, komi=7.5, beta=1e9, **options)
            liberty.append(simple.win_rate)
        games = matches * len(seeds)
        first = float(np.mean(points)) if points else None
        rows.append(
            Row(
                variant.name,
                replace(base, **variant.changes).architecture.weights,
                len(seeds),
                float(np.mean(used)),
                first,
                wilson(first * games, games) if first is not None else None,
                float(np.mean(liberty)),
                wilson(float(np.mean(liberty)) * games, games),
            )
        )
        watch(f"{rows[-1]}")
    return rows


def _trained(
    settings: Settings, population: int, path: Path | None, workers: int
) -> tuple[SymmetryNetwork, float]:
    """Return a trained network and the processor's seconds (0 if it was found in the folder)."""
    if path is not None and path.exists():
        found = SymmetryNetwork.load(path)
        if found.settings == settings:
            return found, 0.0
        raise SpecError(f"{path}: was trained with other settings; choose another folder")
    begin = time.process_time()
    if population:
        network = evolve(settings, population=population, workers=workers)
    else:
        network = SymmetryNetwork(settings=settings, workers=workers).fit()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        network.save(path)
    return network, time.process_time() - begin


def evolve(
    settings: Settings, *, population: int = 4, rounds: int = 5, games: int = 20, workers: int = 1
) -> SymmetryNetwork:
    """Train several networks side by side and let the better half of them breed, again and again.

    The paper's closing idea, to steady the learning. `settings.games` are shared out among all, so
    that it costs as much as one training. After each round all play each other (`games` a pair),
    the worse half takes over the numbers of the better, and learns on from games of its own.
    """
    length = settings.games // population
    each = replace(settings, games=length, linear_games=settings.linear_games // population)
    crowd = [
        Trainer(replace(each, seed=settings.seed + 1000 * i), workers=workers)
        for i in range(population)
    ]
    ranking = list(range(population))
    for number in range(1, rounds + 1):
        for trainer in crowd:
            for _ in trainer.run(length * number // rounds):
                pass
        players = [SymmetryNetwork.from_free(t.free, t.settings, t.done) for t in crowd]
        points = round_robin(
            players, games=games, size=settings.size, seed=settings.seed + number, workers=workers
        )
        ranking = np.argsort(-points.sum(1), kind="stable").tolist()
        for worse, better in zip(ranking[population // 2 :], ranking, strict=False):
            crowd[worse].free = crowd[better].free.copy()
    best = crowd[ranking[0]]
    return SymmetryNetwork.from_free(best.free, settings, settings.games)
