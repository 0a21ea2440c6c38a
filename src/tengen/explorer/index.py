"""The index of a collection's openings: folded positions with their moves, results and dates.

The index is one safetensors file, read through a memory map. Its arrays:

    keys      int64   keys of positions, sorted; a position's key is the same for all its mirror
                      images, and for the position with colours and side to move swapped
    starts    int64   where the rows of each position begin; one entry more
    rows      int32   one row per next move: see `kernels` (COUNT, WINS, ... of the side to move)
    names     uint8   the names of the files, one behind the other, and
    ends      int64   where each of them ends
    origins   int32   number of the file and of the game in it, for each game

`__metadata__` holds `tengen.openings`, a JSON object with version, games and settings.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import IntArray
from tengen.board import PASS, Board, Point, point_at
from tengen.board.coordinates import elements, inverse, point_from, point_permutation
from tengen.board.kernels import ZOBRIST
from tengen.board.layout_kernels import BLACK, COLOUR, WHITE
from tengen.errors import TengenError
from tengen.explorer import kernels
from tengen.explorer.kernels import NOWHERE
from tengen.records.reader import may_hold_games

CORNERS = ("top left", "top right", "bottom left", "bottom right")


@dataclass(frozen=True)
class Geometry:
    """The tables of one board shape that positions are folded with."""

    rows: int
    cols: int
    turned: IntArray
    """turned[t, p]: where symmetry t takes point p."""
    back: IntArray
    """back[t, p]: where symmetry t takes p from."""
    corners: IntArray
    """Number of each point's corner, see CORNERS; NOWHERE on middle lines and for a pass."""
    into: IntArray
    """into[q]: the symmetries that take corner q to the first corner."""
    salts: IntArray
    """What tells keys of this shape's boards, and of its corners, from all others."""


@dataclass(frozen=True)
class Folded:
    """A position as in the index, and the symmetries that lead there."""

    key: int
    turns: tuple[int, ...]
    """Rows of `Geometry.turned`; several where the position is symmetric itself."""


@cache
def geometry(rows: int, cols: int) -> Geometry:
    """Return the tables for boards of this shape. A corner is a quarter without middle lines."""
    turns = elements(rows, cols)
    turned = np.array([point_permutation(rows, cols, t) for t in turns])
    back = np.array([point_permutation(rows, cols, inverse(t)) for t in turns])
    corners = np.full(turned.shape[1], NOWHERE, np.int64)
    for row in range(rows):
        for col in range(cols):
            up, down = row < rows // 2, row >= rows - rows // 2
            left, right = col < cols // 2, col >= cols - cols // 2
            if (up or down) and (left or right):
                corners[point_at(row * cols + col, rows, cols)] = 2 * down + right
    ends = [0, cols - 1, (rows - 1) * cols, rows * cols - 1]  # the outermost points
    first = point_at(0, rows, cols)
    into = [np.flatnonzero(turned[:, point_at(end, rows, cols)] == first) for end in ends]
    salts = [
        int.from_bytes(hashlib.blake2b(f"{rows}x{cols} {what}".encode(), digest_size=8).digest())
        for what in ("board", "corner")
    ]
    return Geometry(
        rows, cols, turned, back, corners, np.array(into), np.array(salts, np.uint64).view(np.int64)
    )


def corner_of(board: Board) -> int:
    """Return the corner that holds all moves of a board; the top right one without any.

    Raises `TengenError` if moves lie in several corners or on middle lines.
    """
    tables = geometry(board.rows, board.cols)
    played = [point for _, point in board.moves if point]
    found = {int(tables.corners[point]) for point in played}
    if NOWHERE in found:
        outside = next(p for p in played if tables.corners[p] == NOWHERE)
        raise TengenError(f"{outside} is in no corner: corners end before the middle lines")
    if len(found) > 1:
        raise TengenError("the moves lie in several corners; say `pass` for a move elsewhere")
    return found.pop() if found else CORNERS.index("top right")


