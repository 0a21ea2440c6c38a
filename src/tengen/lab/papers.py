"""The registered papers: what `paper.toml` of each says, its claims and its experiments.

A claim has an id, its place in the paper (`where`), and what it says: a figure, with the games
behind it, which give it an interval, or a text. Rates are fractions. `figures` is short for one
claim per entry, whose name takes the place of {} in the id and in what it says. `texts` introduce
experiments; values are inserted at the braces. The rest is for the paper's own experiments.
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
from typing import Any

from tengen import extensions
from tengen.extensions import PAPERS, ExtensionError


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


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: what its `paper.toml` says, and its package."""

    package: str
    folder: Path
    title: str
    authors: str
    year: int
    line: str  # what it claims, in one sentence
    cost: str  # what its own experiment cost, as it reports
    order: int = extensions.LAST  # place in the report
    claims: Mapping[str, Claim]
    texts: Mapping[str, str]
    more: Mapping[str, Any]  # what else `paper.toml` says, for its own experiments

    @property
    def cited(self) -> str:
        """Authors and year."""
        return f"{self.authors} {self.year}"

    @property
    def recorded(self) -> Path:
        """The file of recorded runs; it need not exist."""
        return self.folder / "recorded.json"

    def experiments(self) -> Sequence[Any]:
        """Import its module `experiments` and return `EXPERIMENTS`, see `steps.Experiment`."""
        module = f"{self.package}.experiments"
        try:
            found: Sequence[Any] = import_module(module).EXPERIMENTS
        except Exception as failure:  # others' code is imported
            reason = f"{type(failure).__name__}: {failure}"
            raise ExtensionError(f"{module} cannot be loaded: {reason}") from failure
        return found

    def figures(self, table: str) -> dict[str, float]:
        """Return the figures of claims whose ids begin with `table`, by the rest of the id."""
        start = f"{table}."
        return {
            id.removeprefix(start): claim.figure
            for id, claim in self.claims.items()
            if id.startswith(start) and claim.figure is not None
        }


@cache
def read_paper(package: str) -> Paper:
    """Return the paper of a package, which is not imported."""
    place = find_spec(package)
    if place is None or place.origin is None:
        raise ExtensionError(f"there is no package {package}")
    folder = Path(place.origin).parent
    said = tomllib.loads((folder / "paper.toml").read_text("utf-8"))
    claims = [
        Claim(**{**entry, "figure": figure}).named(name)
        for entry in said.pop("claims", [])
        for name, figure in entry.pop("figures", {"": entry.pop("figure", None)}).items()
    ]
    own = {key: said.pop(key) for key in Paper.__dataclass_fields__ if key in said}
    own = {"texts": {}, **own, "claims": {claim.id: claim for claim in claims}}
    return Paper(package=package, folder=folder, more=said, **own)


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


@cache
def all_claims() -> dict[str, Claim]:
    """Return the claims of all papers by id. Experiments and recorded runs refer to them by id."""
    return {id: claim for paper in papers().values() for id, claim in paper.claims.items()}
