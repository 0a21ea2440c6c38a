"""Many games as flat arrays, for kernels and learners, and reading them from SGF in bulk.

Game `g` has the moves `moves[offsets[g]:offsets[g + 1]]`. Points are indices on the bordered board
of that game's size, a pass is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board.coordinates import Point, places
from tengen.errors import TengenError
from tengen.records import kernels
from tengen.records.record import GameRecord, OnFault, Stone, encoding_of, no_game, record_of
from tengen.records.sgf_grammar import Damage, Window, find_game, parse_next
from tengen.records.sgf_properties import (
    Result,
    parse_handicap,
    parse_komi,
    parse_player,
    parse_result,
    parse_text,
)

KINDS = ("unknown", "score", "resign", "time", "forfeit", "win", "draw", "void")
"""Kinds of results; `GameArrays.kind` holds indices into it."""


@dataclass
class GameArrays:
    """A collection of games as flat arrays, one entry of most arrays per game."""

    moves: NDArray[np.int16]
    """All moves of all games, one game after the other: point or PASS."""
    colours: NDArray[np.int8]
    """The colour of each move."""
    offsets: IntArray
    """Where each game's moves begin; one entry more than games."""
    rows: NDArray[np.int16]
    cols: NDArray[np.int16]
    komi: Float32Array
    handicap: NDArray[np.int16]
    first: NDArray[np.int8]
    """Colour to move first."""
    kind: NDArray[np.int8]
    """How the game ended: index into KINDS."""
    winner: NDArray[np.int8]
    """BLACK, WHITE or EMPTY (neither side, or unknown)."""
    score: Float32Array
    """Counted score from Black's view; NaN when nothing was counted."""
    setup: NDArray[np.int16]
    """Stones on the board before the first move, one game after the other."""
    setup_colours: NDArray[np.int8]
    setup_offsets: IntArray
    rules: NDArray[np.object_]
    """Value of RU, one str per game."""
    files: NDArray[np.object_]
    """Name of the file each game came from."""
    number: NDArray[np.int32]
    """Number of the game in its file, from 1."""

    def __len__(self) -> int:
        return len(self.rows)

    def lengths(self) -> IntArray:
        """Return the number of moves of each game, passes included."""
        return np.diff(self.offsets)

    def take(self, indices: Sequence[int] | IntArray) -> Self:
        """Return the games at `indices`, in that order."""
        given = np.asarray(indices)
        if given.dtype == np.bool_:  # it would be read as zeros and ones
            raise TengenError("`take` needs the numbers of games; use `where` for a mask")
        chosen = given.astype(np.int64)
        flat, offsets = _ragged(self.offsets, chosen)
        stones, setup_offsets = _ragged(self.setup_offsets, chosen)
        places = {"moves": flat, "colours": flat, "setup": stones, "setup_colours": stones}
        names = {item.name for item in fields(self)} - {"offsets", "setup_offsets"}
        columns: dict[str, Any] = {
            name: getattr(self, name)[places.get(name, chosen)] for name in names
        }
        return replace(self, offsets=offsets, setup_offsets=setup_offsets, **columns)

    def where(self, mask: BoolArray) -> Self:
        """Return the games for which `mask` is true."""
        return self.take(np.flatnonzero(mask))

    def shuffled(self, seed: int) -> Self:
        """Return all games in a random order given by `seed`."""
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    def hashes(self) -> NDArray[np.uint64]:
        """Return a hash per game, the same for games that are mirror images or rotations."""
        found = np.empty(len(self), dtype=np.uint64)
        with np.errstate(over="ignore"):  # hashes wrap around; NumPy warns when the JIT is off
            kernels.canonical_hashes(self.played(), found)
        return found

    def played(self) -> tuple[NDArray[Any], ...]:
        """Return all that kernels need to replay the games."""
        return (
            self.moves, self.colours, self.offsets, self.rows, self.cols, self.setup,
            self.setup_colours, self.setup_offsets,
        )  # fmt: skip

    def record(self, index: int) -> GameRecord:
        """Return one game as a record; what arrays do not hold, such as names, is lost."""
        a, b = self.offsets[index : index + 2]
        c, d = self.setup_offsets[index : index + 2]
        table = places(int(self.rows[index]), int(self.cols[index]))
        kind = KINDS[self.kind[index]]
        margin = abs(float(self.score[index])) if kind == "score" else None
        return GameRecord(
            rows=int(self.rows[index]),
            cols=int(self.cols[index]),
            moves=_stones(table, self.colours[a:b], self.moves[a:b]),
            setup=_stones(table, self.setup_colours[c:d], self.setup[c:d]),
            komi=float(self.komi[index]),
            handicap=int(self.handicap[index]),
            first=int(self.first[index]) if a == b else 0,
            result=Result(kind, int(self.winner[index]), margin),
            rules=str(self.rules[index]),
            file=str(self.files[index]),
            game=int(self.number[index]),
        )


