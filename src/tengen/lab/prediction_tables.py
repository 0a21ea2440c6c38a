"""Measure and show Tables I to IV of Araki et al. 2007 at any size; choose no games.

Every row is kept as soon as it is there, under the games and settings that it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tengen.lab import papers
from tengen.lab.content import Plot, Table, line, percent, table
from tengen.lab.recorded import card_results
from tengen.lab.steps import Context
from tengen.lab.verdicts import Comparison, above, compare
from tengen.models.settings import fingerprint
from tengen.statistics import wald_difference, wilson

if TYPE_CHECKING:
    from tengen.learners.move_prediction import PaperSettings
    from tengen.records.arrays import GameArrays

Row = dict[str, Any]
Tables = dict[str, list[Row]]
RANKS = (1, 5, 10, 20)


@dataclass(frozen=True)
class Size:
    """What is learned from, and which rows of the paper's tables are made."""

    made: int = 400
    """Games of our own to learn from; 0 for the corpus."""
    test_games: int = 80
    """Games of our own to measure on."""
    board: int = 9
    games: int = 400
    """Training games of Tables I and II."""
    sizes: tuple[int, ...] = (50, 100, 200, 400)
    widths: tuple[float, ...] = (0.0, 0.5, 0.9)
    reranked: tuple[int, ...] = (0, 20, 40)
    patterns: int = 12
    """Patterns to draw."""


QUICK = Size()
FULL = Size(
    made=0, test_games=0, board=19, games=2000, sizes=tuple(papers.MP_SIZES),
    widths=tuple(papers.MP_WIDTHS), reranked=tuple(papers.MP_RERANKED),
)  # fmt: skip


def measure_tables(
    context: Context,
    size: Size,
    train: GameArrays,
    test: GameArrays,
    settings: PaperSettings,
    *,
    exact: bool = False,
) -> Tables:
    """Measure the rows that a size asks for; those of the same games and settings are kept."""
    from tengen.lab.move_prediction import PaperTables

    rows = PaperTables(train, test, settings)
    games = fingerprint(train.moves, train.offsets, test.moves, test.offsets, settings, exact)
    makers: dict[str, tuple[Sequence[Any], Callable[[Any], Row]]] = {
        "widths": (size.widths, lambda width: rows.width(width, exact=exact)),
        "reranked": (size.reranked, rows.reranked),
        "sizes": (size.sizes, lambda games: rows.size(games, context.place("move-prediction"))),
    }
    found: Tables = {}
    total = sum(len(values) for values, _ in makers.values())
    done = 0
    for name, (values, make) in makers.items():
        found[name] = []
        for value in values:
            context.at(0.2 + 0.7 * done / total, f"{name} {value:g}")
            place = f"move-prediction/{games}/{name}-{value:g}"
            found[name].append(context.once(place, lambda make=make, value=value: make(value)))  # type: ignore[misc]
            done += 1
    return found


def shown(found: Tables) -> list[Table]:
    """Return the tables with the paper's figures beside ours."""
    out = []
    if found["widths"]:
        rows: list[list[object]] = [
            [f"{row['width']:g}", percent(row["top1"], row["interval"]), _beside(row["paper"])]
            for row in found["widths"]
        ]
        out.append(table("Table I: width factor W", ["W", "first choice", "paper"], rows))
    if found["reranked"]:
        columns = ["n"]
        for rank in RANKS:
            columns += [f"first {rank}", "paper"]
        rows = []
        for row in found["reranked"]:
            figures = row["paper"] or [None] * len(RANKS)
            cells: list[object] = [row["top"] or "none"]
            for rank, figure in zip(RANKS, figures, strict=False):
                cells += [percent(row[f"top{rank}"]), _beside(figure)]
            rows.append(cells)
        out.append(table("Table II: candidates re-ranked", columns, rows))
    if found["sizes"]:
        rows = [
            [
                f"{row['games']:,}", percent(row["top1"], row["interval"]), percent(row["top5"]),
                percent(row["top10"]),
                " / ".join(f"{100 * p:.1f}" for p in row["paper"][:3]) if row["paper"] else "",
            ]
            for row in found["sizes"]
        ]  # fmt: skip
        columns = ["training games", "first choice", "first five", "first ten", "paper, %"]
        out.append(table("Tables III and IV: training games", columns, rows))
    return out


def _beside(figure: float | None) -> str:
    return "" if figure is None else percent(figure)


