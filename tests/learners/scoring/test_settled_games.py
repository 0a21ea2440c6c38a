"""Games of our own with known dead stones, and training that learns from them."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

from tengen.board import Board
from tengen.errors import TengenError
from tengen.learners.scoring.settled_games import (
    Job,
    fates,
    label,
    make_game,
    marked_dead,
    played_out,
    read_labelled,
)
from tengen.players import make_player
from tengen.records import read_games
from tengen.records.record import board_at

PLAYER = "mcts:playouts=30,resign=0"

# One white stone in Black's corner; a dame in the middle of the bottom row.
FINISHED = """
. . X O . .
. O X O . .
. . X O . .
X X X O O .
. X . O . .
. X X O . .
"""


def owners(dame, stone=1):
    grid = Board.from_ascii(FINISHED).grid()
    owner = np.where(np.arange(6)[None, :] < 3, 1, 2) * np.ones((6, 1))
    owner[4, 2] = dame
    owner[1, 1] = stone
    return grid, owner.astype(np.int8)


def test_fates_are_known_when_all_ends_agree_but_for_dame():
    grid, one = owners(dame=1)
    _, other = owners(dame=2)
    dead = fates(grid, [one, other])
    assert dead is not None
    assert [tuple(int(i) for i in at) for at in np.argwhere(dead)] == [(1, 1)]


def test_fates_are_not_known_when_a_stone_or_territory_changes_hands():
    grid, one = owners(dame=1)
    _, other = owners(dame=1, stone=2)
    assert fates(grid, [one, other]) is None
    lost = one.copy()
    lost[0, 0] = 2
    assert fates(grid, [one, lost]) is None
    # A border that nobody has closed is no dame.
    grid[3:, 2] = 0
    grid[3:, 3] = 0
    assert fates(grid, [one]) is None
    grid, one = owners(dame=1)
    nobody = one.copy()
    nobody[1, 1] = 0
    assert fates(grid, [nobody]) is None


def test_playing_on_takes_dead_stones_although_the_game_is_won_anyway():
    # Black is far ahead with every stone alive and might as well pass.
    board = Board.from_ascii("X X X X X X\nX . X . X .\nX X X X X X\n. . . . X O\nX X X X X .")
    owner = played_out(make_player(PLAYER), board, np.random.default_rng(1), over=True)
    assert (owner == 1).all()


@pytest.fixture(scope="module")
def made():
    jobs = [Job(partial(make_player, PLAYER), PLAYER, 5, seed) for seed in range(6)]
    records = [record for job in jobs if (record := make_game(job)) is not None]
    assert len(records) >= 3
    return records


def test_made_games_carry_the_score_their_dead_stones_give(made, tmp_path):
    file = tmp_path / "made.sgf"
    file.write_bytes(b"\n".join(record.utf8_sgf() for record in made))
    [labelled] = read_labelled([file])
    assert len(labelled.table) == len(made)
    assert labelled.table.exact(labelled.alive).all()
    for record in read_games(file):
        assert record.properties["PB"] == [PLAYER]
        assert "seed" in record.properties["GC"][0]
        dead = marked_dead(record, board_at(record).grid())
        assert not (dead & (board_at(record).grid() == 0)).any()


def test_some_of_the_labelled_games_can_be_taken(made):
    [labelled] = label(made)
    some = labelled.take(np.array([0, 2]))
    assert len(some.table) == 2 and len(some.alive) == len(some.table.block)
    assert some.table.exact(some.alive).all()
    np.testing.assert_array_equal(some.table.grids[1], labelled.table.grids[2])
    assert some.table.bond.max() < 2 * some.table.grids[0].size


def test_games_without_marks_are_refused(tmp_path):
    file = tmp_path / "plain.sgf"
    file.write_text("(;GM[1]SZ[5]RE[B+1.5];B[cc];W[];B[])")
    with pytest.raises(TengenError, match=r"plain\.sgf, game 1: marks no territory"):
        read_labelled([file])


def run(*words):
    from tengen.cli.papers import app

    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_makes_the_same_games_again(tmp_path):
    words = ("train-scoring", "--made", "5:3", "--made-only", "--player", PLAYER)
    words += ("--seed", 4, "--json")
    texts = []
    for name in ("a", "b"):
        done = run(*words, "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        [made] = json.loads(done.stdout)
        assert made["played"] == 3
        texts.append((tmp_path / name / "made-5x5.sgf").read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("made", ["9", "4:10", "9:0", "x:3", "21:5"])
def test_a_wrong_number_of_games_is_told(made, tmp_path):
    done = run("train-scoring", tmp_path / "none.sgf", "--made", made)
    assert isinstance(done.exception, TengenError)
    assert "SIZE:GAMES" in str(done.exception)
