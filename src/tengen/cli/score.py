"""Score the last positions of game records; only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.common import Json, Quiet, emit, remark, standard_input

if TYPE_CHECKING:
    from tengen.learners.scoring.sheet import Sheet
    from tengen.records import GameRecord

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
    """Print the counted board, the dead stones and both counts of every game.

    Files that cannot be read and games that cannot be scored are named; the others are scored.
    """
    from tengen.errors import TengenError
    from tengen.files import refuse_inputs, write_atomic
    from tengen.learners.scoring import BlockScorer
    from tengen.learners.scoring.sheet import score_record
    from tengen.records.sgf_grammar import format_tree

    if out is not None:
        refuse_inputs(out, files)
    scorer = BlockScorer.load(model)
    sheets: list[Sheet] = []
    unread: list[str] = []
    for name in files:
        try:
            records = _read(name)
        except (TengenError, OSError) as wrong:
            if len(files) == 1:
                raise
            remark(f"{name}: {wrong.strerror}" if isinstance(wrong, OSError) else str(wrong))
            unread.append(name)
            continue
        for record in records:
            try:
                sheet = score_record(scorer, record, dead=dead or (), alive=alive or ())
            except TengenError as wrong:
                if len(files) == len(records) == 1:
                    raise
                remark(str(wrong), quiet=quiet)
                continue
            sheets.append(sheet)
            if not json:
                print(_page(sheet))
    if not sheets:
        raise TengenError(f"{', '.join(files)}: no game could be scored")
    if out is not None:
        write_atomic(out, b"\n".join(format_tree(sheet.marked()) for sheet in sheets) + b"\n")
    emit([sheet.to_dict() for sheet in sheets], json=json)
    if unread:
        raise TengenError(f"{', '.join(unread)}: could not be read; the other games were scored")


def _read(name: str) -> list[GameRecord]:
    """Read all games of a file, or of standard input."""
    from tengen.records import loads, read_games

    return list(loads(standard_input().buffer.read(), "-") if name == "-" else read_games(name))


def _page(sheet: Sheet) -> str:
    """Write one game's sheet for people."""
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
    if not sheet.safe:
        lines.append(_expectation(sheet))
    return "\n".join(lines + sheet.remarks)


def _expectation(sheet: Sheet) -> str:
    """Say what a game that seems unfinished is expected to come to."""
    from tengen.board.counting import format_result
    from tengen.gtp.judging import Judge

    outlook = Judge().estimate(sheet.board)
    result = format_result(round(outlook.score, 1))
    return f"the game seems unfinished; expected at its end: {result} (by {outlook.by})"
