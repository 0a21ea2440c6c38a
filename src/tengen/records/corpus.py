"""Stream collections of games, split them, remove duplicates, and turn them into arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tengen.records import arrays, reader
from tengen.records.arrays import GameArrays
from tengen.records.faults import Fault
from tengen.records.record import GameRecord


class Corpus:
    """Games from files, folders and archives, read again each time they are asked for.

    Damaged games are passed over; `damaged` counts those of the last reading and `faults` holds
    the first of them.
    """

    def __init__(self, paths: str | Path | Iterable[str | Path]) -> None:
        self.paths = [paths] if isinstance(paths, (str, Path)) else list(paths)
        self.faults: list[Fault] = []
        self.damaged = 0

    def __iter__(self) -> Iterator[GameRecord]:
        self.faults, self.damaged = [], 0
        for path in self.paths:
            yield from reader.read_games(path, on_fault=self._tell)

    def as_arrays(self) -> GameArrays:
        """Return the whole collection as flat arrays, ready for kernels."""
        return arrays.from_records([record for record in self if not record.edits])

    def _tell(self, fault: Fault) -> None:
        self.damaged += not fault.repaired
        if len(self.faults) < 1000:
            self.faults.append(fault)