def fold(board: Board, corner: int | None = None) -> Folded:
    """Find a position's key, seen by the side to move: of the whole board or of one corner."""
    tables = geometry(board.rows, board.cols)
    stones = board.state[COLOUR]
    points = np.flatnonzero((stones == BLACK) | (stones == WHITE))
    turns = np.arange(len(tables.turned))
    if corner is not None:
        points = points[tables.corners[points] == corner]
        turns = tables.into[corner]
    seen = np.where(stones[points] == board.turn, 1, 2)
    hashes = [
        int(np.bitwise_xor.reduce(ZOBRIST[seen, tables.turned[turn, points]], initial=0))
        for turn in turns
    ]
    least = min(hashes)
    salt = int(tables.salts[0 if corner is None else 1])
    chosen = [int(t) for t, h in zip(turns, hashes, strict=True) if h == least]
    return Folded(least ^ salt, tuple(chosen))


def unfold(board: Board, folded: Folded, move: int) -> list[Point]:
    """Return the points on the board that a folded move stands for, top right first.

    There are several where the position is symmetric: games that differ so are counted together.
    """
    tables = geometry(board.rows, board.cols)
    points = {int(tables.back[turn, move]) for turn in folded.turns}
    if PASS in points:
        return [PASS]
    found = [point_from(point, board.rows, board.cols) for point in points]
    return sorted(found, key=lambda p: (p.row - p.col, p.row))


# ----- The index -----

VERSION = 1
SUFFIX = ".openings"
METADATA = "tengen.openings"
_ARRAYS = {
    "keys": "I64",
    "starts": "I64",
    "rows": "I32",
    "names": "U8",
    "ends": "I64",
    "origins": "I32",
}
_WIDTHS = {"rows": (kernels.COLUMNS,), "origins": (2,)}
_TYPES = {"I64": np.int64, "I32": np.int32, "U8": np.uint8}


class OpeningsError(TengenError):
    """An index that is damaged, of another version, or no index at all."""


@dataclass(frozen=True)
class About:
    """What an index says of itself."""

    version: int
    games: int
    plies: int
    least: int
    """Games that a position must have been reached by to be in the index."""
    sizes: dict[str, int]
    """Games of each size, as `19x19` (rows x columns), most frequent first."""
    without_result: int
    left_out: int
    """Games refused, or whose stones are put and taken by hand during play."""
    stamp: str = ""
    """What the files were like, see `stamp_of`."""


@dataclass(frozen=True)
class Continuation:
    """One next move of a position, folded: numbers of the side to move."""

    move: int
    """Folded point, PASS or ELSEWHERE."""
    count: int
    wins: int
    losses: int
    first: int
    """Dates as 20030601, 0 when no game told one."""
    last: int
    example: int
    """Number of the last of these games in the index."""


class Openings:
    """The index of a collection, open for questions."""

    def __init__(self, path: Path, about: About, arrays: dict[str, NDArray[Any]]) -> None:
        self.path = path
        self.about = about
        self._arrays = arrays

    def __len__(self) -> int:
        """Return how many positions it holds."""
        return len(self._arrays["keys"])

    def continuations(self, folded: Folded) -> list[Continuation]:
        """Return what was played in a folded position, most frequent first."""
        keys, starts, rows = (self._arrays[name] for name in ("keys", "starts", "rows"))
        place = int(np.searchsorted(keys, folded.key))
        if place == len(keys) or int(keys[place]) != folded.key:
            return []
        begin, end = int(starts[place]), int(starts[place + 1])
        if not 0 <= begin < end <= len(rows):
            raise OpeningsError(f"{self.path}: the index is damaged; rebuild it")
        found = [
            Continuation(
                move=row[kernels.MOVE],
                count=row[kernels.COUNT],
                wins=row[kernels.WINS],
                losses=row[kernels.LOSSES],
                first=row[kernels.FIRST_DATE],
                last=row[kernels.LAST_DATE],
                example=row[kernels.EXAMPLE],
            )
            for row in np.asarray(rows[begin:end]).tolist()
        ]
        return sorted(found, key=lambda each: (-each.count, each.move))

    def origin(self, game: int) -> tuple[str, int]:
        """Return the file a game came from and its number there."""
        if not 0 <= game < len(self._arrays["origins"]):
            raise OpeningsError(f"{self.path}: the index is damaged; rebuild it")
        file, number = self._arrays["origins"][game].tolist()
        ends, names = self._arrays["ends"], self._arrays["names"]
        begin = int(ends[file - 1]) if file else 0
        return bytes(names[begin : int(ends[file])]).decode("utf-8", "replace"), number


