"""Collections of games: stream, filter, split, deduplicate, convert to arrays, and write.

A `Corpus` reads its files again each time, in bounded memory. What it yields depends only on the
files and on how it was made.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, IntArray
from tengen.board import BORDER, COLOUR_NAMES, Board, Point, Rules
from tengen.board.kernels import TRUSTED, regrow, remember, replay_games
from tengen.board.rules import KO_NUMBERS
from tengen.errors import RecordError, TengenError
from tengen.files import refuse_inputs, replacing, write_atomic
from tengen.records import arrays, reader
from tengen.records.arrays import KINDS, GameArrays, GameBatch
from tengen.records.reader import loads, may_hold_games, read_games
from tengen.records.record import GameRecord, Refusal, board_at, positions
from tengen.records.sgf_grammar import Fault
from tengen.records.sgf_properties import Result
from tengen.tables import data_frame

if TYPE_CHECKING:
    from pandas import DataFrame

_MAX_FAULTS = 1000  # how many faults a corpus keeps; it counts all of them
_MERGE = 512  # small batches that are joined at a time, so that they do not pile up


class Position(NamedTuple):
    """The board before a move, the move, and the game."""

    board: Board
    move: Point
    game: GameRecord


_Filter = Callable[[GameBatch], BoolArray]  # which games of a batch to keep


class Corpus:
    """Games from files, folders, archives and standard input (`-`), as one stream.

    Damaged games are skipped; `damaged` and `repaired` count faults, `faults` has the first ones.

    >>> corpus = Corpus(["games.zip", "more/"])
    >>> train, held_out = corpus.unique().split(0.9, seed=1)
    >>> strong = train.filter(lambda record: record.black_rank >= "6d")
    >>> small = train.where(lambda games: games.rows == 9)
    """

    def __init__(self, paths: str | Path | Iterable[str | Path]) -> None:
        self.paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
        if "" in self.paths:  # would mean the current folder
            raise RecordError("the name of what to read is empty")
        self.faults: list[Fault] = []
        self.damaged = 0
        """Games (or whole files) refused in the last reading."""
        self.repaired = 0
        """Repairs made in the last reading; one game may need several."""
        self._filters: tuple[Callable[[], _Filter], ...] = ()  # made again for each reading

    def __repr__(self) -> str:
        chosen = f", {len(self._filters)} filters" if self._filters else ""
        return f"Corpus({[str(path) for path in self.paths]}{chosen})"

    def __len__(self) -> int:
        """Read the games and count them."""
        if "-" in self.paths:
            raise TypeError("standard input can be read only once: count its games as you read")
        return sum(len(batch.arrays) for batch in self.record_batches())

    def __bool__(self) -> bool:
        return True  # without reading anything

    def __iter__(self) -> Iterator[GameRecord]:
        for batch in self.record_batches():
            yield from batch.records()

    def positions(self, *, rules: Rules | None = None) -> Iterator[Position]:
        """Yield every move of every game with its own board, the mover to play.

        A game ends before an illegal move (by default under simple ko), which counts as a fault.
        For millions of positions use `as_arrays` and kernels.
        """
        for record in self:
            try:
                for board, (_, point) in positions(record, rules=rules):
                    yield Position(board, point, record)
            except Refusal as refused:
                reason = f"move {refused.move}: {refused.reason}"
                self._tell(Fault(record.file, record.game, record.offset, reason))

    def batches(self) -> Iterator[GameArrays]:
        """Yield the games as arrays, in bounded memory; games with `edits` are left out."""
        for batch in self.record_batches():
            if batch.exact is not None:
                batch = batch.where(np.array([not record.edits for record in batch.exact]))
            yield batch.arrays

    def as_arrays(self) -> GameArrays:
        """Return the whole collection as flat arrays, ready for kernels; see `batches`."""
        parts: list[GameArrays] = []
        small: list[GameArrays] = []
        for part in self.batches():
            small.append(part)
            if len(small) == _MERGE:
                parts.append(arrays.concatenate(small))
                small = []
        return arrays.concatenate(parts + small)

    def to_frame(self) -> DataFrame:
        """Return one row per game: where it is, its header, result and number of moves."""
        return data_frame(_HEADER, map(_header, self))

    def filter(self, keep: Callable[[GameRecord], bool]) -> Corpus:
        """Return the corpus of the games for which `keep(record)` is true."""
        return self._with(
            lambda: lambda batch: np.array([bool(keep(r)) for r in batch.records()], np.bool_)
        )

    def where(self, keep: Callable[[GameArrays], BoolArray]) -> Corpus:
        """Return the corpus of the games that a mask over arrays selects; faster than `filter`."""
        return self._with(lambda: lambda batch: keep(batch.arrays))

    def unique(self) -> Corpus:
        """Return the corpus without duplicates, mirror images and rotations of earlier games."""

        def unseen() -> _Filter:
            seen = Unseen()
            return lambda batch: seen(batch.arrays)

        return self._with(unseen)

    def split(self, fraction: float, seed: int) -> tuple[Corpus, Corpus]:
        """Return about `fraction` of the games, and the rest; only moves and seed decide which."""
        if not 0 <= fraction <= 1:
            raise TengenError(f"a split of {fraction}: give a share from 0 to 1")

        def chosen(games: GameArrays) -> BoolArray:
            # A distinct odd multiplier per seed, so that splits by different seeds are independent.
            salt = np.random.default_rng(seed).integers(0, 1 << 63, 2, dtype=np.uint64)
            spread = (games.hashes() ^ salt[0]) * (salt[1] * np.uint64(2) + np.uint64(1))
            share = (spread >> np.uint64(11)).astype(np.float64) / 2.0**53
            return np.asarray(share < fraction, dtype=np.bool_)

        return self.where(chosen), self.where(lambda games: ~chosen(games))

    def shuffled(self, seed: int, window: int = 10_000) -> Iterator[GameRecord]:
        """Yield the games in random order, holding at most `window` of them."""
        rng = np.random.default_rng(seed)
        held: list[GameRecord] = []
        for record in self:
            if len(held) < window:
                held.append(record)
            else:
                place = int(rng.integers(window))
                held[place], record = record, held[place]
                yield record
        yield from (held[place] for place in rng.permutation(len(held)))

    def _with(self, make: Callable[[], _Filter]) -> Corpus:
        twin = Corpus(self.paths)
        twin._filters = (*self._filters, make)
        return twin

    def record_batches(self) -> Iterator[GameBatch]:
        """Yield the games as `GameBatch`: arrays that can be turned into records."""
        self.faults, self.damaged, self.repaired = [], 0, 0
        filters = [make() for make in self._filters]
        for path in self.paths:
            for batch in reader.read_batches(path, on_fault=self._tell):
                for keep in filters:
                    batch = batch.where(keep(batch))
                if len(batch.arrays):
                    yield batch

    def _tell(self, fault: Fault) -> None:
        self.damaged += not fault.repaired
        self.repaired += fault.repaired
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(fault)


_HEADER = (
    *("file", "game", "rows", "cols", "komi", "handicap", "rules", "black", "black_rank"),
    *("white", "white_rank", "date", "result", "winner", "score", "moves"),
)


def _header(record: GameRecord) -> dict[str, Any]:
    """Return the header of a game as plain values; the score is Black's."""
    result = record.result
    return {
        **{name: getattr(record, name) for name in _HEADER if hasattr(record, name)},
        "black_rank": str(record.black_rank),
        "white_rank": str(record.white_rank),
        "result": str(result),
        "winner": COLOUR_NAMES.get(result.winner, "").lower(),
        "score": result.score,
        "moves": len(record.moves),
    }


