"""Make text from outside harmless where it is shown: terminals, Rich, spreadsheets, HTML.

Names in configurations and archives and the answers of engines may contain anything.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def printable(text: str) -> str:
    r"""Return text without power over a terminal: control characters are spelled out.

    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def for_rich(text: object) -> str:
    r"""Return text for a place where Rich would read markup.

    >>> print(for_rich("a[/red]"))
    a\[/red]
    """
    from rich.markup import escape

    return escape(printable(str(text)))


def csv_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; numbers stay numbers.

    >>> csv_cell("=1+1"), csv_cell(-1.5), csv_cell("anna")
    ("'=1+1", -1.5, 'anna')
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as HTML, every cell escaped; a notebook shows it.

    >>> html_table(["move"], [["<D4>"]])
    '<table><tr><th>move</th></tr><tr><td>&lt;D4&gt;</td></tr></table>'
    """

    def line(tag: str, cells: Iterable[object]) -> str:
        inside = "".join(f"<{tag}>{html.escape(printable(str(cell)))}</{tag}>" for cell in cells)
        return f"<tr>{inside}</tr>"

    return f"<table>{line('th', columns)}{''.join(line('td', row) for row in rows)}</table>"
