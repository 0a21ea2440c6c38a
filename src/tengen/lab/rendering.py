"""The report as one page of HTML: recorded rows, and beside them those of a run.

`report_page` shows one folder of rows; `run_page` shows a run of the laboratory with the recorded
rows beside it. Both are made from `report.PaperReport`, by one template.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape

from tengen import __version__
from tengen.files import write_atomic
from tengen.lab.decisions import VERDICTS
from tengen.lab.drawing import draw
from tengen.lab.evidence import RunRecord, runs_in
from tengen.lab.formatting import show, show_estimate
from tengen.lab.papers import Claim, Paper, data_folder, papers
from tengen.lab.report import (
    ClaimResult,
    PaperReport,
    claim_units,
    not_recorded_line,
    question_row,
    read_reports,
)
from tengen.lab.result import Picture, Table
from tengen.lab.steps import DATA, Step, StepResult
from tengen.progress import span

_PACKAGES = ("numpy", "numba", "scipy", "matplotlib", "safetensors")


@dataclass(frozen=True)
class Source:
    """What one folder of rows says about a paper, and how the rows were made."""

    report: PaperReport
    runs: Mapping[str, RunRecord]

    def claim(self, id: str) -> ClaimResult | None:
        """Return what it says about a claim."""
        return next((each for each in self.report.claims if each.claim.id == id), None)


@dataclass(frozen=True)
class Section:
    """A paper on the page: its recorded rows, those of a run, and steps that were not run."""

    paper: Paper
    recorded: Source
    here: Source | None = None
    missing: Sequence[Step] = ()

    @property
    def sources(self) -> list[tuple[str, Source]]:
        """The sources in the order in which their tables are shown, by their headings."""
        here = [("This run", self.here)] if self.here is not None else []
        return [*here, ("Recorded", self.recorded)]

    @property
    def claims(self) -> list[Claim]:
        """The claims that at least one source has something to say about."""
        return [
            claim
            for claim in self.paper.claims.values()
            if any(source.claim(claim.id) for _, source in self.sources)
        ]

    @property
    def not_recorded(self) -> str:
        """Which claims the recorded rows say nothing about, in words."""
        return not_recorded_line(self.paper, self.recorded.report)

    def words(self, source: Source) -> list[tuple[str, int]]:
        """Return how often a source gives each verdict."""
        counts = Counter(each.verdict for each in source.report.claims)
        return [(word, counts[word]) for word in VERDICTS if counts[word]]


@dataclass(frozen=True)
class Page:
    """Everything the page shows."""

    sections: Sequence[Section]
    command: str
    columns: Sequence[str]  # headings of the sources
    versions: str
    seconds: str = ""  # of the run
    memory: str = ""  # the most that a step of the run used
    complete: bool = True


def report_page(data: Path | None, found: Mapping[str, PaperReport]) -> Page:
    """Return the page of one folder of rows; by default of the recorded ones."""
    sections = [
        Section(paper, Source(found[name], runs_in(data_folder(paper, data))))
        for name, paper in papers().items()
        if name in found
    ]
    where = "" if data is None else f" --data {data}"
    return Page(sections, f"tengen lab report{where}", ["here"], _versions())


def run_page(
    folder: Path,
    steps: Sequence[Step],
    done: Mapping[str, StepResult],
    here: Mapping[str, PaperReport],
    command: str,
) -> Page:
    """Return the page of a run, which says `here`, with the recorded rows beside it."""
    data, recorded = folder / DATA, read_reports()
    sections = [
        Section(
            paper,
            Source(recorded[name], runs_in(paper.data)),
            Source(here[name], runs_in(data_folder(paper, data))),
            [s for s in steps if s.paper == paper.folder.name and s.name not in done],
        )
        for name, paper in papers().items()
        if name in here
    ]
    used = done.values()
    return Page(
        sections, command, ["this run", "recorded"], _versions(),
        span(sum(each.seconds for each in used)),
        f"{max((each.memory for each in used), default=0) / 1e6:,.0f} MB",
        all(step.name in done for step in steps),
    )  # fmt: skip


def write_page(path: Path, page: Page) -> Path:
    """Write a page; return its path."""
    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"), autoescape=select_autoescape(),
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "prose": _prose, "drawings": _drawings, "words": _columns_of_words, "span": span,
        "figure": lambda claim: show(claim.figure, None, claim.unit),
        "ours": lambda found: show_estimate(found.ours, found.claim.unit),
        "units": claim_units, "question": question_row,
    }  # fmt: skip
    write_atomic(path, environment.get_template("report.html").render(page=page))
    return path


def _versions() -> str:
    names = [f"{name} {version(name)}" for name in _PACKAGES]
    return ", ".join([f"tengen {__version__}", f"Python {platform.python_version()}", *names])


def _prose(text: str) -> Markup:
    """Escape text for the page and mark what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _drawings(found: PaperReport) -> dict[str, list[dict[str, Any]]]:
    """Return the drawings of a report by their place on the page: plots, boards, sheets."""
    places: dict[str, list[dict[str, Any]]] = {"plots": [], "boards": [], "sheets": []}
    for figure in found.figures:
        place = "plots"
        if isinstance(figure, Picture):
            place = "sheets" if figure.wide else "boards"
        places[place].append({"title": figure.title, "svg": Markup(draw(figure))})
    return places


def _columns_of_words(shown: Table) -> list[bool]:
    """Return which columns hold words and are aligned left; the first always is."""
    columns = list(zip(*shown.rows, strict=False)) or [() for _ in shown.columns]
    return [
        number == 0 or not any(re.match(r"[-+±(]?[\d·]", str(cell)) for cell in cells)
        for number, cells in enumerate(columns)
    ]
