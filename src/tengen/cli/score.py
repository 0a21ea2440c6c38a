"""Score the last positions of game records; only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tengen.cli.common import Json, Quiet, emit, remark

app = typer.Typer(help="Say which stones are dead at the end of a game, and count it.")


@app.command()
def score(
    files: Annotated[list[str], typer.Argument(help="Game records; - reads standard input.")],
    dead: Annotated[
        list[str] | None, typer.Option("--dead", help="Call the block at this vertex dead.")
    ] = None,
    alive: Annotated[
        list[str] | None, typer.Option("--alive", help="Call the block at this vertex alive.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write copies with TB and TW to this file.")
    ] = None,
    model: Annotated[str, typer.Option("--model", help="Name or file of the scorer.")] = "scorer",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the counted board, the dead stones and both counts of every game."""
    import sys

    from tengen.errors import TengenError
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.sheet import Sheet, score_record
    from tengen.models.files import write_atomic
    from tengen.records import loads, read_games
    from tengen.records.sgf_grammar import format_tree

    scorer = BlockScorer.load(model)
    sheets: list[Sheet] = []
    failures = 0
    unread: list[str] = []
    for name in files:
        try:
            found = list(loads(sys.stdin.buffer.read(), "-") if name == "-" else read_games(name))
        except (TengenError, OSError) as wrong:
            if len(files) == 1:
                raise
            reason = f"{name}: {wrong.strerror}" if isinstance(wrong, OSError) else str(wrong)
            remark(reason)
            unread.append(name)
            continue
        for record in found:
            try:
                sheet = score_record(scorer, record, dead=dead or (), alive=alive or ())
            except TengenError as wrong:
                if len(files) == 1 and not sheets and failures == 0 and (dead or alive):
                    raise
                remark(str(wrong), quiet=quiet)
                failures += 1
                continue
            sheets.append(sheet)
            if not json:
                print(_page(sheet))
    if not sheets:
        raise TengenError(f"{', '.join(files)}: no game could be scored")
    if out is not None:
        write_atomic(out, b"\n".join(format_tree(sheet.marked()) for sheet in sheets) + b"\n")
    if json:
        emit([sheet.to_dict() for sheet in sheets], as_json=True)
    if unread:
        raise TengenError(f"{', '.join(unread)}: could not be read; the other games were scored")


def _page(sheet: object) -> str:
    """Write one game's sheet for people."""
    from tengen.learners.scoring.sheet import Sheet

    assert isinstance(sheet, Sheet)
    facts = sheet.to_dict()
    lines = [
        f"{facts['file']}, game {facts['game']}",
        sheet.picture(),
        f"dead: {' '.join(facts['dead']) or 'none'}",
        f"seki: {' '.join(facts['seki']) or 'none'}",
        sheet.count.explain(),
        f"by territory {facts['territory']['result']}, by area {facts['area']['result']}",
        f"recorded: {facts['recorded']}",
        f"{'safe to score' if sheet.safe else 'not safe to score'} "
        f"({sheet.safe_probability:.0%} sure)",
    ]
    return "\n".join(lines + sheet.remarks)
