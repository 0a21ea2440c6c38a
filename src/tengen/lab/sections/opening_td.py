"""Openings by temporal differences (Huang 2003): a player learns, what its inputs add, variants.

What is trained and played is in `tengen.lab.opening_td` and its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tengen.lab import papers
from tengen.lab.content import Bars, Plot, Result, Rule, Series, line, percent, table
from tengen.lab.opening_td import MatchJob, TrainJob, evaluate, train
from tengen.lab.opening_td_experiment import ENCODINGS, TablesSize, play_tables
from tengen.lab.opening_td_judges import compare_judges, second_opinions
from tengen.lab.opening_td_tables import TABLES, report, sheets, wins_of
from tengen.lab.opening_td_variants import VariantsSize, play_variants, sheet
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import Comparison, compare
from tengen.learners.opening_td import SETS, TDSettings
from tengen.models import has_model
from tengen.statistics import wilson

_SHIPPED = ("td-abcde-9x9", "td-best-9x9")
_SMALL_SETS = ("A", "ABCD", "ABCE", "ABDE", "ACDE", "ABCDE")
"""Everything, everything but one feature, and nothing: the least that shows what a feature adds."""
_PAPER_GAMES = 3000
"""Openings after which the paper's Figure 4 ends."""


# ----- Figure 4 -----


@dataclass(frozen=True)
class CurveSize:
    """How long player ABCDE is trained, and how often it is measured."""

    games: int = 1000
    curve_every: int = 100
    curve_games: int = 100
    shipped_games: int = 100


def learning(context: Context, size: CurveSize) -> Result:
    """Train player ABCDE and draw its curve; judge the shipped players."""
    settings = TDSettings(
        games=size.games,
        curve_every=size.curve_every,
        curve_games=size.curve_games,
        seed=context.seed,
    )
    tell = context.between(0.0, 0.6, "training game")
    curve = train(
        TrainJob(str(context.place("opening-td/player")), settings),
        on_game=lambda games: tell(games, size.games),
    )
    shipped = _shipped(context, size.shipped_games)
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
            _curve_plot(
                "Figure 4: player ABCDE against random openings while it learns",
                {"ABCDE, binary": curve},
            )
        ],
        comparisons=_figure_4(curve, shipped, size),
        data={"curve": curve, "shipped": list(shipped.values())},
    )


def _shipped(context: Context, games: int) -> dict[tuple[str, str], dict[str, Any]]:
    """Measure the shipped players' openings, each pair once."""
    found = {}
    pairs = [(n, o) for n in _SHIPPED if has_model(n) for o in ("random", "maxlib")]
    for number, (name, opponent) in enumerate(pairs):
        context.at(0.6 + 0.4 * number / len(pairs), f"{name} against {opponent}")
        job = MatchJob(name, opponent, "builtin", games, context.seed)
        found[name, opponent] = context.once(
            f"opening-td/{name}-{opponent}",
            lambda job=job: evaluate(job, workers=context.workers),  # type: ignore[misc]
        )
    return found


def _curve_plot(title: str, curves: dict[str, list[dict[str, Any]]]) -> Plot:
    """Draw learning curves beside where the paper's ends."""
    lines = [
        line(
            name,
            [point["games"] for point in curve],
            [point["win_rate"] for point in curve],
            [point["interval"] for point in curve],
        )
        for name, curve in curves.items()
    ]
    rule = Rule("the paper after 3,000", papers.TD_FIGURE_4[_PAPER_GAMES])
    return Plot(title, "openings of self-play", "wins", lines, rules=[rule], bottom=0.0, top=1.03)


