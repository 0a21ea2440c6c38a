"""Read main lines in bulk: kernels for clean games, the exact reader for all others.

Games, their numbers and faults are those of `record.read_stream`; only the speed differs. Memory is
bounded by one window of the stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, IntArray
from tengen.records import arrays, kernels
from tengen.records.arrays import KINDS, GameArrays
from tengen.records.record import GameRecord, OnFault, encoding_of, no_game, record_of
from tengen.records.sgf_grammar import Damage, Window, find_root, parse_next
from tengen.records.sgf_properties import (
    parse_handicap,
    parse_komi,
    parse_player,
    parse_result,
    parse_text,
)

_GAMES = 1 << 14  # games the kernel may return in one call
EXACT_BATCH = 256
"""Games of the exact reader that make one batch."""


@dataclass
class GameBatch:
    """Some games of one source: arrays, and what is needed to make records of them."""

    arrays: GameArrays
    raw: bytes = field(repr=False)
    """The window the games lie in."""
    spans: IntArray
    """Start and end of each game in `raw`."""
    encoded: BoolArray
    """Which games may have another encoding than UTF-8."""
    base: int
    """Offset of `raw` in the source."""
    exact: list[GameRecord] | None = None
    """The records themselves when the exact reader made them."""

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
        """Yield the games as records; their trees are read only when asked for."""
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


def read_batches(stream: BinaryIO, file: str, on_fault: OnFault) -> Iterator[GameBatch]:
    """Yield all games of a stream in batches; tell damaged and mended ones to `on_fault`."""
    window = Window(stream)
    number = 0
    held: list[GameRecord] = []  # what the exact reader made since the last batch
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
                _skip_to_root(window)
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
        arrays.from_records(records), b"", nothing, np.zeros(len(records), np.bool_), 0, records
    )


def _skip_to_root(window: Window) -> None:
    """Move to the next root behind a damaged game, reading on as needed."""
    while (found := find_root(window.data, window.position)) < 0:
        if not window.slide():
            found = len(window.data)
            break
    window.position = found


def _read_window(window: Window, file: str, number: int) -> tuple[GameBatch | None, int]:
    """Run the kernel on what is left of the window, and move the window's position."""
    data = window.data
    room = len(data) // 3 + 16
    moves, setup = np.empty(room, np.int16), np.empty(room, np.int16)
    colours, setup_colours = np.empty(room, np.int8), np.empty(room, np.int8)
    games = np.empty((_GAMES, kernels.FIELDS), np.int64)
    n_games, n_moves, n_setup, window.position, status = kernels.read_main_lines(
        np.frombuffer(data, np.uint8), window.position, len(data), window.final,
        moves, colours, setup, setup_colours, games,
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
    kinds, winners, scores = zip(*results, strict=True)
    made = GameArrays(
        moves=moves[:n_moves].copy(),
        colours=colours,
        offsets=offsets,
        rows=games[:, kernels.ROWS].astype(np.int16),
        cols=games[:, kernels.COLS].astype(np.int16),
        komi=np.array(komi, np.float32),
        handicap=np.array(handicap, np.int16),
        first=_first(colours, offsets, setup_colours, setup_offsets, players),
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


def _first(
    colours: NDArray[np.int8],
    offsets: IntArray,
    setup_colours: NDArray[np.int8],
    setup_offsets: IntArray,
    players: list[int],
) -> NDArray[np.int8]:
    """Return who begins: the first move, else PL, else White after handicap stones."""
    first = np.array(players, dtype=np.int8)
    played = np.diff(offsets) > 0
    first[played] = colours[offsets[:-1][played]]
    for game in np.flatnonzero(first == 0):
        stones = setup_colours[setup_offsets[game] : setup_offsets[game + 1]]
        first[game] = 2 if len(stones) and (stones == 1).all() else 1
    return first


# Komi, results and rules repeat from game to game: read each spelling once.
_komi = lru_cache(4096)(parse_komi)
_handicap = lru_cache(4096)(parse_handicap)


@lru_cache(4096)
def _text(raw: bytes) -> str:
    return parse_text(raw, "ascii").strip()


@lru_cache(4096)
def _result(raw: bytes) -> tuple[int, int, float]:
    result = parse_result(_text(raw))
    score = result.score
    return KINDS.index(result.kind), result.winner, float("nan") if score is None else score
