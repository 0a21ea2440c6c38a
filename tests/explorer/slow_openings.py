"""Random games, and what an index of them must hold: whole grids as keys, every symmetry tried."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from tengen.board import PASS, Board
from tengen.board.coordinates import elements, transform
from tengen.records import GameRecord, Result

Form = tuple[int, ...]
ELSEWHERE = -1


def fold(board: Board, move: int | None, corner: int | None) -> tuple[Form, int]:
    """Return the least form of what the side to move sees, and the move turned alike."""
    rows, cols = board.rows, board.cols
    grid = board.grid()
    seen = np.where(grid == 0, 0, np.where(grid == board.turn, 1, 2))
    place = np.zeros((rows, cols), int)
    if move:
        place[board.point(move).row, board.point(move).col] = 1
    inside = np.ones((rows, cols), bool)
    if corner is not None:
        inside = corner_mask(rows, cols, corner)
    found = []
    for element in elements(rows, cols):
        if corner is None or transform(inside, element)[0, 0]:
            form = tuple(transform(np.where(inside, seen, 0), element).ravel().tolist())
            turned = transform(place, element).ravel()
            found.append((form, int(turned.argmax()) if move else rows * cols))
    return min(found)


def corner_mask(rows: int, cols: int, corner: int) -> np.ndarray:
    mask = np.zeros((rows, cols), bool)
    down, right = divmod(corner, 2)
    half, side = rows // 2, cols // 2
    mask[rows - half if down else 0 : rows if down else half][
        :, cols - side if right else 0 : cols if right else side
    ] = True
    return mask


def corner_at(board: Board, move: int) -> int | None:
    if move == PASS:
        return None
    point = board.point(move)
    for corner in range(4):
        if corner_mask(board.rows, board.cols, corner)[point.row, point.col]:
            return corner
    return None


def count(
    records: Iterable[GameRecord], plies: int
) -> dict[tuple[Form, bool, int, int], Counter[int]]:
    """Count next moves by position: (form, in a corner or not, rows, columns) -> moves."""
    table: dict[tuple[Form, bool, int, int], Counter[int]] = defaultdict(Counter)
    for record in records:
        shape = (record.rows, record.cols)
        board = Board(*shape, rules="japanese")
        seen = set()
        before = None
        for colour, move in record.moves[:plies]:
            board.turn = colour
            form, turned = fold(board, move, None)
            if form not in seen:
                table[form, False, *shape][turned] += 1
            seen.add(form)
            here = corner_at(board, move)
            if before is not None and before != here:
                form, _ = fold(board, None, before)
                if any(form) and (form, before) not in seen:
                    table[form, True, *shape][ELSEWHERE] += 1
                seen.add((form, before))
            if here is not None:
                form, turned = fold(board, move, here)
                if (form, here, "played") not in seen:
                    table[form, True, *shape][turned] += 1
                seen.add((form, here, "played"))
            board.play(move, colour)
            before = here
    return table


def make_games(
    count: int, rows: int, cols: int, *, seed: int = 1, length: int = 40
) -> list[GameRecord]:
    """Return random games near a few first moves, so that many of them meet; some pass."""
    rng = np.random.default_rng(seed)
    games = []
    for number in range(count):
        board = Board(rows, cols, rules="japanese")
        while len(board.moves) < length:
            moves = list(board.legal_moves)
            early = len(board.moves) < 3
            board.play(moves[int(rng.integers(min(4, len(moves)) if early else len(moves)))])
        winner = number % 3
        result = Result("resign", winner) if winner else Result()
        games.append(GameRecord(rows, cols, moves=list(board.moves), result=result))
    return games


def sgf(records: list[GameRecord]) -> bytes:
    return b"\n".join(record.sgf() for record in records)