def _figure_4(
    curve: list[dict[str, Any]], shipped: dict[tuple[str, str], dict[str, Any]], size: CurveSize
) -> list[Comparison]:
    """Compare the ends of the learning curve with the paper's Figure 4."""
    start, end = papers.TD_FIGURE_4[0], papers.TD_FIGURE_4[_PAPER_GAMES]
    spread = {rate: _of_paper(rate, papers.TD_CURVE_GAMES) for rate in (start, end)}
    full = size.games >= _PAPER_GAMES
    rows = []
    if curve:
        first, last = curve[0], curve[-1]
        rows.append(
            compare(
                "Figure 4", "untrained, against random", start, first["win_rate"],
                first["interval"], paper_interval=spread[start], aim=0, unit="%", full=full,
                why=f"{size.curve_games} games; an untrained player is as good as random.",
            )
        )  # fmt: skip
        why = "The expert is ours, not GNU Go."
        rows.append(
            compare(
                "Figure 4", f"ABCDE after {last['games']} openings (paper: 3,000)", end,
                last["win_rate"], last["interval"], paper_interval=spread[end], unit="%",
                full=full, why=why if full else f"Less training than the paper's. {why}",
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


def _of_paper(rate: float, games: int) -> tuple[float, float]:
    """Return the interval of one of the paper's rates."""
    return wilson(rate * games, games)


# ----- Tables 1 to 5 -----


def tables(context: Context, size: TablesSize) -> Result:
    """Train players with different inputs and let them meet: what each input adds."""
    folder = context.place("opening-td/tables")
    played = play_tables(context, folder, size)
    value = report(played)
    wins = {encoding: wins_of(played, encoding) for encoding in ENCODINGS}
    value["judges"] = [
        compare_judges(judge, second_opinions(context, played, judge), wins) for judge in size.judge
    ]
    curves = {f"ABCDE, {e}": curve for e, curve in value["figure4"].items() if curve}
    note = (
        f"Each player was trained on {size.games} openings (the paper: several thousand) and "
        f"judged by {size.pair_games} games a pair among {len(size.sets)} players (the paper: 100 "
        f"among 16); trainings of each: {size.seeds}. A star marks what differs from chance over "
        "the seeds (Student's t, corrected by Holm's rule)."
    )
    return Result(
        text="What do the inputs add? A is the bare board, B the distance to the edge, C "
        "liberties, D stones of the block, E stones near by. The players meet in round robins, "
        f"scalar and binary apart, then every binary player meets its scalar twin. {note}",
        tables=sheets(value),
        figures=[
            *([_curve_plot("Figure 4: against random", curves)] if curves else []),
            *_gain_bars(value),
        ],
        comparisons=_beside_the_paper(value, size),
        data=value,
    )


def _measure(encoding: str) -> str:
    """Return how the paper defines a gain: Table 2 by ratios, Table 4 by differences."""
    return "relative" if encoding == "scalar" else "points"


def _known_gains(value: dict[str, Any], encoding: str) -> dict[str, Any]:
    """Return the gains that the paper's measure has a number for."""
    gains = {f: gain[_measure(encoding)] for f, gain in value["gains"][encoding].items()}
    return {feature: gain for feature, gain in gains.items() if gain["value"] is not None}


def _gain_bars(value: dict[str, Any]) -> list[Bars]:
    """Draw what each feature adds, ours beside the paper's."""
    figures = []
    for encoding, (_, where) in TABLES.items():
        gains = _known_gains(value, encoding)
        if not gains:
            continue
        entries = list(gains.values())
        known = all(entry["interval"] for entry in entries)
        ends = [[100 * end for end in e["interval"]] for e in entries] if known else None
        ours = Series("here", [100 * e["value"] for e in entries], ends)
        paper = Series("the paper", [papers.TD_GAINS[encoding][f] for f in gains])
        unit = "%, relative" if encoding == "scalar" else "points of %"
        title = f"{where}: gain from adding a feature, {encoding}"
        figures.append(Bars(title, unit, list(gains), [ours, paper]))
    return figures


def _beside_the_paper(value: dict[str, Any], size: TablesSize) -> list[Comparison]:
    """Set the tables beside the paper's; a verdict needs its players, games and several seeds."""
    full = size.seeds > 1 and size.games >= _PAPER_GAMES and set(size.sets) == set(SETS)
    rows: list[tuple[str, str, dict[str, Any], int | None]] = []
    for encoding, (where, gain_table) in TABLES.items():
        if curve := value["figure4"][encoding]:
            end = {**curve[-1], "value": curve[-1]["win_rate"]}
            end["paper"] = papers.TD_FIGURE_4[_PAPER_GAMES]
            rows.append(("Figure 4", f"ABCDE {encoding} at the end", end, papers.TD_CURVE_GAMES))
        for features, entry in _shown(value["wins"][encoding], full):
            what = f"{features}, {encoding}, over all opponents"
            rows.append((where, what, entry, papers.TD_PLAYER_GAMES))
        for feature, entry in _known_gains(value, encoding).items():
            rows.append((gain_table, f"gain of {feature}, {encoding}", entry, None))
    for features, entry in _shown(value["twins"]["players"], full):
        rows.append(("Table 5", f"{features}: binary over scalar", entry, papers.TD_TWIN_GAMES))
    return [_comparison(*row, size.seeds if full else 0) for row in rows]


def _comparison(
    where: str, what: str, entry: dict[str, Any], games: int | None, seeds: int
) -> Comparison:
    """Compare one entry of the report; without seeds both figures stand without a verdict."""
    paper, ours, interval = entry["paper"], entry["value"], entry["interval"]
    if not seeds:
        sign = "" if games else "+"
        return compare(
            where, what, None, None, paper_text=f"{100 * paper:{sign}.0f} %",
            our_text=percent(ours, interval) if games else f"{100 * ours:+.0f} %",
            why="One short training each, fewer opponents: run --full.",
        )  # fmt: skip
    return compare(
        where, what, paper, ours, interval,
        paper_interval=_of_paper(paper, games) if games else None,
        aim=1 if where == "Figure 4" else 0, unit="%", why=f"{seeds} seeds.",
    )  # fmt: skip


def _shown(entries: dict[str, Any], full: bool) -> Sequence[tuple[str, dict[str, Any]]]:
    """Leave a small run with the player that has all inputs: the others' opponents are not all."""
    return [(f, entry) for f, entry in entries.items() if full or f == "ABCDE"]


# ----- What the paper left open -----


def variants(context: Context, size: VariantsSize) -> Result:
    """Compare variants of player ABCDE that the paper left open."""
    value = play_variants(context, context.place("opening-td/variants"), size)
    return Result(
        text="What the paper left open, one change at a time.", tables=[sheet(value)], data=value
    )


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "opening-td", "opening-td", "Learning by self-play", learning, quick=CurveSize(),
        full=CurveSize(_PAPER_GAMES, 50, 100, 400), minutes=(0.7, 10),
    ),
    Experiment(
        "opening-td-inputs", "opening-td", "What the inputs add", tables,
        quick=TablesSize(
            games=500, pair_games=40, curve_games=0, expert="builtin:playouts=48",
            features=_SMALL_SETS,
        ),
        full=TablesSize(seeds=5), minutes=(0.4, 240),
    ),
    Experiment(
        "opening-td-variants", "opening-td", "What was left open", variants,
        full=VariantsSize(seeds=5), minutes=(1, 240),
    ),
)  # fmt: skip
