"""Read games of one size to learn from or to measure on; hold their moves on disk, not in memory.

What a predictor cannot use is left out and counted: damaged games, games with illegal moves, of
other sizes, with stones set up, and very short ones. Nothing here learns.
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
"""Moves that a game must have."""

MERGE = 512
"""Batches that are joined at once: a folder of single games makes many small ones."""


@dataclass
class LeftOut:
    """How many games were left out, and why."""

    damaged: int = 0
    first_damage: str = ""
    other_sizes: int = 0
    unsuitable: int = 0
    """With stones set up or fewer than SHORTEST moves."""
    illegal: int = 0

    @property
    def total(self) -> int:
        """Return how many games were left out in all."""
        return self.damaged + self.other_sizes + self.unsuitable + self.illegal

    def lines(self) -> list[str]:
        """Return one sentence for each reason that there was."""
        found = [
            (self.damaged, f"damaged, first: {self.first_damage}"),
            (self.illegal, "with illegal moves"),
            (self.other_sizes, "of other sizes"),
            (self.unsuitable, f"with stones set up or fewer than {_SHORTEST} moves"),
        ]
        return [f"left out: {count} {reason}" for count, reason in found if count]


def read_games(paths: Sequence[str], size: int) -> tuple[GameArrays, LeftOut]:
    """Read all usable games on boards of `size` lines, and tell what was left out.

    Memory holds some hundred bytes a game; the moves lie in a temporary file that goes when the
    arrays do.

    Raises
    ------
    TengenError
        If no game is left.
    """
    corpus = Corpus(list(paths))
    out = LeftOut()
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
                # One text for all games that share it.
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
    """Raise `TengenError` unless all games are such as `read_games` gives; legality is trusted."""
    good = int(_suitable(games).sum())
    if good < len(games) or not good:
        raise TengenError(
            f"{len(games) - good} of {len(games)} games have stones set up or fewer than "
            f"{_SHORTEST} moves: no usable games for a predictor"
        )


def _suitable(games: GameArrays) -> BoolArray:
    """Tell which games begin on the empty board and are long enough."""
    bare = (np.diff(games.setup_offsets) == 0) & (games.handicap == 0)
    return np.asarray(bare & (games.lengths() >= _SHORTEST), dtype=np.bool_)


def _usable(batch: GameArrays, size: int, out: LeftOut) -> GameArrays:
    """Return the games of a batch that can be used, and count the others."""
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
    """Return what was written to a file as an array whose pages the system may drop."""
    file.flush()
    # Writable, because compiled kernels take arrays that are not for another type.
    return np.asarray(np.memmap(file, dtype=kind, mode="r+"))
