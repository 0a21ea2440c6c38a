"""Make finished games whose dead stones are known, by playing positions out to the end.

Search by playouts plays against itself; the game is cut where everything is settled: whoever moves
first from there, every point ends up with the same owner. People would stop and count about there.
The true fate of a stone is who owns its point at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, PASS, WHITE, Board, point_of
from tengen.board.counting import count_territory, tromp_taylor
from tengen.contracts import Player
from tengen.parallel import map_jobs, spawn_seeds
from tengen.records import GameRecord, Result

KOMI = 6.5
PLAYER = "mcts:playouts=60,resign=0"
FIRST, STRIDE = 0.6, 5
"""Share of a game before which nothing is tried, and the plies between trials."""


@dataclass(frozen=True)
class Job:
    """One game to make."""

    seed: int
    size: int
    random_plies: int = 2


def make_games(
    count: int,
    size: int,
    seed: int,
    *,
    workers: int = 1,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> list[GameRecord]:
    """Return games with counted results; a few may be missing because they never settled."""
    jobs = [Job(s, size) for s in spawn_seeds(seed, count, "finished games")]
    found: list[GameRecord] = []
    for number, moves in enumerate(map_jobs(make_game, jobs, workers=workers, ordered=True)):
        if moves is not None:
            found.append(moves)
        tell(number + 1, count)
    return found


def make_game(job: Job) -> GameRecord | None:
    """Play one game, cut it where it is settled, and count it; None if that never happens."""
    from tengen.players import make_player

    player = make_player(PLAYER)
    rng = np.random.default_rng(job.seed)
    board = Board(job.size, komi=KOMI)
    for _ in range(job.random_plies):
        index = int(rng.choice(np.flatnonzero(board.legal_mask()[:-1])))
        board.push(point_of(index // job.size, index % job.size, job.size))
    whole = _to_the_end(player, board, rng).moves
    for plies in range(int(FIRST * len(whole)), len(whole), STRIDE):
        board = Board(job.size, komi=KOMI)
        for colour, point in whole[:plies]:
            board.push(point, colour)
        dead = settled(player, board, rng)
        if dead is not None:
            return _record(board, dead)
    return None


def settled(player: Player, board: Board, rng: np.random.Generator) -> NDArray[np.bool_] | None:
    """Return the dead stones if every point has the same owner whoever moves first, else None."""
    grid = board.grid()
    owners = []
    for turn in (BLACK, WHITE):
        copy = board.copy()
        copy.turn = turn
        count = tromp_taylor(_to_the_end(player, copy, rng).grid())
        owners.append(BLACK * count.points(BLACK) + WHITE * count.points(WHITE))
    if (owners[0] != owners[1]).any() or (owners[0] == 0).any():
        return None
    return np.asarray((grid > 0) & (owners[0] != grid))


def _to_the_end(player: Player, board: Board, rng: np.random.Generator) -> Board:
    limit = 3 * board.rows * board.cols
    while not board.is_over and len(board.moves) < limit:
        board.push(player.choose(board, rng))
    return board


def _record(board: Board, dead: NDArray[np.bool_]) -> GameRecord:
    """Return the game so far, two passes, and its count under Japanese rules."""
    count = count_territory(board.grid(), dead, komi=board.komi, prisoners=board.prisoners)
    winner = BLACK if count.score > 0 else WHITE
    turn = board.turn
    return GameRecord(
        rows=board.rows,
        cols=board.cols,
        moves=[*board.moves, (turn, PASS), (3 - turn, PASS)],
        komi=board.komi,
        rules="japanese",
        result=Result("score", winner, abs(count.score)),
    )
