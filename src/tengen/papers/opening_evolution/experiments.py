"""Openings by evolution (Kendall 2004): networks bred and evaluated, the paper's tables tested.

The paper let the best networks of every 1,000th (10,000th) generation play a double round robin and
inferred learning from a rising line of points (p = 0.34 and 0.18). Here the same is done from
random starts over several seeds, and a fixed panel of opponents shows whether anything was learned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.contracts import Player
from tengen.errors import TengenError
from tengen.extras import import_extra
from tengen.lab.papers import read_paper
from tengen.lab.result import Findings, Line, Plot, Table, line
from tengen.lab.steps import Experiment, Journal, LabContext, Row
from tengen.lab.verdicts import Comparison, compare, number, percent
from tengen.models import find_model
from tengen.models.runs import Run, read_metrics, read_run
from tengen.models.settings import CheckedSettings, from_plain, setting, to_plain
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.opening_evolution.learner import (
    Breeding,
    Measure,
    match,
    measure_on,
    measure_with,
)
from tengen.papers.opening_evolution.networks import SHAPES
from tengen.papers.opening_evolution.recording import PANEL, START_PLIES, snapshots
from tengen.parallel import spawn_seeds
from tengen.players import make_expert, make_player
from tengen.progress import Report
from tengen.statistics import Rate, Trend

PAPER = read_paper("tengen.papers.opening_evolution")

CHAMPIONS = ("evolved-minimax-13x13", "evolved-spatial-13x13")  # shipped, the strongest first
FIRST = "generation 0"
_FEW_WEIGHTS = {"spatial": "shared", "dense": "tiled"}  # the same with weights tied by symmetry


# ----- Breeding -----

_BETTER: dict[str, Any] = {
    "population": 20, "random_plies": 4, "starts": 2, "strategy": "cma",
    "opponent": "static + random", "expert": "builtin:playouts=16",
}  # fmt: skip
METHODS: dict[str, tuple[int, dict[str, Any]]] = {
    # A network whose choices involve no chance would repeat its game, so survivors play no more.
    "paper": (
        5000, {
            "colours": "black", "remember": True, "by_chance": True, "scoring": "territory",
            "komi": 0.0,
        },
    ),
    "better": (100, _BETTER),
    # The hall of fame begins with the best of generation 0; scores beyond a clear win hardly count.
    # The settings of the shipped champions differ in opponents and hall; see their cards.
    "champion": (200, _BETTER | {
        "population": 24, "more_starts_every": 20, "hall_every": 60, "bend": 30.0,
        "strategy": "mirror",
        "opponent": "static + random + sample:model=tengen-small,temperature=0",
    }),
}  # fmt: skip
"""Methods by name (see `PAPER.texts`): the usual number of generations, and settings."""


def _measure_of(settings: EvolutionSettings, workers: int = 1, ray: str | None = None) -> Measure:
    """Return what plays the games of a generation: threads here, or a Ray cluster."""
    if ray is not None:
        opponents = partial(_players, settings.opponent)
        expert = partial(make_expert, settings.expert)
        return measure_on(ray, opponents, expert)
    players = [_players(settings.opponent) for _ in range(workers)]
    return measure_with(players, make_expert(settings.expert))


def _players(specs: str) -> list[Player]:
    return [make_player(spec) for spec in specs.split(" + ")]


def train(
    folder: Path,
    settings: EvolutionSettings,
    *,
    resume: bool = False,
    workers: int = 1,
    ray: str | None = None,
    on_generation: Callable[[Breeding], None] = lambda breeding: None,
) -> Path:
    """Evolve a network in a run folder, continuing the run; return the model's file."""
    model = OpeningEvolution(settings=settings)
    with Run.open(folder, model.kind, settings, resume=resume) as run:
        model.fit(_measure_of(settings, workers, ray), run=run, on_generation=on_generation)
        path = run.folder / "model.safetensors"
        model.save(path)
        return path


# ----- Games between openings -----


@dataclass(frozen=True)
class Duel:
    """Openings of an evolved network against a player, each start played with both colours."""

    model: str
    opponent: str  # a player's spec, or the file of another evolved network
    expert: str
    games: int
    seed: int
    key: tuple[int, ...] = ()  # also determines the starts
    random_plies: int = START_PLIES
    player: str = ""  # spec of a player that replaces the network on the same terms


