"""Training shards: games of one board size as arrays, with results and the owners of points.

A shard is one safetensors file. Winner and score come from the record. The owner of each point at
the end is known where a scorer's count of the final position equals the record's.

Tensors of a shard of G games, M moves, S setup stones and L counted games on P points:

    moves (M) int16    row-major index from the top left; P is a pass
    colours (M) int8   1 Black, 2 White
    lengths (G) int32  moves of each game; likewise setup_lengths for setup and setup_colours (S)
    komi (G) float32, territory (G) int8  1 where territory is counted, 0 area
    winner (G) int8    1 Black, 2 White, 0 nobody or not known (also: won on time)
    score (G) float32  counted score for Black with komi; 9999 where nothing was counted
    labelled (L) int32, ownership (L, P) int8  which games, and their points: 1 Black, -1 White
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

from tengen.arrays import Float32Array, IntArray
from tengen.board import BLACK, WHITE, indices_of, points_at
from tengen.board.counting import count_area, count_territory
from tengen.contracts import Scorer, Status
from tengen.errors import ModelError, RunError, TengenError
from tengen.explorer import stamp_of
from tengen.files import write_atomic
from tengen.learners.network.inputs import Positions
from tengen.learners.network.inputs_kernels import HISTORY, NOWHERE, encode_games
from tengen.models.settings import fingerprint
from tengen.models.store import pack, unpack
from tengen.parallel import map_jobs
from tengen.records import Corpus, GameArrays
from tengen.records.arrays import KINDS
from tengen.records.corpus import replay_refusals
from tengen.records.record import board_at, rules_named

_FORMAT = "tengen.shard"
VERSION = 1
NO_SCORE = 9999.0
SMALLEST, LARGEST = 5, 25
_SHORTEST = 10
"""Games of fewer moves are left out."""
_CHUNK = 8
"""Games that a thread replays at a time: few, since a shard ends when the last thread does."""
_GAMES_PER_SHARD = 4096
"""Games a shard holds at most, which bounds the memory of making one."""
# Results that say nothing about the position on the board.
_NOT_WON_ON_BOARD = [KINDS.index(kind) for kind in ("time", "forfeit", "void")]


@dataclass(frozen=True)
class Shard:
    """Games of one board size; the module's docstring describes the arrays."""

    rows: int
    cols: int
    moves: NDArray[np.int16]
    colours: NDArray[np.int8]
    lengths: NDArray[np.int32]
    setup: NDArray[np.int16]
    setup_colours: NDArray[np.int8]
    setup_lengths: NDArray[np.int32]
    komi: Float32Array
    territory: NDArray[np.int8]
    winner: NDArray[np.int8]
    score: Float32Array
    labelled: NDArray[np.int32]
    ownership: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of_machines(cls, rows: int, cols: int, games: Sequence[NDArray[Any]], **known: Any) -> Self:
        """Make a shard of games in which Black begins and the sides alternate.

        `known` are the other arrays; without them komi is 0, area is counted, and the result is
        not known.
        """
        count, lengths = len(games), np.array([len(game) for game in games], np.int32)
        ply = np.concatenate([np.zeros(0, np.int64), *map(np.arange, lengths)])
        values: dict[str, Any] = {
            "komi": np.zeros(count, np.float32),
            "territory": np.zeros(count, np.int8),
            "winner": np.zeros(count, np.int8),
            "score": np.full(count, NO_SCORE, np.float32),
            "labelled": np.zeros(0, np.int32),
            "ownership": np.zeros((0, rows * cols), np.int8),
            **known,
        }
        return cls(
            rows, cols, np.concatenate([np.zeros(0, np.int16), *games]),
            (ply % 2 + 1).astype(np.int8), lengths,
            np.zeros(0, np.int16), np.zeros(0, np.int8), np.zeros(count, np.int32), **values,
        )  # fmt: skip

    @property
    def board(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, self.cols

    @property
    def positions(self) -> int:
        """How many moves there are to learn."""
        return len(self.moves)

    @cached_property
    def offsets(self) -> IntArray:
        """Where each game's moves begin; one entry more than games."""
        return _offsets(self.lengths)

    @cached_property
    def setup_offsets(self) -> IntArray:
        """The same for setup stones."""
        return _offsets(self.setup_lengths)

    def part(self, first: int, last: int) -> Shard:
        """Return games `first` to `last`, without owners."""
        m, s = (slice(o[first], o[last]) for o in (self.offsets, self.setup_offsets))
        g = slice(first, last)
        return Shard(
            self.rows, self.cols, self.moves[m], self.colours[m], self.lengths[g], self.setup[s],
            self.setup_colours[s], self.setup_lengths[g], self.komi[g], self.territory[g],
            self.winner[g], self.score[g], self.labelled[:0], self.ownership[:0],
        )  # fmt: skip

    def bordered_moves(self) -> NDArray[np.int16]:
        """Return the moves as points of the bordered board, as kernels play them."""
        return points_at(self.moves, self.rows, self.cols).astype(np.int16)

    def encode(
        self, kernel: Any, flags: NDArray[Any], dtype: type, pool: ThreadPoolExecutor
    ) -> NDArray[Any]:
        """Run `encode_games`, or another kernel of its kind, with one flag per game."""
        codes: NDArray[Any] = np.empty((self.positions, self.rows * self.cols), dtype)
        setup = points_at(self.setup, self.rows, self.cols).astype(np.int16)
        given = (
            self.bordered_moves(), self.colours, self.offsets,
            setup, self.setup_colours, self.setup_offsets, flags,
        )  # fmt: skip

        def work(first: int) -> int:
            last = min(first + _CHUNK, len(self))
            part = codes[self.offsets[first] : self.offsets[last]]
            return int(kernel(*given, first, last, self.rows, self.cols, part))

        refused = [game for game in pool.map(work, range(0, len(self), _CHUNK)) if game >= 0]
        if refused:
            raise ModelError(f"a shard's game {refused[0]} has a move that cannot be played")
        return codes

    def last_moves(self) -> NDArray[np.int16]:
        """Return positions x HISTORY: the moves before, latest first; NOWHERE where none."""
        at = np.arange(self.positions)
        ply = at - np.repeat(self.offsets[:-1], self.lengths)
        found = np.full((self.positions, HISTORY), NOWHERE, np.int16)
        for ago in range(1, HISTORY + 1):
            found[:, ago - 1] = np.where(ply >= ago, self.moves[np.maximum(at - ago, 0)], NOWHERE)
        return found

    def encoded(self, *, ladders: bool, pool: ThreadPoolExecutor) -> Positions:
        """Return the position before every move, as the network reads it."""
        codes = self.encode(encode_games, np.full(len(self), ladders), np.uint8, pool)
        last, points = self.last_moves(), self.rows * self.cols
        komi = np.repeat(self.komi, self.lengths)
        return Positions(
            self.rows, self.cols, codes, np.where(last == points, NOWHERE, last).astype(np.int16),
            last[:, 0] == points, np.where(self.colours == BLACK, -komi, komi),
            np.repeat(self.territory != 0, self.lengths),
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shard atomically."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.type != "int"}
        write_atomic(path, pack(arrays, {_FORMAT: f"{VERSION} {self.rows} {self.cols}"}))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Shard:
        """Read a shard; raise `ModelError` for any other or a damaged file."""
        arrays, metadata = unpack(Path(path))
        header = metadata.get(_FORMAT, "").split()
        if len(header) != 3 or not all(word.isdigit() for word in header):
            raise ModelError(f"{path}: is not a shard of training games")
        version, rows, cols = map(int, header)
        if version != VERSION:
            raise ModelError(f"{path}: a shard of version {version}, not {VERSION}: make it anew")
        try:
            shard = cls(rows, cols, **arrays)
        except TypeError:
            raise ModelError(f"{path}: its tensors are not those of a shard") from None
        if not shard._fits():
            raise ModelError(f"{path}: damaged: its arrays do not fit each other")
        return shard

    def _fits(self) -> bool:
        """Tell whether the arrays fit each other."""
        games, points = len(self.lengths), self.rows * self.cols
        return (
            min(self.rows, self.cols) >= SMALLEST
            and max(self.rows, self.cols) <= LARGEST
            and self.moves.shape == self.colours.shape == (int(self.lengths.sum()),)
            and self.setup.shape == self.setup_colours.shape == (int(self.setup_lengths.sum()),)
            and all(
                getattr(self, name).shape == (games,)
                for name in ("setup_lengths", "komi", "territory", "winner", "score")
            )
            and self.ownership.shape == (len(self.labelled), points)
            and _within(self.moves, 0, points)
            and _within(self.setup, 0, points - 1)
            and _within(self.colours, 1, 2)
            and _within(self.setup_colours, 1, 2)
            and _within(self.labelled, 0, games - 1)
            and _within(self.lengths, 0, len(self.moves))
        )


def _offsets(lengths: NDArray[np.int32]) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _within(array: NDArray[Any], low: int, high: int) -> bool:
    return len(array) == 0 or (int(array.min()) >= low and int(array.max()) <= high)


@dataclass(frozen=True)
class Made:
    """The files that were written, and numbers of games."""

    files: tuple[Path, ...]
    games: int
    positions: int
    passed_over: int
    counted: int
    """Games whose record has a counted score."""
    labelled: int
    """Those of them whose count the scorer confirms."""


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
    """Write the games of a corpus as shards, in bounded memory.

    Games that cannot be replayed, boards outside 5 to 25 lines and very short games are passed
    over; with `confirmed`, so are all games but those whose count the scorer confirms. `on_shard`
    is called with the number of games that each finished job had.
    """
    target = Path(folder)
    refuse_shards(target)
    target.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    games = positions = counted = labelled = given = 0
    jobs = ((part, scorer, confirmed) for part in _parts(corpus))
    for count, shard in map_jobs(_make, jobs, workers=workers, ray=ray):
        if len(shard):
            files.append(target / f"{shard.rows}x{shard.cols}-{len(files):05d}.safetensors")
            shard.save(files[-1])
        given += count
        games += len(shard)
        positions += shard.positions
        counted += int((shard.score != NO_SCORE).sum())
        labelled += len(shard.labelled)
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
    found: dict[int, tuple[NDArray[np.int8], bool]] = {}
    for game in np.flatnonzero(~np.isnan(games.score)).tolist():
        if scorer is not None and (label := _label(games, game, scorer)) is not None:
            found[game] = label
    if confirmed:
        games = games.take(np.array(list(found), np.int64))
        found = dict(enumerate(found.values()))
    territory = np.array([rules_named(text).scoring == "territory" for text in games.rules])
    territory[list(found)] = [counts_territory for _, counts_territory in found.values()]
    winner = games.winner.astype(np.int8)
    winner[np.isin(games.kind, _NOT_WON_ON_BOARD)] = 0
    owners = np.array([owner for owner, _ in found.values()], np.int8)
    return given, Shard(
        rows=rows,
        cols=cols,
        moves=indices_of(games.moves, rows, cols).astype(np.int16),
        colours=games.colours.astype(np.int8),
        lengths=games.lengths().astype(np.int32),
        setup=indices_of(games.setup, rows, cols).astype(np.int16),
        setup_colours=games.setup_colours.astype(np.int8),
        setup_lengths=np.diff(games.setup_offsets).astype(np.int32),
        komi=games.komi.astype(np.float32),
        territory=territory.astype(np.int8),
        winner=winner,
        score=np.where(np.isnan(games.score), NO_SCORE, games.score).astype(np.float32),
        labelled=np.array(list(found), np.int32),
        ownership=owners.reshape(len(found), rows * cols),
    )


def _label(games: GameArrays, game: int, scorer: Scorer) -> tuple[NDArray[np.int8], bool] | None:
    """Return who owned each point, and whether territory was counted; None where counts differ.

    Records often name no rules, or wrong ones: both ways of counting are tried.
    """
    board = board_at(games.record(game))
    dead = np.zeros((board.rows, board.cols), np.bool_)
    stones = np.array(scorer.status(board).stones(Status.DEAD), np.int64)
    dead.ravel()[indices_of(stones, board.rows, board.cols)] = True
    grid, komi, told = board.grid(), float(games.komi[game]), float(games.score[game])
    area = count_area(grid, dead, komi=komi)
    territory = count_territory(grid, dead, komi=komi, prisoners=board.prisoners)
    if min(abs(territory.score - told), abs(area.score - told)) >= 0.01:
        return None
    owner = area.owner.ravel()
    signs = (owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)
    return signs, abs(territory.score - told) < 0.01


def read_shards(paths: Sequence[str | os.PathLike[str]]) -> Iterable[Shard]:
    """Read shard files, and all of a folder's, in the order of their names."""
    for path in paths:
        place = Path(path)
        for file in sorted(place.glob("*.safetensors")) if place.is_dir() else [place]:
            yield Shard.load(file)


def shards_of(
    path: str, folder: Path, make: Callable[[Path], object], *about: object
) -> list[Shard]:
    """Read the shards at a path, or those that `make` writes of the games there into a folder.

    The folder's name follows from the files and from `about`, so that changed games give new
    shards and unchanged ones are not read again.
    """
    place = Path(path)
    ready = place.is_dir() and any(place.glob("*.safetensors"))
    if not ready and place.suffix != ".safetensors":
        stamp = stamp_of([path])
        place = folder / fingerprint(stamp, *about)
        if stamp == "":  # the content of standard input is not known before it was read
            shutil.rmtree(place, ignore_errors=True)
        if not place.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as part:
                made = Path(part) / place.name
                make(made)
                made.rename(place)  # at once: a killed command leaves no half of it
    found = list(read_shards([place]))
    if not any(map(len, found)):  # all games of a network against itself may have been cut
        raise TengenError(f"no game to learn from in {path}")
    return found


def fingerprint_of(shards: Sequence[Shard]) -> str:
    """Return what tells these games from others."""
    return fingerprint(*(array for s in shards for array in (s.moves, s.lengths, s.ownership)))


def by_board(shards: Iterable[Shard]) -> list[list[Shard]]:
    """Group shards by their board."""
    found: dict[tuple[int, int], list[Shard]] = {}
    for shard in shards:
        found.setdefault(shard.board, []).append(shard)
    return list(found.values())


def main_board(shards: Iterable[Shard]) -> list[Shard]:
    """Return the shards of the board with the most positions."""
    return max(by_board(shards), key=lambda same: sum(shard.positions for shard in same))
