"""Openings by evolution (Kendall 2004): a small population bred, and the paper's tables judged.

The experiments themselves are in `tengen.lab.opening_evolution`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tengen.lab import papers
from tengen.lab.content import Plot, Result, Table, line, percent, table
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare, number
from tengen.statistics import Trend

TABLES = {"dense": "Table I", "spatial": "Table II"}


@dataclass(frozen=True)
class Size:
    """How long is bred, and how much is played."""

    method: str = "better"
    network: str = "spatial"
    generations: int = 40
    every: int = 10
    games: int = 60
    starts: int = 3
    changes: tuple[tuple[str, Any], ...] = ()
    """What differs from the method's plan, as pairs, e.g. the board."""


QUICK = Size()


def quick(context: Context, size: Size = QUICK) -> Result:
    """Breed a small population by the method that learns; judge it by a panel that stays."""
    from tengen.lab.opening_evolution import METHODS, against
    from tengen.learners.opening_evolution import OpeningEvolution, Setting
    from tengen.models import find_model, has_model
    from tengen.players import make_expert, make_player

    plan = METHODS[size.method](size.network, context.seed, size.generations, size.every)
    plan = replace(plan, **dict(size.changes))
    folder = context.place("opening-evolution")
    value = breed(context, plan, folder, size.every, size.games, size.starts, (0.0, 0.9))
    history = read_history(folder)
    gain = value["gain"]
    rows = []
    for name in ("evolved-minimax-13x13", "evolved-tied-13x13", "evolved-spatial-13x13"):
        if has_model(name) and plan.rows == 13:
            context.at(0.95, name)
            model = OpeningEvolution.load(find_model(name))
            setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
            cells = [name]
            for opponent in ("random", "maxlib"):
                rate = against(
                    model.player(), make_player(opponent), make_expert("static"), setting,
                    size.games, context.seed,
                )  # fmt: skip
                cells.append(percent(rate.win_rate, rate.interval))
            rows.append(cells)
    shipped = "Shipped champions' openings, finished by the rule player"
    better = gain["last"] > gain["first"]
    return Result(
        text=f"{plan.population} networks are bred for {size.generations} generations (the "
        "paper: 20,000 and 60,000) by the final scores of games that begin with their "
        f"{plan.moves} moves on {plan.rows}x{plan.cols}. This is the method that learns here, not "
        "the paper's: few weights, four games each from common random starts against two "
        "opponents, CMA-ES, and playouts that judge the openings. The rule player finishes the "
        "games of the panel.",
        tables=[
            panel_table(f"Bests of generations against a panel that stays ({size.games} games "
                        "each)", value),
            *([table(shipped, ["player", "random", "maxlib"], rows)] if rows else []),
            *paper_tables(),
        ],
        figures=[
            Plot(
                "Fitness while breeding: final score, by generation", "generation", "points",
                [
                    line("best of the generation", *_columns(history, "best")),
                    line("mean", *_columns(history, "mean")),
                ],
            ),
            panel_plot([value]),
            paper_points(),
        ],
        comparisons=[
            *paper_trends(),
            *_sizes(),
            compare(
                "Conclusion", f"{size.generations} generations improve the opening", None, None,
                holds=True if gain["p"] < 0.05 else False if gain["p"] > 0.95 else None,
                paper_text="they learn", full=False,
                our_text=f"{percent(gain['first'])} to {percent(gain['last'])}, p = "
                f"{gain['p']:.2g}",
                why="Wins of the first and the last best against the panel, one-sided test; by "
                + ("another method than the paper's." if better else "one short run."),
            ),
        ],
    )  # fmt: skip


