"""Tables, plots and verdicts of the paper, computed from rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Evidence, find_evidence
from tengen.lab.formatting import percent, show_estimate, show_shares
from tengen.lab.papers import read_paper
from tengen.lab.report import (
    Answer,
    ClaimResult,
    PaperReport,
    claim_result,
    gain_answer,
    learning_plot,
)
from tengen.lab.result import Figure, Line, Plot, Table
from tengen.statistics import Trend

PAPER = read_paper("tengen.papers.opening_evolution")

_TABLES = {"table-1": "dense", "table-2": "spatial"}
"""The paper's tables and the networks they are about."""
_NAMES = {
    "table-1": "Table I, dense network with two plies",
    "table-2": "Table II, spatial network",
}
_CHANGED = {
    "one-opponent": "opponents", "three-opponents": "more-opponents",
    "co-evolution": "co-evolution", "deeper": "deeper", "illegal-passes": "second-choice",
    "handicap": "handicap", "middle-game": "middle-game", "whole-game": "whole-game",
}  # fmt: skip
"""Changes of the method and the questions they answer."""

Points = dict[int, int]  # by generation


def report(data: Path) -> PaperReport:
    """Return what the rows say; experiments without rows are left out."""
    claims: list[ClaimResult] = []
    tables: list[Table] = []
    figures: list[Figure] = []
    questions: list[Answer] = []
    for table in _TABLES:
        if tournament := find_evidence(data, f"{table}-tournament"):
            claims.append(_points_rise(table, tournament))
            tables.append(_points_table(table, tournament))
            figures.append(_points_plot(table, tournament))
        if panel := find_evidence(data, f"{table}-panel"):
            questions.append(_better_later(table, panel))
            tables.append(_panel_table(table, panel))
        if training := find_evidence(data, f"{table}-training"):
            figures.append(_fitness_plot(table, training))
    tables.append(_paper_points())
    if found := find_evidence(data, "learning"):
        questions.append(gain_answer(PAPER, "kendall.learning", _gain(found), found, unit="%"))
        tables.append(_learning_table(found))
    if changes := find_evidence(data, "changes"):
        questions += _changes(changes)
        tables.append(_changes_table(changes))
    if champions := find_evidence(data, "champions"):
        tables.append(_champions_table(champions))
    return PaperReport(claims, tables, figures, questions)


# ----- Tables I and II -----


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


def _paper(table: str) -> tuple[int, list[int]]:
    """Return how many generations lie between two points of the paper's table, and its points."""
    found = PAPER.more["tables"][_TABLES[table]]
    return found["every"], found["points"]


def _points_rise(table: str, games: Evidence) -> ClaimResult:
    every, points = _paper(table)
    long = int(games["black"].max()) >= every * (len(points) - 1)
    ours = Estimate.of(slopes_of(games, every))
    return claim_result(PAPER.claims[f"kendall.points.{_TABLES[table]}"], ours, games, full=long)


