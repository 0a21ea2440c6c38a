"""Make one self-contained HTML page of the laboratory's results: tables, figures, verdicts, cost.

A step's result may hold `text`, `verdict`, `tables` (title, columns, rows, note) and `figures`
(title, svg, or a plot to draw: see `plots`). Nothing here measures anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tengen import __version__
from tengen.lab.plots import draw
from tengen.lab.steps import Result, Step
from tengen.models import write_atomic

PARTS: dict[str, tuple[str, str]] = {
    "board": ("The ground", "One board, its speed, and the players that need no learning."),
    "opening-td": (
        "Openings by temporal differences",
        "Huang, Connell, McQuade 2003: a network learns by self-play what openings an expert wins.",
    ),
    "scoring": (
        "Scoring finished games",
        "Burzillo, and van der Werf et al. 2004: which stones are dead, learned from scores alone.",
    ),
    "symmetry-network": (
        "Internal symmetry networks",
        "Blair 2008: 714 weights tied by the symmetries of the board judge positions of any size.",
    ),
    "move-prediction": (
        "Move prediction",
        "Araki, Yoshida, Tsuruoka, Tsujii 2007: patterns and maximum entropy rank experts' moves.",
    ),
    "opening-evolution": (
        "Openings by evolution",
        "Kendall, Yaakob, Hingston 2004: networks bred by the games their openings lead to.",
    ),
    "player": ("One player", "What the parts do together, and how strong each rung is."),
}
"""The sections of the page in order: title and one line on the paper."""


def write_report(folder: Path, steps: Sequence[Step], done: Mapping[str, Result]) -> Path:
    """Write `report.html` into the folder and return its path."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"), autoescape=select_autoescape()
    )
    sections = []
    for key, (title, line) in PARTS.items():
        mine = [step for step in steps if step.part == key]
        blocks = [_block(step, done[step.name]) for step in mine if step.name in done]
        missing = [step.title for step in mine if step.name not in done]
        sections.append(
            {"key": key, "title": title, "line": line, "blocks": blocks, "missing": missing}
        )
    page = environment.get_template("report.html").render(
        sections=sections,
        version=__version__,
        config=(folder / "config.toml").read_text(),
        seconds=round(sum(item["seconds"] for item in done.values())),
    )
    path = folder / "report.html"
    write_atomic(path, page)
    return path


def _block(step: Step, kept: Result) -> dict[str, Any]:
    """Turn a step's result into what the template shows."""
    result = kept["result"]
    return {
        "title": step.title,
        "seconds": kept["seconds"],
        "text": result.get("text", ""),
        "verdict": result.get("verdict", ""),
        "tables": result.get("tables", []),
        "figures": [
            {"title": figure["title"], "svg": figure.get("svg") or draw(figure)}
            for figure in result.get("figures", [])
        ],
    }
