"""The index: against the slow reference, folded, damaged, of another version, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.board import PASS, Board
from tengen.board.coordinates import elements, point_permutation
from tengen.errors import TengenError
from tengen.explorer import (
    Openings,
    OpeningsError,
    build,
    cached_path,
    explore,
    index,
    open_index,
)
from tengen.explorer.kernels import ELSEWHERE
from tengen.models.store import pack, unpack
from tengen.records import GameRecord, loads
from tengen.records.reader import may_hold_games, stamp_of

sys.path.insert(0, str(Path(__file__).parent))
import slow_openings as reference
from slow_openings import make_games, sgf

PLIES = 30


@pytest.fixture
def made() -> list[GameRecord]:
    return make_games(25, 5, 5) + make_games(12, 4, 6, seed=2)


def index_of_games(records: list[GameRecord], folder: Path, **options: int) -> Openings:
    (folder / "games.sgf").write_bytes(sgf(records))
    return build([folder / "games.sgf"], folder / "games.openings", plies=PLIES, **options)


@pytest.mark.parametrize("least", [1, 2])
def test_it_holds_what_the_slow_reference_counts(
    made: list[GameRecord], tmp_path: Path, least: int
) -> None:
    openings = index_of_games(made, tmp_path, least=least)
    table = reference.count(made, PLIES)
    kept = {key: moves for key, moves in table.items() if moves.total() >= least}
    assert len(openings) == len(kept)
    assert any(moves.total() > 3 for moves in kept.values())
    compared = 0
    for record in made[::4]:
        board = Board(record.rows, record.cols, rules="japanese")
        for colour, move in record.moves[:PLIES]:
            board.turn = colour
            for corner in (None, 0, 1, 2, 3):
                _compare(openings, board, corner, kept)
                compared += 1
            board.play(move, colour)
    assert compared > 1000


def _compare(openings: Openings, board: Board, corner: int | None, table: dict) -> None:
    form, _ = reference.fold(board, None, corner)
    folded = index.fold(board, corner)
    found: dict[int, int] = {}
    for each in openings.continuations(folded):
        if each.move == ELSEWHERE:
            found[reference.ELSEWHERE] = each.count
            continue
        turned = {
            reference.fold(board, p, corner)[1] for p in index.unfold(board, folded, each.move)
        }
        assert len(turned) == 1
        found[turned.pop()] = each.count
    assert found == dict(table.get((form, corner is not None, board.rows, board.cols), {}))


@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(5, 5), (6, 6), (4, 7)]),
    element=st.integers(0, 7),
    swapped=st.booleans(),
)
@settings(max_examples=40)
def test_mirror_images_and_swapped_colours_are_one_position(
    seed: int, shape: tuple[int, int], element: int, swapped: bool
) -> None:
    turn = elements(*shape)[element % len(elements(*shape))]
    [game] = make_games(1, *shape, seed=seed, length=14)
    places = point_permutation(*shape, turn)
    first, second = Board(*shape, rules="japanese"), Board(*shape, rules="japanese")
    for colour, move in game.moves:
        assert index.fold(first).key == index.fold(second).key
        first.play(move, colour)
        image = first.point(move) if move == PASS else second.to_point(int(places[move]))
        second.play(image, 3 - colour if swapped else colour)
    a, b = index.fold(first), index.fold(second)
    assert a.key == b.key
    corner = index.geometry(*shape).corners[places[index.geometry(*shape).corners == 0][0]]
    assert index.fold(first, 0).key == index.fold(second, int(corner)).key
    other = first.copy()
    other.turn = 3 - other.turn
    stones = int((first.grid() != 0).sum())
    if stones % 2:  # as many of each colour could be the same position again
        assert index.fold(other).key != a.key


def test_results_follow_the_colours(tmp_path: Path) -> None:
    games = "(;SZ[9]RE[B+R]DT[2001-05];B[ee];W[cc])(;SZ[9]RE[B+R]DT[1999-12-31];W[ee];B[gc])"
    games += "(;SZ[9]RE[W+R];B[ee];W[dd])(;SZ[9];B[ee];W[cc])"
    (tmp_path / "g.sgf").write_text(games)
    openings = build([tmp_path / "g.sgf"], tmp_path / "g.openings")
    assert openings.about.without_result == 1
    answer = explore(openings, Board(9, moves="B E5"))
    assert [(m.count, m.wins_black, m.wins_white) for m in answer.moves] == [(3, 1, 1), (1, 0, 1)]
    top = answer.moves[0]
    assert (top.name, {str(point) for point in top.points}) == ("G7", {"G7", "C7", "G3", "C3"})
    assert (top.first, top.last) == ("1999-12-31", "2001-05")
    assert top.example == (str(tmp_path / "g.sgf"), 1)
    swapped = Board(9, to_play=2, moves="W E5")
    wins = [(m.wins_black, m.wins_white) for m in explore(openings, swapped).moves]
    assert wins == [(1, 1), (1, 0)]
    [start] = explore(openings, Board(9)).moves
    assert (start.count, start.wins_black, start.wins_white) == (4, 1, 2)


def test_bad_games_are_reported_and_the_good_ones_counted(tmp_path: Path) -> None:
    text = "(;SZ[9];B[ee];W[ee];B[cc])(;SZ[9];B[zz])(;SZ[9];B[ee];AE[ee];W[dd])"
    text += "(;SZ[9]AB[cc][gg];W[ee])(;SZ[13];B[gg])(;SZ[9];B[ee])"
    (tmp_path / "g.sgf").write_text(text)
    told: list[str] = []
    openings = build([tmp_path / "g.sgf"], tmp_path / "g.openings", on_fault=told.append)
    about = openings.about
    assert (about.games, about.left_out, about.sizes) == (4, 2, {"9x9": 3, "13x13": 1})
    assert any("game 1" in line and "move 2 is illegal" in line for line in told)
    assert any("game 2" in line and "zz" in line for line in told)
    assert any("game 3" in line and "by hand" in line for line in told)
    assert explore(openings, Board(9)).games == 2
    assert explore(openings, Board(13)).games == 1
    handicap = Board(9)
    handicap.set_stones(black=["C7", "G3"], white=[], to_play=2)
    assert [move.name for move in explore(openings, handicap).moves] == ["E5"]


def test_nothing_to_read_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "g.sgf").write_text("noise")
    with pytest.raises(TengenError, match="no SGF game"):
        build([tmp_path / "g.sgf"], tmp_path / "g.openings")
    assert not (tmp_path / "g.openings").exists()


def test_another_version_and_damage_are_refused_in_one_line(
    made: list[GameRecord], tmp_path: Path
) -> None:
    path = index_of_games(made, tmp_path).path
    whole = path.read_bytes()
    arrays, metadata = unpack(path)
    later = {**json.loads(metadata[index.METADATA]), "version": index.VERSION + 1, "news": 1}
    path.write_bytes(pack(arrays, {index.METADATA: json.dumps(later)}))
    with pytest.raises(OpeningsError, match=r"index of version 2.*rebuild"):
        open_index(path)
    for size in (0, 5, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(OpeningsError, match=str(path)):
            open_index(path)
    path.write_bytes(b"(;SZ[9];B[ee])" * 100)
    with pytest.raises(OpeningsError, match="not an index"):
        open_index(path)
    with pytest.raises(OpeningsError, match="not an index"):
        index.read_header(path)
    arrays["starts"] = arrays["starts"] + 10**9
    path.write_bytes(pack(arrays, {index.METADATA: metadata[index.METADATA]}))
    with pytest.raises(OpeningsError, match="damaged"):
        explore(open_index(path), Board(5))
    arrays["starts"] = arrays["starts"][:-1]
    path.write_bytes(pack(arrays, {index.METADATA: metadata[index.METADATA]}))
    with pytest.raises(OpeningsError, match="damaged"):
        open_index(path)


KILLED = """
import os, sys, time
from tengen.explorer import build
from tengen import files

