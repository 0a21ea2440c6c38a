"""Show the results of a run as an HTML page and as Markdown.

`gather` collects what the page says from the results of the steps; the templates of HTML and
Markdown say the same. The same results give the same page, except for times.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from tengen import __version__
from tengen.files import write_atomic
from tengen.lab.drawing import draw
from tengen.lab.papers import PAPERS
from tengen.lab.result import Findings, Picture, Table
from tengen.lab.steps import FULL, QUICK, Step, StepResult
from tengen.lab.verdicts import UNMEASURED, WORDS, Comparison, RecordedRun, beside, recorded_runs
from tengen.models.runs import read_run
from tengen.progress import span

PARTS: dict[str, tuple[str, str, str]] = {
    "players": ("Players that learn nothing", "", "One board, its rules, and simple players."),
    **{key: (paper.title, paper.authors, paper.line) for key, paper in PAPERS.items()},
    "self-play": ("Self-play from nothing", "", "What networks learn from their own games alone."),
}
"""The sections of the page in order: title, authors, one line."""
_PACKAGES = ("numpy", "numba", "scipy", "matplotlib", "safetensors")


@dataclass(frozen=True)
class Section:
    """A part of the page: a paper's claims beside ours, results, and steps that were not run."""

    key: str
    title: str
    authors: str
    line: str
    blocks: Sequence[tuple[Step, StepResult]]
    missing: Sequence[Step]
    runs: Sequence[RecordedRun] = ()  # recorded runs about the same paper

    @property
    def comparisons(self) -> list[Comparison]:
        """All claims: those this run measured, then what else is recorded."""
        return beside(
            (row for _, done in self.blocks for row in done.result.comparisons), self.runs
        )

    @property
    def decided(self) -> list[Comparison]:
        """Claims with a verdict."""
        return [row for row in self.comparisons if row.verdict != UNMEASURED]

    @property
    def open(self) -> list[Comparison]:
        """Claims that this run is too small for and no recorded run answers."""
        return [row for row in self.comparisons if row.verdict == UNMEASURED]

    @property
    def places(self) -> list[tuple[str, list[tuple[str, int]]]]:
        """Every table and figure of the paper with its verdicts, counted."""
        found: dict[str, list[Comparison]] = {}
        for row in self.comparisons:
            found.setdefault(row.where, []).append(row)
        return [(where, _counted(rows)) for where, rows in sorted(found.items())]


def _counted(rows: Iterable[Comparison]) -> list[tuple[str, int]]:
    """Return how often each verdict was given."""
    counts = Counter(row.verdict for row in rows)
    return [(word, counts[word]) for word in WORDS if counts[word]]


@dataclass(frozen=True)
class Page:
    """Everything the page shows."""

    sections: Sequence[Section]
    cost: Sequence[tuple[str, str, str, str, str]]
    """Step, time, processor time and peak memory, and what the paper's experiment cost."""
    mode: str
    seed: int | None
    versions: str
    seconds: str
    complete: bool

    @property
    def comparisons(self) -> list[Comparison]:
        """All claims of all papers."""
        return [row for section in self.sections for row in section.comparisons]

    @property
    def words(self) -> list[tuple[str, int]]:
        """How often each verdict was given."""
        return _counted(self.comparisons)

    @property
    def command(self) -> str:
        """The command that made it."""
        scale = " --full --collection DIR" if self.mode == FULL else ""
        seed = "?" if self.seed is None else self.seed
        return f"tengen lab{scale} --seed {seed}"


def gather(folder: Path, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Page:
    """Return the page of a run."""
    run = read_run(folder)
    settings = {} if run is None else run.settings
    finished = [(step, done[step.name]) for step in steps if step.name in done]
    sections, cost = [], []
    for key, about in PARTS.items():
        blocks = [(step, result) for step, result in finished if step.part == key]
        missing = [step for step in steps if step.part == key and step.name not in done]
        sections.append(Section(key, *about, blocks, missing, recorded_runs(key)))
    listed: set[str] = set()
    for step, used in finished:
        paper = PAPERS[step.part].cost if step.part in PAPERS and step.part not in listed else ""
        listed.add(step.part)
        memory = f"{used.memory / 1e6:,.0f} MB"
        cost.append((step.name, span(used.seconds), span(used.processor), memory, paper))
    return Page(
        sections=sections,
        cost=cost,
        mode=settings.get("mode", QUICK),
        seed=settings.get("seed"),
        versions=_versions(),
        seconds=span(sum(each.seconds for each in done.values())),
        complete=len(finished) == len(steps),
    )


def _versions() -> str:
    found = [f"tengen {__version__}", f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def write_report(folder: Path, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Path:
    """Write `report.html` and `results.md` into the folder; return the path of the page."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"), autoescape=select_autoescape(),
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {
        "prose": _prose, "shapes": _shapes, "words": _columns_of_words, "span": span,
    }  # fmt: skip
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
