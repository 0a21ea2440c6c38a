"""Tables I to IV, the match and the open questions, computed from rows.

The independent unit is the test game: its moves are predicted by one training. Where a condition
was trained with several seeds, the unit is the training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tengen.arrays import FloatArray
from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Cell, Evidence, find_evidence
from tengen.lab.formatting import number, percent, show, show_estimate
from tengen.lab.papers import read_paper
from tengen.lab.report import (
    Answer,
    ClaimResult,
    PaperReport,
    answer,
    claim_result,
    gain_answer,
)
from tengen.lab.result import Figure, Line, Plot, Table
from tengen.papers.move_prediction.model import TOPS
from tengen.papers.move_prediction.patterns import picture

PAPER = read_paper("tengen.papers.move_prediction")
WIDTH, TOP = 0.9, 20  # the paper's choice
SIZE = 2000  # training games of Tables I and II
LARGEST = 20_000
TEST_GAMES = 500
_CHOSEN = {"width": WIDTH, "top": TOP}


def report(data: Path) -> PaperReport:
    """Return what the rows say; an experiment without rows is left out."""
    claims: list[ClaimResult] = []
    tables: list[Table] = []
    figures: list[Figure] = []
    questions: list[Answer] = []
    if rows := find_evidence(data, "move-prediction"):
        main = rows.where(solver=first_solver(rows))
        trainings = find_evidence(data, "move-prediction-trainings")
        claims += [*width_claims(main), *top_claims(main), *size_claims(main)]
        tables += [*width_tables(main, trainings), *top_tables(main), *size_tables(main)]
        if trainings is not None:
            claims += cost_claims(trainings)
            tables += cost_tables(rows, trainings)
            questions += cost_answer(rows, trainings)
            figures += cost_plots(rows, trainings)
    if rows := find_evidence(data, "move-prediction-phases"):
        tables.append(phase_table(rows))
    if rows := find_evidence(data, "move-prediction-patterns"):
        shown = zip(rows["cells"].tolist(), rows["frequency"].tolist(), strict=True)
        figures += [picture(cells, frequency) for cells, frequency in shown]
    if rows := find_evidence(data, "move-prediction-match"):
        claims.append(match_claim(rows))
        tables.append(match_table(rows))
    if rows := find_evidence(data, "move-prediction-ranks"):
        tables.append(rank_table(rows))
        questions += rank_answers(rows)
    if rows := find_evidence(data, "move-prediction-own-moves"):
        tables.append(own_table(rows))
        questions += own_answers(rows)
    if rows := find_evidence(data, "move-prediction-pruning"):
        tables.append(pruning_table(rows))
        questions.append(pruning_answer(rows))
    if rows := find_evidence(data, "move-prediction-pruning-match"):
        questions.append(pruning_match_answer(rows))
    return PaperReport(claims, tables, figures, questions)


# ----- Rates and differences -----


def first_solver(rows: Evidence) -> str:
    """Return the solver of the tables; others appear in the table of cost alone."""
    return str(rows.run.settings["solvers"][0])


def by_unit(rows: Evidence, column: str) -> tuple[FloatArray, FloatArray]:
    """Return the sums of a column and of the moves by training, or by game if there is one."""
    several = "seed" in rows.columns and len(np.unique(rows["seed"])) > 1
    _, units = np.unique(rows["seed" if several else "test"], return_inverse=True)
    hits, moves = np.bincount(units, rows[column]), np.bincount(units, rows["moves"])
    return hits.astype(np.float64), moves.astype(np.float64)


def unit_of(rows: Evidence) -> str:
    """Return what is independent in these rows."""
    several = "seed" in rows.columns and len(np.unique(rows["seed"])) > 1
    return "training" if several else "test game"


def rate(rows: Evidence, top: int = 1) -> Estimate:
    """Estimate the share of moves among the best `top`."""
    return Estimate.ratio(*by_unit(rows, f"hits{top}")).as_share()


def gain(new: Evidence, old: Evidence, top: int = 1) -> Estimate:
    """Estimate the difference of two rates on the same games, in pairs."""
    (hits, moves), (others, same) = by_unit(new, f"hits{top}"), by_unit(old, f"hits{top}")
    assert np.array_equal(moves, same), "not the same games"
    return Estimate.ratio(hits - others, moves)


def values(rows: Evidence, column: str) -> list[float]:
    """Return the distinct values of a column, in ascending order."""
    return [float(value) for value in np.unique(rows[column])]


def real(rows: Evidence) -> bool:
    """Return whether experts played the games; rates of made games are not the paper's."""
    return not rows.run.settings.get("made")


