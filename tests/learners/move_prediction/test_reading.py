"""Reading games to learn from: what is skipped, and where the moves are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prediction_games import tasteful_game

from tengen.board import parse_gtp
from tengen.errors import TengenError
from tengen.learners.move_prediction import training
from tengen.learners.move_prediction.training import (
    GAMES_PER_JOB,
    jobs_of,
    read_games,
    refuse_unsuitable,
)
from tengen.records.arrays import from_records
from tengen.records.corpus import replay_refusals, write_sgf
from tengen.records.record import GameRecord


@pytest.fixture
def mixed(tmp_path):
    """Write five good games, and one of each sort that cannot be used."""
    good = [tasteful_game(7, 7, 40, seed) for seed in range(5)]
    twice = tasteful_game(7, 7, 40, 5)
    twice.moves[20] = (twice.moves[20][0], twice.moves[19][1])
    handicap = tasteful_game(7, 7, 40, 6)
    handicap.setup = [(1, 8 + 1)]
    others = [twice, tasteful_game(9, 9, 40, 7), handicap, tasteful_game(7, 7, 9, 8)]
    path = tmp_path / "mixed.sgf"
    write_sgf([*good[:2], *others, *good[2:]], path)
    with open(path, "ab") as file:
        file.write(b"(;GM[1]SZ[7];B[aa];W[zz9];B[\n")
    return path, good


def test_what_cannot_be_used_is_skipped_and_counted(mixed) -> None:
    path, good = mixed
    games, skipped = read_games([str(path)], 7)
    assert [games.record(g).moves for g in range(len(games))] == [game.moves for game in good]
    assert (skipped.damaged, skipped.illegal, skipped.other_sizes) == (1, 1, 1)
    assert skipped.unsuitable == 2 and skipped.total == 5
    told = skipped.lines()
    assert len(told) == 4 and "mixed.sgf" in told[0]
    assert "skipped: 1 with illegal moves" in told


def test_no_game_left_is_an_error_that_says_why(mixed) -> None:
    path, _ = mixed
    with pytest.raises(TengenError, match=r"no games of size 13; skipped: 1 damaged.*9 of other"):
        read_games([str(path)], 13)


def test_moves_lie_on_disk_and_are_not_copied(mixed, monkeypatch) -> None:
    path, good = mixed
    whole, _ = read_games([str(path)], 7)
    assert isinstance(whole.moves.base, np.memmap) and isinstance(whole.colours.base, np.memmap)
    refuse_unsuitable(whole)
    monkeypatch.setattr(training, "MERGE", 1)
    again, _ = read_games([str(path), str(path)], 7)
    assert len(again) == 2 * len(good)
    assert np.array_equal(again.moves, np.tile(whole.moves, 2))
    assert np.array_equal(np.diff(again.offsets), np.tile(np.diff(whole.offsets), 2))


def test_jobs_hold_the_chosen_games_in_order(mixed) -> None:
    path, _ = mixed
    games, _ = read_games([str(path)], 7)
    which = np.tile(np.array([4, 0, 2]), GAMES_PER_JOB // 2)
    jobs = list(jobs_of(games, which))
    assert [len(job) for job in jobs] == [GAMES_PER_JOB, len(which) - GAMES_PER_JOB]
    asked = games.take(which)
    assert np.array_equal(np.concatenate([job.moves for job in jobs]), asked.moves)
    assert np.array_equal(np.concatenate([job.colours for job in jobs]), asked.colours)


@pytest.mark.parametrize(
    ("moves", "legal"),
    [
        ("B C3 W C4 B pass W B2", True),
        ("B C3 W C3", False),
        # Black A1 has no liberty after White's two stones: suicide.
        ("W A2 W B1 B A1", False),
        # Black takes a ko back at once, then after an exchange elsewhere.
        ("B B1 W C1 B A2 W D2 B B3 W C3 B C2 W B2 B C2", False),
        ("B B1 W C1 B A2 W D2 B B3 W C3 B C2 W B2 B E5 W E4 B C2", True),
    ],
)
def test_games_are_replayed_by_the_rules(moves: str, legal: bool) -> None:
    words = moves.split()
    listed = [
        (1 if colour == "B" else 2, parse_gtp(vertex, 5, 5))
        for colour, vertex in zip(words[::2], words[1::2], strict=True)
    ]
    # A good game behind it must not suffer from a bad one.
    games = from_records(
        [GameRecord(rows=5, cols=5, moves=listed), GameRecord(rows=5, cols=5, moves=listed[:1])]
    )
    assert replay_refusals(games).tolist() == [not legal, False]


def test_a_point_off_the_board_is_illegal() -> None:
    games = from_records([GameRecord(rows=5, cols=5, moves=[(1, "A1")])] * 3)
    games = replace(games, moves=np.array([6, 12, 40], games.moves.dtype))
    assert replay_refusals(games).all()
