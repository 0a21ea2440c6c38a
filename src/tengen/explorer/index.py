"""The index of a collection's openings: folded positions with their moves, results and dates.

The index is one safetensors file, read on demand. Its arrays:

    keys      int64   keys of positions, sorted; a position's key is the same for all its mirror
                      images, and for the position with colours and side to move swapped
    starts    int64   where the rows of each position begin; one entry more
    rows      int32   one row per next move: see `kernels` (COUNT, WINS, ... of the side to move)
    names     uint8   the names of the files, concatenated, and
    ends      int64   where each of them ends
    origins   int32   number of the file and of the game in it, for each game

`__metadata__` holds `tengen.openings`, a JSON object with version, games and settings.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from tengen.arrays import IntArray
from tengen.board import PASS, Board, Point, point_at
from tengen.board.coordinates import elements, inverse, point_from, point_permutation
from tengen.board.kernels import ZOBRIST
from tengen.board.layout_kernels import BLACK, COLOUR, WHITE
from tengen.errors import RecordError, TengenError
from tengen.explorer import kernels
from tengen.explorer.kernels import NOWHERE
from tengen.files import TEMPORARY, cache_folder, write_atomic
from tengen.models.store import pack
from tengen.records import Corpus
from tengen.records.arrays import GameArrays, GameBatch
from tengen.records.reader import stamp_of

CORNERS = ("top left", "top right", "bottom left", "bottom right")


class Geometry(NamedTuple):
    """The tables for folding positions of one board shape."""

    turned: IntArray  # turned[t, p]: where symmetry t takes point p
    back: IntArray  # back[t, p]: where symmetry t takes p from
    corners: IntArray  # number of each point's corner; NOWHERE on middle lines and for a pass
    into: IntArray  # into[q]: the symmetries that take corner q to the first corner
    salts: IntArray  # make the keys of this shape's boards, and of its corners, unique


class Folded(NamedTuple):
    """The key of a position in the index, and the symmetries that lead there."""

    key: int
    turns: tuple[int, ...]  # rows of `Geometry.turned`; several where the position is symmetric


@cache
def geometry(rows: int, cols: int) -> Geometry:
    """Return the tables for boards of this shape. A corner is a quarter without middle lines."""
    turns = elements(rows, cols)
    turned = np.array([point_permutation(rows, cols, t) for t in turns])
    back = np.array([point_permutation(rows, cols, inverse(t)) for t in turns])
    corners = np.full(turned.shape[1], NOWHERE, np.int64)
    for row, col in product(range(rows), range(cols)):
        down, right = 2 * row >= rows, 2 * col >= cols
        if 2 * row + 1 != rows and 2 * col + 1 != cols:
            corners[point_at(row * cols + col, rows, cols)] = 2 * down + right
    ends = [0, cols - 1, (rows - 1) * cols, rows * cols - 1]  # the outermost points
    first = point_at(0, rows, cols)
    into = [np.flatnonzero(turned[:, point_at(end, rows, cols)] == first) for end in ends]
    salts = [
        int.from_bytes(hashlib.blake2b(f"{rows}x{cols} {what}".encode(), digest_size=8).digest())
        for what in ("board", "corner")
    ]
    return Geometry(
        turned, back, corners, np.array(into), np.array(salts, np.uint64).view(np.int64)
    )


def corner_of(board: Board) -> int:
    """Return the corner that holds all moves of a board; the top right one if it has none."""
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
    """Return a position's key for the side to move: of the whole board or of one corner."""
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
    """Return the points that a folded move stands for, several if symmetric, top right first."""
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
    "keys": ("I64",), "starts": ("I64",), "rows": ("I32", kernels.COLUMNS), "names": ("U8",),
    "ends": ("I64",), "origins": ("I32", 2),
}  # fmt: skip
"""The type of each array, and what follows its length in its shape."""


class OpeningsError(TengenError):
    """An index that is damaged, of another version, or no index at all."""