def at_scale(rows: Evidence) -> bool:
    """Return whether these are experts' games, as many test games, and the paper's estimator."""
    settings = rows.run.settings
    return (
        real(rows)
        and settings["test_games"] >= TEST_GAMES
        and settings["board"] == 19
        and first_solver(rows) == "optimum"
    )


def claim(id: str, ours: Estimate, rows: Evidence, *, full: bool) -> ClaimResult:
    """Compare a claim with an estimate over test games or trainings."""
    return claim_result(PAPER.claims[id], ours, rows, full=full, independent=unit_of(rows))


def paper_figure(id: str) -> str:
    """Return the paper's figure as text, empty if it has none."""
    found = PAPER.claims.get(id)
    return "" if found is None else show(found.figure, None, "%")


# ----- Table I -----


def width_groups(rows: Evidence) -> list[tuple[int, Evidence]]:
    """Return the rows of Table I by number of training games."""
    found = [(int(games), group) for games, group in rows.where(top=TOP).groups("games")]
    return [(games, group) for games, group in found if len(values(group, "width")) > 1]


def width_claims(rows: Evidence) -> list[ClaimResult]:
    """Compare Table I: rates if the games are as many as the paper's, the gain in any case."""
    groups = dict(width_groups(rows))
    if not groups:
        return []
    found = []
    size = SIZE if SIZE in groups else min(groups)
    chosen = groups[size]
    full = at_scale(rows) and size == SIZE
    if {0.0, WIDTH} <= set(values(chosen, "width")):
        ours = gain(chosen.where(width=WIDTH), chosen.where(width=0.0))
        found.append(claim("araki.table1.gain", ours, chosen, full=full))
    if real(rows) and size == SIZE:
        for width in values(chosen, "width"):
            some = chosen.where(width=width)
            found.append(claim(f"araki.table1.{width:g}", rate(some), some, full=full))
    return found


def width_tables(rows: Evidence, trainings: Evidence | None) -> list[Table]:
    """Return Table I, with a column for each number of training games."""
    groups = width_groups(rows)
    if not groups:
        return []
    cells = []
    for width in sorted({w for _, group in groups for w in values(group, "width")}):
        line = [f"{width:g}", paper_figure(f"araki.table1.{width:g}")]
        for games, group in groups:
            some = group.where(width=width)
            line.append(show_estimate(rate(some), "%") if len(some) else "")
            line.append(_features(trainings, games=games, width=width))
        cells.append(line)
    columns = ["W", f"paper, {SIZE:,} games"]
    for games, _ in groups:
        columns += [f"here, {games:,} games", "weights that are not zero"]
    title = "Table I: width factor W, first choice"
    return [Table(title, columns, cells, _games_note(rows), key="table-1")]


def _features(trainings: Evidence | None, **chosen: Cell) -> str:
    """Return how many weights a training of Table I left."""
    if trainings is None:
        return ""
    some = trainings.where(top=TOP, solver=first_solver(trainings), **chosen)
    return f"{some['features'].mean():,.0f}" if len(some) else ""


def _games_note(rows: Evidence) -> str:
    settings = rows.run.settings
    source = "made by the rule player" if not real(rows) else f"of {settings['train']}"
    tested = len(np.unique(rows["test"]))
    return f"Games {source}; {tested} test games; 95 % intervals over {unit_of(rows)}s."


# ----- Table II -----


def top_rows(rows: Evidence) -> Evidence | None:
    """Return the rows of Table II."""
    for _, group in rows.where(width=WIDTH).groups("games"):
        if 0 in group["top"] and len(values(group, "top")) > 1:
            return group
    return None


