"""Tables, plots and verdicts of the paper, computed from rows; trainings are independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.lab.decisions import Estimate
from tengen.lab.drawing import kernel_sheet
from tengen.lab.evidence import Evidence, find_evidence
from tengen.lab.formatting import number, percent, show_estimate, show_shares
from tengen.lab.papers import read_paper
from tengen.lab.report import (
    Answer,
    ClaimResult,
    PaperReport,
    answer,
    claim_result,
    gain_answer,
    learning_plot,
)
from tengen.lab.result import Figure, Line, Picture, Plot, Table
from tengen.papers.symmetry_network.network import SQUARE
from tengen.statistics import spearman

PAPER = read_paper("tengen.papers.symmetry_network")
ISN_GAMES = 860_000  # of the paper's training
_EXACT = 1e-12  # a larger error is no rounding
_COUNTED = ("HI", "OH", "OI")  # the paper does not count biases
_PARTS = {
    "HI": "inputs to hidden units", "OH": "hidden units to outputs", "OI": "inputs to outputs",
    "BH": "biases of hidden units", "BO": "biases of outputs",
}  # fmt: skip
_DESIGNS = {
    "paper": "the paper's",
    "liberties": "blocks in six classes by number of liberties",
    "untied": "a plain convolution, weights not tied",
    "colours": "White's weights tied to Black's",
    "recurrent": "recurrent",
}
_OUTPUT_NAMES = ("Z+", "Zo", "Z•", "Aw+", "Ab+", "Ao", "A•")


class _Found:
    """What the parts of the report add up to."""

    def __init__(self) -> None:
        self.claims: list[ClaimResult] = []
        self.tables: list[Table] = []
        self.figures: list[Figure] = []
        self.questions: list[Answer] = []

    def claim(self, id: str, ours: Estimate, rows: Evidence, full: bool, unit: str) -> None:
        """Add a claim beside ours."""
        claim = PAPER.claims[f"blair.{id}"]
        self.claims.append(claim_result(claim, ours, rows, full=full, independent=unit))

    def gain(self, id: str, values: Sequence[float], rows: Evidence) -> None:
        """Answer whether something gains by one share of games per training."""
        found = gain_answer(PAPER, f"blair.{id}", Estimate.of(values), rows, unit="%")
        self.questions.append(replace(found, text=found.text + _how_long(rows)))


def report(data: Path) -> PaperReport:
    """Return what the rows say; experiments without rows are left out."""
    found = _Found()
    for name, add in _PARTS_OF_REPORT.items():
        rows = find_evidence(data, name)
        if rows is not None:
            add(found, rows)
    return PaperReport(found.claims, found.tables, found.figures, found.questions)


def wins(scores: FloatArray) -> float:
    """Return the share of games won; a draw is half a win."""
    return float((np.sign(scores).mean() + 1) / 2)


def is_full(rows: Evidence) -> bool:
    """Return whether rows are of trainings as long as the paper's, at its learning rate."""
    settings = rows.run.settings
    enough = settings.get("games", 0) >= ISN_GAMES and settings.get("board") == 9
    return bool(enough and settings.get("rate") == 5e-6 and not settings.get("model"))


def _how_long(rows: Evidence) -> str:
    """Say what played if it were not trainings as long as the paper's."""
    if is_full(rows):
        return ""
    if model := rows.run.settings.get("model"):
        return f" (the shipped {model} alone)"
    return f" (trainings of {rows.run.settings['games']:,} games)"


# ----- Weights -----


def _weights(found: _Found, rows: Evidence) -> None:
    ours = rows.where(design="paper")
    counted = np.isin(ours["part"], _COUNTED)
    for id, column in (("weights", "free"), ("connections", "connections")):
        count = Estimate.exact(int(ours[column][counted].sum()))
        found.claim(id, count, rows, True, "count")
    columns = ["part", "weights", "that can differ from zero", "free"]
    table = [
        [_PARTS[part], *(f"{int(ours[c][i]):,}" for c in ("dense", "connections", "free"))]
        for i, part in enumerate(ours["part"].tolist())
    ]
    totals = ", ".join(
        f"{_DESIGNS[design]} {int(of['free'][np.isin(of['part'], _COUNTED)].sum()):,}"
        for design, of in rows.groups("design")
    )
    note = f"Free weights of a cell without biases: {totals}."
    found.tables.append(Table("Weights of a cell", columns, table, note, key="weights"))
    found.figures += _pictures()


