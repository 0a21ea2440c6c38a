"""Read games of one board size for training and evaluation; the moves stay on disk.

Unusable games are skipped and counted: damaged games, games with illegal moves, of other sizes,
with setup stones, and very short ones.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray
from tengen.errors import TengenError
from tengen.records import Corpus
from tengen.records.arrays import GameArrays, concatenate
from tengen.records.corpus import replay_refusals

_SHORTEST = 10
"""Minimum number of moves of a game."""

MERGE = 512
"""Batches to join at once: a folder of single games yields many small ones."""


@dataclass
class Skipped:
    """How many games were skipped, and why."""

    damaged: int = 0
    first_damage: str = ""
    other_sizes: int = 0
    unsuitable: int = 0
    """With setup stones or too few moves."""
    illegal: int = 0

    @property
    def total(self) -> int:
        """Number of skipped games."""
        return self.damaged + self.other_sizes + self.unsuitable + self.illegal

    def lines(self) -> list[str]:
        """Return one line per reason."""
        found = [
            (self.damaged, f"damaged, first: {self.first_damage}"),
            (self.illegal, "with illegal moves"),
            (self.other_sizes, "of other sizes"),
            (self.unsuitable, f"with setup stones or fewer than {_SHORTEST} moves"),
        ]
        return [f"skipped: {count} {reason}" for count, reason in found if count]


def read_games(paths: Sequence[str], size: int) -> tuple[GameArrays, Skipped]:
    """Read all usable games on boards of `size` lines; return them and what was skipped.

    Memory holds about a hundred bytes per game. The moves are in a temporary file that disappears
    with the arrays.

    Raises
    ------
    TengenError
        If no game is left.
    """
    corpus = Corpus(list(paths))
    out = Skipped()
    names: dict[str, str] = {}
    parts: list[GameArrays] = []
    small: list[GameArrays] = []
    nothing = np.zeros(0, np.int16), np.zeros(0, np.int8)
    with tempfile.TemporaryFile() as moves, tempfile.TemporaryFile() as colours:
        for batch in corpus.batches():
            part = _usable(batch, size, out)
            if len(part):
                part.moves.tofile(moves)
                part.colours.tofile(colours)
                # One string for all games that share it.
                rules = [names.setdefault(str(rule), str(rule)) for rule in part.rules]
                light = replace(part, moves=nothing[0], colours=nothing[1])
                small.append(replace(light, rules=np.array(rules, dtype=np.object_)))
            if len(small) == MERGE:
                parts.append(concatenate(small))
                small = []
        out.damaged = corpus.damaged
        out.first_damage = str(next((f for f in corpus.faults if not f.repaired), ""))
        parts += small
        if not parts:
            reasons = "".join(f"; {line}" for line in out.lines())
            raise TengenError(f"{' '.join(paths)}: no games of size {size}{reasons}")
        games = replace(
            concatenate(parts), moves=_mapped(moves, np.int16), colours=_mapped(colours, np.int8)
        )
    return games, out


def refuse_unsuitable(games: GameArrays) -> None:
    """Raise `TengenError` if a game has setup stones or too few moves; legality is not checked."""
    good = int(_suitable(games).sum())
    if good < len(games) or not good:
        raise TengenError(
            f"{len(games) - good} of {len(games)} games have setup stones or fewer than "
            f"{_SHORTEST} moves; a predictor cannot use them"
        )


def _suitable(games: GameArrays) -> BoolArray:
    """Return which games begin on the empty board and are long enough."""
    bare = (np.diff(games.setup_offsets) == 0) & (games.handicap == 0)
    return np.asarray(bare & (games.lengths() >= _SHORTEST), dtype=np.bool_)


def _usable(batch: GameArrays, size: int, out: Skipped) -> GameArrays:
    """Return the usable games of a batch, and count the others."""
    fits = (batch.rows == size) & (batch.cols == size)
    out.other_sizes += int(len(batch) - fits.sum())
    part = batch if fits.all() else batch.where(fits)
    good = _suitable(part)
    out.unsuitable += int(len(part) - good.sum())
    part = part if good.all() else part.where(good)
    legal = ~replay_refusals(part)
    out.illegal += int(len(part) - legal.sum())
    return part if legal.all() else part.where(legal)


def _mapped(file: IO[bytes], kind: type[np.generic]) -> NDArray[Any]:
    """Map the contents of a file as an array."""
    file.flush()
    # Writable, because Numba treats read-only arrays as another type.
    return np.asarray(np.memmap(file, dtype=kind, mode="r+"))
