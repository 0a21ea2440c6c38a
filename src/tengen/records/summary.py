"""Count what a collection holds: games, moves, sizes, results, damage."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from tengen.board import BLACK
from tengen.records.arrays import KINDS, GameArrays
from tengen.records.corpus import Corpus

_LETTERS = {"score": "Score", "resign": "R", "time": "T", "forfeit": "F", "win": ""}
_PLAIN = {"draw": "0", "void": "Void", "unknown": "?"}


@dataclass
class Summary:
    """What was counted. `results` counts by winner and kind: `B+R`, `W+Score`, `0`, `?`."""

    games: int = 0
    """Games read, repaired ones too."""
    damaged: int = 0
    """Games, or files without any, refused."""
    repairs: int = 0
    moves: int = 0
    sizes: Counter[str] = field(default_factory=Counter)
    """Rows x columns, as everywhere on the command line; SZ writes them the other way."""
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
            self.results[_ending(KINDS[value // 4], int(value % 4))] += int(count)


def summarise(corpus: Corpus) -> Summary:
    """Read a corpus once and count it; faults are in `corpus.faults` afterwards."""
    summary = Summary()
    for batch in corpus.record_batches():
        summary.add(batch.arrays)
    summary.damaged, summary.repairs = corpus.damaged, corpus.repaired
    return summary


def _ending(kind: str, winner: int) -> str:
    if kind in _PLAIN:
        return _PLAIN[kind]
    return ("B+" if winner == BLACK else "W+") + _LETTERS[kind]