def _stones(
    table: Sequence[Point | None], colours: NDArray[np.int8], points: NDArray[np.int16]
) -> list[Stone]:
    return list(zip(colours.tolist(), map(table.__getitem__, points.tolist()), strict=True))  # type: ignore[arg-type]


def concatenate(parts: Sequence[GameArrays]) -> GameArrays:
    """Return all games of all parts in order."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return from_records([])
    columns = {
        item.name: np.concatenate([getattr(part, item.name) for part in parts])
        for item in fields(GameArrays)
        if not item.name.endswith("offsets")
    }
    for name in ("offsets", "setup_offsets"):
        lengths = np.concatenate([np.diff(getattr(part, name)) for part in parts])
        columns[name] = _offsets(lengths)
    return GameArrays(**columns)


def from_records(records: Sequence[GameRecord]) -> GameArrays:
    """Return records as arrays; their `edits` are not kept."""
    moves = [move for record in records for move in record.moves]
    setup = [stone for record in records for stone in record.setup]
    scores = [record.result.score for record in records]
    return GameArrays(
        moves=np.array([point for _, point in moves], dtype=np.int16),
        colours=np.array([colour for colour, _ in moves], dtype=np.int8),
        offsets=_offsets([len(record.moves) for record in records]),
        rows=np.array([record.rows for record in records], dtype=np.int16),
        cols=np.array([record.cols for record in records], dtype=np.int16),
        komi=np.array([record.komi for record in records], dtype=np.float32),
        handicap=np.array([record.handicap for record in records], dtype=np.int16),
        first=np.array([record.turn for record in records], dtype=np.int8),
        kind=np.array([KINDS.index(record.result.kind) for record in records], dtype=np.int8),
        winner=np.array([record.result.winner for record in records], dtype=np.int8),
        score=np.array([np.nan if s is None else s for s in scores], dtype=np.float32),
        setup=np.array([point for _, point in setup], dtype=np.int16),
        setup_colours=np.array([colour for colour, _ in setup], dtype=np.int8),
        setup_offsets=_offsets([len(record.setup) for record in records]),
        rules=np.array([record.rules for record in records], dtype=np.object_),
        files=np.array([record.file for record in records], dtype=np.object_),
        number=np.array([record.game for record in records], dtype=np.int32),
    )


def _offsets(lengths: Sequence[int] | IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _ragged(offsets: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Return the flat positions of the chosen rows, and the offsets of the result."""
    lengths = (offsets[1:] - offsets[:-1])[chosen]
    result = _offsets(lengths)
    shift = np.repeat(offsets[:-1][chosen] - result[:-1], lengths)
    return np.arange(result[-1], dtype=np.int64) + shift, result


# ----- Reading main lines in bulk -----


_GAMES = 1 << 14  # games the kernel may return in one call
EXACT_BATCH = 256
"""Games per batch of the exact reader."""


@dataclass
class GameBatch:
    """Some games of one source: arrays, and what is needed to make records of them.

    That is the window `raw` they lie in, at offset `base` of the source, their `spans` in it and
    whether they may be `encoded` other than in UTF-8, or the records of the exact reader.
    """

    arrays: GameArrays
    raw: bytes = field(repr=False)
    spans: IntArray
    encoded: BoolArray
    base: int
    exact: list[GameRecord] | None = None

    def where(self, mask: BoolArray) -> GameBatch:
        """Return the games for which `mask` is true."""
        if mask.all():
            return self
        exact = self.exact
        if exact is not None:
            exact = [record for record, kept in zip(exact, mask, strict=True) if kept]
        chosen = self.arrays.where(mask)
        return GameBatch(chosen, self.raw, self.spans[mask], self.encoded[mask], self.base, exact)

    def records(self) -> Iterator[GameRecord]:
        """Yield the games as records; their trees are parsed on demand."""
        if self.exact is not None:
            yield from self.exact
            return
        for index, (start, end) in enumerate(self.spans.tolist()):
            record = self.arrays.record(index)
            record.raw = self.raw[start:end]
            record.offset = self.base + start
            if self.encoded[index]:
                record.encoding = encoding_of(record.tree, record.raw)
            yield record


