"""Measure speed side by side with other libraries, in one run, as ratios; only parse and print."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from tengen.cli.options import Shown, command, option
from tengen.cli.printing import emit, remark, table

app = typer.Typer()


@command(app)
def bench(
    collection: Path | None = option(None, "An SGF file to read and replay, one game per line."),
    only: list[str] | None = option(None, "Measure only this name; may be repeated."),
    *,
    shown: Shown,
) -> None:
    """Measure speed on one core, side by side with OpenSpiel and sgfmill where installed."""
    from tengen.errors import SpecError, unknown
    from tengen.lab.speed import CONTESTS, compare

    for name in only or ():
        if name not in CONTESTS:
            raise SpecError(unknown("benchmark", name, CONTESTS))
    rows = []
    for row in compare(only or CONTESTS, collection):
        rows.append(row)
        remark(f"{row.name}: {row.ours:,.0f} {row.unit}", quiet=shown.quiet)
    emit([asdict(row) for row in rows], json=shown.json)
    if not shown.json:
        table(
            "One core, best of three rounds each",
            ("what", "ours", "peer", "", "ratio"),
            (
                (
                    row.name,
                    f"{row.ours:,.0f} {row.unit}",
                    f"{row.peer:,.0f}" if row.peer else "",
                    row.peer_name or "",
                    row.ratio or "",
                )
                for row in rows
            ),
        )
