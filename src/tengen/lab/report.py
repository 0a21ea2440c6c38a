"""Make one self-contained HTML page, and `results.md`, of the laboratory's results.

What a step's result may hold is said in `content`. Nothing here measures anything; the same results
give the same page, timings aside.
"""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from tengen import __version__
from tengen.lab.papers import PAPERS
from tengen.lab.plots import draw
from tengen.lab.progress import span
from tengen.lab.steps import Result, Step, settings_of
from tengen.lab.verdicts import UNMEASURED, WORDS
from tengen.models import write_atomic

PARTS: dict[str, tuple[str, str, str]] = {
    "ground": ("The ground", "", "One board, its rules, and players that need no learning."),
    **{key: (paper.title, paper.authors, paper.line) for key, paper in PAPERS.items()},
    "player": ("One player", "", "What the parts do together, and how strong each rung is."),
}
"""The sections of the page in order: title, authors, one line."""

PACKAGES = ("numpy", "numba", "scipy", "matplotlib", "safetensors")


def write_report(folder: Path, steps: Sequence[Step], done: Mapping[str, Result]) -> Path:
    """Write `report.html` and `results.md` into the folder and return the page's path."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    from tengen.lab.markdown import results_page

    environment = Environment(
        loader=PackageLoader("tengen.lab", "templates"),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = prose
    page = gather(folder, steps, done)
    path = folder / "report.html"
    write_atomic(path, environment.get_template("report.html").render(**page))
    write_atomic(folder / "results.md", results_page(page))
    return path


def prose(text: str) -> Markup:
    """Escape text for the page and set what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def gather(folder: Path, steps: Sequence[Step], done: Mapping[str, Result]) -> dict[str, Any]:
    """Return everything the page shows, as plain data."""
    sections = [_section(key, steps, done) for key in PARTS]
    settings = settings_of(folder)
    mode = settings.get("mode", "quick")
    rows = [row for section in sections for row in section["comparisons"]]
    counts = Counter(row["verdict"] for row in rows)
    return {
        "sections": sections,
        "glance": [_glance(section) for section in sections if section["comparisons"]],
        "words": [{"word": word, "count": counts[word]} for word in WORDS if counts[word]],
        "total": len(rows),
        "cost": _cost(steps, done),
        "mode": mode,
        "command": f"tengen lab --{mode}{' --corpus DIR' if mode == 'full' else ''} "
        f"--seed {settings.get('seed', '?')}",
        "seed": settings.get("seed"),
        "versions": versions(),
        "seconds": span(sum(item["seconds"] for item in done.values())),
        "complete": all(step.name in done for step in steps),
    }


def _section(key: str, steps: Sequence[Step], done: Mapping[str, Result]) -> dict[str, Any]:
    title, authors, line = PARTS[key]
    mine = [step for step in steps if step.part == key]
    blocks = [_block(step, done[step.name]) for step in mine if step.name in done]
    comparisons = [row for block in blocks for row in block["comparisons"]]
    return {
        "key": key,
        "title": title,
        "authors": authors,
        "line": line,
        "blocks": blocks,
        "comparisons": comparisons,
        "decided": [row for row in comparisons if row["verdict"] != UNMEASURED],
        "open": [row for row in comparisons if row["verdict"] == UNMEASURED],
        "missing": [step for step in mine if step.name not in done],
    }


def _block(step: Step, kept: Result) -> dict[str, Any]:
    """Turn a step's result into what the template shows."""
    result = kept["result"]
    figures = [
        {
            "title": figure["title"],
            "svg": figure["svg"] if figure.get("svg") else draw(figure),
            "shape": _shape(figure),
        }
        for figure in result.get("figures", [])
    ]
    return {
        "name": step.name,
        "title": step.title,
        "time": span(kept["seconds"]),
        "text": result.get("text", ""),
        "points": result.get("points", []),
        "points_title": result.get("points_title", ""),
        "tables": [{**table, "words": _words(table)} for table in result.get("tables", [])],
        "comparisons": result.get("comparisons", []),
        "plots": [figure for figure in figures if figure["shape"] == "plot"],
        "boards": [figure for figure in figures if figure["shape"] == "board"],
        "sheets": [figure for figure in figures if figure["shape"] == "sheet"],
        "replays": result.get("replays", []),
    }


def _words(table: dict[str, Any]) -> list[bool]:
    """Tell which columns hold words, to be set from the left; the first always is."""
    columns = list(zip(*table["rows"], strict=False)) or [() for _ in table["columns"]]
    return [
        number == 0 or not any(re.match(r"[-+±(]?[\d·]", str(cell)) for cell in cells)
        for number, cells in enumerate(columns)
    ]


def _shape(figure: dict[str, Any]) -> str:
    if figure.get("kind") != "svg":
        return "plot"
    return "sheet" if figure.get("wide") else "board"


def _glance(section: dict[str, Any]) -> dict[str, Any]:
    """Return a paper in one line: every table and figure of it with its verdicts."""
    places: dict[str, Counter[str]] = {}
    for row in section["comparisons"]:
        places.setdefault(row["where"], Counter())[row["verdict"]] += 1
    return {
        "key": section["key"],
        "title": section["title"],
        "authors": section["authors"],
        "places": [
            {"where": where, "verdicts": [(w, found[w]) for w in WORDS if found[w]]}
            for where, found in sorted(places.items(), key=lambda item: item[0])
        ],
    }


def _cost(steps: Sequence[Step], done: Mapping[str, Result]) -> list[dict[str, str]]:
    """Return what every step cost beside what the paper's experiment did."""
    rows = []
    told: set[str] = set()
    for step in steps:
        if step.name not in done:
            continue
        kept = done[step.name]
        paper = PAPERS[step.part].cost if step.part in PAPERS and step.part not in told else ""
        told.add(step.part)
        rows.append(
            {
                "step": step.name,
                "seconds": span(kept["seconds"]),
                "processor": span(kept.get("processor", 0)),
                "memory": f"{kept.get('memory', 0) / 1e6:,.0f} MB",
                "paper": paper,
            }
        )
    return rows


def versions() -> list[tuple[str, str]]:
    """Return the versions that the numbers rest on."""
    found = [("tengen", __version__), ("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found


__all__ = ["PARTS", "gather", "versions", "write_report"]