def top_claims(rows: Evidence) -> list[ClaimResult]:
    """Compare Table II: gains, and rates if the games are as many as the paper's."""
    group = top_rows(rows)
    if group is None:
        return []
    size = int(group["games"][0])
    full = at_scale(rows) and size == SIZE
    by_top = {int(top): group.where(top=top) for top in values(group, "top")}
    found = []
    if TOP in by_top:
        for rank in map(int, PAPER.figures("araki.table2.gain.20")):
            ours = gain(by_top[TOP], by_top[0], rank)
            found.append(claim(f"araki.table2.gain.20.{rank}", ours, group, full=full))
        for top in sorted({40, 60, 80} & set(by_top)):
            ours = gain(by_top[top], by_top[TOP])
            found.append(claim(f"araki.table2.gain.{top}", ours, group, full=full))
    if real(rows) and size == SIZE:
        for top, some in by_top.items():
            for rank in map(int, PAPER.figures(f"araki.table2.{top}")):
                id = f"araki.table2.{top}.{rank}"
                found.append(claim(id, rate(some, rank), some, full=full))
    return found


def top_tables(rows: Evidence) -> list[Table]:
    """Return Table II, ours above the paper's figure in each cell."""
    group = top_rows(rows)
    if group is None:
        return []
    tops = [int(top) for top in values(group, "top")]
    cells = []
    for rank in TOPS:
        line = [f"{rank}"]
        for top in tops:
            line.append(show_estimate(rate(group.where(top=top), rank), "%"))
            line.append(paper_figure(f"araki.table2.{top}.{rank}"))
        cells.append(line)
    columns = ["rank", *(name for top in tops for name in (f"n = {top}", "paper"))]
    size = int(group["games"][0])
    title = f"Table II: n candidates re-ranked, {size:,} games (paper: {SIZE:,})"
    return [Table(title, columns, cells, _games_note(rows), key="table-2")]


# ----- Tables III and IV -----


def size_claims(rows: Evidence) -> list[ClaimResult]:
    """Compare Tables III and IV."""
    chosen = rows.where(**_CHOSEN)
    sizes = [int(size) for size in values(chosen, "games")]
    found = []
    if {5000, LARGEST} <= set(sizes):
        new, old = chosen.where(games=LARGEST), chosen.where(games=5000)
        for rank in map(int, PAPER.figures("araki.table3.gain")):
            id = f"araki.table3.gain.{rank}"
            found.append(claim(id, gain(new, old, rank), chosen, full=at_scale(rows)))
    if real(rows):
        for size in sizes:
            some = chosen.where(games=size)
            for rank in map(int, PAPER.figures(f"araki.games.{size}")):
                id = f"araki.games.{size}.{rank}"
                found.append(claim(id, rate(some, rank), some, full=at_scale(rows)))
    return found


def size_tables(rows: Evidence) -> list[Table]:
    """Return Tables III and IV."""
    chosen = rows.where(**_CHOSEN)
    if not len(chosen):
        return []
    ranks = (1, 5, 10, 20)
    cells = []
    for size, some in chosen.groups("games"):
        line = [f"{size:,}"]
        for rank in ranks:
            line.append(show_estimate(rate(some, rank), "%"))
            id = f"araki.games.{size}.{rank}"
            same = f"araki.table2.{TOP}.{rank}" if size == SIZE else ""
            line.append(paper_figure(id) or paper_figure(same))
        cells.append(line)
    columns = ["training games", *(name for rank in ranks for name in (f"rank {rank}", "paper"))]
    title = f"Tables III and IV: number of training games, W = {WIDTH}, n = {TOP}"
    return [Table(title, columns, cells, _games_note(rows), key="table-3")]


