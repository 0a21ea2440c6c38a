"""Print an experiment's result for people at a terminal; figures are left to the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lab.content import Result, Table, table

if TYPE_CHECKING:
    from rich.console import Console


def print_result(result: Result, console: Console | None = None) -> None:
    """Print text, tables and the papers' figures beside ours on standard output."""
    from rich.console import Console

    out = console or Console()
    if result.text:
        out.print(result.text, markup=False)
    if result.points:
        out.print(f"{result.points_title}:", markup=False)
        for point in result.points:
            out.print(f"  {point}", markup=False)
    for sheet in result.tables:
        _print_table(sheet, out)
    if result.comparisons:
        columns = ["where", "what", "paper", "ours", "verdict"]
        rows = [(c.where, c.what, c.paper, c.ours, c.verdict) for c in result.comparisons]
        _print_table(table("Beside the paper", columns, rows), out)


def _print_table(sheet: Table, out: Console) -> None:
    from rich.table import Table as Grid

    from tengen.sanitize import for_rich

    grid = Grid(title=for_rich(sheet.title) or None, caption=for_rich(sheet.note) or None)
    for column in sheet.columns:
        grid.add_column(for_rich(column))
    for row in sheet.rows:
        grid.add_row(*(for_rich(cell) for cell in row))
    out.print(grid)
