"""Save games of `tengen play` in files, move by move, and resume them later.

A game is one SGF that any program opens; what only we need to resume it (player, seed, clock) is in
a property of our own, XT. No file of another game is ever overwritten.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tengen.board import Board
from tengen.errors import RecordError, TengenError
from tengen.files import write_atomic
from tengen.game.clock import Clock
from tengen.game.session import LocalGame, Session
from tengen.records import loads, read_game
from tengen.records.record import board_at, rules_named
from tengen.records.sgf_properties import format_text, parse_text

_PROPERTY = "XT"


def default_folder() -> Path:
    """Return where games are saved when no file is named."""
    from platformdirs import user_data_path

    return user_data_path("tengen", appauthor=False) / "games"


def new_place(folder: Path, board: Board) -> Path:
    """Name a file for a game that begins now; no other game has it."""
    stem = f"{time.strftime('%Y-%m-%d-%H%M%S')}-{board.rows}x{board.cols}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
    return next(place for n in names if not (place := folder / f"{n}.sgf").exists())


def refuse_other(path: Path) -> None:
    """Raise `TengenError` if there is a file at this path."""
    if path.exists() and path.is_file():
        raise TengenError(f"{path}: is there already; name another file")


def save(game: LocalGame, path: Path) -> None:
    """Write a game; the caller has checked that the file is its own."""
    [record] = loads(game.sgf(game.player.name))
    clock = game.clock
    memo = {
        "player": game.spec or game.player.name,
        "human": game.human,
        "seed": game.seed,
        "clock": {
            "main": clock.main,
            "increment": clock.increment,
            "left": {str(colour): side.left for colour, side in clock.sides.items()},
        }
        if clock.limited
        else None,
    }
    record.tree.nodes[0][_PROPERTY] = [format_text(json.dumps(memo))]
    write_atomic(path, record.utf8_sgf() + b"\n")


def read_saved(path: Path) -> tuple[Session, str]:
    """Read a game that `save` wrote; return it with the player's spec."""
    record = read_game(path)
    told = record.tree.nodes[0].get(_PROPERTY)
    if not told:
        raise TengenError(f"{path}: is no game of `tengen play`; the board in the browser takes it")
    if record.result.kind != "unknown":
        raise TengenError(f"{path}: the game is over ({record.result}); review it instead")
    board = board_at(record, rules=rules_named(record.rules))
    try:
        memo = json.loads(parse_text(told[0], record.encoding))
        clock = Clock() if memo["clock"] is None else _read_clock(memo["clock"])
        human, seed = int(memo["human"]), int(memo["seed"])
        return Session(board, human, seed, clock), str(memo["player"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise RecordError(f"{path}: its property {_PROPERTY} is damaged") from None


def latest(folder: Path) -> Path:
    """Return the newest game in a folder that is not over."""
    for path in sorted(folder.glob("*.sgf"), key=lambda path: -path.stat().st_mtime):
        try:
            read_saved(path)
        except TengenError:
            continue
        return path
    raise TengenError(f"{folder}: no game to go on with")


def _read_clock(value: dict[str, Any]) -> Clock:
    clock = Clock.fischer(float(value["main"]), float(value["increment"]))
    for colour, left in value["left"].items():
        clock.set_left(int(colour), float(left), 0)
    return clock