def learning(data: Path) -> Plot | None:
    """Return how often the predictors that are shown guess a move at once, by games learned from.

    The intervals are over the test games.
    """
    rows = find_evidence(data, "move-prediction")
    if rows is None:
        return None
    first = rows.where(solver=first_solver(rows), seed=rows.run.seeds[0], **_CHOSEN)
    found = {int(size): rate(some) for size, some in first.groups("games")}
    ends = [each.interval or (each.mean, each.mean) for each in found.values()]
    low, high = ([end[side] for end in ends] for side in (0, 1))
    shown = Line("this training", list(found), [each.mean for each in found.values()], low, high)
    title = "Experts' moves that it guesses at once, in games it has not seen"
    return Plot(title, "games learned from", "first choice", [shown], bottom=0.0, top=0.5)


def phase_table(rows: Evidence) -> Table:
    """Return the first choice by phase of the game."""
    cells = [
        [f"{ply} to {ply + 29}", show_estimate(rate(some), "%"), f"{some['moves'].sum():,}"]
        for ply, some in rows.groups("ply")
    ]
    title = f"First choice by phase of the game, {rows['games'].max():,} training games"
    return Table(title, ["ply", "first choice", "moves"], cells, _games_note(rows), key="phases")


# ----- Time and memory -----


def cost_claims(trainings: Evidence) -> list[ClaimResult]:
    """Compare the cost of the training on 20,000 games."""
    some = trainings.where(games=LARGEST, solver="optimum", **_CHOSEN)
    if not len(some) or not real(trainings):
        return []
    days, memory = some["cpu_seconds"] / 86_400, some["peak_memory"]
    return [
        claim_result(PAPER.claims[f"araki.cost.{name}"], _measured(each), some, full=True)
        for name, each in (("days", days), ("memory", memory))
    ]


def _measured(each: FloatArray) -> Estimate:
    """Estimate a cost; one training is a count, several have an interval."""
    return Estimate.of(each.tolist()) if len(each) > 1 else Estimate.exact(float(each[0]))


def cost_rows(rows: Evidence, trainings: Evidence) -> list[tuple[Evidence, Evidence]]:
    """Return the trainings with the chosen W and n by solver and size, with their test rows."""
    found = []
    for solver, some in trainings.where(**_CHOSEN).groups("solver"):
        for size, each in some.groups("games"):
            found.append((each, rows.where(solver=solver, games=size, **_CHOSEN)))
    return found


def cost_tables(rows: Evidence, trainings: Evidence) -> list[Table]:
    """Return what accuracy costs."""
    cells = [
        [
            str(each["solver"][0]), f"{each['games'][0]:,}", show_estimate(rate(tested), "%"),
            number(each["seconds"].mean()), number(each["cpu_seconds"].mean()),
            f"{each['peak_memory'].max():.2f}",
            f"{each['iterations'].mean():.0f}", f"{each['violation'].max():.2g}",
        ]
        for each, tested in cost_rows(rows, trainings)
    ]  # fmt: skip
    columns = [
        "solver", "training games", "first choice", "seconds", "processor seconds",
        "peak GB", "iterations", "violation",
    ]  # fmt: skip
    if not cells:
        return []
    note = (
        f"On {trainings.run.processor}, {trainings.run.settings['threads']} threads. The memory is "
        "that of the whole process, with pages of mapped files. Violation: the largest slope that "
        "is left at the end."
    )
    return [Table("What accuracy costs", columns, cells, note, key="cost")]


def cost_answer(rows: Evidence, trainings: Evidence) -> list[Answer]:
    """Say what the last step of training games gained and cost."""
    found = [
        (each, tested)
        for each, tested in cost_rows(rows, trainings)
        if each["solver"][0] == first_solver(rows)
    ]
    if len(found) < 2:
        return []
    (_, before), (each, last) = found[-2:]
    old, new = int(before["games"][0]), int(last["games"][0])
    more = gain(last, before)
    text = (
        f"{new:,} instead of {old:,} games gain {show_estimate(more, '%')}; {new:,} games take "
        f"{number(float(each['cpu_seconds'].mean()))} processor seconds and "
        f"{each['peak_memory'].max():.1f} GB"
    )
    return [answer(PAPER, "araki.cost", text, rows, more, independent=unit_of(last))]


