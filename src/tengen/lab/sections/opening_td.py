"""Openings by temporal differences (Huang 2003): the small repetition, and the paper's own tables.

The experiments themselves are in `tengen.lab.opening_td` and its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.lab import papers
from tengen.lab.content import Bars, Plot, Result, Rule, Series, line, percent, table
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare

SMALL_SETS = ("A", "ABCD", "ABCE", "ABDE", "ACDE", "ABCDE")
"""Everything, everything but one feature, and nothing: the least that shows what a feature adds."""
TABLES = {"scalar": ("Table 1", "Table 2"), "binary": ("Table 3", "Table 4")}


@dataclass(frozen=True)
class Size:
    """How much is trained and played."""

    games: int = 1000
    curve_every: int = 100
    curve_games: int = 100
    set_games: int = 500
    pair_games: int = 40
    shipped_games: int = 100
    sets: tuple[str, ...] = SMALL_SETS
    expert: str = "builtin:playouts=48"
    """Who finishes the games of the small tournament."""


QUICK = Size()


def quick(context: Context, size: Size = QUICK) -> Result:
    """Train player ABCDE a little and draw its curve; judge the shipped players."""
    from tengen.lab.opening_td import TrainJob, evaluate, train
    from tengen.models import has_model

    folder = context.place("opening-td/player")
    settings = {
        "features": "ABCDE",
        "encoding": "binary",
        "games": size.games,
        "seed": context.seed,
    }
    tell = context.between(0.0, 0.6, "training game")
    job = TrainJob(
        str(folder), settings, curve_every=size.curve_every, curve_games=size.curve_games
    )
    curve = train(job, on_game=lambda learner: tell(learner.games_, size.games))
    shipped: dict[tuple[str, str], dict[str, Any]] = {}
    pairs = [(n, o) for n in ("td-abcde-9x9", "td-best-9x9") for o in ("random", "maxlib")]
    for number, (name, opponent) in enumerate(pairs):
        context.at(0.6 + 0.1 * number, f"{name} against {opponent}")
        if has_model(name):
            shipped[name, opponent] = context.once(
                f"opening-td/{name}-{opponent}",
                lambda name=name, opponent=opponent: evaluate(  # type: ignore[misc]
                    name, opponent, "builtin", games=size.shipped_games, seed=context.seed,
                    workers=context.workers,
                ),
            )  # fmt: skip
    rows = [
        [name, opponent, percent(got["win_rate"], got["interval"]), f"{got['mean_score']:+.1f}"]
        for (name, opponent), got in shipped.items()
    ]
    return Result(
        text=f"Player ABCDE (all inputs, binary, TD(0), self-play) learns for {size.games} "
        "openings of twenty plies; the built-in expert finishes them and says who won. Beside it "
        "the shipped players, of which td-abcde-9x9 was trained as long as the paper's.",
        tables=[
            table(
                f"Shipped players' openings, {size.shipped_games} games each, finished by the "
                "built-in expert",
                ["player", "against", "wins", "mean score"],
                rows,
            )
        ],
        figures=[
            Plot(
                "Figure 4: player ABCDE against random openings while it learns",
                "openings of self-play",
                "wins",
                [
                    line(
                        "ABCDE, binary",
                        [point["games"] for point in curve],
                        [point["win_rate"] for point in curve],
                        [point["interval"] for point in curve],
                    )
                ],
                rules=[Rule("the paper after 3,000", papers.TD_FIGURE_4[3000])],
                bottom=0.0,
                top=1.03,
            )
        ],
        comparisons=_figure_4(curve, shipped, size),
    )


def _figure_4(
    curve: list[dict[str, Any]], shipped: dict[tuple[str, str], dict[str, Any]], size: Size
) -> list[Comparison]:
    """Compare the ends of the learning curve with the paper's Figure 4."""
    from tengen.statistics import wilson

    start, end = papers.TD_FIGURE_4[0], papers.TD_FIGURE_4[3000]
    spread = {
        rate: wilson(rate * papers.TD_CURVE_GAMES, papers.TD_CURVE_GAMES) for rate in (start, end)
    }
    rows = []
    if curve:
        first, last = curve[0], curve[-1]
        rows.append(
            compare(
                "Figure 4", "untrained, against random", start, first["win_rate"],
                first["interval"], paper_interval=spread[start], aim=0, unit="%", full=False,
                why=f"{size.curve_games} games; an untrained player is as good as random.",
            )
        )  # fmt: skip
        rows.append(
            compare(
                "Figure 4", f"ABCDE after {last['games']} openings (paper: 3,000)", end,
                last["win_rate"], last["interval"], paper_interval=spread[end], unit="%",
                full=False, why="Less training than the paper's; the expert is ours, not GNU Go.",
            )
        )  # fmt: skip
    got = shipped.get(("td-abcde-9x9", "random"))
    if got is not None:
        rows.append(
            compare(
                "Figure 4", "ABCDE after 3,000 openings (shipped td-abcde-9x9)", end,
                got["win_rate"], got["interval"], paper_interval=spread[end], unit="%",
                why="The same inputs, network and training; learning rate 0.5 was ours to choose.",
            )
        )  # fmt: skip
    return rows


