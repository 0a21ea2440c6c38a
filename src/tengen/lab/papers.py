"""The registered papers: what `paper.toml` of each says, its experiments and its report.

A claim is a figure of the paper with an id, its place (`where`) and the figure of no effect where
there is one. `figures` is short for one claim per entry, whose name takes the place of {} in the id
and in what it says. `settings` are those of the paper beside ours, `questions` those the paper
leaves open. Everything else in the file is for the paper's own modules (`Paper.more`).
"""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen import extensions
from tengen.extensions import PAPERS, ExtensionError
from tengen.lab.exhibits import Exhibit, PaperOpponent

if TYPE_CHECKING:
    from tengen.lab.steps import Experiment


@dataclass(frozen=True)
class Claim:
    """A figure of a paper that the report compares with ours."""

    id: str
    where: str  # the table, figure or section of the paper
    what: str
    figure: float  # rates are fractions
    no_effect: float | None = None  # what there would be without an effect, if that is a number
    unit: str = ""  # "%" shows a fraction as a percentage
    aim: int = 1  # +1: more is better, -1: less is
    headline: bool = False  # shown where all papers are
    comparable: bool = True  # not so rates on other games or times on another processor

    def named(self, name: str) -> Claim:
        """Return a copy with {} replaced by a name."""
        return replace(self, id=self.id.format(name), what=self.what.format(name))


@dataclass(frozen=True)
class PaperSetting:
    """A setting of the paper beside ours, and why ours differs."""

    name: str
    paper: str
    here: str
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: what its `paper.toml` says, and its package."""

    package: str
    folder: Path
    title: str  # what it is called here
    full_title: str
    authors: str
    year: int
    venue: str
    bibtex: str
    line: str  # what it claims, in one sentence
    cost: str  # what its own experiments cost, as it reports
    quick: str = ""  # what figures of a quick run can and cannot show
    order: int = extensions.LAST  # place in the report
    story: str = ""  # who, when, what was claimed: some hundred words for visitors
    exhibit: Exhibit | None = None
    opponents: Sequence[PaperOpponent] = ()
    claims: Mapping[str, Claim]
    settings: Sequence[PaperSetting]
    questions: Mapping[str, str]  # id -> question
    more: Mapping[str, Any]  # what else `paper.toml` says, for its own modules

    @property
    def cited(self) -> str:
        """Authors and year."""
        return f"{self.authors} {self.year}"

    @property
    def data(self) -> Path:
        """The folder of recorded rows; it is in the repository, not in the wheel."""
        return self.folder / "data"

    def experiments(self) -> Sequence[Experiment[Any]]:
        """Import its module `experiments` and return `EXPERIMENTS`, marked as this paper's."""
        found: Sequence[Experiment[Any]] = self.module("experiments").EXPERIMENTS
        return [replace(each, paper=self.folder.name) for each in found]

    def figures(self, table: str) -> dict[str, float]:
        """Return the figures of claims whose ids begin with `table`, by the rest of the id."""
        start = f"{table}."
        return {
            id.removeprefix(start): claim.figure
            for id, claim in self.claims.items()
            if id.startswith(start)
        }

    def module(self, name: str) -> Any:
        """Import one of the modules of its package."""
        module = f"{self.package}.{name}"
        try:
            return import_module(module)
        except Exception as failure:  # others' code is imported
            reason = f"{type(failure).__name__}: {failure}"
            raise ExtensionError(f"{module} cannot be loaded: {reason}") from failure


@cache
def read_paper(package: str) -> Paper:
    """Return the paper of a package, which is not imported."""
    place = find_spec(package)
    if place is None or place.origin is None:
        raise ExtensionError(f"there is no package {package}")
    folder = Path(place.origin).parent
    content = tomllib.loads((folder / "paper.toml").read_text("utf-8"))
    claims = [
        Claim(**{**entry, "figure": figure}).named(name)
        for entry in content.pop("claims", [])
        for name, figure in entry.pop("figures", {"": entry.pop("figure", None)}).items()
    ]
    parts: dict[str, Any] = {
        "claims": {claim.id: claim for claim in claims},
        "settings": [PaperSetting(**entry) for entry in content.pop("settings", [])],
        "opponents": [PaperOpponent(**entry) for entry in content.pop("opponents", [])],
        "questions": {entry["id"]: entry["question"] for entry in content.pop("questions", [])},
    }
    if "exhibit" in content:
        parts["exhibit"] = Exhibit.of(content.pop("exhibit"))
    own = {key: content.pop(key) for key in Paper.__dataclass_fields__ if key in content}
    return Paper(package=package, folder=folder, more=content, **own, **parts)


@cache
def papers() -> dict[str, Paper]:
    """Return the registered papers by name, in the order of the report; warn of broken ones."""
    found = {}
    for name, entry in extensions.entries(PAPERS).items():
        try:
            found[name] = read_paper(entry.value)
        except Exception as failure:  # others' files are read
            reason = f"{type(failure).__name__}: {failure}"
            warnings.warn(f"the paper {name!r} ({entry.value}): {reason}", stacklevel=2)
    return dict(sorted(found.items(), key=lambda item: item[1].order))


def data_folder(paper: Paper, data: Path | None = None) -> Path:
    """Return the paper's folder of rows below `data`, or that of its recorded rows."""
    return paper.data if data is None else data / paper.folder.name