def play_duel(duel: Duel) -> Row:
    """Play a duel; scores are from the network's view."""
    model = _model(duel.model)
    me = _side(duel.player) if duel.player else model.player()
    seeds = spawn_seeds(duel.seed, (duel.games + 1) // 2, *duel.key)
    terms = replace(model.settings, random_plies=duel.random_plies, colours="both")
    opponents, expert = [_side(duel.opponent)] * len(seeds), make_expert(duel.expert)
    scores = match(me, opponents, expert, terms, seeds)
    return {"scores": [float(score) for score in scores[: duel.games]]}


@cache
def _model(path: str) -> OpeningEvolution:
    return OpeningEvolution.load(find_model(path))


@cache
def _side(spec: str) -> Player:
    return _model(spec).player() if spec.endswith(".safetensors") else make_player(spec)


# ----- Evaluating a run -----


def judge_run(
    folder: Path,
    how: BreedingSize,
    seed: int,
    *,
    workers: int = 1,
    report: Report = lambda done, total: None,
) -> dict[str, Any]:
    """Measure a run's snapshots against the panel, its own generation 0, and each other."""
    kept = snapshots(folder, how.step)
    weights = {g: OpeningEvolution.load(path).weights_ for g, path in kept.items()}
    # A best network that survived would repeat its games: they are played only once.
    same = {g: next(e for e in kept if np.array_equal(weights[e], weights[g])) for g in kept}
    first = min(kept)
    opponents = {**dict(zip(PANEL, PANEL, strict=True)), FIRST: str(kept[first])}
    terms = how.expert, how.games, seed
    duels: dict[tuple[int, Any], Duel] = {
        (g, name): Duel(str(kept[g]), spec, *terms)
        for g in sorted(set(same.values()))
        for name, spec in opponents.items()
        if (g, name) != (first, FIRST)
    }
    pairs = list(combinations(kept, 2))
    for a, b in pairs:
        duels[a, b] = Duel(str(kept[a]), str(kept[b]), how.expert, 2 * how.starts, seed, (a, b))
    jobs = {
        f"{a} {b}|{how.starts if duel.key else how.games}|{how.expert}|{seed}": duel
        for (a, b), duel in duels.items()
    }
    journal = Journal(folder / "duels.jsonl")
    found = journal.complete(jobs, play_duel, workers=workers, report=report)
    scores = {pair: np.array(row["scores"]) for pair, row in zip(duels, found, strict=True)}
    rows: list[dict[str, Any]] = []
    for generation, twin in same.items():
        rates = {n: Rate.of(scores[twin, n]) for n in opponents if (twin, n) in scores}
        rates["panel"] = Rate.pooled([rates[name] for name in PANEL])
        row = {name: asdict(rate) for name, rate in rates.items()}
        rows.append({"generation": generation, **row})
    robins = {pair: scores[pair] for pair in pairs}
    points = round_robin(list(kept), robins)
    steps = [row["generation"] for row in rows]
    trends = {
        name: asdict(Trend.through(steps, [row[name]["win_rate"] for row in rows]))
        for name in (*PANEL, "panel")
    }
    trend = asdict(Trend.through(list(points), list(points.values())))
    whole = {"points": {str(g): value for g, value in points.items()}, "trend": trend}
    return {"rows": rows, "trends": trends, "gain": gain_of(rows), "round_robin": whole}


def round_robin(entrants: list[int], scores: dict[tuple[int, int], FloatArray]) -> dict[int, float]:
    """Return each entrant's points, two games per pair; scores are from the first entrant's view.

    Points are the paper's, averaged over starts so that the totals are comparable with its tables.
    """
    points = dict.fromkeys(entrants, 0.0)
    for (a, b), own in scores.items():
        for entrant, view in ((a, own), (b, -own)):
            gain = np.where(view > 0, 2.0, np.where(view < 0, -1.0, 1.0))
            points[entrant] += 2 * float(gain.mean())
    return points


def gain_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Compare the last generation's wins against the panel with the first's; `p` is one-sided."""
    a, b = rows[0]["panel"], rows[-1]["panel"]
    n, m = a["games"], b["games"]
    share = (n * a["win_rate"] + m * b["win_rate"]) / (n + m)
    width = math.sqrt(max(share * (1 - share), 1e-12) * (1 / n + 1 / m))
    z = (b["win_rate"] - a["win_rate"]) / width
    return {"first": a["win_rate"], "last": b["win_rate"], "z": z, "p": _above(z)}


def _above(z: float) -> float:
    """Return the probability that a standard normal variable exceeds z."""
    return 0.5 * math.erfc(z / math.sqrt(2))


def over_seeds(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarise the evaluated runs of one method over its seeds.

    `p` combines the runs' gains (Stouffer), `p_seeds` is the paired t-test over seeds. `trend` and
    `points` have one slope for all runs' panel rates and round robins, with one intercept per run.
    """
    stats = import_extra("scipy.stats", "lab")

    gains = [run["gain"] for run in runs]
    z = sum(gain["z"] for gain in gains) / math.sqrt(len(gains))
    steps = [gain["last"] - gain["first"] for gain in gains]
    # Equal steps have no variance to test against.
    tested = len(set(steps)) > 1
    test = stats.ttest_1samp(steps, 0.0, alternative="greater") if tested else None
    rates = [_panel_rates(run) for run in runs]
    robins = [run["round_robin"]["points"] for run in runs]
    points = Trend.common([([int(g) for g in one], list(one.values())) for one in robins])
    return {
        "runs": len(runs),
        "first": float(np.mean([gain["first"] for gain in gains])),
        "last": float(np.mean([gain["last"] for gain in gains])),
        "p": _above(z),
        "p_seeds": float(test.pvalue) if test else None,
        "trend": asdict(Trend.common(rates)),
        "points": asdict(points),
    }


def _panel_rates(run: dict[str, Any]) -> tuple[list[int], list[float]]:
    """Return the generations of an evaluated run and their wins against the panel."""
    rows = run["rows"]
    return [row["generation"] for row in rows], [row["panel"]["win_rate"] for row in rows]


def points_plot(run: dict[str, Any]) -> Plot:
    """Plot a run's points by generation with their trend line, as in Figures 9 and 10."""
    points, trend = run["round_robin"]["points"], run["round_robin"]["trend"]
    x, y = [int(generation) for generation in points], list(points.values())
    middle = float(np.mean(y)) - trend["slope"] * float(np.mean(x))
    straight = [middle + trend["slope"] * g for g in x]
    lines = [Line("points", x, y), Line(f"trend, p = {trend['p']:.2g}", x, straight)]
    title = f"Points of the double round robin: {run['folder']}"
    return Plot(title, "generation", "points", lines)


# ----- Breeding over seeds -----


@dataclass(frozen=True)
class BreedingSize(CheckedSettings):
    """What is bred, for how long, and how many games evaluate it."""

    network: str = setting("dense", "The network's shape.", choices=tuple(SHAPES))
    method: str = setting("paper", "How networks are bred.", choices=tuple(METHODS))
    generations: int = setting(0, "0 for the method's default.", least=0)
    every: int = setting(0, "Generations between evaluations; 0 for a tenth.", least=0)
    seeds: int = setting(3, "Independent repetitions.", least=1)
    games: int = setting(400, "Games against each opponent of the panel.", least=2)
    starts: int = setting(5, "Random starts per pair in the round robin.", least=1)
    expert: str = setting("static", "Finishes the games of evaluations.")
    changes: tuple[tuple[str, Any], ...] = ()  # of the method's settings, e.g. of the board
    runs: tuple[str, ...] = setting((), "Folders of finished runs to evaluate instead of new ones.")

    @property
    def length(self) -> int:
        """Generations to breed."""
        return self.generations or METHODS[self.method][0]

    @property
    def step(self) -> int:
        """Generations between evaluations."""
        return self.every or max(self.length // 10, 1)

    def settings(self, seed: int) -> EvolutionSettings:
        """Return the settings of one seed."""
        few = self.method != "paper" and _FEW_WEIGHTS.get(self.network)
        settings: dict[str, Any] = {
            "network": few or self.network, "seed": seed, "generations": self.length,
            "snapshot_every": math.gcd(250, self.step),
        }  # fmt: skip
        return EvolutionSettings(**settings | METHODS[self.method][1] | dict(self.changes))


def breeding(context: LabContext, size: BreedingSize) -> Findings:
    """Breed networks over seeds and evaluate them against a panel, or evaluate finished runs."""
    folders = [Path(run) for run in size.runs]
    folders = folders or [_breed(context, size, number) for number in range(size.seeds)]
    judged = []
    for folder in folders:
        run = read_run(folder)
        if run is None or run.learner != OpeningEvolution.kind:
            raise TengenError(f"{folder}: no run of {OpeningEvolution.kind}")
        settings = to_plain(from_plain(EvolutionSettings, run.settings, where=f"{folder}"))
        report = context.between(0.8, 0.95, f"{folder.name}: duels")
        found = judge_run(folder, size, context.seed, workers=context.workers, report=report)
        judged.append({"folder": folder.name, "settings": settings, **found})
    data: dict[str, Any] = {"runs": judged, "over_seeds": over_seeds(judged)}
    text, method = PAPER.texts["opening-evolution"], PAPER.texts[size.method]
    return Findings(
        text=text.format(size, method=method, **judged[0]["settings"]),
        tables=[_panel_table(run, size.games) for run in judged] + [_trend_table(data, size)],
        figures=[_fitness_plot(folders[0]), _panel_plot(judged), *map(points_plot, judged)],
        comparisons=_comparisons(data, size),
        data=data,
    )  # fmt: skip


def _breed(context: LabContext, size: BreedingSize, number: int) -> Path:
    """Breed with one of the seeds in its folder, continuing a stopped run."""
    seed, share = context.seed + number, 0.9 / size.seeds
    folder = context.place(f"opening-evolution/{size.method}-{size.network}-seed{seed}")
    low, high = number * share, (number + 0.8) * share
    report = context.between(low, high, f"seed {seed}: generation")
    train(
        folder, size.settings(seed), resume=True, workers=context.workers, ray=context.ray,
        on_generation=lambda state: report(state.generation, size.length),
    )  # fmt: skip
    return folder


def _panel_table(run: dict[str, Any], games: int) -> Table:
    """Return the best networks against the panel, with their points among themselves."""
    names = (*PANEL, "panel", FIRST)
    rows = []
    for row in run["rows"]:
        points = run["round_robin"]["points"][str(row["generation"])]
        rates = [percent(row[n]["win_rate"], row[n]["interval"]) if n in row else "" for n in names]
        rows.append([row["generation"], f"{points:+.1f}", *rates])
    title = f"{run['folder']}: best networks against the panel ({games} games each)"
    columns = ["generation", "points", *PANEL, "all three", FIRST]
    note = "Points: double round robin of these networks; win +2, draw +1, loss -1 as in the paper."
    return Table(title, columns, rows, note=note)


def _trend_table(data: dict[str, Any], size: BreedingSize) -> Table:
    """Return the trends of wins and points, for each run and for all runs together."""
    whole = data["over_seeds"]
    lines = [
        (run["folder"], name, trend)
        for run in data["runs"]
        for name, trend in {**run["trends"], "points": run["round_robin"]["trend"]}.items()
    ]
    lines += [("all seeds", "panel", whole["trend"]), ("all seeds", "points", whole["points"])]
    if size.network in PAPER.more["tables"]:
        lines.append(("the paper", "points", asdict(paper_trend(size.network))))
    rows = [
        [run, name, f"{trend['slope']:+.3g}", f"{trend['r']:+.2f}", f"{trend['p']:.3g}"]
        for run, name, trend in lines
    ]
    strict = whole["p_seeds"]
    seeds = "" if strict is None else f", a seed as one observation {strict:.2g}"
    note = (
        f"Over {whole['runs']} seeds generation 0 wins {whole['first']:.1%} against the panel and "
        f"the last {whole['last']:.1%}; p = {whole['p']:.2g}{seeds}."
    )
    columns = ["run", "of", "slope", "r", "p"]
    return Table("Straight lines over generations", columns, rows, note)


def _fitness_plot(folder: Path) -> Plot:
    rows = read_metrics(folder)
    steps = [row["step"] for row in rows]
    names = {"best": "best of the generation", "mean": "mean"}
    lines = [line(name, steps, [row[key] for row in rows]) for key, name in names.items()]
    title = "Fitness while breeding: final score, by generation"
    return Plot(title, "generation", "points", lines)


def _panel_plot(runs: list[dict[str, Any]]) -> Plot:
    lines = []
    for run in runs:
        name = run["folder"] if len(runs) > 1 else "against the panel"
        intervals = [row["panel"]["interval"] for row in run["rows"]] if len(runs) < 4 else None
        lines.append(line(name, *_panel_rates(run), intervals))
    return Plot("Wins against the panel, by generation", "generation", "wins", lines)


def _comparisons(data: dict[str, Any], size: BreedingSize) -> list[Comparison]:
    """Compare with the paper's claims that points rise, and that openings get better."""
    rows, whole, p = [], data["over_seeds"], data["over_seeds"]["p"]
    paper = size.method == "paper" and size.network in PAPER.more["tables"]
    long = size.length >= METHODS[size.method][0]
    for run in data["runs"] if paper else ():
        trend = run["round_robin"]["trend"]
        rising = trend["p"] < 0.05 and trend["slope"] > 0
        text = f"slope {trend['slope']:+.3g}, p = {trend['p']:.2g}"
        why = f"{size.starts} random starts per pair, both colours."
        claim, name = f"kendall.points.{size.network}", run["folder"]
        rows.append(compare(claim, detail=name, holds=rising, text=text, why=why, full=long))
    better = compare(
        "kendall.learning" if paper else "kendall.learning.other",
        detail=f"{size.length} generations, {size.network} network",
        holds=True if p < 0.05 else False if paper or p > 0.95 else None,
        full=long if paper else size.seeds > 1,
        text=f"{percent(whole['first'])} to {percent(whole['last'])}, p = {p:.2g}",
        why=f"Wins of generations 0 and {size.length} against the panel, one-sided test; "
        f"seeds: {whole['runs']}.",
    )
    return [*rows, better]


# ----- The paper's own numbers, and the shipped champions -----


@dataclass(frozen=True)
class PaperSize:
    """Games of each champion against each opponent."""

    games: int = 60


def paper_numbers(context: LabContext, size: PaperSize) -> Findings:
    """Test the paper's own tables; measure the shipped champions."""
    rows = []
    for name in CHAMPIONS:
        context.at(0.5, name)
        duels = [Duel(name, o, "static", size.games, context.seed) for o in ("random", "maxlib")]
        rates = [Rate.of(play_duel(duel)["scores"]) for duel in duels]
        rows.append([name, *(percent(rate.win_rate, rate.interval) for rate in rates)])
    tested, lines, comparisons = [], [], []
    for name, table in PAPER.more["tables"].items():
        points, ours = table["points"], SHAPES[name](13, 13).n_weights
        trend, where = paper_trend(name), PAPER.claims[f"kendall.line.{name}"].where
        shown = [number(trend.slope), f"{trend.r:.2f}", f"{trend.p:.2f}"]
        tested.append([where, name, " ".join(map(str, points)), *shown])
        steps = [table["every"] * i for i in range(len(points))]
        lines.append(line(f"{where}, {name}", steps, points))
        text, fits = f"slope {shown[0]}, p = {shown[2]}", 1 <= ours / table["weights"] <= 1.03
        comparisons += [
            compare(f"kendall.line.{name}", holds=trend.p < 0.05, text=text),
            compare(f"kendall.weights.{name}", holds=fits, text=f"{ours:,} with biases"),
        ]
    columns = ["table", "network", "points by generation", "slope", "r", "p"]
    note = "A straight line through the points; p is the probability of such a slope by chance."
    champions = "Shipped champions' openings, finished by the rule player"
    title = "The paper's points: is there a trend?"
    return Findings(
        text=PAPER.texts["opening-evolution-paper"],
        tables=[
            Table("The paper's own tables, tested", columns, tested, note),
            Table(champions, ["player", "random", "maxlib"], rows),
        ],
        figures=[Plot(title, "generation", "points", lines)],
        comparisons=comparisons,
    )


def paper_trend(network: str) -> Trend:
    """Return the line through the paper's points, one step of its table as the unit."""
    points = PAPER.more["tables"][network]["points"]
    return Trend.through(list(range(len(points))), points)


DENSE = BreedingSize(generations=20_000, every=1_000)
SPATIAL = BreedingSize(network="spatial", generations=60_000, every=10_000)
"""The paper's two experiments at its own scale."""

EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-evolution-paper", "opening-evolution", "The paper's tables, tested", paper_numbers,
        quick=PaperSize(), full=PaperSize(400), minutes=(0.1, 1),
    ),
    Experiment(
        "opening-evolution", "opening-evolution", "A method that learns", breeding,
        quick=BreedingSize(
            network="spatial", method="better", generations=40, every=10, seeds=1, games=60,
            starts=3,
        ),
        full=BreedingSize(network="spatial", method="better", seeds=5), minutes=(0.65, 120),
    ),
    Experiment(
        "opening-evolution-dense", "opening-evolution", "Table I", breeding,
        quick=BreedingSize(generations=100, every=20, seeds=1, games=20, starts=2),
        full=DENSE, minutes=(0.2, 600),
    ),
    Experiment(
        "opening-evolution-spatial", "opening-evolution", "Table II", breeding, full=SPATIAL,
        minutes=(1, 1200),
    ),
)  # fmt: skip
