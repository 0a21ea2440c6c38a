"""Schedules: pairs of games with colours changed, openings that differ, seeds that stay."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.arena import load_tournament, pairings, schedule
from tengen.arena.match import match_tournament, parse_board_size, parse_sprt
from tengen.arena.placing import LADDERS
from tengen.arena.tournament import (
    Conditions,
    OpeningSettings,
    canonical,
    openings_of,
    random_openings,
    read_openings,
)
from tengen.board import Board
from tengen.board.coordinates import elements, point_permutation
from tengen.errors import SpecError
from tengen.players import parse_spec


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


def test_rounds_keep_pairings_level(tournament) -> None:
    keys = [job.key for job in schedule(tournament(games=4))]
    assert {number for _, _, number in keys[:6]} == {0, 1}


def test_random_openings_differ_even_when_turned() -> None:
    found = random_openings(2, Conditions(rows=5, cols=5), count=40, seed=1)
    pictures = set()
    for opening in found:
        board = Board(5)
        for point in opening:
            board.play(board.to_point(point))
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
        base.play(base.to_point(point))
    for element in elements(*shape):
        turned = Board(*shape)
        for point in moves:
            turned.play(turned.to_point(point_permutation(*shape, element)[point]))
        assert canonical(turned) == canonical(base)


def test_openings_from_a_file(tmp_path) -> None:
    path = tmp_path / "openings.sgf"
    path.write_text(
        "(;SZ[5];B[aa];W[bb];B[cc])(;SZ[5];B[ee];W[dd];B[ca])"  # the same, turned
        "(;SZ[5];B[ab];W[bb];B[cc])(;SZ[9];B[ac];W[bb])(;SZ[5];B[aa])(;SZ[5]AB[aa];W[bb];B[cc])"
    )
    conditions = Conditions(rows=5, cols=5)
    assert len(read_openings(str(path), 2, conditions)) == 2
    listed = openings_of(OpeningSettings(plies=2, file=str(path)), conditions, count=5, seed=1)
    assert len(listed) == 5
    assert len(set(listed)) == 2
    with pytest.raises(SpecError, match="no opening of 9 plies"):
        read_openings(str(path), 9, conditions)


GOOD = """
kind = "gauntlet"
games = 3
size = [5, 7]
komi = 0.5
openings = 2
seed = 9
challengers = ["new"]
[players.new]
spec = "maxlib"
[players.old]
spec = "random"
elo = 100
[players.older]
spec = "random"
"""


def test_gauntlet_is_read(tmp_path) -> None:
    path = tmp_path / "g.toml"
    path.write_text(GOOD)
    found = load_tournament(path)
    assert (found.conditions.rows, found.conditions.cols, found.conditions.komi) == (5, 7, 0.5)
    assert found.anchors == {"old": 100}
    assert pairings(found) == [("new", "old"), ("new", "older")]
    assert len(schedule(found)) == 6


def test_pairs_are_all_there_is(tmp_path) -> None:
    path = tmp_path / "p.toml"
    listed = 'pairs = [["old", "new"], ["new", "old"], ["older", "old"]]'
    text = GOOD.replace('"gauntlet"', '"pairs"')
    path.write_text(text.replace('challengers = ["new"]', listed))
    assert pairings(load_tournament(path)) == [("old", "new"), ("older", "old")]
    path.write_text(text.replace('challengers = ["new"]', ""))
    with pytest.raises(SpecError, match="needs `pairs`"):
        load_tournament(path)


@pytest.mark.parametrize(
    ("line", "wrong", "message"),
    [
        ("games = 3", "games = 0", "games: Input should be greater than or equal to 1"),
        ("games = 3", "game = 3", "game: no such setting"),
        ("seed = 9", "seed = 'x'", "seed"),
        ("komi = 0.5", "komi = nan", "conditions.komi"),
        ("size = [5, 7]", "size = 30", "conditions.rows"),
        ("size = [5, 7]", "size = [5, 7, 9]", "size"),
        ("size = [5, 7]", "size = 'big'", "conditions.rows"),
        ('kind = "gauntlet"', 'kind = "knockout"', "kind"),
        ('challengers = ["new"]', "challengers = ['x']", "no player is called 'x'"),
        ('challengers = ["new"]', "", "needs `challengers`"),
        ('spec = "maxlib"', "", "entrants.0.spec"),
        ('spec = "maxlib"', 'spec = "maxlib"\ncolour = 1', "entrants.0.colour: no such setting"),
        ("komi = 0.5", 'rules = "chess"', "chess"),
        ("komi = 0.5", 'judge = "me"', "judge"),
        ("komi = 0.5", "conditions = {komi = 0.5}", "conditions: no such setting"),
        ("games = 3", "entrants = 3", "entrants: no such setting"),
        ("[players.new]", "players =", "not TOML"),
        (GOOD[GOOD.index("[players") :], "", "no players"),
    ],
)
def test_mistakes_are_named(tmp_path, line, wrong, message) -> None:
    path = tmp_path / "g.toml"
    path.write_text(GOOD.replace(line, wrong))
    with pytest.raises(SpecError) as caught:
        load_tournament(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", ["9x9", "13x13", "19x19"])
def test_shipped_ladders_make_sense(size) -> None:
    ladder = load_tournament(LADDERS / f"{size}.toml")
    assert ladder.anchors == {"gnugo-10": 1800}
    met = {name for pair in pairings(ladder) for name in pair}
    assert met == {entrant.name for entrant in ladder.entrants} >= {"random", "gnugo-0"}
    for entrant in ladder.entrants:
        parse_spec(entrant.spec)


def test_ladder_plays_neighbours(tournament) -> None:
    names = ["random", "maxlib", "stone"]
    assert pairings(tournament(kind="ladder")) == [tuple(names[:2]), tuple(names[1:])]
    assert len(pairings(tournament(kind="ladder", reach=2))) == 3
    extra = tournament(kind="ladder", pairs=[["stone", "random"], ["maxlib", "random"]])
    assert pairings(extra)[2:] == [("stone", "random")]


def test_match_of_a_player_with_itself_has_two_names() -> None:
    names = [entrant.name for entrant in match_tournament("random", "random").entrants]
    assert names == ["random", "random (2)"]


def test_match_settings_are_checked() -> None:
    for options in ({"size": "big"}, {"openings": "no/such/file.sgf"}):
        with pytest.raises(SpecError):
            match_tournament("random", "maxlib", **options)
    with pytest.raises(SpecError, match="no player"):
        match_tournament("random", "rondam")
    assert parse_board_size("7") == (7, 7) and parse_board_size("9x13") == (9, 13)
    assert parse_sprt("0,50").elo1 == 50
    for text in ("50", "50,0", "a,b", "0,1e999", "-1e999,0"):
        with pytest.raises(SpecError):
            parse_sprt(text)