def breed(
    context: Context,
    plan: Any,
    folder: Path,
    every: int,
    games: int,
    starts: int,
    share: tuple[float, float],
) -> dict[str, Any]:
    """Run a plan in its folder, going on where it stopped, and judge its snapshots once.

    The rule player finishes what is judged, whoever judged while breeding.
    """
    from tengen.lab import opening_evolution as lab
    from tengen.learners.opening_evolution import (
        OpeningEvolution,
        Setting,
        make_judge,
        measure_with,
    )
    from tengen.players import make_expert, make_player

    low, high = share
    tell = context.between(low, low + 0.8 * (high - low), "generation")
    judge, expert = make_judge(plan.expert, make_player, make_expert), make_expert("static")
    opponents = [
        [make_player(spec) for spec in plan.opponent.split(" + ")] for _ in range(context.workers)
    ]
    OpeningEvolution(plan=plan).fit(
        measure_with(opponents, judge), folder=folder, resume=True,
        on_generation=lambda run: tell(run.generation, plan.generations),
    )  # fmt: skip

    def judged() -> dict[str, Any]:
        panel = {name: make_player(name) for name in lab.PANEL}
        value = lab.judge_run(
            folder, plan, panel, expert, games=games, every=every, seed=context.seed,
            on_step=lambda note: context.at(low + 0.9 * (high - low), note),
        )  # fmt: skip
        kept = {g: w for g, w in lab.snapshots(folder).items() if g % every == 0}
        setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
        points = lab.round_robin(plan.shape(), kept, expert, setting, starts, context.seed)
        trend = Trend.through(list(points), list(points.values()))
        return {
            "rows": value["rows"], "gain": value["gain"], "trend": asdict(trend),
            "points": {str(g): p for g, p in points.items()},
        }  # fmt: skip

    name = folder.relative_to(context.folder) / "judged"
    return context.once(str(name), judged)


def panel_table(title: str, value: dict[str, Any]) -> Table:
    """Return the bests of generations against the panel, with their points among themselves."""
    from tengen.lab.opening_evolution import PANEL

    names = (*PANEL, "panel")
    rows = [
        [
            row["generation"],
            f"{value['points'][str(row['generation'])]:+.1f}",
            *(percent(row[name]["win_rate"], row[name]["interval"]) for name in names),
        ]
        for row in value["rows"]
    ]
    columns = ["generation", "points", *PANEL, "all three"]
    note = "Points: double round robin of these bests, win +2, draw +1, loss -1, as in the paper."
    return table(title, columns, rows, note=note)


def panel_plot(values: list[dict[str, Any]]) -> Plot:
    """Draw the wins against the panel over generations, one line a run."""
    lines = [
        line(
            f"seed {seed}" if len(values) > 1 else "against the panel",
            [row["generation"] for row in value["rows"]],
            [row["panel"]["win_rate"] for row in value["rows"]],
            [row["panel"]["interval"] for row in value["rows"]] if len(values) < 4 else None,
        )
        for seed, value in enumerate(values)
    ]
    return Plot("Wins against the panel, by generation", "generation", "wins", lines)


def read_history(folder: Path) -> list[dict[str, Any]]:
    """Return a run's notes, one a generation."""
    text = (folder / "metrics.jsonl").read_text()
    return [json.loads(row) for row in text.splitlines() if row.strip()]


def _columns(history: list[dict[str, Any]], name: str) -> tuple[list[float], list[float]]:
    return [row["generation"] for row in history], [row[name] for row in history]


def _sizes() -> list[Comparison]:
    """Compare the sizes of the paper's two networks."""
    from tengen.learners.opening_evolution import SHAPES

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


# ----- The paper's own numbers -----


def paper_tables() -> list[Table]:
    """Return the paper's points with the trend through them."""
    rows = []
    for name, points in papers.EVOLUTION_POINTS.items():
        slope, r, p = _trend(name)
        shown = " ".join(f"{v:d}" for v in points)
        rows.append([TABLES[name], name, shown, number(slope), f"{r:.2f}", f"{p:.2f}"])
    columns = ["table", "network", "points by generation", "slope", "r", "p"]
    note = "A straight line through the paper's points; p is the chance of such a slope from none."
    return [table("The paper's own tables, tested", columns, rows, note=note)]


def _trend(name: str) -> tuple[float, float, float]:
    """Return slope (per table step), correlation and p of the paper's points."""

    points = papers.EVOLUTION_POINTS[name]
    trend = Trend.through(list(range(len(points))), points)
    return trend.slope, trend.r, trend.p