def cost_plots(rows: Evidence, trainings: Evidence) -> list[Figure]:
    """Draw accuracy against training games, processor time and memory."""
    found = cost_rows(rows, trainings)
    axes = {
        "games": "training games",
        "cpu_seconds": "processor seconds",
        "peak_memory": "peak memory, GB",
    }
    plots: list[Figure] = []
    for column, name in axes.items():
        lines = []
        for solver in sorted({str(each["solver"][0]) for each, _ in found}):
            some = [pair for pair in found if pair[0]["solver"][0] == solver]
            rates = [rate(tested) for _, tested in some]
            points = sorted(
                zip((float(each[column].mean()) for each, _ in some), rates, strict=True),
                key=lambda point: point[0],
            )
            lines.append(_line(solver, points))
        if lines and len(lines[0].x) > 1:
            title = f"First choice by {name}"
            plots.append(Plot(title, name, "share of moves predicted", lines, log=True))
    return plots


def _line(name: str, points: Sequence[tuple[float, Estimate]]) -> Line:
    """Return a line with a band where every point has an interval."""
    x, y = [at for at, _ in points], [ours.mean for _, ours in points]
    intervals = [ours.interval for _, ours in points]
    if any(each is None for each in intervals):
        return Line(name, x, y)
    low, high = zip(*(each for each in intervals if each is not None), strict=True)
    return Line(name, x, y, list(low), list(high))


# ----- The match -----


def match_claim(rows: Evidence) -> ClaimResult:
    """Compare the match against GNU Go."""
    settings = rows.run.settings
    full = real(rows) and settings["games"] >= LARGEST and settings["solver"] == "optimum"
    ours = Estimate.rate(float(rows["won"].sum()), len(rows))
    gnugo = "gnugo" in settings["opponent"]
    found = PAPER.claims["araki.match"]
    return claim_result(found, ours, rows, full=full and gnugo, independent="game")


def match_table(rows: Evidence) -> Table:
    """Return the score of the match by colour."""
    cells = []
    for colour in ("black", "white"):
        some = rows.where(**{colour: "paper"})
        ours = Estimate.rate(float(some["won"].sum()), len(some))
        cells.append([colour, f"{len(some)}", show_estimate(ours, "%")])
    settings = rows.run.settings
    title = f"The first choice, {settings['games']:,} training games, against another player"
    note = f"Opponent: {settings['opponent']}."
    return Table(title, ["colour", "games", "won"], cells, note, key="match")


# ----- Weaker players -----


def rank_table(rows: Evidence) -> Table:
    """Return the first choice by the players to learn from and the players to predict."""
    groups = list(rows.run.settings["groups"])
    cells = [
        [_group(rows, group)]
        + [show_estimate(rate(rows.where(group=_key(rows, group), tested=_key(rows, other))), "%")
           for other in groups]
        for group in groups
    ]  # fmt: skip
    columns = ["trained on", *(f"tested on {_group(rows, group)}" for group in groups)]
    games = rows.run.settings["games"]
    note = f"{games:,} training games each; 95 % intervals over {unit_of(rows)}s."
    return Table("Games of weaker players, first choice", columns, cells, note, key="ranks")


def _key(rows: Evidence, group: str) -> Cell:
    """Return a group as it stands in the rows, where shares are numbers."""
    return group if rows["group"].dtype.kind == "U" else float(group)


def _group(rows: Evidence, group: str) -> str:
    """Name a group of games."""
    if not real(rows):
        return f"the rule player, {percent(float(group))} at random"
    last = group == rows.run.settings["groups"][-1]
    return f"{group} or stronger" if last else group


def rank_answers(rows: Evidence) -> list[Answer]:
    """Answer whether weaker players' games teach as much."""
    groups = [_key(rows, group) for group in rows.run.settings["groups"]]
    weak, strong = groups[0], groups[-1]
    found = []
    for id, tested in (("araki.weaker.strong", strong), ("araki.weaker.weak", weak)):
        some = rows.where(tested=tested)
        ours = gain(some.where(group=weak), some.where(group=strong))
        result = gain_answer(PAPER, id, ours, some, unit="%", independent=unit_of(some))
        # Games of one training each say nothing of what other games of these players would teach.
        once = "" if unit_of(some) == "training" else " (one training each)"
        found.append(replace(result, text=result.text + once))
    return found


