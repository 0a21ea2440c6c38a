"""Extension points: what this and other distributions register as entry points.

`MODELS`, `PLAYERS`, `LEARNERS` and `PAPERS` are the groups. Names are listed without importing
anything. A part that cannot be loaded is one error that names it, and is left out of lists.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from tengen.errors import TengenError, unknown

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OURS = "tengen"  # groups of entry points are named after the package
MODELS = f"{_OURS}.models"
"""Kind of model -> class with `load(path)`."""
PLAYERS = f"{_OURS}.players"
"""Name -> `players.PlayerKind`."""
LEARNERS = f"{_OURS}.learners"
"""Name -> `commands.Learner`."""
PAPERS = f"{_OURS}.papers"
"""Name -> package with a `paper.toml`."""

LAST = 100
"""Place in lists of parts that name none."""


_Part = TypeVar("_Part")


class ExtensionError(TengenError):
    """A registered part that cannot be loaded."""


@dataclass(frozen=True)
class _Given:
    """A part that this process registered itself."""

    found: Any
    value: str = "this process"

    def load(self) -> Any:
        return self.found


@cache
def entries(group: str) -> dict[str, EntryPoint | _Given]:
    """Return the entry points of a group by name, in the order of the names."""
    from importlib.metadata import entry_points

    found: dict[str, EntryPoint | _Given] = {}
    for entry in sorted(entry_points(group=group), key=_ours_first):
        first = found.setdefault(entry.name, entry)
        if first.value != entry.value:
            both = f"{first.value} and {entry.value}"
            message = f"{entry.name!r} of {group} is registered twice, as {both}; the first is used"
            warnings.warn(message, stacklevel=2)
    if not found:  # not even our own: an older version was installed, or none
        raise ExtensionError(
            f"nothing is registered in {group}; install tengen-go again (make setup)"
        )
    return found


def from_elsewhere(group: str) -> set[str]:
    """Return the names that other distributions or this process registered."""
    return {name for name, entry in entries(group).items() if not _is_ours(entry)}


def _is_ours(entry: EntryPoint | _Given) -> bool:
    return entry.value.startswith(f"{_OURS}.")


def _ours_first(entry: EntryPoint) -> tuple[str, bool]:
    return entry.name, not _is_ours(entry)


def register(group: str, name: str, target: Any) -> None:
    """Register an object, or `module:name`, in this process; for scripts and notebooks."""
    from importlib.metadata import EntryPoint

    text = isinstance(target, str)
    entries(group)[name] = EntryPoint(name, target, group) if text else _Given(target)


def load(group: str, name: str, kind: type[_Part]) -> _Part:
    """Import and return what is registered under a name; it must be of this kind."""
    if name not in entries(group):
        raise ExtensionError(unknown(f"entry in {group}", name, entries(group)))
    entry = entries(group)[name]
    place = f"{name!r} of {group} ({entry.value})"
    try:
        found = entry.load()
    except Exception as failure:  # others' code is imported
        reason = f"{type(failure).__name__}: {failure}"
        raise ExtensionError(f"{place} cannot be loaded: {reason}") from failure
    if not isinstance(found, kind):
        raise ExtensionError(f"{place} is no {kind.__name__}, but {found!r}")
    return found


def load_all(group: str, kind: type[_Part]) -> dict[str, _Part]:
    """Return all parts of a group that can be loaded, by `order` and name; warn of the others."""
    found = {}
    for name in entries(group):
        try:
            found[name] = load(group, name, kind)
        except ExtensionError as failure:
            warnings.warn(str(failure), stacklevel=2)
    return dict(sorted(found.items(), key=lambda item: getattr(item[1], "order", LAST)))
