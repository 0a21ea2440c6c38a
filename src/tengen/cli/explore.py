"""Ask a collection what was played in a position; only parse, call and print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tengen.cli.options import Shown, argument, command, flag, option
from tengen.cli.printing import emit, progress, remark, table, tell_faults

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.explorer import Answer, Openings

app = typer.Typer()


@command(app)
def explore(
    games: list[str] = argument("Files, folders, archives of games; - is standard input."),
    moves: str = option("", 'The position: "Q16 D4", Black first; `pass` too.'),
    corner: bool = flag("--corner", "Ask for the corner of the moves alone."),
    size: str | None = option(None, "Board: 9, or 9x13 (rows x columns). Default: most games'."),
    top: int = option(12, "How many moves to tell.", min=1),
    plies: int = option(60, "Moves of each game to index.", min=1, max=400),
    index: Path | None = option(None, "Where the index is; made if it is not there."),
    rebuild: bool = flag("--rebuild", "Make the index anew, whatever is there."),
    models: bool = option(True, "What the models give each move.", "--models/--no-models"),
    out: Path | None = option(None, "Write the picture to this file (SVG)."),
    *,
    shown: Shown,
) -> None:
    """Tell the next moves of a position with counts, results, dates and the models' opinions.

    Mirror images, turns and swapped colours count together. The first question to a collection
    makes an index of it, kept until its files change.
    """
    from tengen.explorer import explore as ask
    from tengen.explorer import picture
    from tengen.files import refuse_inputs, write_atomic
    from tengen.models.defaults import Opinions, opinions_on

    for written in filter(None, (index, out)):
        refuse_inputs(written, games)
    if index is not None and out is not None:
        refuse_inputs(out, [index])
    openings = _openings(games, index, plies, rebuild=rebuild, quiet=shown.quiet)
    board = _board(openings, size, moves)
    asked = opinions_on(board.rows, board.cols) if models else Opinions()
    answer = ask(
        openings,
        board,
        corner=corner,
        policies=asked.policies,
        evaluators=asked.evaluators,
        limit=top,
    )
    if out is not None:
        write_atomic(out, picture(answer) + "\n")
        remark(f"picture: {out}", quiet=shown.quiet)
    emit({**answer.to_dict(), "models": asked.names}, json=shown.json)
    if not shown.json:
        _print(answer, asked.names)


def _openings(
    games: list[str], index: Path | None, plies: int, *, rebuild: bool, quiet: bool
) -> Openings:
    """Open the collection's index, or make it with progress; tell what was wrong with games."""
    from tengen.explorer import index_of_games

    faults: list[str] = []
    remarks: list[str] = []
    with progress("games read", None, quiet=quiet) as bar:
        made = index_of_games(
            games,
            index,
            plies=plies,
            rebuild=rebuild,
            on_games=bar.advance,
            on_fault=faults.append,
            on_remark=remarks.append,
        )
    tell_faults(faults, quiet=quiet)
    for words in remarks:
        remark(words, quiet=quiet)
    return made


def _board(openings: Openings, size: str | None, moves: str) -> Board:
    """Play the moves that were asked for, in turn."""
    from tengen.arena.match import parse_board_size
    from tengen.board import Board, Rules
    from tengen.errors import TengenError

    rows, cols = parse_board_size(size or next(iter(openings.about.sizes)))
    board = Board(rows, cols, rules=Rules.preset("japanese"))
    for number, name in enumerate(moves.replace(",", " ").split(), 1):
        try:
            board.play(name)
        except TengenError as wrong:
            raise TengenError(f"--moves, move {number}: {wrong}") from None
    return board


def _print(answer: Answer, names: dict[str, str]) -> None:
    """Print board and table for people."""
    from tengen.board import BLACK
    from tengen.explorer.pictures import cells

    side = "Black" if answer.board.turn == BLACK else "White"
    print(answer.ascii())
    if not answer.moves:
        print(
            f"{side} to play: none of {answer.collection:,} games was here within "
            f"{answer.plies} moves"
        )
        return
    letters = {id(move): letter for letter, move in answer.marks().items()}
    rows: list[list[Any]] = []
    for move in answer.moves:
        vertex, *numbers = cells(move, list(names))
        marked = f"{letters.get(id(move), ' ')} {vertex}"  # one column, so that 80 letters do
        years = dict.fromkeys(filter(None, (move.first[:4], move.last[:4])))
        rows.append([marked, *numbers, "-".join(years)])
    where = f" in the {answer.corner} corner" if answer.corner else ""
    games = "times" if answer.corner else "games"
    print(
        f"{side} to play{where}: {answer.games:,} {games} (collection: {answer.collection:,} games)"
    )
    table("", ["move", games, "share", "Black\nwins", *names, "years"], rows)
    if answer.corner:
        print(f"{side} played elsewhere at first {answer.elsewhere:,} times")
    if names:
        print("; ".join(f"{asked}: {name}" for asked, name in names.items()))
