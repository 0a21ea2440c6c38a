"""Output of commands: results on standard output, remarks and progress on standard error.

A command makes one value; `show` prints it as JSON or as a table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from json import dumps
from typing import Any, TextIO

from tengen.sanitize import for_rich, printable

_FAULTS = 20  # printed one by one; the rest is only counted


def standard_input() -> TextIO:
    """Return standard input.

    Raises
    ------
    TengenError
        If it is closed.
    """
    from tengen.errors import TengenError

    if sys.stdin is None:
        raise TengenError("standard input is closed")
    return sys.stdin


def emit(value: Any, *, json: bool, text: str | None = None) -> None:
    """Print `value` as JSON, or `text`."""
    if json:
        print(dumps(value, allow_nan=False))
    elif text is not None:
        print(text)


def remark(message: str, *, quiet: bool = False) -> None:
    """Print a remark on standard error."""
    if not quiet:
        print(printable(message), file=sys.stderr, flush=True)


def tell_faults(faults: Sequence[str], total: int = 0, *, quiet: bool = False) -> None:
    """Print what was wrong with the games read: the first faults, and how many more."""
    for fault in faults[:_FAULTS]:
        remark(fault, quiet=quiet)
    rest = max(total, len(faults)) - min(len(faults), _FAULTS)
    if rest:
        remark(f"and {rest:,} more", quiet=quiet)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table on standard output."""
    from rich.console import Console
    from rich.table import Table

    sheet = Table(title=for_rich(title) or None)
    for column in columns:
        sheet.add_column(for_rich(column))
    for row in rows:
        sheet.add_row(*map(for_rich, row))
    console = Console()
    # Where there is no terminal, a table may be as wide as it likes.
    Console(width=None if console.is_terminal else 400).print(sheet)


_RATES = frozenset(
    ("top1", "top5", "top10", "top20", "winner", "ownership", "calibration", "exact", "within1")
    + ("safe", "exact_when_safe", "win_rate", "win_rate_a", "share", "interval", "exact_interval")
)
"""Keys whose values are fractions; tables show them as percentages."""


def show(
    value: Any, *, json: bool, title: str = "", columns: Mapping[str, str] | None = None
) -> None:
    """Print a result: one JSON value, or a table of the same keys and values.

    A mapping gives one line per key. A list of mappings gives one line per member; `columns` maps
    the keys to show to their headings.
    """
    if json:
        print(dumps(value, allow_nan=False))
    elif isinstance(value, Mapping):
        rows = [(k.replace("_", " "), in_words(k, v)) for k, v in value.items() if _is_fact(v)]
        table(title, ("what", "value"), rows)
    else:
        heads = columns or {key: key.replace("_", " ") for row in value[:1] for key in row}
        table(title, [*heads.values()], [[in_words(k, row.get(k)) for k in heads] for row in value])


def _is_fact(value: object) -> bool:
    """Whether a value fits into one cell."""
    return value is not None and not (
        isinstance(value, list) and any(isinstance(each, list | Mapping) for each in value)
    )


def in_words(key: str, value: object) -> str:
    """Format one value of a result for a table.

    >>> in_words("top1", 0.5723), in_words("positions", 12345), in_words("log_loss", 1.41923)
    ('57.23 %', '12,345', '1.419')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {in_words(name, item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        parts = ", ".join(in_words(key, item) for item in value)
        return f"[{parts}]" if key.endswith("interval") else parts
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{100 * value:.2f} %" if key in _RATES else f"{value:,.4g}"
    return str(value)