# ----- The engine's own moves -----


def own_table(rows: Evidence) -> Table:
    """Return the rates with and without previous moves, after experts' moves and own moves."""
    cells = []
    for line, name in (("expert", "experts' moves"), ("own", "the engine's own moves")):
        some = rows.where(line=line)
        new, old = some.where(features="history"), some.where(features="none")
        found = rate(old), rate(new), gain(new, old)
        cells.append([name, *(show_estimate(each, "%") for each in found)])
    columns = ["after", "without previous moves", "with them", "gain"]
    settings = rows.run.settings
    note = (
        f"The right move is that of {settings['expert']}. {settings['games']:,} training games; "
        "95 % intervals over test games."
    )
    return Table("Previous moves as features, first choice", columns, cells, note, key="own-moves")


def own_answers(rows: Evidence) -> list[Answer]:
    """Answer how much own previous moves mislead."""
    gains = {}
    for line in ("expert", "own"):
        some = rows.where(line=line)
        gains[line] = some.where(features="history"), some.where(features="none")
    ours = gain(*gains["own"])
    (hits, moves), (others, _) = (by_unit(each, "hits1") for each in gains["own"])
    (before, played), (without, _) = (by_unit(each, "hits1") for each in gains["expert"])
    # A position of each line weighs the same: the lines of a game are equally long.
    both = (moves > 0) & (played > 0)
    own = (hits[both] - others[both]) / moves[both]
    expert = (before[both] - without[both]) / played[both]
    less = Estimate.of((own - expert).tolist())
    text = f"by {'+' if less.mean > 0 else ''}{show_estimate(less, '%')}"
    kind = {"independent": "test game"}
    return [
        gain_answer(PAPER, "araki.own.help", ours, rows, unit="%", **kind),
        answer(PAPER, "araki.own.mislead", text, rows, less, **kind),
    ]


# ----- Forward pruning -----


def pruning_table(rows: Evidence) -> Table:
    """Return what pruning to the predictor's best moves keeps and loses."""
    cells = [[f"{width}", *_kept(some)] for width, some in rows.groups("width")]
    columns = ["moves searched", "best move kept", "points lost", "of all moves"]
    settings = rows.run.settings
    note = (
        f"One ply, positions valued by {settings['evaluator']}; {settings['games']:,} training "
        "games; 95 % intervals over test games."
    )
    return Table("Forward pruning", columns, cells, note, key="pruning")


def _by_game(rows: Evidence, column: str) -> Estimate:
    """Estimate the mean of a column over positions, which are grouped in games."""
    _, games = np.unique(rows["test"], return_inverse=True)
    return Estimate.ratio(np.bincount(games, rows[column]), np.bincount(games))


def _kept(some: Evidence) -> list[str]:
    share = np.minimum(some["width"], some["moves"]).sum() / some["moves"].sum()
    lost = _by_game(some, "lost")
    kept = _by_game(some, "kept").as_share()
    return [show_estimate(kept, "%"), show_estimate(lost), percent(float(share))]


def pruning_answer(rows: Evidence) -> Answer:
    """Answer how often pruning keeps the best move."""
    width = int(rows.run.settings["match_width"])
    width = width if width in rows["width"] else int(rows["width"].max())
    some = rows.where(width=width)
    ours = _by_game(some, "kept")
    kept, lost, share = _kept(some)
    text = f"{kept} with {width} moves ({share} of all); the pruned search loses {lost} points"
    return answer(PAPER, "araki.pruning.kept", text, some, ours, independent="test game")


def pruning_match_answer(rows: Evidence) -> Answer:
    """Answer whether a deeper pruned search wins."""
    won = Estimate.rate(float(rows["won"].sum()), len(rows))
    low, high = won.interval or (0.0, 1.0)
    ours = replace(won, mean=won.mean - 0.5, interval=(low - 0.5, high - 0.5))
    return gain_answer(PAPER, "araki.pruning.match", ours, rows, unit="%", independent="game")