def growth(rows: list[Row]) -> Plot:
    """Draw accuracy by the number of training games."""
    return Plot(
        "Table III: accuracy by the number of training games", "training games",
        "share of moves foreseen",
        [
            line(f"first {rank}" if rank > 1 else "first choice", [row["games"] for row in rows],
                 [row[f"top{rank}"] for row in rows])
            for rank in (1, 5, 10)
        ],
        bottom=0.0, top=1.0,
    )  # fmt: skip


def directions(found: Tables) -> list[Comparison]:
    """Set rows of other games beside the paper's: no verdict on rates, but on where they go."""
    widths = {row["width"]: row for row in found["widths"]}
    best = max(widths.values(), key=lambda row: row["top1"])
    plain, chosen = found["reranked"][0], found["reranked"][1]
    first, last = found["sizes"][0], found["sizes"][-1]
    return [
        compare(
            "Table I", "best width factor", None, None, paper_text="0.9 (0.5 to 1.0 tied)",
            our_text=f"{best['width']:g}: {percent(best['top1'], best['interval'])}",
            why="Other games and fewer: the rates cannot be compared.",
        ),
        compare(
            "Table II", "re-ranking 20 candidates helps the first choice", None, None,
            holds=_better(chosen, plain), full=False, paper_text="21.05 to 28.24 %",
            our_text=f"{percent(plain['top1'])} to {percent(chosen['top1'])}",
            why="The re-ranker is told the last four moves, the frequencies are not.",
        ),
        compare(
            "Table III", "more games, better predictions", None, None, holds=_better(last, first),
            paper_text="31.04 to 33.94 % (5,000 to 20,000)", full=False,
            our_text=f"{percent(first['top1'])} to {percent(last['top1'])} ({first['games']} to "
            f"{last['games']})", why="The same direction, on other games.",
        ),
    ]  # fmt: skip


def _better(row: Row, other: Row) -> bool | None:
    """Tell whether one row's first choice is the better: None where chance may have made it so."""
    counts = [(each["top1"] * each["positions"], each["positions"]) for each in (row, other)]
    return above(wald_difference(*counts), 0.0)


def rule(rows: list[Row]) -> list[Comparison]:
    """Check the rule behind Table II's equal entries: n candidates change nothing from rank n."""
    worst = max((row["beyond"] for row in rows if row["beyond"] is not None), default=None)
    if worst is None:
        return []
    return [
        compare(
            "Table II",
            "re-ranking n moves changes nothing from rank n on",
            None,
            None,
            holds=worst < 0.005,
            paper_text="equal entries",
            our_text=f"{100 * worst:.2f} points",
            why="Moves of equal frequency share credit, which is all that may differ.",
        )
    ]


def card_rows() -> list[Comparison]:
    """Return what the cards of the shipped predictors say of experts' games."""
    name = "predictor-19x19"
    return [
        compare(
            "Table IV", f"rank {rank}: {name}{got.what[4:].strip('0')}, from its card", paper,
            got.value, got.interval, unit="%",
            why=f"The full recipe, {got.count:,} moves of other experts; not measured in this run "
            "but when the model was made.",
        )
        for got in card_results(name)
        for rank, paper in zip(RANKS, papers.MP_SIZES[20000], strict=True)
        if got.what.startswith(f"top{rank} on")
    ]  # fmt: skip


def cells(found: Tables) -> list[Comparison]:
    """Compare every row of experts' games with the paper's, cell by cell."""
    why = "Tom's games for GoGoD's; rates depend on the games."
    out = [
        cell("Table I", f"W = {row['width']:g}", row["paper"], row, 1, why)
        for row in found["widths"]
        if row["paper"] is not None
    ]
    for row in found["reranked"]:
        for rank, figure in zip(papers.MP_RANKS, row["paper"] or (), strict=False):
            out.append(cell("Table II", f"n = {row['top']}, rank {rank}", figure, row, rank, why))
    for row in found["sizes"]:
        for rank, figure in zip(RANKS, row["paper"] or (), strict=False):
            what = f"{row['games']:,} games, rank {rank}"
            out.append(cell("Tables III, IV", what, figure, row, rank, why))
    return out


def cell(where: str, what: str, figure: float, row: Row, rank: int, why: str) -> Comparison:
    """Compare one cell, with the intervals that its positions give."""
    rate, positions = row[f"top{rank}"], row["positions"]
    return compare(
        where, what, figure, rate, wilson(rate * positions, positions), unit="%", why=why,
        paper_interval=wilson(figure * papers.MP_POSITIONS, papers.MP_POSITIONS),
    )  # fmt: skip
