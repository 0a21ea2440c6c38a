"""Write the laboratory's results as Markdown, from the same data as the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def results_page(page: dict[str, Any]) -> str:
    """Return `results.md`: for each paper its figures beside ours, then tables, then costs."""
    lines = [
        "# Results",
        "",
        f"Made by `{page['command']}`. Intervals are at 95 %. A verdict sets our figure beside the "
        "paper's: agrees, better, worse, refuted, or not measured at this scale.",
        "",
    ]
    for section in page["sections"]:
        if not section["blocks"]:
            continue
        lines += [f"## {section['title']}", ""]
        if section["authors"]:
            lines += [f"After {section['authors']}. {section['line']}", ""]
        if section["comparisons"]:
            rows = [
                [row[name] for name in ("where", "what", "paper", "ours", "verdict", "why")]
                for row in section["comparisons"]
            ]
            lines += grid(["where", "what", "paper", "ours", "verdict", "why"], rows)
        for block in section["blocks"]:
            lines += [f"### {block['title']}", ""]
            if block["text"]:
                lines += [block["text"], ""]
            if block["points"]:
                lines += [f"{block['points_title']}:", "", *(f"- {p}" for p in block["points"]), ""]
            for table in block["tables"]:
                lines += [f"**{table['title']}**", "", *grid(table["columns"], table["rows"])]
                if table.get("note"):
                    lines += [table["note"], ""]
    lines += ["## Cost", ""]
    names = ("step", "seconds", "processor", "memory", "paper")
    columns = ["step", "time", "processor time", "peak memory", "the paper's experiment"]
    lines += grid(columns, [[row[name] for name in names] for row in page["cost"]])
    told = ", ".join(f"{name} {number}" for name, number in page["versions"])
    lines += [f"Seed {page['seed']}; {told}.", ""]
    return "\n".join(lines)


def grid(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a Markdown table and an empty line.

    >>> grid(["a", "b"], [["x|y", 1]])
    ['| a | b |', '|---|---|', '| x\\\\|y | 1 |', '']
    """
    lines = [_row(columns), "|" + "---|" * len(columns)]
    return [*lines, *(_row(row) for row in rows), ""]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