@dataclass(frozen=True)
class About:
    """The metadata of an index."""

    version: int
    games: int
    plies: int
    least: int  # games that a position must have been reached by to be in the index
    sizes: dict[str, int]  # games of each size, as `19x19` (rows x columns), most frequent first
    without_result: int
    left_out: int  # games refused, or with stones added or removed by hand during play
    stamp: str = ""  # fingerprint of the files, see `stamp_of`


@dataclass(frozen=True)
class Continuation:
    """One next move of a folded position, as in a row of the index; the mover's wins and losses."""

    count: int
    wins: int
    losses: int
    first: int  # dates as 20030601, 0 where no game has one
    last: int
    example: int  # number of the last of these games in the index
    move: int  # folded point, PASS or ELSEWHERE


class Openings:
    """The index of a collection, open for queries; its arrays stay on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file, header = read_header(path)
        if header["version"] != VERSION:
            raise OpeningsError(
                f"{path}: an index of version {header['version']}, and this is read: {VERSION}; "
                "rebuild it"
            )
        try:
            self.about = About(**header)
            self._slices = {name: self._file.get_slice(name) for name in _ARRAYS}
        except (SafetensorError, TypeError):
            raise self._damaged() from None
        self._lengths = {name: each.get_shape()[0] for name, each in self._slices.items()}
        for name, each in self._slices.items():
            if (each.get_dtype(), *each.get_shape()[1:]) != _ARRAYS[name]:
                raise self._damaged()
        if self._lengths["starts"] != len(self) + 1:
            raise self._damaged()

    def __len__(self) -> int:
        """Return how many positions it holds."""
        return int(self._lengths["keys"])

    def continuations(self, folded: Folded) -> list[Continuation]:
        """Return the moves played in a folded position, most frequent first."""
        places = range(len(self))
        place = bisect_left(places, folded.key, key=lambda at: self._read("keys", at, at + 1)[0])
        if place == len(self) or self._read("keys", place, place + 1) != [folded.key]:
            return []
        begin, end = self._read("starts", place, place + 2)
        found = [Continuation(*row) for row in self._read("rows", begin, end)]
        return sorted(found, key=lambda each: (-each.count, each.move))

    def origin(self, game: int) -> tuple[str, int]:
        """Return the file a game came from and its number there."""
        [(file, number)] = self._read("origins", game, game + 1)
        begin, end = self._name_edges[file : file + 2].tolist()
        return bytes(self._read("names", begin, end)).decode("utf-8", "replace"), number

    @cached_property
    def _name_edges(self) -> IntArray:
        return np.concatenate([[0], self._file.get_tensor("ends")])

    def _read(self, name: str, begin: int, end: int) -> Any:
        if not 0 <= begin < end <= self._lengths[name]:
            raise self._damaged()
        return self._slices[name][begin:end].tolist()

    def _damaged(self) -> OpeningsError:
        return OpeningsError(f"{self.path}: the index is damaged; rebuild it")


def read_header(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return an index as a safetensors file, and its metadata."""
    try:
        file: Any = safe_open(path, "np")
        header = json.loads((file.metadata() or {})[METADATA])
        int(header["version"])
    except (SafetensorError, ValueError, KeyError, TypeError):
        raise OpeningsError(f"{path}: not an index of openings") from None
    return file, header


def open_index(path: str | Path) -> Openings:
    """Open an index for queries."""
    return Openings(Path(path))


def cached_path(paths: Iterable[str], plies: int) -> Path:
    """Return the default path of the index of these files."""
    whole = "\0".join([*(str(Path(name).resolve()) for name in paths), str(plies), str(VERSION)])
    name = hashlib.blake2b(whole.encode(errors="replace"), digest_size=12).hexdigest()
    return cache_folder() / "openings" / f"{name}{SUFFIX}"


# ----- Building -----

PLIES = 60  # default number of indexed moves per game
_LARGE = 10_000  # games above which positions that a single game reached are left out
_HOUR = 3600.0