def read_header(path: Path) -> tuple[dict[str, Any], dict[str, Any], int, int]:
    """Return an index's arrays, what it says of itself, and the lengths of header and file.

    Raises `OpeningsError` if the file is no index.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        total = os.fstat(file.fileno()).st_size
        if not 0 < length <= min(total - 8, 1 << 24):
            raise OpeningsError(f"{path}: not an index of openings")
        header = file.read(length)
    try:
        entries = json.loads(header)
        told = json.loads(entries.pop("__metadata__")[METADATA])
        int(told["version"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise OpeningsError(f"{path}: not an index of openings") from None
    return entries, told, length, total


def open_index(path: str | Path) -> Openings:
    """Open an index for questions.

    Raises `TengenError` if the file is no index, damaged, or of another version.
    """
    path = Path(path)
    entries, told, length, total = read_header(path)
    version = int(told["version"])
    if version != VERSION:
        raise OpeningsError(
            f"{path}: an index of version {version}, and this is read: {VERSION}; rebuild it"
        )
    try:
        arrays = {name: _mapped(path, 8 + length, total, entries[name], name) for name in _ARRAYS}
        about = About(**told)
        if len(arrays["starts"]) != len(arrays["keys"]) + 1:
            raise ValueError("the arrays do not fit")
    except (ValueError, KeyError, TypeError) as wrong:
        raise OpeningsError(f"{path}: the index is damaged ({wrong}); rebuild it") from None
    return Openings(path, about, arrays)


def stamp_of(paths: Iterable[str]) -> str:
    """Return a text that changes when files behind the paths do; empty for standard input."""
    seen = hashlib.blake2b(digest_size=16)
    for name in paths:
        if name == "-":
            return ""
        path = Path(name)
        inside = sorted(path.rglob("*")) if path.is_dir() else []
        files = [each for each in inside if may_hold_games(each.name) and each.is_file()]
        for item in files or [path]:
            facts = item.stat()
            seen.update(f"{item}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode(errors="replace"))
    return seen.hexdigest()


def cached_path(paths: Iterable[str], plies: int) -> Path:
    """Return the default place of the index of these paths."""
    from platformdirs import user_cache_path

    whole = "\0".join([*(str(Path(name).resolve()) for name in paths), str(plies), str(VERSION)])
    name = hashlib.blake2b(whole.encode(errors="replace"), digest_size=12).hexdigest()
    return user_cache_path("tengen", appauthor=False) / "openings" / f"{name}{SUFFIX}"


def _mapped(path: Path, base: int, total: int, entry: dict[str, Any], name: str) -> NDArray[Any]:
    """Map one array of the file into memory, if its header makes sense."""
    kind, shape = _TYPES[_ARRAYS[name]], tuple(int(n) for n in entry["shape"])
    begin, end = (int(n) for n in entry["data_offsets"])
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    if entry["dtype"] != _ARRAYS[name] or not 0 <= begin <= end <= total - base:
        raise ValueError(f"{name} is not all there")
    if end - begin != size or shape[1:] != _WIDTHS.get(name, ()):
        raise ValueError(f"{name} has a wrong shape")
    if size == 0:
        return np.empty(shape, kind)
    return np.memmap(path, dtype=kind, mode="r", offset=base + begin, shape=shape)