def features(context: Context, size: Size = QUICK) -> Result:
    """Train players with different inputs a little and let them meet: what each input adds."""
    from tengen.lab import opening_td as lab
    from tengen.lab import opening_td_tables as tables

    plan = lab.Plan(
        folder=context.place("opening-td/features"),
        seeds=(context.seed,),
        games=size.set_games,
        expert=size.expert,
        pair_games=size.pair_games,
        sets=size.sets,
        curve_games=0,
    )
    total = len(size.sets) * 2
    matches = len(plan.match_jobs(context.seed))
    lab.run(plan, workers=context.workers, remark=_shares(context, total, matches))
    value = tables.report(plan)
    rows = [
        [f, *(percent(value["wins"][e][f]["value"], value["wins"][e][f]["interval"]) for e in
              TABLES), *(f"{papers.TD_WINS[e][f]} %" for e in TABLES),
         percent(value["twins"]["players"][f]["value"], value["twins"]["players"][f]["interval"]),
         f"{papers.TD_TWINS[f]} %"]
        for f in size.sets
    ]  # fmt: skip
    note = (
        f"Each trained on {size.set_games} openings (the paper: several thousand) and judged by "
        f"{size.pair_games} games a pair among these {len(size.sets)} players (the paper: 100 "
        "among 16), one training each: chance is large, the paper's columns are there to be read, "
        "not to be met."
    )
    return Result(
        text="What do the inputs add? A is the bare board, B the distance to the edge, C "
        "liberties, D stones of the block, E stones near by. The players meet in round robins, "
        "scalar and binary apart, then every binary player meets its scalar twin.",
        tables=[
            table(
                "Tables 1, 3 and 5 in small: wins over all opponents, and of binary over scalar",
                [
                    "player",
                    "scalar",
                    "binary",
                    "paper, scalar",
                    "paper, binary",
                    "binary v. scalar",
                    "paper",
                ],
                rows,
                note=note,
            )
        ],
        figures=gain_bars(value),
        comparisons=_small_tables(value),
    )


def _small_tables(value: dict[str, Any]) -> list[Comparison]:
    """Set the small tournament beside the paper's tables, without a verdict on either."""
    rows: list[tuple[str, str, str, str]] = []
    for encoding, (where, gains) in TABLES.items():
        entry = value["wins"][encoding]["ABCDE"]
        paper = papers.TD_WINS[encoding]["ABCDE"]
        ours = percent(entry["value"], entry["interval"])
        rows.append((where, f"ABCDE, {encoding}, over all opponents", f"{paper} %", ours))
        for feature, gain in value["gains"][encoding].items():
            ours = f"{100 * gain[_measure(encoding)]['value']:+.0f} %"
            theirs = f"{papers.TD_GAINS[encoding][feature]:+d} %"
            rows.append((gains, f"gain of {feature}, {encoding}", theirs, ours))
    entry = value["twins"]["players"]["ABCDE"]
    ours = percent(entry["value"], entry["interval"])
    rows.append(("Table 5", "ABCDE: binary over scalar", f"{papers.TD_TWINS['ABCDE']} %", ours))
    why = "One short training each, fewer opponents: run --full."
    return [
        compare(where, what, None, None, paper_text=paper, our_text=ours, why=why)
        for where, what, paper, ours in rows
    ]


def _measure(encoding: str) -> str:
    """Return how the paper defines a gain: Table 2 by ratios, Table 4 by differences."""
    return "relative" if encoding == "scalar" else "points"


def gain_bars(value: dict[str, Any]) -> list[Bars]:
    """Draw what each feature adds, ours beside the paper's."""
    figures = []
    for encoding, (_, where) in TABLES.items():
        gains = value["gains"][encoding]
        if not gains:
            continue
        entries = [gains[f][_measure(encoding)] for f in gains]
        known = all(entry["interval"] for entry in entries)
        ends = [[100 * end for end in e["interval"]] for e in entries] if known else None
        ours = Series("here", [100 * e["value"] for e in entries], ends)
        paper = Series("the paper", [papers.TD_GAINS[encoding][f] for f in gains])
        unit = "%, relative" if encoding == "scalar" else "points of %"
        title = f"{where}: gain from adding a feature, {encoding}"
        figures.append(Bars(title, unit, list(gains), [ours, paper]))
    return figures


def _shares(context: Context, trainings: int, matches: int) -> Any:
    """Turn the experiment's remarks (so many players trained, matches played) into progress."""

    def remark(text: str) -> None:
        words = [word for word in text.split() if "/" in word]
        if words and "players" in text:
            context.at(0.7 * int(words[0].split("/")[0]) / trainings, text)
        elif words:
            context.at(0.7 + 0.3 * int(words[0].split("/")[0]) / matches, text)

    return remark


# ----- At the paper's scale -----