@dataclass
class Building:
    """An index being built: `add` takes batches of games, `finish` makes the arrays."""

    plies: int = PLIES
    games: int = 0
    left_out: int = 0
    without_result: int = 0
    faults: list[str] = field(default_factory=list)  # of games that were cut or left out
    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    _keys: list[IntArray] = field(default_factory=list)
    _notes: list[IntArray] = field(default_factory=list)
    _dates: list[NDArray[np.int32]] = field(default_factory=list)
    _origins: list[NDArray[np.int32]] = field(default_factory=list)
    _files: dict[str, int] = field(default_factory=dict)

    def add(self, batch: GameBatch) -> None:
        """Follow some games."""
        if batch.exact is not None:
            for record in (record for record in batch.exact if record.edits):
                self.left_out += 1
                self.faults.append(
                    f"{record.file}: game {record.game}: stones put or taken by hand during play"
                )
            batch = batch.where(np.array([not record.edits for record in batch.exact]))
        games = batch.arrays
        shapes = games.rows.astype(np.int64) * 64 + games.cols
        dates = _dates_of(batch)
        for shape in np.unique(shapes).tolist():
            mask = shapes == shape
            chosen = games if mask.all() else games.where(mask)
            self._follow(chosen, divmod(shape, 64))
            self._dates.append(dates[mask])

    def _follow(self, games: GameArrays, shape: tuple[int, int]) -> None:
        tables = geometry(*shape)
        # A move adds up to three notes: the board, its corner, and the corner it did not answer.
        room = 3 * int(np.minimum(games.lengths(), self.plies).sum())
        keys, notes = np.empty(room, np.int64), np.empty(room, np.int64)
        refused = np.empty(len(games), np.int64)
        count = kernels.trace_games(
            (games.moves, games.colours, games.offsets, games.winner, games.setup,
             games.setup_colours, games.setup_offsets),
            (np.array(shape, np.int64), tables.turned, tables.corners, tables.into, tables.salts),
            self.games, self.plies, keys, notes, refused,
        )  # fmt: skip
        self._keys.append(keys[:count].copy())
        self._notes.append(notes[:count].copy())
        files = [self._files.setdefault(name, len(self._files)) for name in games.files.tolist()]
        self._origins.append(np.stack([np.array(files, np.int32), games.number], axis=1))
        for game in np.flatnonzero(refused >= 0).tolist():
            self.faults.append(
                f"{games.files[game]}: game {games.number[game]}: move {refused[game] + 1} is "
                "illegal; the game counts up to there"
            )
        self.games += len(games)
        self.without_result += int((games.winner == 0).sum())
        self.sizes[shape] += len(games)

    def finish(self, least: int) -> dict[str, NDArray[Any]]:
        """Count the moves of every position that at least `least` games reached."""
        keys, notes = _joined(self._keys, np.int64), _joined(self._notes, np.int64)
        self._keys, self._notes = [], []
        order = np.argsort(keys, kind="stable")
        if least > 1:
            order = _without_singles(keys, order)
        found, starts = np.empty(len(order), np.int64), np.empty(len(order) + 1, np.int64)
        rows = np.empty((len(order), kernels.COLUMNS), np.int32)
        dates = _joined(self._dates, np.int32)
        n_found, n_rows = kernels.count_moves(keys, notes, order, dates, least, found, starts, rows)
        names = [name.encode("utf-8", "surrogateescape") for name in self._files]
        return {
            "keys": found[:n_found].copy(),
            "starts": starts[: n_found + 1].copy(),
            "rows": rows[:n_rows].copy(),
            "names": np.frombuffer(b"".join(names), np.uint8),
            "ends": np.cumsum([len(name) for name in names], dtype=np.int64),
            "origins": _joined(self._origins, np.int32).reshape(-1, 2),
        }


