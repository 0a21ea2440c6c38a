"""Sanitize external text for display: in terminals, Rich, spreadsheets and HTML."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    """Return text with control characters escaped, for a terminal."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def for_rich(text: object) -> str:
    """Return text with Rich markup and control characters escaped."""
    from rich.markup import escape

    return escape(printable(str(text)))


def csv_cell(value: Any) -> Any:
    """Return a cell that spreadsheets do not read as a formula; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def csv_text(
    columns: Sequence[str], rows: Iterable[Iterable[Any]], *, decimals: int | None = None
) -> str:
    """Return a table as CSV: lists joined by spaces, floats rounded to `decimals`, no formulas."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(columns)
    for row in rows:
        cells = (" ".join(cell) if isinstance(cell, list) else cell for cell in row)
        if decimals is not None:
            cells = (round(c, decimals) if isinstance(c, float) else c for c in cells)
        sheet.writerow(map(csv_cell, cells))
    return out.getvalue()


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as HTML for notebooks, with every cell escaped.

    >>> html_table(["move"], [["<D4>"]])
    '<table><tr><th>move</th></tr><tr><td>&lt;D4&gt;</td></tr></table>'
    """

    def line(tag: str, cells: Iterable[object]) -> str:
        inside = "".join(f"<{tag}>{html.escape(printable(str(cell)))}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    return f"<table>{line('th', columns)}{''.join(line('td', row) for row in rows)}</table>"
