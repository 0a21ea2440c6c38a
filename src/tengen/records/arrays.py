"""Many games as flat arrays, for kernels and learners.

Game `g` has the moves `moves[offsets[g]:offsets[g + 1]]`. Points are indices on the bordered board
of that game's size, a pass is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board.coordinates import places
from tengen.errors import TengenError
from tengen.records import kernels
from tengen.records.record import GameRecord, Stone
from tengen.records.sgf_properties import Result

KINDS = ("unknown", "score", "resign", "time", "forfeit", "win", "draw", "void")
"""Kinds of results; `GameArrays.kind` holds indices into it."""


@dataclass
class GameArrays:
    """A collection of games as flat arrays, one entry of most arrays per game."""

    moves: NDArray[np.int16]
    """All moves of all games, one game behind the other: point or PASS."""
    colours: NDArray[np.int8]
    """Who played each of them."""
    offsets: IntArray
    """Where each game's moves begin; one entry more than games."""
    rows: NDArray[np.int16]
    cols: NDArray[np.int16]
    komi: Float32Array
    handicap: NDArray[np.int16]
    first: NDArray[np.int8]
    """Colour that begins."""
    kind: NDArray[np.int8]
    """How the game ended: index into KINDS."""
    winner: NDArray[np.int8]
    """BLACK, WHITE or EMPTY (nobody, or not known)."""
    score: Float32Array
    """Counted score from Black's view; NaN when nothing was counted."""
    setup: NDArray[np.int16]
    """Stones on the board before the first move, one game behind the other."""
    setup_colours: NDArray[np.int8]
    setup_offsets: IntArray
    rules: NDArray[np.object_]
    """What RU says, one str per game."""
    files: NDArray[np.object_]
    """Name of the file each game came from."""
    number: NDArray[np.int32]
    """Number of the game in its file, from 1."""

    def __len__(self) -> int:
        return len(self.rows)

    def lengths(self) -> IntArray:
        """Return the number of moves of each game, passes included."""
        return np.diff(self.offsets)

    def take(self, indices: Sequence[int] | IntArray) -> GameArrays:
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
        return GameArrays(offsets=offsets, setup_offsets=setup_offsets, **columns)

    def where(self, mask: BoolArray) -> GameArrays:
        """Return the games for which `mask` is true."""
        return self.take(np.flatnonzero(mask))

    def shuffled(self, seed: int) -> GameArrays:
        """Return all games in the order that follows from `seed`."""
        return self.take(np.random.default_rng(seed).permutation(len(self)))

    def hashes(self) -> NDArray[np.uint64]:
        """Return a hash per game, the same for games that are mirror images or rotations."""
        found = np.empty(len(self), dtype=np.uint64)
        with np.errstate(over="ignore"):  # hashes wrap around; NumPy says so when the JIT is off
            kernels.canonical_hashes(
                self.moves, self.colours, self.offsets, self.setup, self.setup_colours,
                self.setup_offsets, self.rows, self.cols, found,
            )  # fmt: skip
        return found

    def record(self, index: int) -> GameRecord:
        """Return one game as a record; what arrays do not hold, such as names, is lost."""
        a, b = self.offsets[index : index + 2]
        c, d = self.setup_offsets[index : index + 2]
        kind = KINDS[self.kind[index]]
        margin = abs(float(self.score[index])) if kind == "score" else None
        return GameRecord(
            rows=int(self.rows[index]),
            cols=int(self.cols[index]),
            moves=self._stones(index, self.colours[a:b], self.moves[a:b]),
            setup=self._stones(index, self.setup_colours[c:d], self.setup[c:d]),
            komi=float(self.komi[index]),
            handicap=int(self.handicap[index]),
            first=int(self.first[index]) if a == b else 0,
            result=Result(kind, int(self.winner[index]), margin),
            rules=str(self.rules[index]),
            file=str(self.files[index]),
            game=int(self.number[index]),
        )

    def _stones(
        self, index: int, colours: NDArray[np.int8], points: NDArray[np.int16]
    ) -> list[Stone]:
        table = places(int(self.rows[index]), int(self.cols[index]))
        return [(c, table[p]) for c, p in zip(colours.tolist(), points.tolist(), strict=True)]


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
        columns[name] = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
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


def _offsets(lengths: Sequence[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _ragged(offsets: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Return the flat positions of the chosen rows, and the offsets of the result."""
    lengths = (offsets[1:] - offsets[:-1])[chosen]
    result = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    shift = np.repeat(offsets[:-1][chosen] - result[:-1], lengths)
    return np.arange(result[-1], dtype=np.int64) + shift, result