def build(
    paths: Iterable[str | Path],
    out: str | Path,
    *,
    plies: int = PLIES,
    least: int | None = None,
    on_games: Callable[[int], None] = lambda games: None,
    on_fault: Callable[[str], None] = lambda fault: None,
) -> Openings:
    """Index the first `plies` moves of all games of some files, folders and archives.

    Needs about 8 kB of memory per game. `on_games` gets the number of games of each step,
    `on_fault` every game that is left out, cut or repaired.
    """
    names = [str(path) for path in paths]
    stamp = stamp_of(names)
    corpus = Corpus(names)
    building = Building(plies)
    for batch in corpus.record_batches():
        building.add(batch)
        on_games(len(batch.arrays))
    if building.games == 0:
        refused = [fault for fault in corpus.faults if not fault.repaired]
        if len(refused) == 1:
            raise refused[0].error()
        raise RecordError(f"{', '.join(names)}: no game could be read")
    for fault in (*map(str, corpus.faults), *building.faults):
        on_fault(fault)
    if least is None:
        least = 1 if building.games <= _LARGE else 2
    about = About(
        version=VERSION,
        games=building.games,
        plies=plies,
        least=least,
        sizes={f"{rows}x{cols}": n for (rows, cols), n in building.sizes.most_common()},
        without_result=building.without_result,
        left_out=building.left_out + corpus.damaged,
        stamp=stamp,
    )
    target = Path(out)
    # Files that killed builders of this index left; those of running ones are younger.
    for left in target.parent.glob(f".{target.name}.*{TEMPORARY}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _HOUR:
                left.unlink()
    write_atomic(target, pack(building.finish(least), {METADATA: json.dumps(asdict(about))}))
    return open_index(target)


def index_of_games(
    games: Sequence[str],
    index: Path | None = None,
    *,
    plies: int = PLIES,
    rebuild: bool = False,
    on_games: Callable[[int], None] = lambda games: None,
    on_fault: Callable[[str], None] = lambda fault: None,
    on_remark: Callable[[str], None] = lambda words: None,
) -> Openings:
    """Open a collection's index; build it if there is none or its files have changed.

    A single path to an index is opened as it is. Without `index` it is kept in the user's cache.
    """
    if len(games) == 1 and games[0].endswith(SUFFIX):
        return open_index(games[0])
    path = index or cached_path(games, plies)
    if rebuild and path.exists() and not path.name.endswith(SUFFIX):
        read_header(path)  # raises unless it is an index: nothing else is overwritten
    if path.exists() and not rebuild:
        try:
            found = open_index(path)
            if found.about.plies == plies and found.about.stamp == stamp_of(games) != "":
                return found
            on_remark(f"{path}: games or plies have changed; rebuilding the index")
        except OpeningsError:
            if index is not None:
                raise
            on_remark(f"{path}: is damaged; rebuilding the index")
    made = build(games, path, plies=plies, on_games=on_games, on_fault=on_fault)
    on_remark(f"index of {made.about.games:,} games: {made.path}")
    return made


# The properties before DT in the root node, and the value of DT.
_ROOT_DATE = re.compile(
    rb"\(\s*;\s*(?:[A-Za-z]+\s*(?:\[(?:\\.|[^]\\])*\]\s*)+)*?DT\s*\[([^]]*)", re.DOTALL
)
_DATE = re.compile(rb"(\d{4})(?:[^,](\d\d)(?:[^,](\d\d))?)?", re.DOTALL)


def _dates_of(batch: GameBatch) -> NDArray[np.int32]:
    """Return the dates of a batch's games as 20030601; 0 for unknown parts."""
    if batch.exact is not None:
        dates = [record.date.encode() for record in batch.exact]
    else:
        found = (_ROOT_DATE.match(batch.raw, *span) for span in batch.spans.tolist())
        dates = [match[1] if match else b"" for match in found]
    return np.array([_date_number(text) for text in dates], np.int32)


def _date_number(text: bytes) -> int:
    found = _DATE.match(text)
    if found is None:
        return 0
    year, month, day = (int(part or 0) for part in found.groups())
    if month > 12:
        month = day = 0
    return year * 10_000 + month * 100 + (day if day <= 31 else 0)


def _without_singles(keys: IntArray, order: IntArray) -> IntArray:
    """Drop from `order` the positions that have only one note: nearly all of them."""
    ranked = keys[order]
    same = np.concatenate([[False], ranked[1:] == ranked[:-1], [False]])
    kept: IntArray = order[same[1:] | same[:-1]]
    return kept


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
