"""Openings by evolution (Kendall 2004): a small population bred, and the paper's tables judged.

The experiments themselves are in `tengen.lab.opening_evolution`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tengen.lab import papers
from tengen.lab.content import line, percent, plot, table
from tengen.lab.steps import Context, Result
from tengen.lab.verdicts import Comparison, compare, number

TABLES = {"dense": "Table I", "spatial": "Table II"}


@dataclass(frozen=True)
class Size:
    """How long is bred, and how much is played."""

    network: str = "shared"
    population: int = 10
    generations: int = 150
    every: int = 25
    board: int = 13
    moves: int = 15
    games: int = 100
    starts: int = 4


QUICK = Size()


def quick(context: Context, size: Size = QUICK) -> Result:
    """Breed a small population; ask random openings, and each other, what was learned."""
    from tengen.lab.opening_evolution import against, player_of, round_robin, snapshots
    from tengen.learners.opening_evolution import (
        NetworkPlayer,
        OpeningEvolution,
        Plan,
        Setting,
        evolve,
        measure_with,
    )
    from tengen.models import find_model, has_model
    from tengen.players import make_expert, make_player

    plan = Plan(
        network=size.network,
        rows=size.board,
        cols=size.board,
        moves=size.moves,
        population=size.population,
        generations=size.generations,
        random_plies=4,
        snapshot_every=size.every,
        seed=context.seed,
    )
    expert, random = make_expert("static"), make_player("random")
    folder = context.place("opening-evolution")
    opponents = [make_player("static") for _ in range(context.workers)]
    tell = context.between(0.0, 0.7, "generation")
    run = evolve(
        plan, measure_with(opponents, expert), folder=folder, resume=True,
        on_generation=lambda run: tell(run.generation, size.generations),
    )  # fmt: skip
    history = read_history(folder)
    shape = plan.shape()
    setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
    kept = snapshots(folder)
    contestants: dict[str, Any] = {
        f"generation {g}": NetworkPlayer(shape, w) for g, w in kept.items() if g == min(kept)
    }
    contestants[f"generation {run.generation}"] = NetworkPlayer(shape, run.best)
    for name in ("evolved-minimax-13x13", "evolved-spatial-13x13"):
        if has_model(name) and size.board == 13:
            contestants[name] = player_of(OpeningEvolution.load(find_model(name)))
    rows, rates = [], {}
    for step, (name, player) in enumerate(contestants.items()):
        context.at(0.7 + 0.05 * step, f"{name} against random openings")
        rate = context.once(
            f"opening-evolution/against-{step}",
            lambda player=player: asdict(  # type: ignore[misc]
                against(player, random, expert, setting, size.games, context.seed)
            ),
        )
        rates[name] = rate
        rows.append(
            [name, percent(rate["win_rate"], rate["interval"]), f"{rate['mean_score']:+.1f}"]
        )
    context.at(0.9, "round robin of generations")
    points = context.once(
        "opening-evolution/points",
        lambda: {
            str(g): p
            for g, p in round_robin(shape, kept, expert, setting, size.starts, context.seed).items()
        },
    )
    first, last = (rates[name] for name in list(contestants)[:2])
    return {
        "text": f"{size.population} networks, whose windows share weights, are bred for "
        f"{size.generations} generations (the paper: 20,000 and 60,000) by the final scores "
        f"of games that begin with their {size.moves} moves on {size.board}x{size.board}; the rule "
        "player is opponent and expert.",
        "tables": [
            table(
                f"Openings against random ones, {size.games} games, finished by the rule player",
                ["player", "wins", "mean score"], rows,
            ),
            table(
                "Bests of generations against each other; win +2, draw +1, loss -1, both colours",
                ["generation", *points], [["points", *(f"{p:+.1f}" for p in points.values())]],
            ),
            *paper_tables(),
        ],
        "figures": [
            plot(
                "Final score against the rule player, by generation", "generation", "points",
                [
                    line("best of the generation", *_columns(history, "best")),
                    line("mean", *_columns(history, "mean")),
                ],
            ),
            paper_points(),
        ],
        "comparisons": [
            *paper_trends(),
            *_sizes(),
            compare(
                "Conclusion", f"{size.generations} generations improve the opening", None, None,
                holds=_improved(first, last), full=False, paper_text="they learn",
                our_text=f"{percent(first['win_rate'], first['interval'])} to "
                f"{percent(last['win_rate'], last['interval'])}",
                why="Bests of the first and the last generation, the same random openings.",
            ),
        ],
    }  # fmt: skip


def _improved(first: dict[str, Any], last: dict[str, Any]) -> bool | None:
    """Tell whether the later rate is higher; None where the intervals overlap."""
    if last["interval"][0] > first["interval"][1]:
        return True
    return False if last["interval"][1] < first["interval"][0] else None


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


def paper_tables() -> list[dict[str, Any]]:
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
    from tengen.lab.opening_evolution import Trend

    points = papers.EVOLUTION_POINTS[name]
    trend = Trend.through(list(range(len(points))), points)
    return trend.slope, trend.r, trend.p


def paper_points() -> dict[str, Any]:
    """Draw the paper's points over generations."""
    lines = []
    for name, points in papers.EVOLUTION_POINTS.items():
        x = [papers.EVOLUTION_EVERY[name] * i for i in range(len(points))]
        lines.append(line(f"{TABLES[name]}, {name}", x, points))
    return plot("The paper's points: is there a trend?", "generation", "points", lines)


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
    context: Context, *, network: str = "dense", generations: int | None = None,
    every: int | None = None, seeds: int = 3, games: int = 400, starts: int = 5,
    population: int | None = None,
) -> Result:  # fmt: skip
    """Breed as long as the paper did, over seeds, and judge by a panel that stays the same."""
    from tengen.lab import opening_evolution as lab
    from tengen.learners.opening_evolution import OpeningEvolution, Plan, Setting, measure_with
    from tengen.players import make_expert, make_player

    spatial = network == "spatial"
    generations = generations or (60_000 if spatial else 20_000)
    every = every or (10_000 if spatial else 1_000)
    expert = make_expert("static")
    panel = {name: make_player(name) for name in lab.PANEL}
    tables, lines, comparisons = [], [], []
    for seed in range(seeds):
        plan = Plan(
            network=network, population=population or (20 if spatial else 10),
            generations=generations, seed=seed, snapshot_every=min(250, every),
        )  # fmt: skip
        folder = context.place(f"opening-evolution/{network}-seed{seed}")
        tell = context.between(seed / seeds, (seed + 0.9) / seeds, f"seed {seed}, generation")
        opponents = [make_player("static") for _ in range(context.workers)]
        OpeningEvolution(plan=plan).fit(
            measure_with(opponents, expert), folder=folder, resume=True,
            on_generation=lambda run, tell=tell: tell(run.generation, generations),  # type: ignore[misc]
        )  # fmt: skip

        def judged(folder: Path = folder, plan: Plan = plan) -> dict[str, Any]:
            value = lab.judge_run(
                folder, plan, panel, expert, games=games, every=every, seed=context.seed,
                on_step=lambda note: context.at(0.95, note),
            )  # fmt: skip
            kept = {g: w for g, w in lab.snapshots(folder).items() if g < 2 or g % every == 0}
            setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
            points = lab.round_robin(plan.shape(), kept, expert, setting, starts, context.seed)
            trend = lab.Trend.through(list(points), list(points.values()))
            return {
                "rows": value["rows"], "trends": value["trends"],
                "points": {str(g): p for g, p in points.items()}, "trend": asdict(trend),
            }  # fmt: skip

        value = context.once(f"opening-evolution/{network}-seed{seed}/judged", judged)
        rows = [
            [
                row["generation"], f"{value['points'][str(row['generation'])]:+.1f}",
                *(percent(row[name]["win_rate"], row[name]["interval"]) for name in panel),
            ]
            for row in value["rows"]
        ]  # fmt: skip
        tables.append(table(f"{network}, seed {seed}", ["generation", "points", *panel], rows))
        x = [int(g) for g in value["points"]]
        lines.append(line(f"seed {seed}", x, list(value["points"].values())))
        trend = value["trend"]
        comparisons.append(
            compare(
                TABLES[network], f"points rise with generations, seed {seed}", None, None,
                holds=trend["p"] < 0.05 and trend["slope"] > 0, paper_text="rising line",
                our_text=f"slope {trend['slope']:+.3g}, p = {trend['p']:.2g}",
                why=f"{starts} random starts a pair, both colours.",
            )
        )  # fmt: skip
    return {
        "tables": [*tables, *paper_tables()],
        "figures": [plot(f"{TABLES[network]}: points", "generation", "points", lines)],
        "comparisons": [*paper_trends(), *comparisons],
    }
