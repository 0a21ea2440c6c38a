"""Render the results of a run as HTML and as Markdown; `gather` collects the contents of both."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape
from markupsafe import Markup, escape

from tengen import __version__
from tengen.files import write_atomic
from tengen.lab.drawing import draw
from tengen.lab.papers import papers
from tengen.lab.result import Findings, Picture, Table
from tengen.lab.steps import FULL, QUICK, Step, StepResult
from tengen.lab.verdicts import WORDS, Comparison, RecordedRun, merge_recorded, recorded_runs
from tengen.models.runs import read_run
from tengen.progress import span

_PACKAGES = ("numpy", "numba", "scipy", "matplotlib", "safetensors")


def parts() -> dict[str, tuple[str, str, str]]:
    """Return the sections of the page in order: title, authors, one line."""
    return {
        "players": ("Players that learn nothing", "", "One board, its rules, and simple players."),
        **{key: (paper.title, paper.cited, paper.line) for key, paper in papers().items()},
        "self-play": (
            "Self-play from nothing", "", "What networks learn from their own games alone."
        ),
    }  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A part of the page: comparisons with a paper, results, and steps that were not run."""

    key: str
    title: str
    authors: str
    line: str
    blocks: Sequence[tuple[Step, StepResult]]
    missing: Sequence[Step]
    runs: Sequence[RecordedRun] = ()  # recorded runs about the same paper

    @property
    def comparisons(self) -> list[Comparison]:
        """All comparisons: those of this run, then those found only in recorded runs."""
        own = (row for _, done in self.blocks for row in done.result.comparisons)
        return merge_recorded(own, self.runs)

    @property
    def places(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """Every table and figure of the paper with its verdicts, counted."""
        by_place = groupby(sorted(self.comparisons, key=_where), key=_where)
        return [(where, _counted(rows)) for where, rows in by_place]


_where = attrgetter("where")


def _counted(rows: Iterable[Comparison]) -> list[tuple[str, int]]:
    """Return how often each verdict was given."""
    counts = Counter(row.verdict for row in rows)
    return [(word, counts[word]) for word in WORDS if counts[word]]


@dataclass(frozen=True)
class Page:
    """Everything the page shows."""

    sections: Sequence[Section]
    cost: Sequence[tuple[str, ...]]  # step, time, processor time, peak memory, the paper's cost
    mode: str
    seed: int | None
    versions: str
    seconds: str
    complete: bool

    @property
    def comparisons(self) -> list[Comparison]:
        """All comparisons of all papers."""
        return [row for section in self.sections for row in section.comparisons]

    @property
    def words(self) -> list[tuple[str, int]]:
        """How often each verdict was given."""
        return _counted(self.comparisons)

    @property
    def command(self) -> str:
        """The command that made the page."""
        scale = " --full --collection DIR" if self.mode == FULL else ""
        seed = "?" if self.seed is None else self.seed
        return f"tengen lab{scale} --seed {seed}"


def gather(folder: Path, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Page:
    """Return the page of a run."""
    run = read_run(folder)
    settings = {} if run is None else run.settings
    finished = [(step, done[step.name]) for step in steps if step.name in done]
    sections = []
    for key, about in parts().items():
        blocks = [(step, result) for step, result in finished if step.part == key]
        missing = [step for step in steps if step.part == key and step.name not in done]
        sections.append(Section(key, *about, blocks, missing, recorded_runs(key)))
    cost, unpaid = [], dict(papers())
    for step, used in finished:
        paper = unpaid.pop(step.part).cost if step.part in unpaid else ""  # once per paper
        times = span(used.seconds), span(used.processor)
        cost.append((step.name, *times, f"{used.memory / 1e6:,.0f} MB", paper))
    return Page(
        sections=sections,
        cost=cost,
        mode=settings.get("mode", QUICK),
        seed=settings.get("seed"),
        versions=", ".join(
            [f"tengen {__version__}", f"Python {platform.python_version()}"]
            + [f"{name} {version(name)}" for name in _PACKAGES]
        ),
        seconds=span(sum(each.seconds for each in done.values())),
        complete=len(finished) == len(steps),
    )


def write_report(folder: Path, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Path:
    """Write `report.html` and `results.md` into the folder; return the path of the page."""
    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"), autoescape=select_autoescape(),
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    filters = {"prose": _prose, "shapes": _shapes, "words": _columns_of_words, "span": span}
    environment.filters |= filters
    page = gather(folder, steps, done)
    for name in ("report.html", "results.md"):
        write_atomic(folder / name, environment.get_template(name).render(page=page))
    return folder / "report.html"


def _prose(text: str) -> Markup:
    """Escape text for the page and mark what is between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _shapes(result: Findings) -> dict[str, list[dict[str, Any]]]:
    """Return the drawings of a result by their place on the page: plots, boards, sheets."""
    found: dict[str, list[dict[str, Any]]] = {"plots": [], "boards": [], "sheets": []}
    for figure in result.figures:
        place = "plots"
        if isinstance(figure, Picture):
            place = "sheets" if figure.wide else "boards"
        found[place].append({"title": figure.title, "svg": Markup(draw(figure))})
    return found


def _columns_of_words(shown: Table) -> list[bool]:
    """Return which columns hold words and are aligned left; the first always is."""
    columns = list(zip(*shown.rows, strict=False)) or [() for _ in shown.columns]
    return [
        number == 0 or not any(re.match(r"[-+±(]?[\d·]", str(cell)) for cell in cells)
        for number, cells in enumerate(columns)
    ]
