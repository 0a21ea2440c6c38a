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
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.errors import SpecError
from tengen.lab.content import Table, percent, table
from tengen.models.settings import CheckedSettings, setting
from tengen.statistics import Rate, Trend, spearman, wilson

if TYPE_CHECKING:  # kernels are loaded when an experiment runs, not when a command is described
    from tengen.learners.symmetry_network import SymmetryNetwork, SymmetrySettings

# ----- Figure 1 -----


@dataclass(frozen=True)
class SnapshotTournament(CheckedSettings):
    """How snapshots meet: the paper's conditions by default."""

    games: int = setting(10, "Games a pair.", least=1)
    size: int = setting(9, "Size of the board.", least=3, most=25)
    komi: float = setting(3.5, "Komi.")
    beta: float = setting(20.0, "Moves are drawn by exp(beta value).", least=0)
    seed: int = setting(0, "Every random choice follows from it.", least=0)


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
    tournament: SnapshotTournament,
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
    from tengen.learners.symmetry_network.learner import play_match

    if len(snapshots) < 2:
        raise SpecError(f"{len(snapshots)} snapshots: at least two can play each other")
    n = len(snapshots)
    points = np.zeros((n, n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for done, (i, j) in enumerate(pairs, 1):
        result = play_match(
            *(snapshots[i], snapshots[j]),
            games=tournament.games,
            size=tournament.size,
            komi=tournament.komi,
            beta=tournament.beta,
            seed=tournament.seed * 1_000_003 + i * n + j,
            workers=workers,
        )
        points[i, j] = result.win_rate * tournament.games
        points[j, i] = tournament.games - points[i, j]
        watch(done, len(pairs))
    return learning_curve([network.games_ for network in snapshots], points, tournament.games)


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


def curve_table(curve: LearningCurve) -> Table:
    """Write the figure as a table."""
    rows = zip(curve.games, curve.rates, curve.intervals, strict=True)
    trend = "no trend to test"
    if curve.correlation is not None and curve.p_value is not None:
        trend = f"Spearman {curve.correlation:.2f}, p = {curve.p_value:.2g}"
    return table(
        "Figure 1",
        ["games", "won"],
        [[games, percent(rate, interval)] for games, rate, interval in rows],
        note=f"{trend}; best after {curve.best} games",
    )


# ----- Designs after equal training -----

_LIBERTIES = {"categories": "liberties"}

DESIGNS: dict[str, dict[str, dict[str, Any]]] = {
    "categories": {
        "eyes and openings (paper)": {},
        "liberties": _LIBERTIES,
    },
    "tying": {
        "tied by symmetry (paper)": _LIBERTIES,
        "and by colour": {**_LIBERTIES, "colour": True},
        "12 T units": {**_LIBERTIES, "mixture": {"T": 12}},
        "plain, one unit": {**_LIBERTIES, "tied": False, "mixture": {"T": 1}},
        "plain, 12 units": {**_LIBERTIES, "tied": False},
        "no hidden units": {**_LIBERTIES, "linear_games": 10**9},
    },
}
"""Tables of designs by name: what each changes of the settings; the first is the reference."""


@dataclass(frozen=True)
class DesignTable(CheckedSettings):
    """How much every design of a table is trained and plays."""

    train_games: int = setting(10_000, "Games of every training in a comparison.", least=1)
    rate: float = setting(5e-5, "Rate of these trainings.", least=0)
    seeds: int = setting(1, "Trainings a row.", least=1)
    only: tuple[str, ...] = setting((), "Rows with this word in their names; may be repeated.")
    games: int = setting(200, "Games a match.", least=1)
    size: int = setting(9, "Size of the board.", least=3, most=25)
    seed: int = setting(0, "Seed of the first training.", least=0)


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
    name: str,
    plan: DesignTable,
    *,
    folder: Path | None = None,
    workers: int = 1,
    watch: Callable[[str], None] = lambda _: None,
) -> list[DesignRow]:
    """Train the designs of a table and return its rows.

    Matches are played at beta 20 and komi 3.5 against the reference, with the best move and komi
    7.5 against maxlib. The first row stays whatever `plan.only` says. Networks are kept in the
    folder, so that a table can be stopped and gone on with.

    Raises
    ------
    SpecError
        For a table that does not exist, or a folder of other settings.
    """
    from tengen.learners.symmetry_network import SymmetrySettings

    if name not in DESIGNS:
        raise SpecError(f"no table {name!r}; there are figure1, {', '.join(DESIGNS)}")
    base = SymmetrySettings(
        games=plan.train_games,
        linear_games=plan.train_games // 5,
        rate=plan.rate,
        anneal=0.4,
        size=plan.size,
    )
    rows: list[DesignRow] = []
    firsts: list[SymmetryNetwork] = []
    for number, (design, changes) in enumerate(DESIGNS[name].items()):
        if number and plan.only and not any(word in design for word in plan.only):
            continue
        used, networks = [], []
        for seed in range(plan.seed, plan.seed + plan.seeds):
            path = folder / f"{name}-{number}-{seed}.safetensors" if folder else None
            network, seconds = _trained(replace(base, **{**changes, "seed": seed}), path, workers)
            watch(f"{design}, seed {seed}: trained in {seconds:.0f} s")
            used.append(seconds)
            networks.append(network)
        firsts = firsts or networks
        rows.append(_row(design, networks, firsts, float(np.mean(used)), plan, workers))
        watch(f"{rows[-1]}")
    return rows


def design_table(name: str, plan: DesignTable, rows: Sequence[DesignRow]) -> Table:
    """Write the rows of a table of designs."""
    cells = [
        [
            row.name,
            row.weights,
            "" if row.against_first is None else percent(row.against_first, row.first_interval),
            percent(row.against_maxlib, row.maxlib_interval),
            f"{row.seconds:.0f}",
        ]
        for row in rows
    ]
    columns = ["network", "weights", "against the first", "against maxlib", "seconds"]
    return table(f"{name}, {plan.train_games} games each", columns, cells)


def _row(
    name: str,
    networks: list[SymmetryNetwork],
    firsts: list[SymmetryNetwork],
    seconds: float,
    plan: DesignTable,
    workers: int,
) -> DesignRow:
    """Let the networks of a design play those of the reference, seed by seed, and maxlib."""
    from tengen.learners.symmetry_network.learner import play_match

    against_first: list[Rate] = []
    against_maxlib: list[Rate] = []
    for i, (network, first) in enumerate(zip(networks, firsts, strict=True)):
        options: dict[str, Any] = {"games": plan.games, "size": plan.size, "seed": plan.seed + i}
        options["workers"] = workers
        if network is not first:
            against_first.append(play_match(network, first, **options))
        against_maxlib.append(play_match(network, "maxlib", komi=7.5, beta=1e9, **options))
    same, liberty = Rate.pooled(against_first), Rate.pooled(against_maxlib)
    return DesignRow(
        name,
        networks[0].architecture.weights,
        len(networks),
        seconds,
        same.win_rate if against_first else None,
        same.interval if against_first else None,
        liberty.win_rate,
        liberty.interval,
    )


def _trained(
    settings: SymmetrySettings, path: Path | None, workers: int
) -> tuple[SymmetryNetwork, float]:
    """Return a trained network and the processor's seconds (0 if it was found in the folder)."""
    from tengen.learners.symmetry_network import SymmetryNetwork

    if path is not None and path.exists():
        found = SymmetryNetwork.load(path)
        if found.settings is not None and found.settings.recipe == settings.recipe:
            return found, 0.0
        raise SpecError(f"{path}: was trained with other settings; choose another folder")
    begin = time.process_time()
    network = SymmetryNetwork(settings=settings, workers=workers).fit()
    if path is not None:
        network.save(path)
    return network, time.process_time() - begin
