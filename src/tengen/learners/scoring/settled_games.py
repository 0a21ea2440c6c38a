"""Make finished games with known dead stones, by playing on until all dead stones are captured.

A player plays against itself. The game is cut where its borders are closed and it is settled: no
matter who moves first from there and needs one point more, no stone changes its fate and no
territory its owner. That is about where people would stop and count. The record marks territory
(TB, TW), which shows the dead stones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray
from tengen.board import BLACK, PASS, WHITE, Board, index_of, play_random, play_to_end, point_at
from tengen.board import counting_kernels as k
from tengen.board.counting import count_territory, tromp_taylor
from tengen.contracts import Player
from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.learners.scoring.features import describe_games
from tengen.learners.scoring.self_labelling import LabelledBlocks
from tengen.parallel import map_jobs, spawn_seeds
from tengen.records import GameRecord, Result, read_games
from tengen.records.arrays import from_records
from tengen.records.sgf_properties import format_point, format_text, parse_point_list

Grid = NDArray[np.int8]

_KOMI = 6.5
_FIRST, _STRIDE = 0.55, 4
"""Share of a game before the first trial, and the plies between trials."""
_WIDEST_DAME = 3
"""Size of the largest area of dame: with more, a border is not closed yet."""
_AGREE = 4
"""Further playouts that must end like the game. The sides begin by turns, with a komi that puts
them behind by half a point: a side that is ahead anyway lets stones die."""
_ATTACKS = 4
"""Maximum attempts of each side to capture the other's remaining dead stones."""


@dataclass(frozen=True)
class Job:
    """One game to make: player, board size and seed."""

    make: Callable[[], Player]
    name: str
    size: int
    seed: int
    random_plies: int = 2


def make_games(
    make: Callable[[], Player],
    name: str,
    count: int,
    size: int,
    seed: int,
    *,
    workers: int = 1,
    tell: Callable[[int], None] = lambda done: None,
) -> list[GameRecord]:
    """Return finished games of the player that `make` returns, without those that never settled.

    The records contain `name` and the seed of each game.
    """
    jobs = [Job(make, name, size, s) for s in spawn_seeds(seed, count, f"made {size}x{size}")]
    found = []
    for number, record in enumerate(map_jobs(make_game, jobs, workers=workers, ordered=True)):
        if record is not None:
            found.append(record)
        tell(number + 1)
    return found


def make_game(job: Job) -> GameRecord | None:
    """Play one game, cut it where it is settled, and count it; None if it never settles."""
    player = job.make()
    rng = np.random.default_rng(job.seed)
    board = play_random(Board(job.size, komi=_KOMI), job.random_plies, rng)
    whole = _to_the_end(player, board, rng).moves
    last = _replayed(job.size, whole)
    owner = played_out(player, last, rng, over=True)
    for plies in range(int(_FIRST * len(whole)), len(whole) + 1, _STRIDE):
        board = _replayed(job.size, whole[:plies])
        dead = fates(board.grid(), [owner])
        for number in range(_AGREE):
            if dead is None:
                break
            trial = _behind(board.grid(), owner, (BLACK, WHITE)[number % 2])
            dead = fates(board.grid(), [owner, played_out(player, trial, rng)])
        if dead is not None:
            return _record(job, board, dead)
    return None


def _behind(grid: Grid, owner: Grid, colour: int) -> Board:
    """Return the position with a side to move that loses by half a point if all ends as `owner`."""
    sign = 1 if colour == BLACK else -1
    score = int((owner == BLACK).sum()) - int((owner == WHITE).sum())
    return Board.from_grid(grid, komi=score + sign * 0.5, to_play=colour)


def fates(grid: Grid, owners: Sequence[Grid]) -> BoolArray | None:
    """Return the dead stones if all these ends agree on stones and territory, else None.

    Dame may go to either side, but large areas of dame are open borders.
    """
    stones = grid > 0
    for owner in owners:
        if (owner[stones] == 0).any() or (owner[stones] != owners[0][stones]).any():
            return None
    dead: BoolArray = stones & (owners[0] != grid)
    kinds = np.zeros(grid.shape, np.int8)
    k.plain_kinds(grid, dead, kinds)
    for colour, kind in ((BLACK, k.BLACK_TERRITORY), (WHITE, k.WHITE_TERRITORY)):
        if any((owner[kinds == kind] != colour).any() for owner in owners):
            return None
    dame = kinds == k.DAME
    return None if (dead & dame).any() or _widest(dame) > _WIDEST_DAME else dead


def _widest(mask: BoolArray) -> int:
    """Return the points of the largest connected part of a mask."""
    left = {(int(r), int(c)) for r, c in np.argwhere(mask)}
    widest = 0
    while left:
        todo = [left.pop()]
        size = 0
        while todo:
            r, c = todo.pop()
            size += 1
            for q in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if q in left:
                    left.remove(q)
                    todo.append(q)
        widest = max(widest, size)
    return widest


