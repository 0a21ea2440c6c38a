"""Hold the experiments on internal symmetry networks, each once and of any size.

`figure_1` is the paper's: all snapshots of one training against each other. `compare_designs` goes
beyond it: a table is a list of designs, the first the reference; each is trained with the same
number of games for every seed, then plays the reference of the same seed and the player for
liberties. The command and the laboratory call the same functions; nothing is printed here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import SpecError
from tengen.learners.symmetry_network import Categories, Settings, SymmetryNetwork
from tengen.learners.symmetry_network.matches import play_match
from tengen.statistics import Rate, Trend, spearman, wilson

# ----- Figure 1 -----


@dataclass(frozen=True)
class Tournament:
    """How snapshots meet: the paper's conditions by default."""

    games: int = 10  # a pair
    size: int = 9
    komi: float = 3.5
    beta: float = 20.0  # moves are drawn with it
    seed: int = 0


@dataclass(frozen=True)
class LearningCurve:
    """Strength over training, with a test of its trend; None where there is nothing to test."""

    games: list[int]
    rates: list[float]
    intervals: list[tuple[float, float]]
    correlation: float | None  # Spearman's, untrained network left out
    p_value: float | None
    slope: float | None  # points of win rate per 100,000 games
    best: int  # games behind the best snapshot


