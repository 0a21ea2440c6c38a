"""Turn collections of games into training shards: moves, results and, where known, who owned what.

A shard is one safetensors file with games of one board size. Winner and score come from the
record. Who owned each point at the end is known where a scorer's count of the final position
equals the record's; the scorer is handed in. Nothing here knows how a network learns from it.

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
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array
from tengen.board import BLACK, WHITE, Board, indices_of, points_at
from tengen.board.counting import count_area, count_territory
from tengen.contracts import Scorer
from tengen.contracts.values import Status
from tengen.errors import ModelError, RunError, TengenError
from tengen.explorer import stamp_of
from tengen.files import write_atomic
from tengen.learners.network.inputs_kernels import encode_games as encode_range
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
"""Games of fewer moves teach nothing."""
_CHUNK = 8
"""Games that a thread replays at a time: few, since a shard ends when the last thread does."""
_GAMES_PER_SHARD = 4096
"""Games a shard holds at most, which bounds the memory of making one."""
# Results that say nothing about the position on the board.
_NOT_WON_ON_BOARD = [KINDS.index(kind) for kind in ("time", "forfeit", "void")]


@dataclass(frozen=True)
class Shard:
    """Games of one board size, as the module's sentence lays them out."""

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

    @property
    def positions(self) -> int:
        """How many moves there are to learn."""
        return len(self.moves)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shard atomically."""
        arrays = {f.name: getattr(self, f.name) for f in fields(self) if f.type != "int"}
        header = f"{VERSION} {self.rows} {self.cols}"
        write_atomic(path, pack(arrays, {_FORMAT: header}))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Shard:
        """Read a shard.

        Raises
        ------
        ModelError
            For a file that is damaged, of another version, or no shard.
        """
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
        shard._check(os.fspath(path))
        return shard

    def _check(self, path: str) -> None:
        """Refuse arrays that do not fit each other."""
        games, points = len(self.lengths), self.rows * self.cols
        fits = (
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
        if not fits:
            raise ModelError(f"{path}: damaged: its arrays do not fit each other")


def _within(array: NDArray[Any], low: int, high: int) -> bool:
    return len(array) == 0 or (int(array.min()) >= low and int(array.max()) <= high)


@dataclass(frozen=True)
class Made:
    """What making shards did: files written, games kept, passed over and labelled."""

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
    """Write the games of a corpus as shards, in bounded memory, and tell what was done.

    Games that cannot be replayed, boards outside 5 to 25 lines and games of a few moves are
    passed over; with `confirmed`, so are all games but those whose count the scorer confirms.
    `on_shard` hears how many games each finished shard had.

    Raises
    ------
    RunError
        If the folder holds shards already: other games would stand among these.
    TengenError
        If there is no game to learn from.
    """
    target = Path(folder)
    refuse_shards(target)
    target.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    games = positions = counted = labelled = given = 0
    jobs = _Batches(corpus, scorer, confirmed)
    for number, shard in enumerate(map_jobs(_make, iter(jobs), workers=workers, ray=ray)):
        given += jobs.sizes[number]
        if len(shard):
            path = target / f"{shard.rows}x{shard.cols}-{len(files):05d}.safetensors"
            shard.save(path)
            files.append(path)
        games += len(shard)
        positions += shard.positions
        counted += int((shard.score != NO_SCORE).sum())
        labelled += len(shard.labelled)
        on_shard(jobs.sizes[number])
    if not games:
        raise TengenError(f"no game to learn from in {', '.join(map(str, corpus.paths))}")
    return Made(tuple(files), games, positions, given - games, counted, labelled)


def refuse_shards(folder: Path) -> None:
    """Raise `RunError` if a folder holds shards already."""
    if any(folder.glob("*.safetensors")):
        raise RunError(f"{folder}: holds shards already; name another folder")


class _Batches:
    """Hand out games of one size as jobs, remembering how many each had."""

    def __init__(self, corpus: Corpus, scorer: Scorer | None, confirmed: bool) -> None:
        self.corpus, self.scorer, self.confirmed = corpus, scorer, confirmed
        self.sizes: list[int] = []

    def __iter__(self) -> Iterator[tuple[GameArrays, Scorer | None, bool]]:
        for batch in self.corpus.batches():
            shapes = batch.rows.astype(np.int64) * 100 + batch.cols
            for shape in np.unique(shapes):
                same = batch.where(shapes == shape)
                for start in range(0, len(same), _GAMES_PER_SHARD):
                    part = same.take(np.arange(start, min(start + _GAMES_PER_SHARD, len(same))))
                    self.sizes.append(len(part))
                    yield part, self.scorer, self.confirmed


def _make(job: tuple[GameArrays, Scorer | None, bool]) -> Shard:
    games, scorer, confirmed = job
    rows, cols = int(games.rows[0]), int(games.cols[0])
    playable = ~replay_refusals(games) & (games.lengths() >= _SHORTEST)
    if min(rows, cols) < SMALLEST or max(rows, cols) > LARGEST:
        playable[:] = False
    games = games.where(playable)
    found = {} if scorer is None else _labels(games, scorer)
    if confirmed:
        games = games.take(np.array(list(found), np.int64))
        found = dict(enumerate(found.values()))
    return _shard_of(games, rows, cols, found)


def _labels(games: GameArrays, scorer: Scorer) -> dict[int, tuple[NDArray[np.int8], bool]]:
    """Return what `label` tells of every game whose count the scorer confirms."""
    counted = map(int, np.flatnonzero(~np.isnan(games.score)))
    told = ((game, label(games, game, scorer)) for game in counted)
    return {game: found for game, found in told if found is not None}


def _shard_of(
    games: GameArrays, rows: int, cols: int, found: dict[int, tuple[NDArray[np.int8], bool]]
) -> Shard:
    """Return games of one size as a shard; every one of them must be playable."""
    territory = np.array([_rules_say_territory(text) for text in games.rules], np.int8)
    labelled, owners = list(found), [owner for owner, _ in found.values()]
    for game, (_, counts_territory) in found.items():
        territory[game] = counts_territory
    winner = games.winner.astype(np.int8)
    winner[np.isin(games.kind, _NOT_WON_ON_BOARD)] = 0
    return Shard(
        rows=rows,
        cols=cols,
        moves=indices_of(games.moves, rows, cols).astype(np.int16),
        colours=games.colours.astype(np.int8),
        lengths=games.lengths().astype(np.int32),
        setup=indices_of(games.setup, rows, cols).astype(np.int16),
        setup_colours=games.setup_colours.astype(np.int8),
        setup_lengths=np.diff(games.setup_offsets).astype(np.int32),
        komi=games.komi.astype(np.float32),
        territory=territory,
        winner=winner,
        score=np.where(np.isnan(games.score), NO_SCORE, games.score).astype(np.float32),
        labelled=np.array(labelled, np.int32),
        ownership=np.array(owners, np.int8).reshape(len(owners), rows * cols),
    )


def _rules_say_territory(text: str) -> bool:
    """Tell whether RU names rules that count territory; Japanese ones when it names none."""
    return rules_named(text).scoring == "territory"


def label(games: GameArrays, game: int, scorer: Scorer) -> tuple[NDArray[np.int8], bool] | None:
    """Return who owned each point, and whether territory was counted; None where counts differ.

    Records often name no rules, or wrong ones: both ways of counting are tried.
    """
    board = board_at(games.record(game))
    dead = _dead_mask(board, scorer)
    grid, komi, told = board.grid(), float(games.komi[game]), float(games.score[game])
    area = count_area(grid, dead, komi=komi)
    if abs(count_territory(grid, dead, komi=komi, prisoners=board.prisoners).score - told) < 0.01:
        territory = True
    elif abs(area.score - told) < 0.01:
        territory = False
    else:
        return None
    owner = area.owner.ravel()
    return ((owner == BLACK).astype(np.int8) - (owner == WHITE).astype(np.int8)), territory


def _dead_mask(board: Board, scorer: Scorer) -> BoolArray:
    """Return the stones a scorer takes for dead, as a grid."""
    dead = np.zeros(board.rows * board.cols, np.bool_)
    for block in scorer.status(board).blocks:
        if block.status is Status.DEAD:
            dead[indices_of(np.array(block.stones), board.rows, board.cols)] = True
    return dead.reshape(board.rows, board.cols)


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


def bordered(indices: NDArray[np.int16], rows: int, cols: int) -> NDArray[np.int16]:
    """Return points of the bordered board, as kernels play them, for row-major indices."""
    return points_at(indices, rows, cols).astype(np.int16)


def encode_games(shard: Shard, *, ladders: bool, threads: int) -> NDArray[np.uint8]:
    """Return the bytes that the network reads of the position before every move."""
    offsets = np.concatenate([[0], np.cumsum(shard.lengths, dtype=np.int64)])
    setup_offsets = np.concatenate([[0], np.cumsum(shard.setup_lengths, dtype=np.int64)])
    moves = bordered(shard.moves, shard.rows, shard.cols)
    setup = bordered(shard.setup, shard.rows, shard.cols)
    codes = np.empty((len(moves), shard.rows * shard.cols), np.uint8)
    games = np.arange(len(shard))

    def work(first: int) -> int:
        last = min(first + _CHUNK, len(shard))
        part = codes[offsets[first] : offsets[last]]
        return int(
            encode_range(
                games, moves, shard.colours, offsets, setup, shard.setup_colours, setup_offsets,
                first, last, shard.rows, shard.cols, ladders, part,
            )
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        refused = [game for game in pool.map(work, range(0, len(shard), _CHUNK)) if game >= 0]
    if refused:
        raise ModelError(f"a shard's game {refused[0]} has a move that cannot be played")
    return codes


def main_board(shards: Sequence[Shard]) -> list[Shard]:
    """Return the shards of the board with the most positions."""
    positions: dict[tuple[int, int], int] = {}
    for shard in shards:
        board = shard.rows, shard.cols
        positions[board] = positions.get(board, 0) + shard.positions
    main = max(positions, key=positions.__getitem__)
    return [shard for shard in shards if (shard.rows, shard.cols) == main]
