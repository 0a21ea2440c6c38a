"""Build the index of a collection's openings: read, fold and count the games; see `index`."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import IntArray
from tengen.errors import RecordError
from tengen.explorer import kernels
from tengen.explorer.index import (
    METADATA,
    SUFFIX,
    VERSION,
    About,
    Openings,
    cached_path,
    geometry,
    open_index,
    read_header,
    stamp_of,
)
from tengen.files import TEMPORARY, write_atomic
from tengen.models.store import pack
from tengen.records import Corpus, Fault
from tengen.records.arrays import GameArrays, GameBatch

PLIES = 60
"""Default number of indexed moves per game."""
_LARGE = 10_000
"""Games above which positions that a single game reached are left out."""
_HOUR = 3600.0


@dataclass
class Building:
    """Games followed so far; `add` takes batches, `finish` makes arrays of them."""

    plies: int = PLIES
    games: int = 0
    left_out: int = 0
    without_result: int = 0
    faults: list[str] = field(default_factory=list)
    """What was wrong with games that were cut or left out."""
    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    _keys: list[IntArray] = field(default_factory=list)
    _notes: list[IntArray] = field(default_factory=list)
    _dates: list[NDArray[np.int32]] = field(default_factory=list)
    _origins: list[NDArray[np.int32]] = field(default_factory=list)
    _files: dict[str, int] = field(default_factory=dict)

    def add(self, batch: GameBatch) -> None:
        """Follow some games."""
        if batch.exact is not None:
            edited = np.array([bool(record.edits) for record in batch.exact])
            for record in (r for r, bad in zip(batch.exact, edited, strict=True) if bad):
                self.faults.append(
                    f"{record.file}: game {record.game}: stones put or taken by hand during play"
                )
            self.left_out += int(edited.sum())
            batch = batch.where(~edited)
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
        # A move leaves a note of the board, of its corner, and of the corner it left alone.
        room = 3 * int(np.minimum(games.lengths(), self.plies).sum())
        keys, notes = np.empty(room, np.int64), np.empty(room, np.int64)
        refused = np.empty(len(games), np.int64)
        count = kernels.trace_games(
            games.moves,
            games.colours,
            games.offsets,
            games.winner,
            games.setup,
            games.setup_colours,
            games.setup_offsets,
            np.array(shape, np.int64),
            tables.turned,
            tables.corners,
            tables.into,
            tables.salts,
            self.games,
            self.plies,
            keys,
            notes,
            refused,
        )
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
        """Count the moves of every position that `least` games reached."""
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

    The file `out` is replaced at the end, atomically. Needs about 8 kB of memory per game.
    `on_games` gets the number of games of each step, `on_fault` every game that is left out, cut
    or repaired.

    Raises `TengenError` if no game could be read.
    """
    names = [str(path) for path in paths]
    stamp = stamp_of(names)
    corpus = Corpus(names)
    building = Building(plies)
    for batch in corpus.record_batches():
        building.add(batch)
        on_games(len(batch.arrays))
    refused = [fault for fault in corpus.faults if not fault.repaired]
    if building.games == 0:
        raise _nothing(names, refused)
    for fault in (*map(str, corpus.faults), *building.faults):
        on_fault(fault)
    if least is None:
        least = 1 if building.games <= _LARGE else 2
    sizes = {f"{rows}x{cols}": n for (rows, cols), n in building.sizes.most_common()}
    about = About(
        version=VERSION,
        games=building.games,
        plies=plies,
        least=least,
        sizes=sizes,
        without_result=building.without_result,
        left_out=building.left_out + corpus.damaged,
        stamp=stamp,
    )
    arrays = building.finish(least)
    target = Path(out)
    _sweep(target)
    write_atomic(target, pack(arrays, {METADATA: json.dumps(asdict(about))}))
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
    """Open a collection's index; make it where there is none or its files have changed.

    A single path to an index is opened as it is. Without `index` it is kept in the user's cache.
    """
    if len(games) == 1 and games[0].endswith(SUFFIX):
        return open_index(games[0])
    path = index or cached_path(games, plies)
    if rebuild and path.exists() and not path.name.endswith(SUFFIX):
        read_header(path)  # nothing else is written over
    if path.exists() and not rebuild:
        found = open_index(path)
        if found.about.plies == plies and found.about.stamp == stamp_of(games) != "":
            return found
        on_remark(f"{path}: the games or the number of plies have changed; rebuilding the index")
    made = build(games, path, plies=plies, on_games=on_games, on_fault=on_fault)
    on_remark(f"index of {made.about.games:,} games: {made.path}")
    return made


def _sweep(target: Path) -> None:
    """Delete what killed builders of this index left; those at work are younger."""
    for left in target.parent.glob(f".{target.name}.*{TEMPORARY}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _HOUR:
                left.unlink()


def _dates_of(batch: GameBatch) -> NDArray[np.int32]:
    """Return the dates that a batch's games tell, 0 for those that tell none."""
    dates = np.zeros(len(batch.arrays), np.int64)
    raw, spans = batch.raw, batch.spans
    if batch.exact is not None:
        told = [record.properties.get("DT", [""])[0] for record in batch.exact]
        games = [f"(;DT[{text[:10]}])".encode() for text in told]
        raw = b"".join(games)
        lengths = np.array([len(game) for game in games], np.int64)
        ends = np.cumsum(lengths)
        spans = np.stack([ends - lengths, ends], axis=1)
    kernels.read_dates(np.frombuffer(raw, np.uint8), np.ascontiguousarray(spans), dates)
    return dates.astype(np.int32)


def _without_singles(keys: IntArray, order: IntArray) -> IntArray:
    """Leave out of an order the positions that have one note only: nearly all of them."""
    ranked = keys[order]
    same = np.concatenate([[False], ranked[1:] == ranked[:-1], [False]])
    kept: IntArray = order[same[1:] | same[:-1]]
    return kept


def _joined(parts: Sequence[NDArray[Any]], kind: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)


def _nothing(names: list[str], faults: list[Fault]) -> RecordError:
    """Say why not a single game was read."""
    if len(faults) == 1:
        return faults[0].error()
    return RecordError(f"{', '.join(names)}: no game could be read")
