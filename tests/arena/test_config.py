"""Tournaments from TOML: what is right is read, what is wrong is named with its place."""

from __future__ import annotations

import pytest

from tengen.arena import load_tournament, pairings, schedule
from tengen.arena.match import match_settings, parse_board_size, parse_sprt
from tengen.arena.placing import LADDERS
from tengen.errors import SpecError
from tengen.players import parse_spec

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


def test_no_players() -> None:
    with pytest.raises(SpecError, match="no players"):
        from tengen.arena import parse_tournament

        parse_tournament({"games": 3})


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
    names = [e["name"] for e in match_settings("random", "random")["entrants"]]
    assert names == ["random", "random (2)"]


def test_match_settings_are_checked() -> None:
    for options in ({"size": "big"}, {"openings": "no/such/file.sgf"}):
        with pytest.raises(SpecError):
            match_settings("random", "maxlib", **options)
    with pytest.raises(SpecError, match="no player"):
        match_settings("random", "rondam")
    assert parse_board_size("7") == (7, 7)
    assert parse_sprt("0,50").elo1 == 50
    for text in ("50", "50,0", "a,b"):
        with pytest.raises(SpecError):
            parse_sprt(text)
