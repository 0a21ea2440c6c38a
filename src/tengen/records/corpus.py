"""Stream collections of games, split them, remove duplicates, and turn them into arrays.

A `Corpus` is a recipe, not a list: it reads its files again each time, in bounded memory. What
it yields depends only on the files and the recipe, never on chance without a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tengen.arrays import BoolArray
from tengen.board import Board, Point, Rules
from tengen.board.kernels import regrow, remember
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.records import arrays, reader, replay
from tengen.records.arrays import GameArrays
from tengen.records.bulk import Batch
from tengen.records.faults import Fault
from tengen.records.record import GameRecord

_MAX_FAULTS = 1000
"""How many faults a corpus keeps; it counts all of them."""

_MERGE = 512  # small batches are joined in groups of so many, so that they do not pile up


class Position(NamedTuple):
    """The board before a move, the move, and the game they are of."""

    board: Board
    move: Point
    game: GameRecord


_Filter = Callable[[GameArrays], BoolArray]
"""Tells which games of a batch to keep."""


class Corpus:
    """Games from files, folders, archives and standard input (`-`), as one stream.

    Damaged games are passed over: after a reading `damaged` and `repaired` count what was met,
    and `faults` holds the first of it.

    >>> corpus = Corpus(["games.zip", "more/"])
    >>> train, held_out = corpus.unique().split(0.9, seed=1)
    >>> small = train.where(lambda games: games.rows == 9)
    """

    def __init__(self, paths: str | Path | Iterable[str | Path]) -> None:
        self.paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
        if "" in self.paths:  # else the folder one stands in would be meant
            raise RecordError("the name of what to read is empty")
        self.faults: list[Fault] = []
        self.damaged = 0
        """Games (or whole files) refused in the last reading."""
        self.repaired = 0
        """Repairs made in the last reading; one game may need several."""
        self._filters: tuple[Callable[[], _Filter], ...] = ()  # made anew for each reading

    def __iter__(self) -> Iterator[GameRecord]:
        for batch in self.record_batches():
            yield from batch.records()

    def positions(self, *, rules: Rules | None = None) -> Iterator[Position]:
        """Yield (board, move, game) of every move of every game, the mover to play on the board.

        Every board is one of its own, to keep or to change. A game ends early before a move that
        the rules forbid (simple ko unless `rules` say otherwise), and `faults` tells so. For
        millions of positions use `as_arrays` and kernels.

            for board, move, game in Corpus("games/").positions():
                print(game.file, board.turn, move)
        """
        for record in self:
            try:
                for board, (_, point) in replay.positions(record, rules=rules):
                    yield Position(board, point, record)
            except IllegalMoveError as wrong:
                reason = str(wrong).removeprefix(f"{record.file}: game {record.game}, ")
                self._tell(Fault(record.file, record.game, record.offset, reason))

    def batches(self) -> Iterator[GameArrays]:
        """Yield the games as arrays, some thousand at a time, in bounded memory.

        Games whose record puts or takes stones after the first move (`GameRecord.edits`) are
        left out: arrays of moves cannot tell them.
        """
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

    def where(self, keep: _Filter) -> Corpus:
        """Return the corpus of the games `keep` chooses, by size, result, length and so on."""
        return self._with(lambda: keep)

    def unique(self) -> Corpus:
        """Return the corpus without duplicates, mirror images and rotations of earlier games.

        Takes about 16 bytes of memory per game while it reads.
        """
        return self._with(Unseen)

    def split(self, fraction: float, seed: int) -> tuple[Corpus, Corpus]:
        """Return two corpora: about `fraction` of the games, and the rest.

        The side of a game follows from its moves and the seed alone: it does not depend on order
        or on what else is read, and duplicates never fall on both sides.
        """
        if not 0 <= fraction <= 1:
            raise TengenError(f"a split of {fraction}: give a share from 0 to 1")

        def chosen(games: GameArrays) -> BoolArray:
            # Another odd multiplier per seed, so that splits by different seeds are independent.
            salt = np.random.default_rng(seed).integers(0, 1 << 63, 2, dtype=np.uint64)
            spread = (games.hashes() ^ salt[0]) * (salt[1] * np.uint64(2) + np.uint64(1))
            share = (spread >> np.uint64(11)).astype(np.float64) / 2.0**53
            return np.asarray(share < fraction, dtype=np.bool_)

        return self.where(chosen), self.where(lambda games: ~chosen(games))

    def shuffled(self, seed: int, window: int = 10_000) -> Iterator[GameRecord]:
        """Yield the games in an order by chance, holding at most `window` of them.

        With fewer games than that the order is a full shuffle. For arrays use
        `GameArrays.shuffled`, which is always one.
        """
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

    def record_batches(self) -> Iterator[Batch]:
        """Yield the games as `Batch`: arrays with the way back to their records."""
        self.faults, self.damaged, self.repaired = [], 0, 0
        filters = [make() for make in self._filters]
        for path in self.paths:
            for batch in reader.read_batches(path, on_fault=self._tell):
                for keep in filters:
                    batch = batch.where(keep(batch.arrays))
                if len(batch.arrays):
                    yield batch

    def _tell(self, fault: Fault) -> None:
        self.damaged += not fault.repaired
        self.repaired += fault.repaired
        if len(self.faults) < _MAX_FAULTS:
            self.faults.append(fault)


class Unseen:
    """Tell which games were not met before, by their canonical hashes."""

    def __init__(self) -> None:
        self._seen = np.zeros(1 << 12, dtype=np.int64)
        self._count = 0

    def __call__(self, games: GameArrays) -> BoolArray:
        """Tell which of these games are new, and remember them."""
        hashes = games.hashes().view(np.int64)
        while 2 * (self._count + len(hashes)) > len(self._seen):
            larger = np.zeros(2 * len(self._seen), dtype=np.int64)
            regrow(self._seen, larger)
            self._seen = larger
        new = np.array([bool(remember(self._seen, h if h else 1)) for h in hashes])
        self._count += int(new.sum())
        return new
