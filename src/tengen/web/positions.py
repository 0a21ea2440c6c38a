"""Boards and games as plain values, for JSON and for worker processes; uploads as games.

Uploads are read in a worker process, within limits of size and time. A file name in a request is
never opened, and archives are unpacked up to a limit, so a small upload cannot fill the memory.
"""

from __future__ import annotations

import base64
import io
import math
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, WHITE, Board, Rules, format_gtp, point_at
from tengen.board.counting import Count
from tengen.contracts import Verdict
from tengen.errors import RecordError
from tengen.records import Fault, GameRecord, loads, read_games
from tengen.records.from_board import start_of
from tengen.records.reader import BROKEN, unpacker_of
from tengen.records.record import board_at, rules_named
from tengen.records.sgf_properties import parse_text
from tengen.reviews.batch import headline
from tengen.reviews.game import legal_part
from tengen.web.workers import Context, Json

NAMES = {BLACK: "black", WHITE: "white"}
COLOURS = {"black": BLACK, "white": WHITE}
_LONGEST_TEXT = 4000  # characters of a comment that are kept


def to_value(board: Board) -> Json:
    """Return everything that `to_board` needs to restore this board."""
    start = start_of(board)
    return {
        **{name: getattr(board, name) for name in ("rows", "cols", "komi", "handicap", "turn")},
        "rules": asdict(board.rules),
        "setup": "/".join(rows_of(start)) if start.grid().any() else "",
        "first": start.turn,
        "moves": [[colour, point] for colour, point in board.moves],
    }


def to_board(value: Json) -> Board:
    """Restore a board from the result of `to_value`."""
    board = Board(
        value["rows"], value["cols"], rules=Rules(**value["rules"]), to_play=value["first"],
        **{name: value[name] for name in ("komi", "setup", "handicap")},
    )  # fmt: skip
    for colour, point in value["moves"]:
        board.play(board.to_point(point), colour)
    board.turn = value["turn"]
    return board


def rows_of(board: Board) -> list[str]:
    """Return the stones as one string per row: `.` empty, `X` black, `O` white."""
    return ["".join(".XO"[c] for c in row) for row in board.grid()]


def vertex(point: int, board: Board) -> str:
    """Name a point as GTP does."""
    return format_gtp(point, board.rows, board.cols)


def vertices(points: Iterable[int], board: Board) -> list[str]:
    """Name points as GTP does."""
    return [vertex(int(p), board) for p in points]


def named_moves(board: Board) -> list[list[str]]:
    """Return the moves played as pairs such as `["B", "D4"]`."""
    return [["?BW"[colour], vertex(point, board)] for colour, point in board.moves]


def illegal_points(board: Board) -> list[str]:
    """Name the empty points that the side to move may not play."""
    empty = board.grid().ravel() == 0
    found = np.flatnonzero(empty & ~board.legal_mask()[:-1])
    return [vertex(point_at(int(i), board.rows, board.cols), board) for i in found]


def likely_moves(priors: FloatArray, board: Board, count: int) -> list[Json]:
    """Return the likeliest moves with their probabilities, likeliest first."""
    order = [int(i) for i in np.argsort(-priors, kind="stable")[:count] if priors[i] > 0]
    points = {point_at(i, board.rows, board.cols): float(priors[i]) for i in order}
    return [{"move": vertex(p, board), "probability": chance} for p, chance in points.items()]


def counted(count: Count) -> Json:
    """Return a count in plain values, with the points of either side as rows of `0` and `1`."""

    def rows(colour: int) -> list[str]:
        return ["".join("01"[int(cell)] for cell in row) for row in count.territory(colour)]

    values = {**count.to_dict(), "explanation": count.explain()}
    for colour, name in NAMES.items():
        values[f"{name}_parts"] = {part: float(n) for part, n in count.parts(colour).items()}
    return {**values, "black_points": rows(BLACK), "white_points": rows(WHITE)}


def judged_blocks(verdict: Verdict, board: Board) -> list[Json]:
    """Return a scorer's verdict on every block."""
    return [
        {
            "stones": vertices(block.stones, board),
            "status": str(block.status),
            "probability": finite(block.probability),
        }
        for block in verdict.blocks
    ]


def finite(value: float) -> float | None:
    """Return a number for JSON: None if it is not finite."""
    return value if math.isfinite(value) else None


def position_of(board: Board) -> Json:
    """Return what a page needs to draw a position."""
    last = board.last_move
    return {
        "stones": rows_of(board),
        "turn": NAMES[board.turn],
        "last": None if last is None else vertex(last, board),
        "captures": list(board.prisoners),
        "suicide": board.rules.suicide,
    }


# ----- Games -----


def whole(record: GameRecord) -> Json:
    """Return a game with all its positions, the one before the first move first."""
    boards, remark = legal_part(record)
    return {
        **headline(record),
        "remark": remark,
        "scoring": boards[0].rules.scoring,
        "positions": [position_of(board) for board in boards],
        # Stones put down in mid-game make a line of moves meaningless.
        "line": [] if record.edits else named_moves(boards[-1]),
        "comments": _comments(record, len(boards)),
    }