def played_out(
    player: Player, board: Board, rng: np.random.Generator, *, over: bool = False
) -> Grid:
    """Return the owner of every point when nothing more can be captured (EMPTY: nobody).

    After two passes (`over`: already played) each side in turn gets a komi that puts it behind by
    half a point, so that it captures what it can; the other may answer.
    """
    end = board if over else _to_the_end(player, board.copy(), rng)
    grid = end.grid()
    for colour in (BLACK, WHITE):
        sign = 1 if colour == BLACK else -1
        for _ in range(_ATTACKS):
            before = sign * tromp_taylor(grid).score
            trial = Board.from_grid(grid, komi=sign * (before + 0.5), to_play=colour)
            after = _to_the_end(player, trial, rng).grid()
            if sign * tromp_taylor(after).score <= before:
                break
            grid = after
    count = tromp_taylor(grid)
    owner = BLACK * count.points(BLACK) + WHITE * count.points(WHITE)
    return owner.astype(np.int8)


def _to_the_end(player: Player, board: Board, rng: np.random.Generator) -> Board:
    """Play on this board until two passes or three times as many plies as points."""
    return play_to_end(board, lambda b: max(player.choose(b, rng), PASS))


def _replayed(size: int, moves: Iterable[tuple[int, int]]) -> Board:
    board = Board(size, komi=_KOMI)
    for colour, point in moves:
        board.push(point, colour)
    return board


def _record(job: Job, board: Board, dead: BoolArray) -> GameRecord:
    """Return the game so far, two passes, its count under Japanese rules, TB and TW."""
    grid, size = board.grid(), job.size
    score = count_territory(grid, dead, komi=_KOMI, prisoners=board.prisoners).score
    turn = board.turn
    record = GameRecord(
        rows=size,
        cols=size,
        moves=[*board.moves, (turn, PASS), (3 - turn, PASS)],
        komi=_KOMI,
        rules="japanese",
        result=Result("score", BLACK if score > 0 else WHITE, abs(score)),
    )
    tree = record.tree
    tree.nodes[0]["PB"] = tree.nodes[0]["PW"] = [format_text(job.name)]
    tree.nodes[0]["GC"] = [format_text(f"made by self-play, seed {job.seed}")]
    kinds = np.zeros(grid.shape, np.int8)
    k.plain_kinds(grid, dead, kinds)
    for name, kind in (("TB", k.BLACK_TERRITORY), ("TW", k.WHITE_TERRITORY)):
        points = np.flatnonzero((kinds == kind).ravel())
        if len(points):
            tree.nodes[-1][name] = [
                format_point(point_at(int(i), size, size), size, size) for i in points
            ]
    return record


def marked_dead(record: GameRecord, grid: Grid) -> BoolArray:
    """Return the stones inside enemy territory as marked in the record (TB, TW).

    Raises
    ------
    TengenError
        If no territory is marked.
    """
    rows, cols = grid.shape
    last = record.tree.nodes[record.tree.main_line()[-1]]
    if "TB" not in last and "TW" not in last:
        raise TengenError(f"{record.file}, game {record.game}: marks no territory (TB, TW)")
    dead = np.zeros((rows, cols), np.bool_)
    for name, enemy in (("TB", WHITE), ("TW", BLACK)):
        for raw in last.get(name, []):
            for point in parse_point_list(raw, rows, cols):
                at = index_of(point, rows, cols)
                dead.flat[at] = grid.flat[at] == enemy
    return dead


def label(records: Iterable[GameRecord]) -> list[LabelledBlocks]:
    """Describe the last positions of games that mark territory; one table per board size."""
    by_size: dict[int, list[GameRecord]] = {}
    for record in records:
        if record.rows != record.cols:
            raise TengenError(f"{record.file}, game {record.game}: is not on a square board")
        by_size.setdefault(record.rows, []).append(record)
    found = []
    for size in sorted(by_size):
        table = describe_games(from_records(by_size[size]))
        alive = np.ones(len(table.block), np.bool_)
        for game, record in enumerate(by_size[size]):
            rows = slice(int(table.start[game]), int(table.start[game + 1]))
            fallen = np.zeros(int(table.parts[game].max()) + 1, np.bool_)
            fallen[table.parts[game][marked_dead(record, table.grids[game])]] = True
            alive[rows] = ~fallen[table.block[rows]]
        found.append(LabelledBlocks(table, alive))
    return found


def write_games(records: Iterable[GameRecord], path: Path) -> None:
    """Write games to a file, atomically."""
    write_atomic(path, b"\n".join(record.utf8_sgf() for record in records) + b"\n")


def read_labelled(files: Sequence[str | Path]) -> list[LabelledBlocks]:
    """Read games that mark their territory, as `make_games` and many servers write them."""
    return label(record for file in files for record in read_games(file))
