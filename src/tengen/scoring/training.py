"""Train a scorer in a run folder, on scored games and on self-made games with known dead stones.

To make a game, a player plays against itself until all dead stones are captured. The game is cut
where its borders are closed and it is settled: no matter who moves first from there and needs one
more point, no stone changes its status and no territory its owner. The record marks territory (TB,
TW), which shows the dead stones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray
from tengen.board import BLACK, PASS, WHITE, Board, index_of, play_random, play_to_end
from tengen.board import counting_kernels as k
from tengen.board.counting import count_territory, tromp_taylor
from tengen.contracts import Player
from tengen.errors import SpecError, TengenError
from tengen.files import write_atomic
from tengen.models import Run, fingerprint
from tengen.parallel import map_jobs, spawn_seeds
from tengen.records import GameArrays, GameRecord, Result, read_games
from tengen.records.arrays import from_records
from tengen.records.from_board import territory_marks
from tengen.records.sgf_properties import format_text, parse_point_list
from tengen.scoring.features import BlockTable, describe_games
from tengen.scoring.kernels import connect
from tengen.scoring.learner import BlockScorer
from tengen.scoring.self_labelling import LabelledBlocks
from tengen.scoring.settings import ScorerSettings

MODEL = "scorer.safetensors"
Tell = Callable[[str, int, int], None]  # called with a label, the number done and the total


@dataclass(frozen=True)
class Making:
    """A specification of finished games to make and to learn from."""

    size: int
    games: int
    name: str  # the player, for the records and the card
    make: Callable[[], Player]

    @property
    def board(self) -> str:
        """The board size as text, such as 9x9."""
        return f"{self.size}x{self.size}"

    @property
    def file(self) -> str:
        """The name of the file in a run folder."""
        return f"made-{self.board}.sgf"


def train_scorer(
    games: GameArrays,
    settings: ScorerSettings,
    folder: Path,
    *,
    making: Sequence[Making] = (),
    labelled: Sequence[Path] = (),
    resume: bool = False,
    workers: int = 1,
    sources: str = "",
    on_round: Callable[[dict[str, Any]], None] = lambda row: None,
    tell: Tell = lambda what, done, of: None,
) -> BlockScorer:
    """Train on games with counted results and on self-made ones; write MODEL into the folder.

    With files of `labelled` games, which mark their territory, the labels of the games grow from
    theirs instead of from playouts.
    """
    data = {
        "games": fingerprint(games.moves, games.colours, games.offsets, games.komi, games.score)
    }
    for each in making:
        if f"made {each.board}" in data:
            raise SpecError(f"games on {each.board} are to be made twice")
        data[f"made {each.board}"] = f"{each.games} games by {each.name}"
    known = read_labelled(labelled)
    if labelled:
        parts = (array for each in known for array in (each.table.grids, each.alive))
        data["labelled"] = fingerprint(*parts)
    scorer = BlockScorer(settings=settings)
    scorer.folds(games)  # rejects too few games before the folder is created
    with Run.open(folder, BlockScorer.kind, settings, data=data, resume=resume) as run:
        lessons = list(known)
        for each in making:
            path = folder / each.file
            if not path.is_file():
                records = make_games(each, settings.seed, workers=workers, tell=tell)
                if not records:
                    raise TengenError(f"none of {each.games} {each.board} games settled: make more")
                write_games(records, path)
            lessons += read_labelled([path])
        features = folder / "features.npz"
        if not features.is_file():
            describe_games(games, progress=lambda n: tell("features", n, len(games))).save(features)
        numbers = itertools.count(1)

        def note(row: dict[str, Any]) -> None:
            run.note(next(numbers), **row)
            on_round(row)

        scorer.fit(games, BlockTable.load(features), made=lessons, grown=bool(known), on_round=note)
        words = f"{len(games)} games of {sources or 'a collection'}; only their final scores "
        words += "were used"
        for lesson in known:
            words += f"; labels grown from {len(lesson.table)} games that mark their territory"
        for each, lesson in zip(making, lessons[len(known) :], strict=True):
            words += f"; {len(lesson.table)} games on {each.board} made by {each.name}, played out"
        scorer.save(folder / MODEL, data=words)
    return scorer


# ----- Self-made games -----

Grid = NDArray[np.int8]
_KOMI = 6.5
_RANDOM_PLIES = 2
_FIRST, _STRIDE = 0.55, 4  # share of a game before the first trial, and the plies between trials
_WIDEST_DAME = 3  # size of the largest area of dame: with more, a border is not closed yet
# Further playouts that must end like the game. The sides take turns to begin, with a komi that
# puts the beginner half a point behind: a side that is ahead anyway lets stones die.
_AGREE = 4
_ATTACKS = 4  # maximum attempts of each side to capture the other's remaining dead stones


def make_games(
    making: Making, seed: int, *, workers: int = 1, tell: Tell = lambda what, done, of: None
) -> list[GameRecord]:
    """Make games and return those that settled; each record names player and seed."""
    seeds = spawn_seeds(seed, making.games, f"made {making.board}")
    found = []
    made = map_jobs(partial(make_game, making), seeds, workers=workers, ordered=True)
    for number, record in enumerate(made, 1):
        if record is not None:
            found.append(record)
        tell(f"{making.board} games", number, making.games)
    return found


def make_game(making: Making, seed: int) -> GameRecord | None:
    """Play one game, cut it where it is settled, and count it; None if it never settles."""
    player = making.make()
    rng = np.random.default_rng(seed)
    board = play_random(Board(making.size, komi=_KOMI), _RANDOM_PLIES, rng)
    whole = _to_the_end(player, board, rng).moves
    last = _replayed(making.size, whole)
    owner = played_out(player, last, rng, over=True)
    for plies in range(int(_FIRST * len(whole)), len(whole) + 1, _STRIDE):
        board = _replayed(making.size, whole[:plies])
        dead = agreed_dead_stones(board.grid(), [owner])
        for number in range(_AGREE):
            if dead is None:
                break
            score = int((owner == BLACK).sum()) - int((owner == WHITE).sum())
            trial = _behind(board.grid(), score, (BLACK, WHITE)[number % 2])
            dead = agreed_dead_stones(board.grid(), [owner, played_out(player, trial, rng)])
        if dead is not None:
            return _record(board, dead, making.name, seed)
    return None


def _behind(grid: Grid, score: float, colour: int) -> Board:
    """Return the position with `colour` to move and half a point behind if it ends with `score`."""
    return Board.from_grid(grid, komi=score + (0.5 if colour == BLACK else -0.5), to_play=colour)


def agreed_dead_stones(grid: Grid, owners: Sequence[Grid]) -> BoolArray | None:
    """Return the dead stones if all owners agree on stones and territory (not dame), or None."""
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
    number = np.empty(grid.shape, np.int64)
    connect(np.where(dame, 0, -1).astype(np.int8), number)
    widest = np.bincount(number[dame], minlength=1).max()
    return None if (dead & dame).any() or widest > _WIDEST_DAME else dead


def played_out(
    player: Player, board: Board, rng: np.random.Generator, *, over: bool = False
) -> Grid:
    """Return the owner of every point when nothing more can be captured (EMPTY: neither side).

    After two passes (`over`: already made) each side in turn is put half a point behind, so
    that it captures what it can; the other may answer.
    """
    end = board if over else _to_the_end(player, board.copy(), rng)
    grid = end.grid()
    for colour in (BLACK, WHITE):
        sign = 1 if colour == BLACK else -1
        for _ in range(_ATTACKS):
            before = tromp_taylor(grid).score
            after = _to_the_end(player, _behind(grid, before, colour), rng).grid()
            if sign * (tromp_taylor(after).score - before) <= 0:
                break
            grid = after
    count = tromp_taylor(grid)
    owner = BLACK * count.points(BLACK) + WHITE * count.points(WHITE)
    return owner.astype(np.int8)


def _to_the_end(player: Player, board: Board, rng: np.random.Generator) -> Board:
    """Play on this board, in place, until two passes or three times as many plies as points."""
    return play_to_end(board, lambda b: max(player.choose(b, rng), PASS))


def _replayed(size: int, moves: Iterable[tuple[int, int]]) -> Board:
    board = Board(size, komi=_KOMI)
    for colour, point in moves:
        board.push(point, colour)
    return board


def _record(board: Board, dead: BoolArray, name: str, seed: int) -> GameRecord:
    """Return the game so far, two passes, its count under Japanese rules, TB and TW."""
    grid, turn = board.grid(), board.turn
    score = count_territory(grid, dead, komi=_KOMI, prisoners=board.prisoners).score
    record = GameRecord(
        rows=board.rows,
        cols=board.cols,
        moves=[*board.moves, (turn, PASS), (3 - turn, PASS)],
        komi=_KOMI,
        rules="japanese",
        result=Result("score", BLACK if score > 0 else WHITE, abs(score)),
    )
    nodes = record.tree.nodes
    nodes[0]["PB"] = nodes[0]["PW"] = [format_text(name)]
    nodes[0]["GC"] = [format_text(f"made by self-play, seed {seed}")]
    nodes[-1].update(territory_marks(count_territory(grid, dead, method="plain")))
    return record


def marked_dead(record: GameRecord, grid: Grid) -> BoolArray:
    """Return the stones inside enemy territory as marked in the record (TB, TW)."""
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
            rows = table.rows(game)
            dead_parts = table.parts[game][marked_dead(record, table.grids[game])]
            alive[rows] = ~np.isin(table.block[rows], dead_parts)
        found.append(LabelledBlocks(table, alive))
    return found


def write_games(records: Iterable[GameRecord], path: Path) -> None:
    """Write games to a file, atomically."""
    write_atomic(path, b"\n".join(record.utf8_sgf() for record in records) + b"\n")


def read_labelled(files: Sequence[str | Path]) -> list[LabelledBlocks]:
    """Read games that mark their territory, as `make_games` and many servers write them."""
    return label(record for file in files for record in read_games(file))
