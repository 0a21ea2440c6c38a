"""Training shards: games of one board size as arrays, with results and the owners of points.

A shard is one safetensors file. Winner and score come from the record. The owner of each point at
the end is known where a scorer's count of the final position equals the record's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, IntArray
from tengen.board import BLACK, PASS, WHITE, indices_of, points_at
from tengen.board.counting import count_area, count_territory
from tengen.contracts import Scorer, Status
from tengen.errors import ModelError, RunError, TengenError
from tengen.files import write_atomic
from tengen.models.settings import fingerprint
from tengen.models.store import pack, unpack
from tengen.network.inputs_kernels import HISTORY, NOWHERE, encode_games
from tengen.network.layers import Positions
from tengen.parallel import map_jobs
from tengen.records import Corpus, GameArrays
from tengen.records.arrays import KINDS
from tengen.records.corpus import replay_refusals
from tengen.records.reader import stamp_of
from tengen.records.record import board_at, rules_named

_FORMAT, _VERSION = "tengen.shard", 2
SMALLEST, LARGEST = 5, 25
_SHORTEST = 10  # games of fewer moves are left out
_CHUNK = 8  # games that a thread replays at a time: a shard ends when the last thread does
_GAMES_PER_SHARD = 4096  # games a shard holds at most, which bounds the memory of making one
# Results that say nothing about the position on the board.
_NOT_WON_ON_BOARD = [KINDS.index(kind) for kind in ("time", "forfeit", "void")]


@dataclass
class Shard(GameArrays):
    """One or more games of one board size, with what is known about their final positions."""

    territory: BoolArray  # whether territory is counted
    labelled: BoolArray  # whether the owners of points are known
    ownership: NDArray[np.int8]  # games x points, row-major: 1 Black, -1 White

    @classmethod
    def of_moves(cls, rows: int, cols: int, games: Sequence[NDArray[Any]], **known: Any) -> Self:
        """Make a shard of row-major moves, Black first; other fields are zero unless `known`."""
        count, lengths = len(games), [len(game) for game in games]
        ply = np.concatenate([np.zeros(0, np.int64), *map(np.arange, lengths)])
        zeros, text = np.zeros(count, np.int8), np.full(count, "", np.object_)
        offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
        points = points_at(np.concatenate([np.zeros(0, np.int16), *games]), rows, cols)
        arrays: dict[str, Any] = {
            "moves": points.astype(np.int16), "colours": (ply % 2 + 1).astype(np.int8),
            "offsets": offsets, "rows": zeros + np.int16(rows), "cols": zeros + np.int16(cols),
            "komi": np.zeros(count, np.float32),
            "handicap": zeros, "first": zeros + 1, "kind": zeros, "winner": zeros,
            "score": np.full(count, np.nan, np.float32), "setup": np.zeros(0, np.int16),
            "setup_colours": np.zeros(0, np.int8), "setup_offsets": np.zeros(count + 1, np.int64),
            "rules": text, "files": text, "number": np.arange(count) + 1, "territory": zeros > 0,
            "labelled": zeros > 0, "ownership": np.zeros((count, rows * cols), np.int8),
        }  # fmt: skip
        return cls(**arrays | known)

    @property
    def board(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.rows[0]), int(self.cols[0])

    @property
    def positions(self) -> int:
        """Number of positions to learn from, one before every move."""
        return len(self.moves)

    @cached_property
    def indices(self) -> NDArray[np.int16]:
        """The moves as row-major indices; rows * columns is a pass."""
        return indices_of(self.moves, *self.board).astype(np.int16)

    def per_move(self, array: NDArray[Any]) -> NDArray[Any]:
        """Repeat each game's value for each of its moves."""
        return np.repeat(array, self.lengths())

    def plies(self) -> IntArray:
        """Return the number of moves before each move in its game."""
        return np.arange(self.positions) - np.repeat(self.offsets[:-1], self.lengths())

    def encode(
        self, kernel: Any, flags: NDArray[Any], dtype: type, pool: ThreadPoolExecutor
    ) -> NDArray[Any]:
        """Run `encode_games`, or another kernel of its kind, with one flag per game."""
        rows, cols = self.board
        codes: NDArray[Any] = np.empty((self.positions, rows * cols), dtype)
        setup = self.setup, self.setup_colours, self.setup_offsets
        games = self.moves, self.colours, self.offsets, *setup

        def work(first: int) -> int:
            last = min(first + _CHUNK, len(self))
            part = codes[self.offsets[first] : self.offsets[last]]
            return int(kernel(games, flags, first, last, rows, cols, part))

        refused = [game for game in pool.map(work, range(0, len(self), _CHUNK)) if game >= 0]
        if refused:
            raise ModelError(f"a shard's game {refused[0]} has a move that cannot be played")
        return codes

    def last_moves(self) -> NDArray[np.int16]:
        """Return positions x HISTORY: the moves before, latest first; NOWHERE where none."""
        ago = np.arange(1, HISTORY + 1)
        before = self.indices[np.maximum(np.arange(self.positions)[:, None] - ago, 0)]
        return np.where(self.plies()[:, None] >= ago, before, NOWHERE).astype(np.int16)

    def encoded(self, *, ladders: bool, pool: ThreadPoolExecutor) -> Positions:
        """Return the position before every move, as the network reads it."""
        codes = self.encode(encode_games, np.full(len(self), ladders), np.uint8, pool)
        (rows, cols), last, komi = self.board, self.last_moves(), self.per_move(self.komi)
        passes = last == rows * cols
        return Positions(
            rows, cols, codes, np.where(passes, NOWHERE, last).astype(np.int16), passes[:, 0],
            np.where(self.colours == BLACK, -komi, komi), self.per_move(self.territory),
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shard atomically, without texts."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        kept = {name: array for name, array in arrays.items() if array.dtype != np.object_}
        write_atomic(path, pack(kept, {_FORMAT: str(_VERSION)}))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Shard:
        """Read a shard; raise `ModelError` if the file is damaged or not a shard."""
        arrays, metadata = unpack(Path(path))
        version = metadata.get(_FORMAT, "").split()[:1]
        if not version:
            raise ModelError(f"{path}: is not a shard of training games")
        if version != [str(_VERSION)]:
            raise ModelError(f"{path}: a shard of version {version[0]}: make it again")
        try:
            text = np.full(len(arrays["komi"]), "", np.object_)
            shard = cls(**arrays, rules=text, files=text)
            fits = shard._fits()
        except (LookupError, TypeError):
            raise ModelError(f"{path}: its tensors are not those of a shard") from None
        if not fits:
            raise ModelError(f"{path}: damaged: its arrays do not fit each other")
        return shard

    def _fits(self) -> bool:
        """Return whether the arrays fit each other."""
        (rows, cols), games = self.board, len(self.komi)
        points = points_at(np.arange(rows * cols), rows, cols)
        flat = {"moves", "colours", "setup", "setup_colours", "offsets", "setup_offsets"}
        single = {field.name for field in fields(self)} - flat - {"ownership"}
        return (
            min(rows, cols) >= SMALLEST
            and max(rows, cols) <= LARGEST
            and all(getattr(self, name).shape == (games,) for name in single)
            and bool((self.rows == rows).all() and (self.cols == cols).all())
            and self.ownership.shape == (games, rows * cols)
            and _parted(self.offsets, games, self.moves, self.colours, [PASS, *points])
            and _parted(self.setup_offsets, games, self.setup, self.setup_colours, points)
        )


def _parted(
    offsets: IntArray, games: int, points: NDArray[Any], colours: NDArray[Any], known: Any
) -> bool:
    """Return whether `offsets` divide points, all `known`, and their colours into `games` games."""
    return bool(
        offsets.shape == (games + 1,)
        and points.shape == colours.shape == (offsets[-1],)
        and offsets[0] == 0
        and (np.diff(offsets) >= 0).all()
        and np.isin(points, known).all()
        and np.isin(colours, (BLACK, WHITE)).all()
    )


@dataclass(frozen=True)
class Made:
    """The files that were written, and numbers of games."""

    files: tuple[Path, ...]
    games: int
    positions: int
    passed_over: int
    counted: int  # games whose record has a counted score
    labelled: int  # those of them whose count the scorer confirms


def make_shards(
    corpus: Corpus,
    folder: str | os.PathLike[str],
    *,
    scorer: Scorer | None = None,
    confirmed: bool = False,
    workers: int = 1,
    ray: str | None = None,
    on_shard: Callable[[int], None] = lambda games: None,
) -> Made:
    """Write the games of a corpus as shards, in bounded memory; `on_shard` gets counts of games.

    Games that cannot be replayed, boards outside 5 to 25 lines and very short games are passed
    over; with `confirmed`, so are all games but those whose count the scorer confirms.
    """
    target = Path(folder)
    refuse_shards(target)
    target.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    games = positions = counted = labelled = given = 0
    jobs = ((part, scorer, confirmed) for part in _parts(corpus))
    for count, shard in map_jobs(_make, jobs, workers=workers, ray=ray):
        if len(shard):
            rows, cols = shard.board
            files.append(target / f"{rows}x{cols}-{len(files):05d}.safetensors")
            shard.save(files[-1])
        given += count
        games += len(shard)
        positions += shard.positions
        counted += int((~np.isnan(shard.score)).sum())
        labelled += int(shard.labelled.sum())
        on_shard(count)
    if not games:
        raise TengenError(f"no game to learn from in {', '.join(map(str, corpus.paths))}")
    return Made(tuple(files), games, positions, given - games, counted, labelled)


def refuse_shards(folder: Path) -> None:
    """Raise `RunError` if a folder holds shards already."""
    if any(folder.glob("*.safetensors")):
        raise RunError(f"{folder}: holds shards already; name another folder")


def _parts(corpus: Corpus) -> Iterator[GameArrays]:
    """Yield games of one size, as many as a shard may hold."""
    for batch in corpus.batches():
        shapes = batch.rows.astype(np.int64) * 100 + batch.cols
        for shape in np.unique(shapes):
            same = np.flatnonzero(shapes == shape)
            for start in range(0, len(same), _GAMES_PER_SHARD):
                yield batch.take(same[start : start + _GAMES_PER_SHARD])


def _make(job: tuple[GameArrays, Scorer | None, bool]) -> tuple[int, Shard]:
    """Return how many games there were, and the shard of those that can be learned from."""
    games, scorer, confirmed = job
    given, rows, cols = len(games), int(games.rows[0]), int(games.cols[0])
    playable = ~replay_refusals(games) & (games.lengths() >= _SHORTEST)
    if min(rows, cols) < SMALLEST or max(rows, cols) > LARGEST:
        playable[:] = False
    games = games.where(playable)
    territory = np.array([rules_named(text).scoring == "territory" for text in games.rules], bool)
    labelled, ownership = np.zeros(len(games), bool), np.zeros((len(games), rows * cols), np.int8)
    for game in np.flatnonzero(~np.isnan(games.score)).tolist():
        if scorer is not None and (label := _label(games, game, scorer)) is not None:
            ownership[game], territory[game] = label
            labelled[game] = True
    games.winner[np.isin(games.kind, _NOT_WON_ON_BOARD)] = 0
    shard = Shard(**vars(games), territory=territory, labelled=labelled, ownership=ownership)
    return given, shard.where(labelled) if confirmed else shard


def _label(games: GameArrays, game: int, scorer: Scorer) -> tuple[NDArray[np.int8], bool] | None:
    """Return who owned each point, and whether territory was counted; None where counts differ."""
    board = board_at(games.record(game))
    dead = np.zeros((board.rows, board.cols), np.bool_)
    stones = np.array(scorer.status(board).stones(Status.DEAD), np.int64)
    dead.ravel()[indices_of(stones, board.rows, board.cols)] = True
    grid, komi, recorded = board.grid(), float(games.komi[game]), float(games.score[game])
    # Records often name no rules, or wrong ones: both ways of counting are tried.
    area = count_area(grid, dead, komi=komi)
    territory = count_territory(grid, dead, komi=komi, prisoners=board.prisoners)
    if min(abs(territory.score - recorded), abs(area.score - recorded)) >= 0.01:
        return None
    owner = area.owner.ravel()
    signs = (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
    return signs, abs(territory.score - recorded) < 0.01


def read_shards(paths: Sequence[str | os.PathLike[str]]) -> Iterable[Shard]:
    """Read shard files; of a folder, all of them, in the order of their names."""
    for path in paths:
        place = Path(path)
        for file in sorted(place.glob("*.safetensors")) if place.is_dir() else [place]:
            yield Shard.load(file)


def shards_of(
    path: str, folder: Path, make: Callable[[Path], object], *about: object
) -> list[Shard]:
    """Read the shards at a path; if it has games instead, let `make` write shards of them first.

    These go to a subfolder of `folder`, named by a hash of the files and `about`, for reuse.
    """
    place = Path(path)
    ready = place.is_dir() and any(place.glob("*.safetensors"))
    if not ready and place.suffix != ".safetensors":
        stamp = stamp_of([path])
        place = folder / fingerprint(stamp, _VERSION, *about)
        if stamp == "":  # the content of standard input is unknown until it is read
            shutil.rmtree(place, ignore_errors=True)
        if not place.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as part:
                made = Path(part) / place.name
                make(made)
                made.rename(place)  # atomic: a killed command leaves no partial folder
    return list(read_shards([place]))


def fingerprint_of(shards: Sequence[Shard]) -> str:
    """Return a fingerprint that distinguishes these games from others."""
    return fingerprint(*(array for s in shards for array in (s.moves, s.offsets, s.ownership)))


def by_board(shards: Iterable[Shard]) -> list[list[Shard]]:
    """Group shards by their board."""
    found: dict[tuple[int, int], list[Shard]] = {}
    for shard in shards:
        found.setdefault(shard.board, []).append(shard)
    return list(found.values())


def main_board(shards: Iterable[Shard]) -> list[Shard]:
    """Return the shards of the board with the most positions."""
    return max(by_board(shards), key=lambda same: sum(shard.positions for shard in same))