def _comments(record: GameRecord, count: int) -> dict[str, str]:
    """Return the comments of the main line by the number of moves before them."""
    found: dict[str, str] = {}
    number = 0
    for index in record.tree.main_line():
        node = record.tree.nodes[index]
        number += len(node.get("B", ())) + len(node.get("W", ()))
        if node.get("C") and number < count:
            text = parse_text(node["C"][0], record.encoding).strip()[:_LONGEST_TEXT]
            key = str(number)
            found[key] = f"{found[key]}\n{text}" if key in found else text
    return found


# ----- Uploads -----

READ_SECONDS = 20.0  # most seconds for reading one upload
UPLOAD_BYTES = 8_000_000  # largest upload
_UNPACKED_BYTES = 8 * UPLOAD_BYTES  # largest upload after unpacking
UPLOAD_GAMES = 300  # most games taken from one upload
_GAME_MOVES = 2000  # most moves of one game
_TOLD = 3  # unreadable files named in an error
_KNOWN = (".sgf", ".gib", ".ngf", ".txt", ".mgt")


def packed(data: bytes, name: str) -> Json:
    """Return an upload as arguments of a task."""
    return {"data": base64.b64encode(data).decode(), "name": name}


def games_of_upload(arguments: Json, context: Context) -> Json:
    """Return every game of an upload as SGF, with its headline, and what could not be read."""
    found, unread = read_upload(**arguments)
    games = [
        {"sgf": record.utf8_sgf().decode("utf-8", "replace"), "headline": headline(record)}
        for record in found
    ]
    return {"games": games, "unread": unread}


def game_of_upload(arguments: Json, context: Context) -> Json:
    """Return one game of an upload with all its positions."""
    number = arguments.pop("game")
    found, _ = read_upload(**arguments)
    if number > len(found):
        raise RecordError(f"the file has {len(found)} games")
    return {**whole(found[number - 1]), "games": len(found)}


def end_of_upload(arguments: Json, context: Context) -> Json:
    """Return the last position of the first game of an upload, which must be unfinished."""
    record = read_upload(**arguments)[0][0]
    board = board_at(record, rules=rules_named(record.rules))
    if record.result.kind != "unknown":
        raise RecordError(f"{record.file}: this game is finished; review or score it instead")
    return to_value(board)


def replay(arguments: Json, context: Context) -> Json:
    """Return a stored game with all its positions."""
    return whole(loads(arguments["sgf"])[0])


def read_upload(data: str, name: str) -> tuple[list[GameRecord], list[str]]:
    """Return the games of an upload that `packed` made, and what could not be read, by file.

    Any SGF version, collections and archives; files in archives keep their names.
    """
    raw, shown, suffix = unpacked(data, name)
    unread: list[str] = []
    found: list[GameRecord] = []
    with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(raw)

        def note(fault: Fault) -> None:
            if not fault.repaired:
                unread.append(f"{shown}{fault.file.removeprefix(str(path))}: {fault.reason}")

        for record in read_games(path, on_fault=note):
            record.file = shown + record.file.removeprefix(str(path))
            if len(record.moves) > _GAME_MOVES:
                reason = f"{len(record.moves)} moves; at most {_GAME_MOVES} are taken"
                unread.append(f"{record.file}: game {record.game} has {reason}")
            elif len(found) < UPLOAD_GAMES:
                found.append(record)
            else:
                unread.append(f"{shown}: only the first {UPLOAD_GAMES} games are taken")
                break
    if not found:
        raise RecordError("; ".join(unread[:_TOLD]) or f"{shown}: no game in it")
    return found, unread


def unpacked(data: str, name: str) -> tuple[bytes, str, str]:
    """Return an upload's unpacked bytes, its name for display, and the suffix of its format."""
    raw, name = base64.b64decode(data), Path(name).name[:80] or "game.sgf"
    if not raw.strip():
        raise RecordError(f"{name}: an empty file")
    suffix = next((s for s in _KNOWN if s in name.lower()), ".sgf")
    try:
        if unpack := unpacker_of(raw):
            raw = unpack(io.BytesIO(raw)).read(_UNPACKED_BYTES + 1)
        size = len(raw)
        if raw[:4] == b"PK\x03\x04":
            suffix = ".zip"
            with zipfile.ZipFile(io.BytesIO(raw)) as archive:
                size += sum(member.file_size for member in archive.infolist())
        elif raw[257:262] == b"ustar":
            suffix = ".tar"
    except (OSError, *BROKEN) as broken:
        raise RecordError(f"{name}: damaged archive: {broken}") from None
    if size > _UNPACKED_BYTES:
        raise RecordError(f"{name}: grows beyond {_UNPACKED_BYTES} bytes when it is unpacked")
    return raw, name, suffix