def figure_1(
    snapshots: Sequence[SymmetryNetwork],
    tournament: Tournament | None = None,
    *,
    workers: int = 1,
    watch: Callable[[int, int], None] = lambda _done, _of: None,
) -> LearningCurve:
    """Let all snapshots of a training play each other; `watch` hears pairs done and their number.

    Raises
    ------
    SpecError
        If there are fewer than two.
    """
    if len(snapshots) < 2:
        raise SpecError(f"{len(snapshots)} snapshots: at least two can play each other")
    plan = tournament or Tournament()
    n = len(snapshots)
    points = np.zeros((n, n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for done, (i, j) in enumerate(pairs, 1):
        result = play_match(
            *(snapshots[i], snapshots[j]),
            games=plan.games,
            size=plan.size,
            komi=plan.komi,
            beta=plan.beta,
            seed=plan.seed * 1_000_003 + i * n + j,
            workers=workers,
        )
        points[i, j] = result.win_rate * plan.games
        points[j, i] = plan.games - points[i, j]
        watch(done, len(pairs))
    return learning_curve([network.games_ for network in snapshots], points, plan.games)


def learning_curve(
    games: Sequence[int], points: np.ndarray[Any, Any], per_pair: int
) -> LearningCurve:
    """Turn points[i, j], what i scored against j, into win rates with intervals and a trend."""
    played = per_pair * (len(games) - 1)
    won = points.sum(1)
    trained = [i for i, g in enumerate(games) if g > 0]
    at, rates = [games[i] / 1e5 for i in trained], (won[trained] / played).tolist()
    rank = spearman(at, rates)
    return LearningCurve(
        [int(g) for g in games],
        [float(w / played) for w in won],
        [wilson(float(w), played) for w in won],
        rank.r if rank else None,
        rank.p if rank else None,
        Trend.through(at, rates).slope if rank else None,
        int(games[int(np.argmax(won))]),
    )


# ----- Designs after equal training -----

_LIBERTIES = {"categories": Categories(mode="liberties")}

DESIGNS: dict[str, dict[str, dict[str, Any]]] = {
    "categories": {
        "eyes and openings (paper)": {},
        "liberties": _LIBERTIES,
        "mixed": {"categories": Categories(mode="mixed")},
        "both, twelve": {"categories": Categories(mode="both")},
        "none": {"categories": Categories(mode="none")},
    },
    "outputs": {
        "seven": _LIBERTIES,
        "one": {**_LIBERTIES, "single": True, "capture": 0.0, "stone": 1.0},
    },
    "tying": {
        "tied by symmetry (paper)": _LIBERTIES,
        "and by colour": {**_LIBERTIES, "colour": True},
        "and told who moved": {**_LIBERTIES, "turn": True},
        "12 T units": {**_LIBERTIES, "mixture": {"T": 12}},
        "plain, one unit": {**_LIBERTIES, "tied": False, "mixture": {"T": 1}},
        "plain, 12 units": {**_LIBERTIES, "tied": False},
    },
    "depth": {
        "one layer (paper)": _LIBERTIES,
        "linear": {**_LIBERTIES, "linear_games": 10**9},
        **{f"{layers} layers": {**_LIBERTIES, "layers": layers} for layers in range(2, 7)},
        "recurrent, two steps": {**_LIBERTIES, "steps": 2},
    },
    "opponents": {
        "itself": {**_LIBERTIES, "turn": True},
        "half against maxlib": {**_LIBERTIES, "turn": True, "maxlib": 0.5},
    },
}
"""Tables of designs by name: what each changes of the settings; the first is the reference."""


@dataclass(frozen=True)
class DesignRow:
    """What a table says of a design: shares with 95 % intervals over all seeds' games."""

    name: str
    weights: int
    seeds: int
    seconds: float  # of the processor, for one training
    against_first: float | None
    first_interval: tuple[float, float] | None
    against_maxlib: float
    maxlib_interval: tuple[float, float]


def compare_designs(
    table: str,
    base: Settings,
    *,
    seeds: Sequence[int] = (0,),
    games: int = 200,
    folder: Path | None = None,
    only: Sequence[str] = (),
    workers: int = 1,
    watch: Callable[[str], None] = lambda _: None,
) -> list[DesignRow]:
    """Train the designs of a table and return its rows; `base` has games, rate, size and so on.

    A match has `games` games: at beta 20 and komi 3.5 against the reference, with the best move and
    komi 7.5 against maxlib. `only` restricts the rows, by parts of their names; the first stays.
    Networks are kept in the folder, so that a table can be stopped and gone on with.

    Raises
    ------
    SpecError
        For a table that does not exist, or a folder of other settings.
    """
    if table not in DESIGNS:
        raise SpecError(f"no table {table!r}; there are {', '.join(DESIGNS)}")
    rows: list[DesignRow] = []
    firsts: list[SymmetryNetwork] = []
    for number, (name, changes) in enumerate(DESIGNS[table].items()):
        if number and only and not any(word in name for word in only):
            continue
        used: list[float] = []
        first: list[Rate] = []
        liberty: list[Rate] = []
        for i, seed in enumerate(seeds):
            settings = replace(base, **{**changes, "seed": seed})
            path = folder / f"{table}-{number}-{seed}.safetensors" if folder else None
            network, seconds = _trained(settings, path, workers)
            used.append(seconds)
            watch(f"{name}, seed {seed}: trained in {seconds:.0f} s")
            options: dict[str, Any] = {"games": games, "size": base.size, "seed": seed}
            options["workers"] = workers
            if number == 0:
                firsts.append(network)
            else:
                first.append(play_match(network, firsts[i], **options))
            liberty.append(play_match(network, "maxlib", komi=7.5, beta=1e9, **options))
        rows.append(
            DesignRow(
                name,
                replace(base, **changes).architecture.weights,
                len(seeds),
                float(np.mean(used)),
                Rate.pooled(first).win_rate if first else None,
                Rate.pooled(first).interval if first else None,
                Rate.pooled(liberty).win_rate,
                Rate.pooled(liberty).interval,
            )
        )
        watch(f"{rows[-1]}")
    return rows


def _trained(settings: Settings, path: Path | None, workers: int) -> tuple[SymmetryNetwork, float]:
    """Return a trained network and the processor's seconds (0 if it was found in the folder)."""
    if path is not None and path.exists():
        found = SymmetryNetwork.load(path)
        if found.settings == settings:
            return found, 0.0
        raise SpecError(f"{path}: was trained with other settings; choose another folder")
    begin = time.process_time()
    network = SymmetryNetwork(settings=settings, workers=workers).fit()
    if path is not None:
        network.save(path)
    return network, time.process_time() - begin