def paper_points() -> Plot:
    """Draw the paper's points over generations."""
    lines = []
    for name, points in papers.EVOLUTION_POINTS.items():
        x = [papers.EVOLUTION_EVERY[name] * i for i in range(len(points))]
        lines.append(line(f"{TABLES[name]}, {name}", x, points))
    return Plot("The paper's points: is there a trend?", "generation", "points", lines)


def paper_trends() -> list[Comparison]:
    """Judge the paper's claim of learning by its own numbers."""
    rows = []
    for name, where in TABLES.items():
        slope, _, p = _trend(name)
        rows.append(
            compare(
                where, f"the points show learning ({name} network)", None, None, holds=p < 0.05,
                paper_text="rising line", our_text=f"slope {number(slope)}, p = {p:.2f}",
                why="Its own points: a slope like that comes from chance too often.",
            )
        )  # fmt: skip
    return rows


# ----- At the paper's scale -----


def full(
    context: Context, *, network: str = "dense", method: str = "paper",
    generations: int | None = None, every: int | None = None, seeds: int = 3, games: int = 400,
    starts: int = 5, changes: tuple[tuple[str, Any], ...] = (),
) -> Result:  # fmt: skip
    """Breed as long as the paper did, over seeds, and judge by a panel that stays the same."""
    from tengen.lab.opening_evolution import METHODS, over_seeds

    paper = method == "paper"
    spatial = network == "spatial"
    generations = generations or ((60_000 if spatial else 20_000) if paper else 100)
    every = every or ((10_000 if spatial else 1_000) if paper else 10)
    values = []
    for seed in range(seeds):
        plan = METHODS[method](network, seed, generations, math.gcd(250, every))
        plan = replace(plan, **dict(changes))
        folder = context.place(f"opening-evolution/{method}-{network}-seed{seed}")
        share = seed / seeds, (seed + 1) / seeds
        values.append(breed(context, plan, folder, every, games, starts, share))
    whole = over_seeds(values)
    tables = [
        panel_table(f"{method}, {network}, seed {seed}, {games} games each", value)
        for seed, value in enumerate(values)
    ]
    comparisons = [] if not paper else [
        compare(
            TABLES[network], f"points rise with generations, seed {seed}", None, None,
            holds=value["trend"]["p"] < 0.05 and value["trend"]["slope"] > 0,
            paper_text="rising line",
            our_text=f"slope {value['trend']['slope']:+.3g}, p = {value['trend']['p']:.2g}",
            why=f"{starts} random starts a pair, both colours.",
        )
        for seed, value in enumerate(values)
    ]  # fmt: skip
    comparisons.append(
        compare(
            "Conclusion", f"breeding improves the opening ({method}, {network})", None, None,
            holds=whole["p"] < 0.05, paper_text="they learn",
            our_text=f"{percent(whole['first'])} to {percent(whole['last'])}, p = "
            f"{whole['p']:.2g}", why=f"Wins against the panel over {seeds} seeds, one-sided.",
        )
    )  # fmt: skip
    return Result(
        tables=[*tables, *(paper_tables() if paper else [])],
        figures=[panel_plot(values)],
        comparisons=[*(paper_trends() if paper else []), *comparisons],
    )


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-evolution", "opening-evolution", "Breeding", quick, quick=QUICK,
        minutes=(0.4, 0.4),
    ),
    Experiment(
        "opening-evolution-dense", "opening-evolution", "Table I",
        lambda c, size: full(c, **size), full={"network": "dense"}, minutes=(1, 600),
    ),
    Experiment(
        "opening-evolution-spatial", "opening-evolution", "Table II",
        lambda c, size: full(c, **size), full={"network": "spatial"}, minutes=(1, 1200),
    ),
    Experiment(
        "opening-evolution-better", "opening-evolution", "A method that learns",
        lambda c, size: full(c, **size),
        full={"network": "spatial", "method": "better", "seeds": 5}, minutes=(1, 120),
    ),
)  # fmt: skip
