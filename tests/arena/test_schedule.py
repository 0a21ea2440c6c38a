"""Schedules: pairs of games with colours changed, openings that differ, seeds that stay."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.arena.config import Conditions, Openings
from tengen.arena.openings import canonical, openings_of, random_openings, read_openings
from tengen.arena.schedule import schedule
from tengen.board import Board
from tengen.board.symmetry import elements, point_permutation
from tengen.errors import SpecError


def test_every_opening_is_played_with_both_colours(tournament) -> None:
    jobs = {job.key: job for job in schedule(tournament(games=6))}
    assert len(jobs) == 18
    for (a, b, number), job in jobs.items():
        twin = jobs[a, b, number ^ 1]
        assert job.opening == twin.opening
        assert (job.black, job.white) == (twin.white, twin.black)
        assert job.seed != twin.seed
        assert job.black.name == (a if number % 2 == 0 else b)


def test_more_games_and_players_leave_the_others_alone(tournament) -> None:
    few = {job.key: job for job in schedule(tournament(games=3))}
    newcomer = {"name": "new", "spec": "random"}
    entrants = [e.model_dump() for e in tournament().entrants]
    many = {job.key: job for job in schedule(tournament(games=8, entrants=[newcomer, *entrants]))}
    assert all(many[key] == job for key, job in few.items())


def test_another_seed_gives_other_games(tournament) -> None:
    first, second = schedule(tournament()), schedule(tournament(seed=6))
    assert not {job.seed for job in first} & {job.seed for job in second}
    assert [job.opening for job in first] != [job.opening for job in second]


def test_rounds_keep_pairings_level(tournament) -> None:
    keys = [job.key for job in schedule(tournament(games=4))]
    assert {number for _, _, number in keys[:6]} == {0, 1}


def test_random_openings_differ_even_when_turned() -> None:
    found = random_openings(2, Conditions(rows=5, cols=5), count=40, seed=1)
    pictures = set()
    for opening in found:
        board = Board(5)
        for point in opening:
            board.play(board.answer(point))
        pictures.add(canonical(board))
    assert len(pictures) == 40


def test_small_boards_repeat_openings_rather_than_hang() -> None:
    assert len(random_openings(1, Conditions(rows=2, cols=2), count=10, seed=0)) == 10
    assert random_openings(0, Conditions(), count=2, seed=0) == [(), ()]


@pytest.mark.parametrize("shape", [(5, 5), (4, 6)])
def test_canonical_picture_is_the_same_for_all_symmetries(shape) -> None:
    rng = np.random.default_rng(3)
    points = [tuple(map(int, rng.integers(0, shape))) for _ in range(5)]
    base = Board(*shape)
    moves = list(dict.fromkeys((r + 1) * (shape[1] + 1) + c + 1 for r, c in points))
    for point in moves:
        base.play(base.answer(point))
    for element in elements(*shape):
        turned = Board(*shape)
        for point in moves:
            turned.play(turned.answer(point_permutation(*shape, element)[point]))
        assert canonical(turned) == canonical(base)


def test_openings_from_a_file(tmp_path) -> None:
    path = tmp_path / "openings.sgf"
    path.write_text(
        "(;SZ[5];B[aa];W[bb];B[cc])(;SZ[5];B[ee];W[dd];B[ca])"  # the same, turned
        "(;SZ[5];B[ab];W[bb];B[cc])(;SZ[9];B[ac];W[bb])(;SZ[5];B[aa])(;SZ[5]AB[aa];W[bb];B[cc])"
    )
    conditions = Conditions(rows=5, cols=5)
    assert len(read_openings(str(path), 2, conditions)) == 2
    listed = openings_of(Openings(plies=2, file=str(path)), conditions, count=5, seed=1)
    assert len(listed) == 5
    assert len(set(listed)) == 2
    with pytest.raises(SpecError, match="no opening of 9 plies"):
        read_openings(str(path), 9, conditions)