def hang(*names):
    print("here", flush=True)
    time.sleep(600)

files.os.replace = hang
build([sys.argv[1]], sys.argv[2])
"""


def test_a_kill_leaves_the_old_index(made: list[GameRecord], tmp_path: Path) -> None:
    path = index_of_games(made[:5], tmp_path).path
    before = path.read_bytes()
    (tmp_path / "games.sgf").write_bytes(sgf(made))
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path / "games.sgf", path], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"here\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert path.read_bytes() == before
    assert open_index(path).about.games == 5
    for left in tmp_path.glob(".*.tmp"):
        os.utime(left, (0, 0))
    assert build([tmp_path / "games.sgf"], path, plies=PLIES).about.games == len(made)
    assert not list(tmp_path.glob(".*.tmp"))
    undisturbed = build([tmp_path / "games.sgf"], tmp_path / "other.openings", plies=PLIES)
    assert undisturbed.path.read_bytes() == path.read_bytes()


def test_moves_of_one_corner_are_needed() -> None:
    assert index.corner_of(Board(9)) == index.CORNERS.index("top right")
    with pytest.raises(TengenError, match="E5 is in no corner"):
        index.corner_of(Board(9, moves="B E5"))
    with pytest.raises(TengenError, match="several corners"):
        index.corner_of(Board(9, moves="B C3 W G7"))


def test_a_stamp_changes_with_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[9];B[ee])")
    before = stamp_of([str(tmp_path)])
    assert before == stamp_of([str(tmp_path)])
    (tmp_path / "b.sgf").write_text("(;SZ[9];B[ee])")
    after = stamp_of([str(tmp_path)])
    assert after != before
    (tmp_path / "c.openings").write_text("an index beside the games is none of them")
    assert not may_hold_games("c.openings")
    assert stamp_of([str(tmp_path)]) == after
    assert stamp_of(["-"]) == ""
    (tmp_path / "d.sgf").symlink_to(tmp_path / "nowhere.sgf")
    assert stamp_of([str(tmp_path)]) == after
    assert cached_path(["a"], 60) != cached_path(["a"], 61)


def test_dates_are_of_the_root_alone(tmp_path: Path) -> None:
    text = r"(;SZ[9]C[DT[1900-01-01\] ;DT[1901\]]DT[2004-05-06,07];B[ee]DT[1950])"
    text += "(;DT[once]SZ[9];B[cc])(;EDT[1800]DT[2010]SZ[9];B[dd])"
    (tmp_path / "g.sgf").write_text(text)
    assert len(loads(text)) == 3
    openings = build([tmp_path / "g.sgf"], tmp_path / "g.openings")
    moves = {move.name: move.first for move in explore(openings, Board(9)).moves}
    assert moves == {"E5": "2004-05-06", "G7": "", "F6": "2010"}