def _points_table(table: str, games: Evidence) -> Table:
    every, paper = _paper(table)
    ours = points_of(games)
    rows = []
    for g in next(iter(ours.values())):
        theirs = str(paper[g // every]) if g % every == 0 and g // every < len(paper) else ""
        rows.append([f"{g:,}", theirs, *(str(points[g]) for points in ours.values())])
    slope = Trend.through(range(len(paper)), paper).slope
    slopes = [f"{slope:+.2f}" for slope in slopes_of(games, every)]
    rows.append([f"slope per {every:,}", f"{slope:+.2f}", *slopes])
    return Table(
        f"{_NAMES[table]}: points of the best networks",
        ["generation", "paper", *(f"training {seed}" for seed in ours)], rows,
        "Double round robin: a win counts 2, a draw 1, a loss -1.", key=f"{table}-points",
    )  # fmt: skip


def _points_plot(table: str, games: Evidence) -> Plot:
    every, paper = _paper(table)
    lines = [Line("the paper", [every * i for i in range(len(paper))], list(paper))]
    for seed, points in points_of(games).items():
        lines.append(Line(f"training {seed}", list(points), list(points.values())))
    return Plot(f"{_NAMES[table]}: points by generation", "generation", "points", lines)


def _fitness_plot(table: str, training: Evidence) -> Plot:
    """Plot the best fitness of each training so far, thinned to some 200 generations."""
    lines = []
    columns = [name for name in training.columns if name.startswith("fitness_")]
    for seed, rows in training.groups("seed"):
        best = np.maximum.accumulate(np.max([rows[name] for name in columns], axis=0))
        step = max(len(best) // 200, 1)
        at = np.arange(0, len(best), step)
        lines.append(Line(f"training {seed}", rows["generation"][at].tolist(), best[at].tolist()))
    title = f"{_NAMES[table]}: best score of a game so far"
    return Plot(title, "generation", "points on the board", lines)


def _paper_points() -> Table:
    """Test the paper's own points: is there a trend?"""
    rows = []
    for table in _TABLES:
        _, points = _paper(table)
        trend = Trend.through(range(len(points)), points)
        rows.append([_NAMES[table], f"{trend.slope:+.2f}", f"{trend.r:.2f}", f"{trend.p:.2f}"])
    note = "A straight line through the printed points; p is the probability of such a slope by "
    note += "chance if nothing was learned."
    columns = ["table", "slope per step", "r", "p"]
    return Table("The paper's own points, tested", columns, rows, note, key="paper-points")


# ----- Games against the panel -----


def wins_of(panel: Evidence) -> dict[int, dict[int, float]]:
    """Return the share of games won against the panel, by training and generation."""
    return {
        seed: {g: float((mine["score"] > 0).mean()) for g, mine in rows.groups("generation")}
        for seed, rows in panel.groups("seed")
    }


def learning(data: Path) -> Plot | None:
    """Return how often the networks of the training that is shown win."""
    panel = find_evidence(data, "table-1-panel")
    if panel is None:
        return None
    title = f"Openings won against fixed opponents ({_opponents(panel)})"
    return learning_plot(title, "generation", wins_of(panel))


def _gain(panel: Evidence) -> Estimate:
    """Estimate how much more the last generation wins than the first, over trainings."""
    gains = []
    for curve in wins_of(panel).values():
        first, *_, last = curve.values()
        gains.append(last - first)
    return Estimate.of(gains)


def _better_later(table: str, panel: Evidence) -> Answer:
    id = f"kendall.generations.{_TABLES[table]}"
    return gain_answer(PAPER, id, _gain(panel), panel, unit="%")


def _opponents(panel: Evidence) -> str:
    return ", ".join(np.unique(panel["opponent"]).tolist())


def _panel_table(table: str, panel: Evidence) -> Table:
    wins = wins_of(panel)
    rows = [
        [f"{g:,}", show_shares([curve[g] for curve in wins.values()])]
        + [percent(curve[g]) for curve in wins.values()]
        for g in next(iter(wins.values()))
    ]
    games = len(panel) // (len(rows) * len(wins))
    note = f"{games} games each against {_opponents(panel)}; the interval is over trainings."
    return Table(
        f"{_NAMES[table]}: wins against fixed opponents",
        ["generation", "mean over trainings", *(f"training {seed}" for seed in wins)], rows, note,
        key=f"{table}-panel",
    )  # fmt: skip


def _learning_table(panel: Evidence) -> Table:
    rows = []
    for opponent in [*np.unique(panel["opponent"]).tolist(), "all"]:
        games = panel if opponent == "all" else panel.where(opponent=opponent)
        curves = list(wins_of(games).values())
        ends = [[list(curve.values())[end] for curve in curves] for end in (0, -1)]
        shown = [show_shares(values) for values in ends]
        rows.append([opponent, *shown, show_estimate(_gain(games), "%")])
    generations = panel.run.settings["generations"]
    columns = ["opponent", "generation 0", f"generation {generations}", "gain"]
    title = "Another method: wins against fixed opponents"
    note = f"Means over {len(panel.run.seeds)} trainings."
    return Table(title, columns, rows, note, key="learning")


# ----- The paper's questions -----


def _finals(panel: Evidence) -> dict[int, float]:
    """Return the share of games won by the last generation of each training."""
    return {seed: list(curve.values())[-1] for seed, curve in wins_of(panel).items()}


def _against_none(changes: Evidence, change: str) -> Estimate | None:
    """Estimate a change's gain in final wins, paired by the seed of the training."""
    base, other = (_finals(changes.where(change=name)) for name in ("none", change))
    pairs = [other[seed] - base[seed] for seed in base if seed in other]
    return Estimate.of(pairs) if pairs else None


def _changes(changes: Evidence) -> list[Answer]:
    found = []
    for change, question in _CHANGED.items():
        if ours := _against_none(changes, change):
            found.append(gain_answer(PAPER, f"kendall.{question}", ours, changes, unit="%"))
    return found


def _changes_table(changes: Evidence) -> Table:
    rows: list[Sequence[str]] = []
    for change, games in changes.groups("change"):
        final = Estimate.shares(list(_finals(games).values()))
        gain = None if change == "none" else _against_none(changes, change)
        shown = "" if gain is None else show_estimate(gain, "%")
        rows.append([change, show_estimate(_gain(games), "%"), show_estimate(final, "%"), shown])
    columns = ["change", "gain over generation 0", "final wins", "against none"]
    note = f"Means over {len(changes.run.seeds)} trainings; the last column is paired by seed."
    title = f"Changes of the method: wins against {_opponents(changes)}"
    return Table(title, columns, rows, note, key="changes")


def _champions_table(games: Evidence) -> Table:
    rows = []
    for model, mine in games.groups("model"):
        for opponent, duel in mine.groups("opponent"):
            wins = Estimate.rate(float((np.sign(duel["score"]) + 1).sum() / 2), len(duel))
            rows.append([model, opponent, f"{len(duel)}", show_estimate(wins, "%")])
    columns = ["model", "opponent", "games", "won"]
    title = "The shipped champions' openings, finished by static"
    return Table(title, columns, rows, key="champions")
