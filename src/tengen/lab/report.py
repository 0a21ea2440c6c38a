"""Make one self-contained HTML page, and `results.md`, of the laboratory's results.

Nothing here measures anything; the same results give the same page, timings aside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from tengen.lab.content import Figure, Picture, Result, Table
from tengen.lab.page import gather
from tengen.lab.plots import draw
from tengen.lab.steps import Kept, Step
from tengen.models import write_atomic


def write_report(folder: Path, steps: Sequence[Step], done: Mapping[str, Kept]) -> Path:
    """Write `report.html` and `results.md` into the folder and return the page's path."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    from tengen.lab.markdown import results_page

    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "prose": _prose,
        "shapes": _shapes,
        "words": _columns_of_words,
        "plain": asdict,
    }
    page = gather(folder, steps, done)
    path = folder / "report.html"
    write_atomic(path, environment.get_template("report.html").render(page=page))
    write_atomic(folder / "results.md", results_page(page))
    return path


def _prose(text: str) -> Markup:
    """Escape text for the page and set what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _shapes(result: Result) -> dict[str, list[dict[str, Any]]]:
    """Return the drawings of a result by how the page sets them: plots, boards, sheets."""
    found: dict[str, list[dict[str, Any]]] = {"plots": [], "boards": [], "sheets": []}
    for figure in result.figures:
        svg = figure.svg if isinstance(figure, Picture) else draw(figure)
        found[_shape(figure)].append({"title": figure.title, "svg": Markup(svg)})
    return found


def _shape(figure: Figure) -> str:
    if not isinstance(figure, Picture):
        return "plots"
    return "sheets" if figure.wide else "boards"


def _columns_of_words(table: Table) -> list[bool]:
    """Tell which columns hold words, to be set from the left; the first always is."""
    columns = list(zip(*table.rows, strict=False)) or [() for _ in table.columns]
    return [
        number == 0 or not any(re.match(r"[-+±(]?[\d·]", str(cell)) for cell in cells)
        for number, cells in enumerate(columns)
    ]
