"""Help players to finish a game: when to pass, what to capture first, when to resign.

A judge decides whether the game is over. Under area scoring all stones on
the board count (Tromp-Taylor), so a side that is ahead only without the enemy's dead stones
captures them first. Under territory scoring they come off by agreement.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, EMPTY, PASS, RESIGN, WHITE, Board, Point, playouts, point_at
from tengen.board.playouts import PlayoutResult
from tengen.board.tactics_kernels import is_own_eye
from tengen.contracts import Status, Verdict
from tengen.scoring.judging import (
    Judge,
    count_without,
    dead_stones,
    held_blocks,
    is_sound,
    with_certain,
)

_PLAYOUTS = 64  # playouts per estimate; about 5 ms on 9x9
_SETTLED = 0.8  # ownership beyond which a block counts as decided
_HOPELESS = 0.02  # win rate of playouts below which a player that may resign does


def estimate_by_playouts(board: Board, count: int = _PLAYOUTS) -> PlayoutResult:
    """Run playouts seeded by the position; unconditional life is certain in the ownership."""
    result = playouts(board, count, seed=board.hash >> 1, kind="heavy", threads=1)
    return replace(result, ownership=with_certain(board, result.ownership))


# ----- Whether the game is over -----


def can_pass_and_win(board: Board, judge: Judge) -> bool:
    """Return whether passing after the enemy's pass ends a game that is over, and wins it."""
    if board.last_move != PASS or not board.moves or board.moves[-1][0] == board.turn:
        return False
    score = score_as_it_stands(board)
    return (score > 0 if board.turn == BLACK else score < 0) and judge.is_over(board)


def score_as_it_stands(board: Board) -> float:
    """Return Black's score if the game were counted now: by area every stone is alive."""
    if board.rules.scoring == "area":
        return board.area_score()
    return count_without(board, dead_stones(board, estimate_by_playouts(board).ownership)).score


def is_ready_to_count(board: Board, judge: Judge) -> bool:
    """Return whether a game under territory rules is over, so that playing on would cost points."""
    if board.rules.scoring != "territory" or not is_late(board):
        return False
    return (board.last_move == PASS or not points_left(board)) and judge.is_over(board)


def is_late(board: Board) -> bool:
    """Return whether moves were played on at least a third of the points."""
    return len(board.moves) * 3 >= board.rows * board.cols


def points_left(board: Board) -> bool:
    """Return whether an empty point touches both colours, so that a stone there gains by area."""
    grid = np.pad(board.grid(), 1, constant_values=3)
    near = [grid[:-2, 1:-1], grid[2:, 1:-1], grid[1:-1, :-2], grid[1:-1, 2:]]
    touches = [np.any([n == colour for n in near], axis=0) for colour in (BLACK, WHITE)]
    return bool(((grid[1:-1, 1:-1] == EMPTY) & touches[0] & touches[1]).any())


def should_resign(board: Board) -> bool:
    """Return whether the side to move has next to no chance left, late in the game."""
    if not is_late(board):
        return False
    rate = estimate_by_playouts(board).win_rate
    return (rate if board.turn == BLACK else 1 - rate) < _HOPELESS


# ----- What to play -----


def adjust_at_game_end(board: Board, move: int, judge: Judge, *, resign: bool = False) -> Point:
    """Return `move`, or what suits the end of the game: a pass, a capture or a resignation.

    A player that wants to pass although it is behind as it stands captures dead stones first.
    """
    if can_pass_and_win(board, judge):
        return PASS
    if resign and should_resign(board):
        return RESIGN
    if move == PASS and board.rules.scoring == "area":
        score = board.area_score() * (1 if board.turn == BLACK else -1)
        return PASS if score > 0 else board.to_point(cleanup_move(board))
    return PASS if move != PASS and is_ready_to_count(board, judge) else board.to_point(move)


def cleanup_move(board: Board, ownership: FloatArray | None = None) -> int:
    """Return a sound move that closes in on dead enemy stones; PASS when there is none."""
    if ownership is None:
        ownership = estimate_by_playouts(board).ownership
    best, best_value = PASS, 0.0
    for block, held in held_blocks(board, ownership):
        if block.colour == board.turn or held > -_SETTLED:
            continue
        for point in block.liberties:
            value = len(block.stones) + 10.0 / len(block.liberties)
            if value > best_value and is_sound(board, point, board.turn):
                best, best_value = point, value
    return best


def finishing_move(board: Board, verdict: Verdict) -> Point:
    """Return what is left to play in a finished game: a capture of dead stones, or a pass."""
    score = board.area_score() * (1 if board.turn == BLACK else -1)
    if board.rules.scoring != "area" or score > 0:
        return PASS
    ownership = np.where(board.grid().ravel() == BLACK, 1.0, -1.0)
    count = count_without(board, verdict.stones(Status.DEAD))
    ownership[count.dead.ravel()] *= -1
    return board.to_point(cleanup_move(board, ownership))


def candidates(board: Board) -> list[int]:
    """List the legal points that fill no own eye of the side to move, in row-major order."""
    mask = board.legal_mask()[:-1]
    points = (point_at(int(i), board.rows, board.cols) for i in np.flatnonzero(mask))
    return [point for point in points if not is_own_eye(board.state, point, board.turn)]