def read_in_bulk(stream: BinaryIO, file: str, on_fault: OnFault) -> Iterator[GameBatch]:
    """Yield the games of `record.read_stream` in batches; kernels read the clean ones fast."""
    window = Window(stream)
    number = 0
    held: list[GameRecord] = []  # records of the exact reader since the last batch
    while True:
        batch, status = _read_window(window, file, number)
        if held and (batch is not None or len(held) >= EXACT_BATCH):
            yield batch_of(held)
            held = []
        if batch is not None:
            number += len(batch.arrays)
            yield batch
        if status == kernels.DONE:
            if not window.slide():
                break
        elif status == kernels.UNCLEAN or (status == kernels.MORE and not window.grow()):
            number += 1
            item, raw = parse_next(window)
            if isinstance(item, Damage):
                # Skip to the next root after a damaged game.
                while (found := find_game(window.data, window.position, root=True)) < 0:
                    if not window.slide():
                        found = len(window.data)
                        break
                window.position = found
            record = record_of(item, raw, file, number, on_fault)
            if record is not None:
                held.append(record)
    if held:
        yield batch_of(held)
    if number == 0:
        on_fault(no_game(file, window.base + len(window.data)))


def batch_of(records: list[GameRecord]) -> GameBatch:
    """Wrap records that another reader made."""
    nothing = np.zeros((len(records), 2), dtype=np.int64)
    return GameBatch(
        from_records(records), b"", nothing, np.zeros(len(records), np.bool_), 0, records
    )


def _read_window(window: Window, file: str, number: int) -> tuple[GameBatch | None, int]:
    """Run the kernel on the rest of the window, and move the window's position."""
    data = window.data
    room = len(data) // 3 + 16
    moves, setup = np.empty(room, np.int16), np.empty(room, np.int16)
    colours, setup_colours = np.empty(room, np.int8), np.empty(room, np.int8)
    games = np.empty((_GAMES, kernels.FIELDS), np.int64)
    n_games, n_moves, n_setup, window.position, status = kernels.read_main_lines(
        np.frombuffer(data, np.uint8), window.position, len(data), window.final,
        (moves, colours), (setup, setup_colours), games,
    )  # fmt: skip
    if n_games == 0:
        return None, status
    games = games[:n_games].copy()
    colours, setup_colours = colours[:n_moves].copy(), setup_colours[:n_setup].copy()
    komi, results, rules, handicap, players = [], [], [], [], []
    bounds = games[:, kernels.KOMI : kernels.ENCODED].tolist()
    for k0, k1, r0, r1, u0, u1, h0, h1, p0, p1 in bounds:
        komi.append(_komi(data[k0:k1]) if k1 else 0.0)
        results.append(_result(data[r0:r1]))
        rules.append(_text(data[u0:u1]))
        handicap.append(_handicap(data[h0:h1]) if h1 else 0)
        players.append(parse_player(data[p0:p1]) if p1 else 0)
    offsets = np.append(games[:, kernels.MOVES], n_moves)
    setup_offsets = np.append(games[:, kernels.SETUP], n_setup)
    # Who moves first: by the first move, else PL, else White after handicap stones.
    first = np.array(players, np.int8)
    played = np.diff(offsets) > 0
    first[played] = colours[offsets[:-1][played]]
    for game in np.flatnonzero(first == 0):
        stones = setup_colours[setup_offsets[game] : setup_offsets[game + 1]]
        first[game] = 2 if len(stones) and (stones == 1).all() else 1
    kinds, winners, scores = zip(*results, strict=True)
    made = GameArrays(
        moves=moves[:n_moves].copy(),
        colours=colours,
        offsets=offsets,
        rows=games[:, kernels.ROWS].astype(np.int16),
        cols=games[:, kernels.COLS].astype(np.int16),
        komi=np.array(komi, np.float32),
        handicap=np.array(handicap, np.int16),
        first=first,
        kind=np.array(kinds, np.int8),
        winner=np.array(winners, np.int8),
        score=np.array(scores, np.float32),
        setup=setup[:n_setup].copy(),
        setup_colours=setup_colours,
        setup_offsets=setup_offsets,
        rules=np.array(rules, np.object_),
        files=np.full(n_games, file, np.object_),
        number=np.arange(number + 1, number + n_games + 1, dtype=np.int32),
    )
    spans = games[:, kernels.START : kernels.END + 1]
    return GameBatch(made, data, spans, games[:, kernels.ENCODED] != 0, window.base), status


# Komi, results and rules repeat from game to game: read each spelling once.
_komi, _handicap = lru_cache(4096)(parse_komi), lru_cache(4096)(parse_handicap)


@lru_cache(4096)
def _text(raw: bytes) -> str:
    return parse_text(raw, "ascii").strip()


@lru_cache(4096)
def _result(raw: bytes) -> tuple[int, int, float]:
    result = parse_result(_text(raw))
    score = result.score
    return KINDS.index(result.kind), result.winner, float("nan") if score is None else score
