"""Keep games of `tengen play` in files, move by move, and go on with them later.

A game is one SGF that any program opens; what only we need to go on (who plays, the seed, the
clock) stands in a property of our own, XT. No file of another game is ever written over.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.board import Board
from tengen.errors import RecordError, TengenError
from tengen.files import write_atomic
from tengen.gtp.clock import Clock
from tengen.players.table import Table
from tengen.records import GameRecord, loads, read_game
from tengen.records.replay import board_at, rules_of
from tengen.records.sgf_properties import format_text, parse_text

_PROPERTY = "XT"


def default_folder() -> Path:
    """Return where games are kept when nobody names a file."""
    from platformdirs import user_data_path

    return user_data_path("tengen", appauthor=False) / "games"


def new_place(folder: Path, board: Board) -> Path:
    """Name a file for a game that begins now; no other game has it."""
    stem = f"{time.strftime('%Y-%m-%d-%H%M%S')}-{board.rows}x{board.cols}"
    names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
    return next(place for n in names if not (place := folder / f"{n}.sgf").exists())


def _written(table: Table) -> bytes:
    """Return a game as SGF with what is needed to go on."""
    [record] = loads(table.sgf())
    record.tree.nodes[0][_PROPERTY] = [format_text(json.dumps(_memo(table)))]
    return record.utf8_sgf() + b"\n"


def save(table: Table, path: Path) -> None:
    """Write a game; the caller has seen to it that the file is its own."""
    write_atomic(path, _written(table))


def refuse_other(path: Path) -> None:
    """Refuse to write where there is something already.

    Raises
    ------
    TengenError
        If there is.
    """
    if path.exists() and path.is_file():
        raise TengenError(f"{path}: is there already; name another file")


@dataclass(frozen=True)
class _Saved:
    """A game to go on with."""

    board: Board
    spec: str
    human: int
    seed: int
    clock: Clock | None


def read_saved(path: Path) -> _Saved:
    """Read a game that `save` wrote.

    Raises
    ------
    TengenError
        If it is another record, or its game is over.
    """
    record = read_game(path)
    memo = _read_memo(record, path)
    if record.result.kind != "unknown":
        raise TengenError(f"{path}: the game is over ({record.result}); review it instead")
    board = board_at(record, rules=rules_of(record))
    try:
        clock = None if memo["clock"] is None else _read_clock(memo["clock"])
        player, human, seed = str(memo["player"]), int(memo["human"]), int(memo["seed"])
        return _Saved(board, player, human, seed, clock)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise RecordError(
            f"{path}: what it says of the game under {_PROPERTY} is damaged"
        ) from None


def latest(folder: Path) -> Path:
    """Return the newest game in a folder that is not over.

    Raises
    ------
    TengenError
        If there is none.
    """
    found = sorted(folder.glob("*.sgf"), key=lambda path: -path.stat().st_mtime)
    for path in found:
        try:
            read_saved(path)
        except TengenError:
            continue
        return path
    raise TengenError(f"{folder}: no game to go on with")


def _memo(table: Table) -> dict[str, Any]:
    clock = table.clock
    return {
        "player": table.spec or table.player.name,
        "human": table.human,
        "seed": table.seed,
        "clock": clock
        and {
            "main": clock.main,
            "increment": clock.increment,
            "left": {str(colour): side.left for colour, side in clock.sides.items()},
        },
    }


def _read_memo(record: GameRecord, path: Path) -> dict[str, Any]:
    told = record.tree.nodes[0].get(_PROPERTY)
    if not told:
        raise TengenError(f"{path}: is no game of `tengen play`; the board in the browser takes it")
    try:
        memo = json.loads(parse_text(told[0], record.encoding))
    except ValueError:
        memo = None
    if not isinstance(memo, dict):
        raise RecordError(f"{path}: what it says of the game under {_PROPERTY} is damaged")
    return memo


def _read_clock(value: dict[str, Any]) -> Clock:
    clock = Clock.fischer(float(value["main"]), float(value["increment"]))
    for colour, left in value["left"].items():
        clock.set_left(int(colour), float(left), 0)
    return clock
