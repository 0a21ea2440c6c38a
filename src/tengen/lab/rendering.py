"""Show the results of a run as an HTML page and as Markdown.

`gather` collects what the page says from the results of the steps; HTML and Markdown are made from
it and say the same. The same results give the same page, except for times.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
from tengen.lab.steps import FULL, QUICK, Step, StepResult, settings_of
from tengen.lab.verdicts import UNMEASURED, WORDS, Comparison, RecordedRun, beside, recorded_runs
from tengen.progress import span

PARTS: dict[str, tuple[str, str, str]] = {
    "players": ("Players that learn nothing", "", "One board, its rules, and simple players."),
    **{key: (paper.title, paper.authors, paper.line) for key, paper in PAPERS.items()},
    "self-play": ("Self-play from nothing", "", "What networks learn from their own games alone."),
}
"""The sections of the page in order: title, authors, one line."""

_PACKAGES = ("numpy", "numba", "scipy", "matplotlib", "safetensors")


# ----- What the page says -----


@dataclass(frozen=True)
class FinishedStep:
    """One finished step."""

    name: str
    title: str
    time: str
    result: Findings


@dataclass(frozen=True)
class Section:
    """A part of the page: a paper's claims beside ours, results, and steps that were not run."""

    key: str
    title: str
    authors: str
    line: str
    blocks: Sequence[FinishedStep]
    missing: Sequence[Step]
    runs: Sequence[RecordedRun] = ()
    """Recorded runs about the same paper."""

    @property
    def comparisons(self) -> list[Comparison]:
        """All claims: those this run measured, then what else is recorded."""
        found = [row for block in self.blocks for row in block.result.comparisons]
        return beside(found, self.runs)

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
        found: dict[str, Counter[str]] = {}
        for row in self.comparisons:
            found.setdefault(row.where, Counter())[row.verdict] += 1
        return [
            (where, [(word, counts[word]) for word in WORDS if counts[word]])
            for where, counts in sorted(found.items())
        ]


@dataclass(frozen=True)
class Cost:
    """What a step used, beside the paper's experiment."""

    step: str
    seconds: str
    processor: str
    memory: str
    paper: str


@dataclass(frozen=True)
class Page:
    """Everything the page shows."""

    sections: Sequence[Section]
    cost: Sequence[Cost]
    mode: str
    seed: int | None
    versions: Sequence[tuple[str, str]]
    seconds: str
    complete: bool

    @property
    def comparisons(self) -> list[Comparison]:
        """All claims of all papers."""
        return [row for section in self.sections for row in section.comparisons]

    @property
    def words(self) -> list[tuple[str, int]]:
        """How often each verdict was given."""
        counts = Counter(row.verdict for row in self.comparisons)
        return [(word, counts[word]) for word in WORDS if counts[word]]

    @property
    def command(self) -> str:
        """The command that made it."""
        scale = " --full --collection DIR" if self.mode == FULL else ""
        seed = "?" if self.seed is None else self.seed
        return f"tengen lab{scale} --seed {seed}"


