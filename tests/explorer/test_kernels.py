"""The explorer's kernels and tables, called as `building` calls them."""

from __future__ import annotations

import numpy as np

from tengen.board import Board
from tengen.explorer import kernels as k
from tengen.explorer.answers import OPINIONS, NextMove
from tengen.explorer.geometry import Geometry, geometry
from tengen.explorer.index import SUFFIX, cached_path
from tengen.records import GameRecord
from tengen.records.arrays import from_records


def trace(moves: str, plies: int = 9) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the keys and notes of one game on 5x5, and the first move that was refused."""
    board = Board(5, moves=moves)
    games = from_records([GameRecord(rows=5, cols=5, moves=board.moves)])
    tables = geometry(5, 5)
    keys, notes = np.empty(99, np.int64), np.empty(99, np.int64)
    refused = np.empty(1, np.int64)
    count = k.trace_games(
        games.moves, games.colours, games.offsets, games.winner, games.setup,
        games.setup_colours, games.setup_offsets, np.array([5, 5]), tables.turned, tables.corners,
        tables.into, tables.salts, 0, plies, keys, notes, refused,
    )  # fmt: skip
    return keys[:count], notes[:count], int(refused[0])


def test_a_turned_game_has_the_same_keys() -> None:
    keys, notes, refused = trace("B B4 W D2 B C3")
    again, its_notes, _ = trace("B B2 W D4 B C3")  # upside down
    assert refused == -1 and keys.tolist() == again.tolist()
    assert (notes & 1023).tolist() == (its_notes & 1023).tolist()  # the moves, turned alike
    other, _, _ = trace("B B3 W D2 B C3")
    assert set(other.tolist()) != set(keys.tolist())
    assert len(trace("B B4 W D2 B C3", plies=1)[0]) < len(keys)


def test_symmetries_go_there_and_back_and_corners_are_quarters() -> None:
    tables = geometry(5, 5)
    assert isinstance(tables, Geometry) and len(tables.turned) == 8
    points = np.array([int(Board(5).point((r, c))) for r in range(5) for c in range(5)])
    for there, back in zip(tables.turned, tables.back, strict=True):
        assert (back[there[points]] == points).all()
    inside = [int(Board(5).point(name)) for name in ("B4", "D4", "B2", "D2", "C3")]
    assert tables.corners[inside].tolist() == [0, 1, 2, 3, k.NOWHERE]


def test_notes_of_a_position_are_summed_up_by_move() -> None:
    keys, notes, _ = trace("B B4 W D2")
    order = np.argsort(keys, kind="stable")
    found, starts = np.empty(len(keys) + 1, np.int64), np.empty(len(keys) + 1, np.int64)
    rows = np.empty((len(keys), k.COLUMNS), np.int64)
    dates = np.array([19990102], np.int32)
    positions, lines = k.count_moves(keys, notes, order, dates, 1, found, starts, rows)
    assert positions == len(set(keys.tolist())) and lines >= positions
    for row in rows[:lines]:
        assert row[k.COUNT] >= 1 and row[k.EXAMPLE] == 0
        assert row[k.WINS] == row[k.LOSSES] == 0  # nobody won
        assert row[k.FIRST_DATE] == row[k.LAST_DATE] == 19990102
        assert 0 < row[k.MOVE] <= k.ELSEWHERE
    none, _ = k.count_moves(keys, notes, order, dates, 3, found, starts, rows)
    assert none == 0


def test_the_root_tells_the_date_and_later_nodes_do_not() -> None:
    games = [
        b"(;GM[1]DT[2003-06-01]SZ[9];B[aa])",
        b"(;C[DT[\\]1999]SZ[9];DT[2001])",
        b"(;DT[1780])",
    ]
    data = b"".join(games)
    ends = np.cumsum([len(game) for game in games])
    spans = np.stack([ends - [len(game) for game in games], ends], axis=1)
    dates = np.empty(3, np.int32)
    k.read_dates(np.frombuffer(data, np.uint8), spans, dates)
    assert dates.tolist() == [20030601, 0, 17800000]


def test_an_index_nobody_named_is_kept_under_its_games_and_depth() -> None:
    here, deeper = cached_path(["a.sgf"], 9), cached_path(["a.sgf"], 10)
    assert here.name.endswith(SUFFIX) and here != deeper and here == cached_path(["a.sgf"], 9)


def test_a_move_has_a_place_for_every_opinion() -> None:
    move = NextMove((Board(5).point("C3"),), 3, 0.5, 1, 1, "", "", ("a.sgf", 1), {OPINIONS[0]: 0.5})
    told = move.to_dict()
    assert told[OPINIONS[0]] == 0.5 and all(told[name] is None for name in OPINIONS[1:])
    assert move.win_rate_black == 0.5
