"""Output of commands: results on standard output, remarks and progress on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any, TextIO

from tengen.commands.options import Json, Options, Quiet
from tengen.errors import TengenError
from tengen.progress import Progress
from tengen.sanitize import for_rich, printable

_FAULTS = 20  # printed one by one; the rest is only counted
# Keys whose values are fractions; tables show them as percentages.
_RATES = frozenset(
    ("top1", "top5", "top10", "top20", "winner", "ownership", "calibration", "exact", "within1")
    + ("safe", "exact_when_safe", "win_rate", "win_rate_a", "share", "interval", "exact_interval")
)


@dataclass(frozen=True, kw_only=True)
class Shown(Options):
    """How a command prints its result, its remarks and its progress."""

    json: Json = False
    quiet: Quiet = False

    def as_json(self, value: Any) -> bool:
        """Print a result as JSON if that was asked for, and return whether it was."""
        if self.json:
            print(dumps(value, allow_nan=False))
        return self.json

    def result(self, value: Any, title: str = "", columns: Mapping[str, str] | None = None) -> None:
        """Print a mapping or a list of them as JSON or a table; `columns` maps keys to headings."""
        if self.as_json(value):
            return
        if isinstance(value, Mapping):
            rows = [(k.replace("_", " "), in_words(k, v)) for k, v in value.items() if _is_fact(v)]
            table(title, ("what", "value"), rows)
        else:
            heads = columns or {key: key.replace("_", " ") for row in value[:1] for key in row}
            rows_ = [[in_words(key, row.get(key)) for key in heads] for row in value]
            table(title, [*heads.values()], rows_)

    def remark(self, message: str) -> None:
        """Print a remark on standard error."""
        if not self.quiet:
            print(printable(message), file=sys.stderr, flush=True)

    def faults(self, faults: Sequence[str], total: int = 0) -> None:
        """Print what was wrong with the games read: the first faults, and how many more."""
        for fault in faults[:_FAULTS]:
            self.remark(fault)
        if rest := max(total, len(faults)) - min(len(faults), _FAULTS):
            self.remark(f"and {rest:,} more")

    def progress(self) -> Progress:
        """Return the progress of the command."""
        return Progress(quiet=self.quiet)


def standard_input() -> TextIO:
    """Return standard input; fail if it is closed."""
    if sys.stdin is None:
        raise TengenError("standard input is closed")
    return sys.stdin


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table on standard output."""
    from rich.console import Console
    from rich.table import Table

    sheet = Table(*map(for_rich, columns), title=for_rich(title) or None)
    for row in rows:
        sheet.add_row(*map(for_rich, row))
    console = Console()
    # Without a terminal, a table may be as wide as it needs.
    Console(width=None if console.is_terminal else 400).print(sheet)


def _is_fact(value: object) -> bool:
    """Return whether a value fits into one cell."""
    return value is not None and not (
        isinstance(value, list) and any(isinstance(each, list | Mapping) for each in value)
    )


def in_words(key: str, value: object) -> str:
    """Format one value of a result for a table.

    >>> in_words("top1", 0.5723), in_words("positions", 12345), in_words("log_loss", 1.41923)
    ('57.23 %', '12,345', '1.419')
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case Mapping():
            return ", ".join(f"{name} {in_words(name, item)}" for name, item in value.items())
        case list() | tuple():
            parts = ", ".join(in_words(key, item) for item in value)
            return f"[{parts}]" if key.endswith("interval") else parts
        case int():
            return f"{value:,}"
        case float():
            return f"{100 * value:.2f} %" if key in _RATES else f"{value:,.4g}"
    return str(value)
