"""Write an experiment's result into its folder: numbers, tables and figures, each as a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tengen.lab.content import Picture, Result
from tengen.lab.markdown import table_lines
from tengen.lab.plots import draw
from tengen.models import write_atomic


def write_result(folder: Path, result: Result) -> None:
    """Write `result.json` (what `--json` prints), `tables.md`, and one SVG a figure."""
    write_atomic(folder / "result.json", json.dumps(result.data, indent=1))
    lines = [line for table in result.tables for line in table_lines(table)]
    write_atomic(folder / "tables.md", "\n".join(lines))
    for figure in result.figures:
        svg = figure.svg if isinstance(figure, Picture) else draw(figure)
        write_atomic(folder / f"{_slug(figure.title)}.svg", svg)


def _slug(title: str) -> str:
    """Make a file's name of a title.

    >>> _slug("Figure 4: player ABCDE")
    'figure-4-player-abcde'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
