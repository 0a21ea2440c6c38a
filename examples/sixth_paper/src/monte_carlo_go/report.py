"""Claims, answers and tables of the paper, computed from rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from monte_carlo_go.experiments import BEST, on_border
from tengen.lab.decisions import Estimate
from tengen.lab.evidence import Evidence, find_evidence
from tengen.lab.formatting import show_estimate
from tengen.lab.papers import read_paper
from tengen.lab.report import Answer, ClaimResult, PaperReport, claim_result, gain_answer
from tengen.lab.result import Table

PAPER = read_paper("monte_carlo_go")


def report(data: Path) -> PaperReport:
    """Return what the rows say; experiments without rows are left out."""
    claims: list[ClaimResult] = []
    tables: list[Table] = []
    questions: list[Answer] = []
    if found := find_evidence(data, "twice"):
        claims += _claims(found)
        questions.append(_answer("border", _border(found), found, "position"))
        tables.append(_shared_table(found))
    if played := find_evidence(data, "matches"):
        for name, match in played.groups("match"):
            questions.append(_answer(name, _gain(match), match, "game"))
        tables.append(_match_table(played))
    return PaperReport(claims, tables, questions=questions)


def _answer(name: str, gain: Estimate, rows: Evidence, unit: str) -> Answer:
    return gain_answer(PAPER, f"brugmann.{name}", gain, rows, unit="%", independent=unit)


# ----- A position evaluated twice -----


def _shared(found: Evidence) -> list[int]:
    """Return for each position how many moves are among the best of both evaluations."""
    pairs = (pair["best"].tolist() for _, pair in found.groups("position"))
    return [len(set(first.split()) & set(second.split())) for first, second in pairs]


def _claims(found: Evidence) -> list[ClaimResult]:
    shift = [float(np.ptp(pair["mean"])) for _, pair in found.groups("position")]
    estimates = {"shared": Estimate.of(_shared(found)), "shift": Estimate.of(shift)}
    full = found.run.settings["games"] >= 2000
    return [
        claim_result(
            PAPER.claims[f"brugmann.twice.{name}"], ours, found, full=full, independent="position"
        )
        for name, ours in estimates.items()
    ]


def _border(found: Evidence) -> Estimate:
    """Estimate the border's share of the worst moves, beyond its share of all, over positions."""
    gains = []
    for _, pair in found.groups("position"):
        worst = [name for text in pair["worst"].tolist() for name in text.split()]
        usual = pair["border"].sum() / pair["moves"].sum()
        gains.append(sum(map(on_border, worst)) / len(worst) - usual)
    return Estimate.of(gains)


def _shared_table(found: Evidence) -> Table:
    counts = np.bincount(_shared(found), minlength=BEST + 1)
    rows = [[f"{shared}", f"{count}"] for shared, count in enumerate(counts)]
    note = f"{found.run.settings['games']:,} games per evaluation."
    title = f"Moves among the best {BEST} of two evaluations"
    return Table(title, ["shared moves", "positions"], rows, note, key="shared")


# ----- Matches -----


def _won(match: Evidence) -> Estimate:
    """Estimate the share of games won; a draw is half a win."""
    return Estimate.rate(float(match["won"].sum()), len(match))


def _gain(match: Evidence) -> Estimate:
    """Estimate how much more than half of the games it wins."""
    won = _won(match)
    low, high = won.interval or (0.0, 1.0)
    return replace(won, mean=won.mean - 0.5, interval=(low - 0.5, high - 0.5))


def _match_table(played: Evidence) -> Table:
    rows = [
        [match["other"][0], f"{len(match)}", show_estimate(_won(match), "%")]
        for _, match in played.groups("match")
    ]
    note = f"{played.run.settings['games']:,} games per move."
    return Table("Gobble against others", ["other player", "games", "won"], rows, note, key="won")
