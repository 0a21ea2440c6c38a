"""Openings by evolution (Kendall 2004): populations bred and judged, and the paper's tables tested.

What is bred and played is in `tengen.lab.opening_evolution`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tengen.lab import opening_evolution as lab
from tengen.lab import papers
from tengen.lab.content import Plot, Result, Table, line, percent, table
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare, number
from tengen.learners.opening_evolution import SHAPES, Breeding, EvolutionSettings
from tengen.models import has_model
from tengen.models.runs import read_metrics
from tengen.models.settings import CheckedSettings, setting, to_plain
from tengen.statistics import Rate, Trend

_TABLES = {"dense": "Table I", "spatial": "Table II"}
CHAMPIONS = ("evolved-minimax-13x13", "evolved-spatial-13x13")
"""The shipped networks, the strongest first."""


# ----- Breeding -----


@dataclass(frozen=True)
class BreedingSize(CheckedSettings):
    """What is bred, for how long, and how much is played to judge it."""

    network: str = setting(
        "dense", "The paper's dense or spatial network, or another.", choices=SHAPES
    )
    method: str = setting(
        "paper",
        "paper; better: few weights, playouts judge, CMA-ES; champion: the same for long, in small "
        "steps, with a hall of fame.",
        choices=lab.METHODS,
    )
    generations: int = setting(
        0, "0 for the method's: paper 5,000, better 100, champion 200.", least=0
    )
    every: int = setting(0, "Judge every so many generations; 0 for a tenth.", least=0)
    seeds: int = setting(3, "Independent repetitions.", least=1)
    games: int = setting(400, "Games against each of the panel.", least=2)
    starts: int = setting(5, "Random starts of a pair in the round robin.", least=1)
    expert: str = setting("static", "Who finishes the games that judge.")
    noise: int = setting(0, "Also correlate fitness with the panel, of so many networks.", least=0)
    changes: tuple[tuple[str, Any], ...] = ()
    """What differs from the method's settings, as pairs, e.g. the board."""

    @property
    def length(self) -> int:
        """Generations to breed."""
        return self.generations or lab.METHODS[self.method][1]

    @property
    def step(self) -> int:
        """Generations from one judged best to the next."""
        return self.every or max(self.length // 10, 1)

    def settings(self, seed: int) -> EvolutionSettings:
        """Return what is bred with a seed."""
        make, _ = lab.METHODS[self.method]
        made = make(self.network, seed, self.length, math.gcd(250, self.step))
        return replace(made, **dict(self.changes))


def breeding(context: Context, size: BreedingSize, runs: Sequence[Path] = ()) -> Result:
    """Breed over seeds and judge by a panel that stays the same; or judge runs that are there."""
    share = 0.9 / (len(runs) or size.seeds)
    folders = list(runs)
    if not folders:
        for number_, seed in enumerate(range(context.seed, context.seed + size.seeds)):
            low = number_ * share
            folders.append(_breed(context, size, seed, (low, low + 0.8 * share)))
    how = lab.Judging(size.step, size.games, size.starts, context.seed, size.expert)
    judged = []
    for folder in folders:
        settings = to_plain(lab.run_settings(folder))
        tell = context.between(0.8, 0.95, f"{folder.name}: duels")
        found = lab.judge_run(folder, how, workers=context.workers, tell=tell)
        judged.append({"folder": folder.name, "settings": settings, **found})
    data: dict[str, Any] = {"runs": judged, "over_seeds": lab.over_seeds(judged)}
    if size.noise:
        context.at(0.95, "selection noise")
        plan = lab.paper_method(size.network, context.seed + 1000, 1)
        data["noise"] = lab.selection_noise(plan, individuals=size.noise, games=100)
    return Result(
        text=_about(size, judged[0]["settings"]),
        tables=[
            *(_panel_table(run, size.games) for run in judged),
            _trend_table(data, size.network),
            *_noise_table(data),
        ],
        figures=[
            _fitness_plot(folders[0]),
            _panel_plot(judged),
            *(
                lab.points_plot(f"Points of the double round robin: {run['folder']}",
                                run["round_robin"]["points"], run["round_robin"]["trend"])
                for run in judged
            ),
        ],
        comparisons=_comparisons(data, size),
        data=data,
    )  # fmt: skip


def _breed(context: Context, size: BreedingSize, seed: int, share: tuple[float, float]) -> Path:
    """Breed with one seed in its folder, going on where that was stopped."""
    settings = size.settings(seed)
    folder = context.place(f"opening-evolution/{size.method}-{size.network}-seed{seed}")
    tell = context.between(*share, f"seed {seed}: generation")

    def advance(state: Breeding) -> None:
        tell(state.generation, settings.generations)

    lab.train(
        folder, settings, resume=True, workers=context.workers, ray=context.ray,
        on_generation=advance,
    )  # fmt: skip
    return folder


def _about(size: BreedingSize, settings: dict[str, Any]) -> str:
    """Say what was bred, and how."""
    method = {
        "paper": "The paper's method: one finished game as Black an individual, the better half "
        "survives.",
        "better": "This is the method that learns here, not the paper's: few weights, four games "
        "each from common random starts against two opponents, CMA-ES, and playouts that judge the "
        "openings.",
        "champion": "The champions' method: few weights, small steps of a mean, ever more games "
        "against three opponents and a hall of fame, and playouts that judge the openings.",
    }[size.method]
    return (
        f"Networks are bred for {size.length} generations (the paper: 20,000 and 60,000) by the "
        f"final scores of games that begin with their {settings['moves']} moves on a board of "
        f"{settings['rows']}. {method} The rule player finishes the games of the panel."
    )


def _panel_table(run: dict[str, Any], games: int) -> Table:
    """Return the bests of generations against the panel, with their points among themselves."""
    names = (*lab.PANEL, "panel", lab.FIRST)
    rows = []
    for row in run["rows"]:
        points = run["round_robin"]["points"][str(row["generation"])]
        rates = [percent(row[n]["win_rate"], row[n]["interval"]) if n in row else "" for n in names]
        rows.append([row["generation"], f"{points:+.1f}", *rates])
    title = f"{run['folder']}: bests of generations against a panel that stays ({games} games each)"
    columns = ["generation", "points", *lab.PANEL, "all three", lab.FIRST]
    note = "Points: double round robin of these bests, win +2, draw +1, loss -1, as in the paper."
    return table(title, columns, rows, note=note)


def _trend_table(data: dict[str, Any], network: str) -> Table:
    """Return the lines through the bests' wins and points, of each run and of all together."""
    rows = []
    for run in data["runs"]:
        lines = {**run["trends"], "points": run["round_robin"]["trend"]}
        rows += [_trend_row(run["folder"], name, trend) for name, trend in lines.items()]
    whole = data["over_seeds"]
    rows += [_trend_row("all seeds", name, whole[key]) for name, key in
             (("panel", "trend"), ("points", "points"))]  # fmt: skip
    if network in papers.EVOLUTION_POINTS:
        rows.append(_trend_row("the paper", "points", asdict(paper_trend(network))))
    seeds = (
        "" if whole["p_seeds"] is None else f", a seed being one observation {whole['p_seeds']:.2g}"
    )
    note = (
        f"Over {whole['runs']} seeds the panel is beaten {whole['first']:.1%} by generation 0 and "
        f"{whole['last']:.1%} by the last; p = {whole['p']:.2g}{seeds}."
    )
    return table(
        "Straight lines over generations", ["run", "of", "slope", "r", "p"], rows, note=note
    )


def _trend_row(run: str, name: str, trend: dict[str, float]) -> list[str]:
    return [run, name, f"{trend['slope']:+.3g}", f"{trend['r']:+.2f}", f"{trend['p']:.3g}"]


def _noise_table(data: dict[str, Any]) -> list[Table]:
    """Return how well fitness foretells wins, where that was asked."""
    found = data.get("noise", {})
    rows = [
        [name, f"{value['r']:+.2f}", f"{value['p']:.2g}", f"{value['spread']:.1f}"]
        for name, value in found.items()
        if isinstance(value, dict)
    ]
    title = "What a fitness tells of a network's wins against the panel"
    return [table(title, ["fitness", "r", "p", "spread"], rows)] if rows else []


def _fitness_plot(folder: Path) -> Plot:
    """Draw the fitness of a run's generations."""
    rows = read_metrics(folder)
    steps = [row["step"] for row in rows]
    names = {"best": "best of the generation", "mean": "mean"}
    lines = [line(name, steps, [row[key] for row in rows]) for key, name in names.items()]
    title = "Fitness while breeding: final score, by generation"
    return Plot(title, "generation", "points", lines)


def _panel_plot(runs: list[dict[str, Any]]) -> Plot:
    """Draw the wins against the panel over generations, one line a run."""
    lines = [
        line(
            run["folder"] if len(runs) > 1 else "against the panel",
            [row["generation"] for row in run["rows"]],
            [row["panel"]["win_rate"] for row in run["rows"]],
            [row["panel"]["interval"] for row in run["rows"]] if len(runs) < 4 else None,
        )
        for run in runs
    ]
    return Plot("Wins against the panel, by generation", "generation", "wins", lines)


def _comparisons(data: dict[str, Any], size: BreedingSize) -> list[Comparison]:
    """Judge the paper's claim that points rise, and that openings get better."""
    rows = []
    paper = size.method == "paper" and size.network in _TABLES
    for run in data["runs"] if paper else ():
        trend = run["round_robin"]["trend"]
        rows.append(
            compare(
                _TABLES[size.network], f"points rise with generations, {run['folder']}", None, None,
                holds=trend["p"] < 0.05 and trend["slope"] > 0, paper_text="rising line",
                our_text=f"slope {trend['slope']:+.3g}, p = {trend['p']:.2g}",
                why=f"{size.starts} random starts a pair, both colours.",
            )
        )  # fmt: skip
    whole = data["over_seeds"]
    p = whole["p"]
    what = f"{size.length} generations improve the opening"
    if paper:
        what = f"{what} ({size.network} network, the paper's method)"
    rows.append(
        compare(
            "Conclusion", what, None, None,
            holds=True if p < 0.05 else False if paper or p > 0.95 else None,
            paper_text="they learn", full=paper or size.seeds > 1,
            our_text=f"{percent(whole['first'])} to {percent(whole['last'])}, p = {p:.2g}",
            why=f"Wins against the panel, generation 0 and {size.length}, seeds: {whole['runs']}; "
            "one-sided" + ("." if paper else "; by another method than the paper's."),
        )
    )  # fmt: skip
    return rows


# ----- The paper's own numbers, and the shipped champions -----


@dataclass(frozen=True)
class PaperSize:
    """Games of each champion against each opponent."""

    games: int = 60


def paper_numbers(context: Context, size: PaperSize) -> Result:
    """Test the paper's own tables; measure the shipped champions beside them."""
    rows = []
    for name in CHAMPIONS:
        if has_model(name):
            context.at(0.5, name)
            duels = [
                lab.Duel(name, opponent, "static", size.games, context.seed)
                for opponent in ("random", "maxlib")
            ]
            rates = [Rate.of(lab.play_duel(duel)["scores"]) for duel in duels]
            rows.append([name, *(percent(rate.win_rate, rate.interval) for rate in rates)])
    shipped = "Shipped champions' openings, finished by the rule player"
    return Result(
        text="The paper reads learning off a line that rises through its points. Tested, the lines "
        "may come from chance. Below them the champions that were bred here.",
        tables=[
            _paper_table(),
            *([table(shipped, ["player", "random", "maxlib"], rows)] if rows else []),
        ],
        figures=[_paper_plot()],
        comparisons=[*_paper_claims(), *_network_sizes()],
    )


def paper_trend(network: str) -> Trend:
    """Return the line through the paper's points, a step of its table being one."""
    points = papers.EVOLUTION_POINTS[network]
    return Trend.through(list(range(len(points))), points)


def _paper_table() -> Table:
    """Return the paper's points with the trend through them."""
    rows = []
    for name, points in papers.EVOLUTION_POINTS.items():
        trend = paper_trend(name)
        shown = " ".join(f"{v:d}" for v in points)
        row = [_TABLES[name], name, shown, number(trend.slope), f"{trend.r:.2f}", f"{trend.p:.2f}"]
        rows.append(row)
    columns = ["table", "network", "points by generation", "slope", "r", "p"]
    note = "A straight line through the paper's points; p is the chance of such a slope from none."
    return table("The paper's own tables, tested", columns, rows, note=note)


def _paper_plot() -> Plot:
    """Draw the paper's points over generations."""
    lines = []
    for name, points in papers.EVOLUTION_POINTS.items():
        x = [papers.EVOLUTION_EVERY[name] * i for i in range(len(points))]
        lines.append(line(f"{_TABLES[name]}, {name}", x, points))
    return Plot("The paper's points: is there a trend?", "generation", "points", lines)


def _paper_claims() -> list[Comparison]:
    """Judge the paper's claim of learning by its own numbers."""
    rows = []
    for name, where in _TABLES.items():
        trend = paper_trend(name)
        rows.append(
            compare(
                where, f"the points show learning ({name} network)", None, None,
                holds=trend.p < 0.05, paper_text="rising line",
                our_text=f"slope {number(trend.slope)}, p = {trend.p:.2f}",
                why="Its own points: a slope like that comes from chance too often.",
            )
        )  # fmt: skip
    return rows


def _network_sizes() -> list[Comparison]:
    """Compare the sizes of the paper's two networks."""
    rows = []
    for name, paper in papers.EVOLUTION_WEIGHTS.items():
        ours = SHAPES[name](13, 13).n_weights
        rows.append(
            compare(
                "Networks", f"weights of the {name} network", None, None,
                holds=paper <= ours <= 1.03 * paper, paper_text=f"{paper:,} (counted)",
                our_text=f"{ours:,} with biases", why="The paper does not mention biases.",
            )
        )  # fmt: skip
    return rows


DENSE = BreedingSize(generations=20_000, every=1_000)
SPATIAL = BreedingSize(network="spatial", generations=60_000, every=10_000)
"""The paper's two experiments at its own scale."""

EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-evolution-paper", "opening-evolution", "The paper's tables, tested", paper_numbers,
        quick=PaperSize(), full=PaperSize(400), minutes=(0.2, 1),
    ),
    Experiment(
        "opening-evolution", "opening-evolution", "A method that learns", breeding,
        quick=BreedingSize(
            network="spatial", method="better", generations=40, every=10, seeds=1, games=60,
            starts=3,
        ),
        full=BreedingSize(network="spatial", method="better", seeds=5), minutes=(0.4, 120),
    ),
    Experiment(
        "opening-evolution-dense", "opening-evolution", "Table I", breeding, full=DENSE,
        minutes=(1, 600),
    ),
    Experiment(
        "opening-evolution-spatial", "opening-evolution", "Table II", breeding, full=SPATIAL,
        minutes=(1, 1200),
    ),
)  # fmt: skip