def full(
    context: Context, *, seeds: int = 5, games: int = 3000, pair_games: int = 100,
    sets: tuple[str, ...] | None = None, expert: str = "builtin",
) -> Result:  # fmt: skip
    """Repeat Figure 4 and Tables 1 to 5 over several seeds."""
    from tengen.lab import opening_td as lab
    from tengen.lab import opening_td_tables as tables
    from tengen.learners.opening_td import SETS

    plan = lab.Plan(
        folder=context.place("opening-td"),
        seeds=tuple(range(seeds)),
        games=games,
        pair_games=pair_games,
        expert=expert,
        sets=sets or SETS,
    )
    lab.run(plan, workers=context.workers, remark=lambda text: context.at(_far(text, seeds), text))
    value = tables.report(plan)
    tables.write(plan, value)
    shown = [table(title, columns, rows) for title, columns, rows in tables.sheets(value)]
    comparisons: list[Comparison] = []
    for encoding, (where, gain_table) in TABLES.items():
        for features_, entry in value["wins"][encoding].items():
            comparisons.append(
                _entry(where, f"{features_}, {encoding}", entry, 1500, f"{seeds} seeds")
            )
        for feature, gain in value["gains"][encoding].items():
            entry = gain[_measure(encoding)]
            comparisons.append(_entry(gain_table, f"gain of {feature}", entry, None, "over seeds"))
    for features_, entry in value["twins"]["players"].items():
        comparisons.append(
            _entry("Table 5", f"{features_}: binary over scalar", entry, 100, f"{seeds} seeds")
        )
    curves = {e: c for e, c in value["figure4"].items() if c}
    lines = [
        line(
            f"ABCDE, {encoding}",
            [point["games"] for point in curve],
            [point["win_rate"] for point in curve],
            [point["interval"] for point in curve],
        )
        for encoding, curve in curves.items()
    ]
    for encoding, curve in curves.items():
        entry = {"value": curve[-1]["win_rate"], "interval": curve[-1]["interval"], "paper": 0.75}
        comparisons.insert(
            0, _entry("Figure 4", f"ABCDE {encoding} at the end", entry, 100, "over seeds")
        )
    return Result(
        tables=shown,
        figures=[
            Plot("Figure 4: against random", "openings of self-play", "wins", lines,
                 rules=[Rule("the paper after 3,000", papers.TD_FIGURE_4[3000])], bottom=0.0,
                 top=1.03),
            *gain_bars(value),
        ],
        comparisons=comparisons,
    )  # fmt: skip


def _entry(
    where: str, what: str, entry: dict[str, Any], paper_games: int | None, why: str
) -> Comparison:
    """Compare one entry of the experiment's report."""
    from tengen.statistics import wilson

    paper = entry["paper"]
    spread = wilson(paper * paper_games, paper_games) if paper_games else None
    aim = 1 if where == "Figure 4" else 0
    return compare(
        where, what, paper, entry["value"], entry["interval"], paper_interval=spread, aim=aim,
        unit="%", full=entry["interval"] is not None, why=why,
    )  # fmt: skip


def _far(text: str, seeds: int) -> float:
    """Guess from a remark `seed N: a/b ...` how far the whole experiment is."""
    words = text.replace(":", " ").split()
    try:
        done, of = (int(part) for part in next(w for w in words if "/" in w).split("/"))
        half = 0.0 if "trained" in text else 0.5
        return (int(words[1]) % seeds + half + 0.5 * done / max(of, 1)) / seeds
    except (StopIteration, ValueError, IndexError):
        return 0.0


def variants(
    context: Context, *, seeds: int = 5, games: int = 3000, match_games: int = 400,
    only: tuple[str, ...] | None = None, expert: str = "builtin",
) -> Result:  # fmt: skip
    """Compare variants of player ABCDE that the paper left open."""
    from tengen.lab import opening_td_variants as lab

    folder: Path = context.place("opening-td-variants")
    plan = lab.VariantPlan(
        folder=folder,
        seeds=tuple(range(seeds)),
        games=games,
        expert=expert,
        match_games=match_games,
        variants=only or tuple(lab.VARIANTS),
    )
    trainings = seeds * len(plan.variants)

    def remark(text: str) -> None:
        head = text.split("/")[0]
        context.at(0.8 * int(head) / trainings if head.isdigit() else 0.9, text)

    value = lab.run(plan, workers=context.workers, remark=remark)
    shown = [table(title, columns, rows) for title, columns, rows in lab.sheets(value)]
    return Result(text="What the paper left open, one change at a time.", tables=shown)


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-td", "opening-td", "Learning by self-play", quick, quick=QUICK, minutes=(0.7, 0.7)
    ),
    Experiment(
        "opening-td-inputs", "opening-td", "What the inputs add", features, quick=QUICK,
        minutes=(0.4, 0.4),
    ),
    Experiment(
        "opening-td", "opening-td", "Figure 4, Tables 1 to 5", lambda c, size: full(c, **size),
        full={}, minutes=(1, 240),
    ),
    Experiment(
        "opening-td-variants", "opening-td", "What was left open",
        lambda c, size: variants(c, **size), full={}, minutes=(1, 240),
    ),
)  # fmt: skip
