"""Read the recorded results of large runs that ship with the package; measure nothing.

A run is a command with its date, seeds and games, and the figures it gave, each beside a figure of
`papers` that it names by path. The documentation has the same figures; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from tengen.lab import papers
from tengen.lab.verdicts import Comparison, compare
from tengen.models import list_models
from tengen.models.store import Measurement
from tengen.statistics import wilson

FOLDER = Path(__file__).with_name("recorded")


@dataclass(frozen=True)
class Recorded:
    """A figure as it was measured then."""

    where: str
    what: str
    text: str
    """How the documentation writes it."""
    why: str
    matches: tuple[str, ...] = ()
    """Patterns of claims that it answers as well, e.g. those that name a small run's size."""
    paper: str = ""
    """Path of the paper's figure in `papers`, such as TD_WINS.scalar.ABCDE."""
    paper_text: str = ""
    paper_games: int | None = None
    """Games behind the paper's figure, which give it an interval."""
    ours: float | None = None
    """In the unit: per cents are written as such."""
    interval: tuple[float, float] | None = None
    unit: str = ""
    aim: int = 1
    holds: bool | None = None
    """For a claim that is no number, as in `verdicts.verdict`."""
    said: str = ""
    """What is shown of ours where words say more than the number."""

    def answers(self, comparison: Comparison) -> bool:
        """Tell whether it speaks of the same claim."""
        return comparison.where == self.where and (
            comparison.what == self.what
            or any(fnmatchcase(comparison.what, pattern) for pattern in self.matches)
        )

    def comparison(self) -> Comparison:
        """Set it beside the paper's figure."""
        scale = 100.0 if self.unit == "%" else 1.0
        paper = papers_figure(self.paper) if self.paper else None
        return compare(
            self.where,
            self.what,
            paper,
            None if self.ours is None else self.ours / scale,
            None if self.interval is None else [end / scale for end in self.interval],
            paper_interval=wilson(paper * self.paper_games, self.paper_games)
            if paper is not None and self.paper_games
            else None,
            unit=self.unit,
            aim=self.aim,
            holds=self.holds,
            paper_text=self.paper_text,
            our_text=self.said,
            why=self.why,
        )


@dataclass(frozen=True)
class Run:
    """A large run: how it was made, and what it gave."""

    command: str
    date: str
    seeds: str
    games: str
    page: str
    """Where the documentation tells of it."""
    figures: Sequence[Recorded]


@cache
def recorded_runs(part: str) -> tuple[Run, ...]:
    """Return the recorded runs of a part of the report; none where there are none."""
    from pydantic import TypeAdapter

    path = FOLDER / f"{part}.json"
    if not path.is_file():
        return ()
    return TypeAdapter(tuple[Run, ...]).validate_json(path.read_bytes())


def papers_figure(path: str) -> float:
    """Return a figure of a paper by its path; whole numbers in tables are per cents.

    >>> papers_figure("TD_WINS.scalar.ABCDE"), papers_figure("TD_FIGURE_4.3000")
    (0.55, 0.75)
    """
    name, *keys = path.split(".")
    value = getattr(papers, name)
    for key in keys:
        value = value[int(key) if key.isdigit() else key]
    # The tables of wins are printed in whole per cents, and kept as printed.
    return value / 100 if isinstance(value, int) else float(value)


def card_results(name: str) -> list[Measurement]:
    """Return what was measured of a shipped model when it was made; nothing if it is not there."""
    cards = (info.card for info in list_models() if info.name == name)
    return [measured for card in cards if card is not None for measured in card.results]