class Unseen:
    """Find the games that were not seen before, by their canonical hashes."""

    def __init__(self) -> None:
        self._seen = np.zeros(1 << 12, dtype=np.int64)
        self._count = 0

    def __call__(self, games: GameArrays) -> BoolArray:
        """Return which of these games are new, and remember them."""
        hashes = games.hashes().view(np.int64)
        while 2 * (self._count + len(hashes)) > len(self._seen):
            larger = np.zeros(2 * len(self._seen), dtype=np.int64)
            regrow(self._seen, larger)
            self._seen = larger
        new = np.array([bool(remember(self._seen, h if h else 1)) for h in hashes])
        self._count += int(new.sum())
        return new


# ----- Counting a collection -----


@dataclass
class CollectionSummary:
    """Counts of a collection: sizes as rows x columns, results as `B+R`, `W+Score`, `0` or `?`."""

    games: int = 0
    damaged: int = 0
    """Games refused, and files without any."""
    repairs: int = 0
    moves: int = 0
    sizes: Counter[str] = field(default_factory=Counter)
    results: Counter[str] = field(default_factory=Counter)

    def add(self, games: GameArrays) -> None:
        """Count some more games."""
        self.games += len(games)
        self.moves += len(games.moves)
        shape = games.rows.astype(np.int64) * 100 + games.cols
        for value, count in zip(*np.unique(shape, return_counts=True), strict=True):
            self.sizes[f"{value // 100}x{value % 100}"] += int(count)
        ending = games.kind.astype(np.int64) * 4 + games.winner
        for value, count in zip(*np.unique(ending, return_counts=True), strict=True):
            kind, winner = KINDS[value // 4], int(value % 4)
            name = str(Result(kind, winner)) + ("Score" if kind == "score" else "")
            self.results[name] += int(count)


def summarise(corpus: Corpus) -> CollectionSummary:
    """Read a corpus once and count it; faults are in `corpus.faults` afterwards."""
    summary = CollectionSummary()
    for batch in corpus.record_batches():
        summary.add(batch.arrays)
    summary.damaged, summary.repairs = corpus.damaged, corpus.repaired
    return summary


# ----- Replaying a collection in kernels -----


def check(corpus: Corpus, rules: Rules | None = None) -> Iterator[GameArrays | Refusal]:
    """Replay every game of a corpus; yield each batch of games when done, after its refusals.

    A kernel replays by simple ko. What it refuses, and games with setup, edits or other ko rules,
    are played on a `Board`, which decides.
    """
    for batch in corpus.record_batches():
        unsure = replay_refusals(batch.arrays) | (np.diff(batch.arrays.setup_offsets) > 0)
        if batch.exact is not None:
            unsure |= np.array([bool(record.edits) for record in batch.exact])
        if rules is not None and rules.ko != "simple":
            unsure[:] = True
        for record in batch.where(unsure).records():
            try:
                board_at(record, rules=rules)
            except Refusal as refused:
                yield refused
        yield batch.arrays


def replay_refusals(games: GameArrays) -> BoolArray:
    """Return which games have an illegal move under simple ko without suicide."""
    nothing = np.empty((0, 0, 0), np.int8)
    _, ends = _replay(games, KO_NUMBERS["simple"], 1.0, nothing)
    return np.asarray(ends[:, 0] >= 0, dtype=np.bool_)


def last_positions(games: GameArrays, share: float = 1.0) -> tuple[NDArray[np.int8], IntArray]:
    """Return the grids after `share` of each game's moves, and the stones each side has captured.

    Moves onto a stone are left out. Grids of smaller boards are padded with BORDER.
    """
    rows, cols = (int(side.max(initial=0)) for side in (games.rows, games.cols))
    grids = np.full((len(games), rows, cols), BORDER, np.int8)
    _, ends = _replay(games, TRUSTED, share, grids)
    return grids, ends[:, 1:]


def replay_all(games: GameArrays) -> int:
    """Replay games, checking every move; return how many moves were played."""
    return _replay(games, KO_NUMBERS["simple"], 1.0, np.empty((0, 0, 0), np.int8))[0]


def _replay(
    games: GameArrays, ko_rule: int, share: float, grids: NDArray[np.int8]
) -> tuple[int, IntArray]:
    """Return the moves played, and how each game ended: see `replay_games`."""
    ends = np.empty((len(games), 3), np.int64)
    return int(replay_games(games.played(), ko_rule, share, ends, grids)), ends


# ----- Games for worker processes and clusters -----


@dataclass(frozen=True)
class PackedGame:
    """One game in a form that can be sent to other processes."""

    number: int
    """Its number among all games read, from 1."""
    sgf: bytes
    file: str
    game: int
    """Its number in its file, from 1."""

    def record(self) -> GameRecord:
        """Read the game."""
        [record] = loads(self.sgf, self.file)
        record.file, record.game = self.file, self.game
        return record


def packed_games(paths: Sequence[str], on_fault: Callable[[str], None]) -> Iterator[PackedGame]:
    """Yield the games of files, folders, archives and standard input; report what is damaged.

    A path that cannot be opened or holds no game is reported too, but raises if it is the only one.
    """
    number = 0
    for path in paths:
        faults: list[Fault] = []
        before = number
        try:
            for record in read_games(path, on_fault=faults.append):
                number += 1
                yield PackedGame(number, record.utf8_sgf(), record.file, record.game)
        except OSError as failure:
            if len(paths) == 1:
                raise
            on_fault(f"{path}: {failure.strerror or failure}")
            continue
        refused = [str(fault) for fault in faults if not fault.repaired]
        if number == before:
            refused = refused or [f"{path}: no game in it"]
            if len(paths) == 1:
                raise RecordError(refused[0])
        for fault in refused:
            on_fault(fault)


# ----- Writing a collection -----


_NUMBERED = re.compile(r"\d{6,}\.sgf").fullmatch  # names of the files that `_write_folder` writes


def write_sgf(records: Iterable[GameRecord], path: str | Path, *, main_line: bool = False) -> int:
    """Write games as one SGF collection, one per line where they have no line breaks."""
    with replacing(path) as stream:
        return _write_lines((record.utf8_sgf(main_line=main_line) for record in records), stream)


def _write_lines(lines: Iterable[bytes], stream: BinaryIO) -> int:
    written = 0
    for line in lines:
        stream.write(line + b"\n")
        written += 1
    stream.flush()
    return written


def write(
    corpus: Corpus,
    out: str,
    *,
    main_line: bool = False,
    limit: int | None = None,
    shuffle_seed: int | None = None,
) -> int:
    """Write a corpus to an SGF collection, a folder or standard output (`-`); return its size.

    A seed makes the order random. Without games nothing is written; an output that is also an input
    is refused.
    """
    if not out:
        raise RecordError("the name of what to write is empty")
    to_folder = out.endswith("/") or Path(out).is_dir()
    if not to_folder and out != "-" and not out.endswith(".sgf"):
        raise RecordError(f"{out}: end the name with .sgf, or with / for a folder")
    _refuse_inputs(out, corpus)
    records = iter(corpus) if shuffle_seed is None else corpus.shuffled(shuffle_seed)
    records = islice(records, limit)
    first = next(records, None)
    if first is None:
        return 0
    records = chain([first], records)
    if out.endswith(".sgf"):
        return write_sgf(records, out, main_line=main_line)
    games = (record.utf8_sgf(main_line=main_line) for record in records)
    return _write_lines(games, sys.stdout.buffer) if out == "-" else _write_folder(games, Path(out))


def _refuse_inputs(out: str, corpus: Corpus) -> None:
    """Refuse an output that the corpus reads: a file, or a folder that holds files of it."""
    refuse_inputs(out, corpus.paths)
    place = Path(out).resolve()
    paths = [Path(path).resolve() for path in corpus.paths]
    within = any(path.is_dir() and path in place.parents for path in paths)
    if place.is_dir():
        within |= any(path.parent == place and _NUMBERED(path.name) for path in paths)
    elif not place.exists() or not may_hold_games(place.name):
        within = False
    if within:
        raise RecordError(f"{out}: games are read from there; write to another place")


def _write_folder(games: Iterable[bytes], folder: Path) -> int:
    if folder.is_dir() and any(_NUMBERED(there.name) for there in folder.iterdir()):
        raise RecordError(f"{folder}: has numbered games already; write to another folder")
    number = 0
    for number, game in enumerate(games, 1):
        write_atomic(folder / f"{number:06d}.sgf", game + b"\n")
    return number
