"""Tables, plots and verdicts of the paper, computed from the rows in `data/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Evidence, read_evidence
from tengen.lab.papers import read_paper
from tengen.lab.report import ClaimResult, PaperReport, claim_result
from tengen.lab.result import Line, Plot, Table
from tengen.statistics import Trend

_TABLES = {"table-1": "dense", "table-2": "spatial"}
"""The paper's tables and the networks they are about."""
_NAMES = {
    "table-1": "Table I, dense network with two plies",
    "table-2": "Table II, spatial network",
}

Points = dict[int, int]  # by generation


def report(data: Path) -> PaperReport:
    """Return what the recorded rows say; a table that was not recorded is left out."""
    claims: list[ClaimResult] = []
    tables: list[Table] = []
    figures: list[Plot] = []
    questions: list[dict[str, Any]] = []
    for table in _TABLES:
        if (data / f"{table}-tournament").is_dir():
            tournament = read_evidence(data / f"{table}-tournament")
            claims.append(_points_rise(table, tournament))
            tables.append(_points_table(table, tournament))
            figures.append(_points_plot(table, tournament))
        if (data / f"{table}-panel").is_dir():
            panel = read_evidence(data / f"{table}-panel")
            questions.append(_better_later(table, panel))
            tables.append(_panel_table(table, panel))
    return PaperReport(claims, tables, figures, questions)


def points_of(games: Evidence) -> dict[int, Points]:
    """Return the points of every tournament by training: 2 for a win, 1 for a draw, -1 else."""
    found = {}
    for seed, rows in games.groups("seed"):
        score = np.sign(rows["score"])
        points: Points = {}
        for generation in np.unique(np.concatenate([rows["black"], rows["white"]])).tolist():
            black, white = rows["black"] == generation, rows["white"] == generation
            results = np.concatenate([score[black], -score[white]])
            points[generation] = int(np.where(results > 0, 2, np.where(results < 0, -1, 1)).sum())
        found[seed] = points
    return found


def slopes_of(games: Evidence, every: int) -> list[float]:
    """Return each tournament's slope of the points, per step of the paper's table."""
    lines = points_of(games).values()
    return [Trend.through([g / every for g in p], list(p.values())).slope for p in lines]


def _points_rise(table: str, games: Evidence) -> ClaimResult:
    every, points = _paper(table)
    slope = Trend.through(range(len(points)), points).slope
    return claim_result(
        f"kendall.points.{_TABLES[table]}", _NAMES[table],
        f"rise of the points per {every:,} generations",
        slope, slopes_of(games, every), games, no_effect=0.0, full=True,
    )  # fmt: skip


def wins_of(panel: Evidence) -> dict[int, dict[int, float]]:
    """Return the share of games won against the panel, by training and generation."""
    return {
        seed: {g: float((mine["score"] > 0).mean()) for g, mine in rows.groups("generation")}
        for seed, rows in panel.groups("seed")
    }


def _better_later(table: str, panel: Evidence) -> dict[str, Any]:
    """Answer whether the last generation wins more against fixed opponents than the first."""
    gains = []
    for curve in wins_of(panel).values():
        first, *_, last = curve.values()
        gains.append(last - first)
    ours = Estimate.of(gains)
    low, high = ours.interval or (np.nan, np.nan)
    answer = "yes" if low > 0 else "no, it wins less" if high < 0 else "undecided"
    return {
        "id": f"kendall.generations.{table}",
        "question": "Is the difference between the first and the last generation significant? "
        f"({_NAMES[table]}; share of games won against {_opponents(panel)})",
        "answer": f"{answer}: {ours.mean:+.1%} [{low:+.1%}, {high:+.1%}]",
        "interval": [low, high], "units": ours.units, "data": str(panel.folder),
    }  # fmt: skip


def _opponents(panel: Evidence) -> str:
    return ", ".join(np.unique(panel["opponent"]).tolist())


def _paper(table: str) -> tuple[int, list[int]]:
    """Return how many generations lie between two points of the paper's table, and its points."""
    found = read_paper("tengen.papers.opening_evolution").more["tables"][_TABLES[table]]
    return found["every"], found["points"]


def _points_table(table: str, games: Evidence) -> Table:
    every, paper = _paper(table)
    ours = points_of(games)
    rows = [
        [f"{g:,}", str(paper[g // every]), *(str(points[g]) for points in ours.values())]
        for g in next(iter(ours.values()))
    ]
    slope = Trend.through(range(len(paper)), paper).slope
    slopes = [f"{slope:+.2f}" for slope in slopes_of(games, every)]
    rows.append([f"slope per {every:,}", f"{slope:+.2f}", *slopes])
    columns = ["generation", "paper", *(f"training {seed}" for seed in ours)]
    note = "Double round robin: a win counts 2, a draw 1, a loss -1."
    return Table(
        f"{_NAMES[table]}: points of the best networks",
        columns,
        rows,
        note,
        key=f"{table}-points",
    )


def _panel_table(table: str, panel: Evidence) -> Table:
    wins = wins_of(panel)
    rows = []
    for generation in next(iter(wins.values())):
        shares = [curve[generation] for curve in wins.values()]
        low, high = Estimate.of(shares).interval or (np.nan, np.nan)
        rows.append(
            [f"{generation:,}", f"{np.mean(shares):.1%} [{low:.1%}, {high:.1%}]"]
            + [f"{share:.1%}" for share in shares]
        )
    games = len(panel) // (len(rows) * len(wins))
    columns = ["generation", "mean over trainings", *(f"training {seed}" for seed in wins)]
    note = f"{games} games each against {_opponents(panel)}; the interval is over trainings."
    return Table(
        f"{_NAMES[table]}: wins against fixed opponents",
        columns,
        rows,
        note,
        key=f"{table}-panel",
    )


def _points_plot(table: str, games: Evidence) -> Plot:
    every, paper = _paper(table)
    lines = [Line("the paper", [every * i for i in range(len(paper))], list(paper))]
    for seed, points in points_of(games).items():
        lines.append(Line(f"training {seed}", list(points), list(points.values())))
    return Plot(f"{_NAMES[table]}: points by generation", "generation", "points", lines)