def _pictures() -> list[Picture]:
    """Draw the weights of the shipped network of the paper."""
    from tengen.papers.symmetry_network import SymmetryNetwork

    network = SymmetryNetwork.load("isn-9x9")
    dense = network.architecture.expand(network.free_)
    inputs = [f"{colour}C{i}" for colour in "○●" for i in range(1, 7)] + ["empty", "edge"]
    kinds = [b.name for b in network.architecture.cell.blocks for _ in range(b.size)]
    hidden = [f"{kind}{kinds[: i + 1].count(kind)}" for i, kind in enumerate(kinds)]
    sheets = {
        "HI": (hidden, inputs), "OI": (_OUTPUT_NAMES, inputs), "OH": (_OUTPUT_NAMES, hidden)
    }  # fmt: skip
    return [
        Picture(PAPER.more["pictures"][part], kernel_sheet(dense[part], SQUARE, *names), wide=True)
        for part, names in sheets.items()
    ]


def _errors(found: _Found, rows: Evidence) -> None:
    table = []
    for design, of in rows.groups("design"):
        worst = [float(mine["error"].max()) for _, mine in of.groups("seed")]
        holds = sum(error < _EXACT for error in worst)
        table.append([_DESIGNS[design], f"{holds} of {len(worst)}", f"{max(worst):.1g}"])
        if design == "paper":
            ours = Estimate.rate(holds, len(worst))
            found.claim("symmetry", ours, rows, True, "random network")
    boards = ", ".join(map(str, np.unique(rows["board"]).tolist()))
    found.tables.append(
        Table(
            "Does turning the board turn the answer?",
            ["weights", "random networks for which it does", "largest difference"], table,
            f"All symmetries, random boards of {boards} lines; below {_EXACT:g} is rounding.",
            key="symmetry",
        )
    )  # fmt: skip


# ----- Figure 1 -----


def curves_of(rows: Evidence) -> dict[int, dict[int, float]]:
    """Return each snapshot's share of the games of its tournament, by training and games."""
    curves = {}
    for seed, games in rows.groups("seed"):
        points = (np.sign(games["score"]) + 1) / 2
        curve = {}
        for at in np.unique(np.concatenate([games["a"], games["b"]])).tolist():
            first, second = games["a"] == at, games["b"] == at
            won = points[first].sum() + (1 - points[second]).sum()
            curve[at] = float(won / (first.sum() + second.sum()))
        curves[seed] = curve
    return curves