def gather(folder: Path, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Page:
    """Return the page of a run."""
    settings = settings_of(folder)
    return Page(
        sections=[_section(key, steps, done) for key in PARTS],
        cost=_cost(steps, done),
        mode=settings.get("mode", QUICK),
        seed=settings.get("seed"),
        versions=_versions(),
        seconds=span(sum(each.seconds for each in done.values())),
        complete=all(step.name in done for step in steps),
    )


def _section(key: str, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Section:
    mine = [step for step in steps if step.part == key]
    blocks = [
        FinishedStep(step.name, step.title, span(done[step.name].seconds), done[step.name].result)
        for step in mine
        if step.name in done
    ]
    missing = [step for step in mine if step.name not in done]
    return Section(key, *PARTS[key], blocks, missing, recorded_runs(key))


def _cost(steps: Sequence[Step], done: Mapping[str, StepResult]) -> list[Cost]:
    """Return what every step used; a paper's own cost is listed with its first step."""
    rows: list[Cost] = []
    listed: set[str] = set()
    for step in steps:
        if step.name not in done:
            continue
        used = done[step.name]
        paper = PAPERS[step.part].cost if step.part in PAPERS and step.part not in listed else ""
        listed.add(step.part)
        memory = f"{used.memory / 1e6:,.0f} MB"
        rows.append(Cost(step.name, span(used.seconds), span(used.processor), memory, paper))
    return rows


def _versions() -> list[tuple[str, str]]:
    """Return the versions of Python and of the packages the numbers depend on."""
    found = [("tengen", __version__), ("Python", platform.python_version())]
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found


# ----- HTML -----


def write_report(folder: Path, steps: Sequence[Step], done: Mapping[str, StepResult]) -> Path:
    """Write `report.html` and `results.md` into the folder; return the path of the page."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "prose": _prose, "shapes": _shapes, "words": _columns_of_words,
    }  # fmt: skip
    page = gather(folder, steps, done)
    path = folder / "report.html"
    write_atomic(path, environment.get_template("report.html").render(page=page))
    write_atomic(folder / "results.md", markdown(page))
    return path


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


# ----- Markdown -----


def markdown(page: Page) -> str:
    """Return `results.md`: for each paper its claims beside ours, then tables, then costs."""
    lines = [
        "# Results",
        "",
        f"Made by `{page.command}`. Intervals are at 95 %. A verdict compares our figure with the "
        "paper's: agrees, better, worse, refuted, or not measured at this scale. Where this run is "
        "too small, the verdict is that of a large run recorded earlier, and is marked so.",
        "",
    ]
    for section in page.sections:
        if section.blocks or section.runs:
            lines += _section_lines(section)
    columns = ["step", "time", "processor time", "peak memory", "the paper's experiment"]
    costs = [(c.step, c.seconds, c.processor, c.memory, c.paper) for c in page.cost]
    versions = ", ".join(f"{name} {number}" for name, number in page.versions)
    lines += ["## Cost", "", *_grid(columns, costs), f"Seed {page.seed}; {versions}.", ""]
    return "\n".join(lines)


def _section_lines(section: Section) -> list[str]:
    lines = [f"## {section.title}", ""]
    if section.authors:
        lines += [f"After {section.authors}. {section.line}", ""]
    rows = section.comparisons
    if rows:
        columns = ["where", "what", "paper", "this run", "recorded", "verdict", "why"]
        cells = [
            (r.where, r.what, r.paper, r.ours, r.recorded,
             f"{r.verdict} (recorded)" if r.by_record else r.verdict, r.why)
            for r in rows
        ]  # fmt: skip
        lines += _grid(columns, cells)
    if section.runs:
        columns = ["command", "date", "seeds", "games", "more"]
        runs = [(f"`{r.command}`", r.date, r.seeds, r.games, r.page) for r in section.runs]
        lines += ["Recorded runs:", "", *_grid(columns, runs)]
    for block in section.blocks:
        lines += [f"### {block.title}", "", *_result_lines(block.result)]
    return lines


def _result_lines(result: Findings) -> list[str]:
    """Return text and tables of a result, without its comparisons."""
    lines = [result.text, ""] if result.text else []
    if result.points:
        lines += [f"{result.points_title}:", "", *(f"- {p}" for p in result.points), ""]
    for shown in result.tables:
        lines += [f"**{shown.title}**", "", *_grid(shown.columns, shown.rows)]
        lines += [shown.note, ""] if shown.note else []
    return lines


def _grid(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a Markdown table and an empty line.

    >>> _grid(["a", "b"], [["x|y", 1]])
    ['| a | b |', '|---|---|', '| x\\\\|y | 1 |', '']
    """
    lines = [_row(columns), "|" + "---|" * len(columns)]
    return [*lines, *(_row(row) for row in rows), ""]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
