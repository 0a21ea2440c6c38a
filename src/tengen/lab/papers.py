"""The five papers, their claims by id, and texts of the report, read from `papers.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Paper:
    """A paper as the report presents it."""

    title: str
    authors: str
    line: str  # what it claims, in one sentence
    cost: str  # what its own experiment cost, as it reports


@dataclass(frozen=True)
class Claim:
    """A figure or a statement of a paper that the report compares with ours."""

    id: str
    where: str  # the table, figure or section of the paper
    what: str
    figure: float | None = None  # rates are fractions
    games: int | None = None  # games behind the figure, which give it an interval
    text: str = ""  # what the report shows instead of the figure
    unit: str = ""
    aim: int = 1  # +1: more is better, -1: less is, 0: a different figure refutes the paper's
    why: str = ""  # explains the verdict unless the experiment does

    def named(self, name: str) -> Claim:
        """Return a copy with {} replaced by a name."""
        return replace(self, id=self.id.format(name), what=self.what.format(name))


_FILE: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
CLAIMS: dict[str, Claim] = {
    claim.id: claim
    for paper in _FILE.values()
    for entry in paper.pop("claims")
    for name, figure in entry.pop("figures", {"": entry.pop("figure", None)}).items()
    for claim in [Claim(**{**entry, "figure": figure}).named(name)]
}
"""All claims by id. Experiments and recorded runs refer to them by id."""
TEXTS: dict[str, str] = {k: v for paper in _FILE.values() for k, v in paper.pop("texts").items()}
"""Texts of the report by name of the experiment; values are inserted at the braces."""
FAULTS: list[str] = _FILE["scoring"].pop("faults")  # why Burzillo's network cannot learn
EVOLUTION: dict[str, dict[str, Any]] = _FILE["opening-evolution"].pop("tables")  # Kendall's
OUTPUTS: dict[str, str] = _FILE["symmetry-network"].pop("outputs")  # what Blair's outputs mean
PAPERS: dict[str, Paper] = {key: Paper(**paper) for key, paper in _FILE.items()}
TD_TABLES = {"scalar": ("Table 1", "Table 2"), "binary": ("Table 3", "Table 4")}
"""Huang's tables of wins and of gains."""
ISN_GAMES = 860_000  # of Blair's training


def figures(table: str) -> dict[str, float]:
    """Return the figures of claims whose ids begin with `table`, by the rest of the id."""
    start = f"{table}."
    return {
        id.removeprefix(start): claim.figure
        for id, claim in CLAIMS.items()
        if id.startswith(start) and claim.figure is not None
    }
