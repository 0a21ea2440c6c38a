"""Gather what the laboratory's page says, from the results of its steps; measure and draw nothing.

`report` makes HTML of it and `markdown` plain text, so that both say the same.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tengen import __version__
from tengen.lab.content import Result
from tengen.lab.papers import PAPERS
from tengen.lab.progress import span
from tengen.lab.recorded import Recorded, Run, recorded_runs
from tengen.lab.steps import FULL, QUICK, Kept, Step, settings_of
from tengen.lab.verdicts import UNMEASURED, WORDS, Comparison

PARTS: dict[str, tuple[str, str, str]] = {
    "ground": ("The ground", "", "One board, its rules, and players that need no learning."),
    **{key: (paper.title, paper.authors, paper.line) for key, paper in PAPERS.items()},
    "self-play": (
        "From nothing",
        "",
        "What networks learn by their own games alone.",
    ),
    "player": ("One player", "", "How strong each level and each rung of the ladder is."),
}
"""The sections of the page in order: title, authors, one line."""

_PACKAGES = ("numpy", "numba", "scipy", "matplotlib", "safetensors")


@dataclass(frozen=True)
class Block:
    """One finished step."""

    name: str
    title: str
    time: str
    result: Result


@dataclass(frozen=True)
class Row:
    """A claim of a paper beside what this run found and what a large run had found before."""

    where: str
    what: str
    paper: str
    ours: str
    """What this run found, empty where it did not look."""
    recorded: str
    """What a recorded run found, empty where there is none."""
    verdict: str
    why: str
    by_record: bool
    """Whether the verdict is the recorded run's, because this one is too small for one."""


@dataclass(frozen=True)
class Section:
    """A part of the page: what a paper said, what was found, and what was not run."""

    key: str
    title: str
    authors: str
    line: str
    blocks: Sequence[Block]
    missing: Sequence[Step]
    runs: Sequence[Run] = ()
    """The recorded runs that speak of the same paper."""

    @property
    def comparisons(self) -> list[Row]:
        """All figures and claims beside ours: those of this run, then what else is recorded."""
        recorded = [figure for run in self.runs for figure in run.figures]
        rows = []
        told = set()
        for block in self.blocks:
            for found in block.result.comparisons:
                known = next((figure for figure in recorded if figure.answers(found)), None)
                rows.append(_row(found, known))
                told.add(known)
        return rows + [_record_alone(figure) for figure in recorded if figure not in told]

    @property
    def decided(self) -> list[Row]:
        """Those that have a verdict."""
        return [row for row in self.comparisons if row.verdict != UNMEASURED]

    @property
    def open(self) -> list[Row]:
        """Those that this run is too small for, and nothing is recorded of."""
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
    """What a step took, beside what the paper's experiment did."""

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
    def comparisons(self) -> list[Row]:
        """All figures and claims of all papers."""
        return [row for section in self.sections for row in section.comparisons]

    @property
    def words(self) -> list[tuple[str, int]]:
        """How often each verdict was given."""
        counts = Counter(row.verdict for row in self.comparisons)
        return [(word, counts[word]) for word in WORDS if counts[word]]

    @property
    def command(self) -> str:
        """The command that made it."""
        corpus = " --collection DIR" if self.mode == FULL else ""
        seed = "?" if self.seed is None else self.seed
        return f"tengen lab --{self.mode}{corpus} --seed {seed}"


def gather(folder: Path, steps: Sequence[Step], done: Mapping[str, Kept]) -> Page:
    """Return the page of a run."""
    settings = settings_of(folder)
    return Page(
        sections=[_section(key, steps, done) for key in PARTS],
        cost=_cost(steps, done),
        mode=settings.get("mode", QUICK),
        seed=settings.get("seed"),
        versions=_versions(),
        seconds=span(sum(kept.seconds for kept in done.values())),
        complete=all(step.name in done for step in steps),
    )


def _section(key: str, steps: Sequence[Step], done: Mapping[str, Kept]) -> Section:
    mine = [step for step in steps if step.part == key]
    blocks = [
        Block(step.name, step.title, span(done[step.name].seconds), done[step.name].result)
        for step in mine
        if step.name in done
    ]
    missing = [step for step in mine if step.name not in done]
    return Section(key, *PARTS[key], blocks, missing, recorded_runs(key))


def _row(found: Comparison, known: Recorded | None) -> Row:
    """Set a claim beside what is recorded of it, which decides where this run is too small to."""
    if known is None:
        return Row(
            found.where, found.what, found.paper, found.ours, "", found.verdict, found.why, False
        )
    record = known.comparison()
    decides = found.verdict == UNMEASURED
    judge = record if decides else found
    return Row(
        found.where, found.what, found.paper, found.ours, record.ours, judge.verdict, judge.why,
        decides,
    )  # fmt: skip


def _record_alone(known: Recorded) -> Row:
    record = known.comparison()
    return Row(
        record.where, record.what, record.paper, "", record.ours, record.verdict, record.why, True
    )


def _cost(steps: Sequence[Step], done: Mapping[str, Kept]) -> list[Cost]:
    """Return what every step cost; a paper's own cost stands with its first step."""
    rows = []
    told: set[str] = set()
    for step in steps:
        if step.name not in done:
            continue
        kept = done[step.name]
        paper = PAPERS[step.part].cost if step.part in PAPERS and step.part not in told else ""
        told.add(step.part)
        memory = f"{kept.memory / 1e6:,.0f} MB"
        rows.append(Cost(step.name, span(kept.seconds), span(kept.processor), memory, paper))
    return rows


def _versions() -> list[tuple[str, str]]:
    """Return the versions that the numbers rest on."""
    found = [("tengen", __version__), ("Python", platform.python_version())]
    for name in _PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
