"""Write the laboratory's results as Markdown, from the same data as the page."""

from __future__ import annotations

from collections.abc import Sequence

from tengen.lab.content import Result, Table
from tengen.lab.page import Page, Row, Section
from tengen.lab.recorded import Run


def results_page(page: Page) -> str:
    """Return `results.md`: for each paper its figures beside ours, then tables, then costs."""
    lines = [
        "# Results",
        "",
        f"Made by `{page.command}`. Intervals are at 95 %. A verdict sets our figure beside the "
        "paper's: agrees, better, worse, refuted, or not measured at this scale. Where this run is "
        "too small, the verdict is that of a large run recorded earlier, and says so.",
        "",
    ]
    for section in page.sections:
        if section.blocks or section.runs:
            lines += _section(section)
    lines += ["## Cost", ""]
    columns = ["step", "time", "processor time", "peak memory", "the paper's experiment"]
    lines += _grid(
        columns, [(c.step, c.seconds, c.processor, c.memory, c.paper) for c in page.cost]
    )
    told = ", ".join(f"{name} {number}" for name, number in page.versions)
    lines += [f"Seed {page.seed}; {told}.", ""]
    return "\n".join(lines)


def _section(section: Section) -> list[str]:
    lines = [f"## {section.title}", ""]
    if section.authors:
        lines += [f"After {section.authors}. {section.line}", ""]
    lines += _beside(section.comparisons)
    lines += _recorded_lines(section.runs)
    for block in section.blocks:
        lines += [f"### {block.title}", "", *_result_lines(block.result)]
    return lines


def _beside(rows: Sequence[Row]) -> list[str]:
    """Return the papers' figures beside ours, nothing where there are none."""
    if not rows:
        return []
    columns = ["where", "what", "paper", "this run", "recorded", "verdict", "why"]
    return _grid(
        columns,
        [
            (r.where, r.what, r.paper, r.ours, r.recorded,
             f"{r.verdict} (recorded)" if r.by_record else r.verdict, r.why)
            for r in rows
        ],
    )  # fmt: skip


def _recorded_lines(runs: Sequence[Run]) -> list[str]:
    """Return the recorded runs with how they were made, nothing where there are none."""
    if not runs:
        return []
    rows = [(f"`{r.command}`", r.date, r.seeds, r.games, r.page) for r in runs]
    return ["Recorded runs:", "", *_grid(["command", "date", "seeds", "games", "more"], rows)]


def _result_lines(result: Result) -> list[str]:
    """Return the text and the tables of one result, without its comparisons."""
    lines = []
    if result.text:
        lines += [result.text, ""]
    if result.points:
        lines += [f"{result.points_title}:", "", *(f"- {p}" for p in result.points), ""]
    return lines + [line for table in result.tables for line in table_lines(table)]


def table_lines(table: Table) -> list[str]:
    """Return a table under its title, with its note."""
    lines = [f"**{table.title}**", "", *_grid(table.columns, table.rows)]
    return [*lines, table.note, ""] if table.note else lines


def _grid(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Return a Markdown table and an empty line.

    >>> _grid(["a", "b"], [["x|y", 1]])
    ['| a | b |', '|---|---|', '| x\\\\|y | 1 |', '']
    """
    lines = [_row(columns), "|" + "---|" * len(columns)]
    return [*lines, *(_row(row) for row in rows), ""]


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