def _tournament(found: _Found, rows: Evidence) -> None:
    curves = curves_of(rows)
    # The untrained network loses to all others and would make any curve rise.
    trained = {seed: {g: w for g, w in curve.items() if g > 0} for seed, curve in curves.items()}
    ranks = [spearman(list(c), list(c.values())) for c in trained.values()]
    rising = sum(rank is not None and rank.r > 0 for rank in ranks)
    best = [max(curve, key=lambda g: curve[g]) for curve in trained.values()]
    ends = [max(curve) for curve in trained.values()]
    full = is_full(rows)
    found.claim("figure1.rises", Estimate.rate(rising, len(ranks)), rows, full, "training")
    places = [at / end for at, end in zip(best, ends, strict=True)]
    if full:  # the place in a short training says nothing about a long one
        found.claim("figure1.best", Estimate.shares(places), rows, full, "training")
    gains = []
    for curve in trained.values():
        shares = list(curve.values())
        fifth = max(1, len(shares) // 5)
        gains.append(float(np.mean(shares[-fifth:]) - np.mean(shares[:fifth])))
    found.gain("gain", gains, rows)
    lines = [Line(f"training {s}", list(c), list(c.values())) for s, c in curves.items()]
    title = "Figure 1: snapshots of a training against each other"
    found.figures.append(
        Plot(title, "games of self-play", "share of games won", lines, bottom=0, top=1)
    )
    table = [
        [f"{games:,}", *_mean_and_each([curve[games] for curve in curves.values()])]
        for games in _some(list(next(iter(curves.values()))), 11)
    ]
    table.append(
        ["rank correlation with games", "", *("" if r is None else f"{r.r:+.2f}" for r in ranks)]
    )
    table.append(["best snapshot", "", *(f"{at:,}" for at in best)])
    note = "Share of the games of a round robin of all snapshots of one training; the interval is "
    note += "over trainings. The untrained network is left out of the correlation."
    columns = ["games", "mean", *(f"training {seed}" for seed in curves)]
    found.tables.append(Table("Figure 1", columns, table, note, key="figure-1"))


def _mean_and_each(shares: Sequence[float]) -> list[str]:
    return [show_shares(shares), *(percent(share) for share in shares)]


def _some(values: list[int], count: int) -> list[int]:
    """Return about `count` of the values, the first and the last among them."""
    last = len(values) - 1
    return [values[i] for i in sorted({round(k * last / (count - 1)) for k in range(count)})]


def _panel(found: _Found, rows: Evidence) -> None:
    opponents = np.unique(rows["opponent"]).tolist()
    lines, table = [], []
    steps = np.unique(rows["games"]).tolist()
    shares = {
        (at, opponent): [
            wins(mine["score"])
            for _, mine in rows.where(games=at, opponent=opponent).groups("seed")
        ]
        for at in steps
        for opponent in opponents
    }
    for opponent in opponents:
        lines.append(Line(opponent, steps, [float(np.mean(shares[at, opponent])) for at in steps]))
    for at in _some(steps, 11):
        cells = [show_shares(shares[at, opponent]) for opponent in opponents]
        table.append([f"{at:,}", *cells])
    title = "Snapshots against fixed opponents"
    found.figures.append(
        Plot(title, "games of self-play", "share of games won", lines, bottom=0, top=1)
    )
    trainings = len(np.unique(rows["seed"]))
    note = f"Mean share of games won over {trainings} trainings."
    columns = ["games", *(f"against {opponent}" for opponent in opponents)]
    found.tables.append(Table(title, columns, table, note, key="panel"))


def learning(data: Path) -> Plot | None:
    """Return how often the snapshots that are shown win against fixed opponents."""
    rows = find_evidence(data, "symmetry-panel")
    if rows is None:
        return None
    curves = {
        seed: {at: wins(games["score"]) for at, games in mine.groups("games")}
        for seed, mine in rows.groups("seed")
    }
    opponents = ", ".join(np.unique(rows["opponent"]).tolist())
    title = f"Games won against fixed opponents ({opponents})"
    return learning_plot(title, "games of self-play", curves)


def _training(found: _Found, rows: Evidence) -> None:
    lines = [
        Line(f"training {seed}", mine["games"].tolist(), mine["error"].tolist())
        for seed, mine in rows.groups("seed")
    ]
    title = "Squared error of the outputs during training"
    found.figures.append(Plot(title, "games of self-play", "error", lines))


# ----- Designs -----


def _designs(found: _Found, rows: Evidence) -> None:
    table = []
    for design, of in rows.groups("design"):
        cells = [_DESIGNS.get(design, design)]
        for opponent in np.unique(rows["opponent"]).tolist():
            shares = _shares(of.where(opponent=opponent))
            cells.append(show_shares(shares) if shares else "")
        table.append(cells)
    against = [f"against {name}" for name in np.unique(rows["opponent"]).tolist()]
    note = f"{rows.run.settings['games']:,} games of training each, with the same seeds; share of "
    note += "games won, the interval over trainings."
    columns = ["network", *against]
    found.tables.append(Table("Designs after equal training", columns, table, note, key="designs"))
    met = rows.where(opponent="paper")
    by_design = {design: _shares(of) for design, of in met.groups("design")}
    if by_liberties := by_design.get("liberties"):
        weighted = sum((1 - np.sign(share - 0.5)) / 2 for share in by_liberties)
        ours = Estimate.rate(weighted, len(by_liberties))
        found.claim("liberties", ours, met, is_full(rows), "training pair")
        found.gain("liberties.gain", [0.5 - share for share in by_liberties], met)
    if untied := by_design.get("untied"):
        found.gain("untied", [0.5 - share for share in untied], met)
    for design in ("colours", "recurrent"):
        if played := by_design.get(design):
            found.gain(design, [share - 0.5 for share in played], met)


def _shares(rows: Evidence) -> list[float]:
    """Return the share of games won of every training."""
    return [wins(mine["score"]) for _, mine in rows.groups("seed")]


# ----- Look-ahead -----


def _search(found: _Found, rows: Evidence) -> None:
    table = []
    for depth, of in rows.groups("depth"):
        shares, moves = _shares(of), (of["plies"] + 1) // 2
        time = 1000 * float(of["seconds"].sum() / moves.sum())
        table.append([depth, show_estimate(_over(of, shares), "%"), len(of), f"{number(time)}"])
        if depth == 5:
            found.gain("search", [share - 0.5 for share in shares], of)
    width = rows.run.settings["width"]
    note = f"Against one ply of the same network, its own {width} best moves in every position; "
    note += f"{_who(rows)}. Milliseconds per move depend on the machine."
    columns = ["depth", "won", "games", "ms per move"]
    found.tables.append(Table("Alpha-beta with the network", columns, table, note, key="search"))


def _over(rows: Evidence, shares: Sequence[float]) -> Estimate:
    """Estimate a share over trainings, or over the games of the only network."""
    if len(shares) > 1:
        return Estimate.shares(shares)
    return Estimate.rate(float(((np.sign(rows["score"]) + 1) / 2).sum()), len(rows))


def _who(rows: Evidence) -> str:
    """Say which networks played, and so what an interval is over."""
    if model := rows.run.settings.get("model"):
        return f"the shipped {model}, with intervals over its games"
    trainings = len(np.unique(rows["seed"]))
    return f"{trainings} trainings of {rows.run.settings['games']:,} games"


# ----- Ratings -----


def elo_of(rungs: Sequence[float], points: Sequence[float], games: Sequence[float]) -> float:
    """Return the rating at which so many points are expected against rungs of known ratings.

    Half a win and half a loss against the middle rung keep it finite.

    >>> round(elo_of([1000.0], [5.0], [10.0]))
    1000
    """
    elos = np.array([*rungs, float(np.median(rungs))])
    played = np.array([*games, 1.0])
    target = float(np.sum(points)) + 0.5
    low, high = elos.min() - 4000, elos.max() + 4000
    for _ in range(60):
        middle = (low + high) / 2
        expected = float((played / (1 + 10 ** ((elos - middle) / 400))).sum())
        low, high = (middle, high) if expected < target else (low, middle)
    return float((low + high) / 2)


def ratings_of(rows: Evidence) -> dict[int, float]:
    """Return the rating of every training from its games on one board size."""
    found = {}
    for seed, mine in rows.groups("seed"):
        played = mine["wins"] + mine["losses"] + mine["draws"]
        points = mine["wins"] + mine["draws"] / 2
        found[seed] = elo_of(mine["elo"].tolist(), points.tolist(), played.tolist())
    return found


def _rated(rows: Evidence) -> tuple[Estimate, str]:
    """Estimate a rating over trainings, or over the games of the only network."""
    elos = [float(round(elo)) for elo in ratings_of(rows).values()]
    if len(elos) > 1:
        return Estimate.of(elos), "training"
    games = rows["wins"] + rows["losses"] + rows["draws"]
    expected = 1 / (1 + 10 ** ((rows["elo"] - elos[0]) / 400))
    # The inverse of the information of all games, in Elo.
    error = 400 / math.log(10) / math.sqrt(float((games * expected * (1 - expected)).sum()))
    interval = float(round(elos[0] - 1.96 * error)), float(round(elos[0] + 1.96 * error))
    return Estimate(elos[0], interval, int(games.sum()), math.nan), "game"


def _rating(found: _Found, rows: Evidence) -> None:
    table = []
    for board, of in rows.groups("board"):
        ours, independent = _rated(of)
        size = f"{board}x{board}"
        for rung in sorted(set(of["rung"].tolist()), key=lambda name: _elo(of, name)):
            met = of.where(rung=rung)
            won, lost, drawn = (int(met[name].sum()) for name in ("wins", "losses", "draws"))
            record = f"{won} won, {lost} lost" + (f", {drawn} drawn" if drawn else "")
            table.append([size, rung, number(round(_elo(of, rung))), record])
        id = f"blair.cgos.{size}"
        if id in PAPER.questions:
            text = f"{show_estimate(ours)} Elo on our ladder; no verdict, since the scales are not "
            text += f"joined{_how_long(of)}"
            found.questions.append(answer(PAPER, id, text, of, ours, independent=independent))
    note = f"Rated without look-ahead: {_who_rated(rows)}. GNU Go 3.8 at level 10 has 1800."
    columns = ["board", "opponent", "its Elo", "games of the networks"]
    title = "Games on the ladders"
    found.tables.append(Table(title, columns, table, note, key="rating"))


def _elo(rows: Evidence, rung: str) -> float:
    return float(rows.where(rung=rung)["elo"].mean())


def _who_rated(rows: Evidence) -> str:
    model = rows.run.settings.get("model")
    return f"the shipped {model} alone" if model else _who(rows)


# ----- Evolution -----


def _evolution(found: _Found, rows: Evidence) -> None:
    curves: dict[str, dict[int, dict[int, float]]] = {
        method: {
            seed: {at: wins(games["score"]) for at, games in mine.groups("games")}
            for seed, mine in of.groups("seed")
        }
        for method, of in rows.groups("method")
    }
    steps = np.unique(rows["games"]).tolist()
    lines, table = [], []
    names = {"evolution": "evolution", "td": "temporal differences"}
    for method, of in curves.items():
        means = [float(np.mean([curve[at] for curve in of.values()])) for at in steps]
        lines.append(Line(names[method], steps, means))
    for at in _some(steps, 7):
        shares = [[curve[at] for curve in curves[method].values()] for method in names]
        table.append([f"{at:,}", *(show_shares(each) for each in shares)])
    falls = {method: [_falls(curve) for curve in curves[method].values()] for method in names}
    table.append(["mean fall between snapshots"] + [show_shares(each) for each in falls.values()])
    title = "Evolution and temporal differences from the same start"
    found.figures.append(Plot(title, "games", "share won against the start", lines))
    note = "Share of games won against the common start; intervals over trainings."
    columns = ["games", *names.values()]
    found.tables.append(Table(title, columns, table, note, key="evolution"))
    pairs = zip(falls["td"], falls["evolution"], strict=True)
    found.gain("evolution", [td - evolved for td, evolved in pairs], rows)
    last = [[curve[steps[-1]] for curve in curves[m].values()] for m in ("evolution", "td")]
    gains = [evolved - td for evolved, td in zip(*last, strict=True)]
    found.gain("evolution.strength", gains, rows)


def _falls(curve: dict[int, float]) -> float:
    """Return the mean fall from a snapshot to the next; a rise counts 0."""
    falls = np.maximum(-np.diff(list(curve.values())), 0.0)
    return float(falls.mean()) if len(falls) else math.nan


_PARTS_OF_REPORT: dict[str, Any] = {
    "symmetry-weights": _weights,
    "symmetry-errors": _errors,
    "symmetry-network": _tournament,
    "symmetry-panel": _panel,
    "symmetry-training": _training,
    "symmetry-designs": _designs,
    "symmetry-search": _search,
    "symmetry-rating": _rating,
    "symmetry-evolution": _evolution,
}
