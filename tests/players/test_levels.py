"""The levels of `tengen`: each plays, by the same hand however it is asked, and none is missing."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import PASS, Board, format_gtp
from tengen.errors import SpecError
from tengen.library import load_network
from tengen.players import make_player
from tengen.players.mcts import MctsPlayer
from tengen.players.network_search import SearchPlayer
from tengen.players.simple import DrawingPlayer
from tengen.players.tengen import LEVELS, Level, TengenPlayer, find_level

DRAWING = [number for number, level in LEVELS.items() if not level.searches]
SEARCHING = [number for number, level in LEVELS.items() if level.searches]


def made(number: int) -> TengenPlayer:
    player = make_player(f"tengen:level={number}")
    assert isinstance(player, TengenPlayer)
    return player


def test_the_table_goes_from_chance_to_search() -> None:
    assert list(LEVELS) == list(range(1, len(LEVELS) + 1)) == DRAWING + SEARCHING
    assert len({level.about for level in LEVELS.values()}) == len(LEVELS)
    shares = [LEVELS[n].share for n in SEARCHING]
    assert shares == sorted(shares) and shares[-1] == 1.0
    for lines in (9, 19):
        drawn = [LEVELS[n].on(lines).temperature for n in DRAWING]
        assert drawn == sorted(set(drawn), reverse=True)
    with pytest.raises(SpecError, match="no level 99; there are 1 to"):
        find_level(99)


@pytest.mark.parametrize("number", DRAWING[::3])
def test_a_level_that_draws_plays_the_same_when_it_reports(number: int) -> None:
    board = Board(9, moves="B E5 W C3")
    move = made(number).choose(board, np.random.default_rng(4))
    *_, report = made(number).analyse(board, np.random.default_rng(4), limited=True)
    # GTP's genmove takes the report's choice: a weak level must not be strong there.
    assert report.choice == move and board.is_legal(move)


def walls(rules: str, *, komi: float = 7.5, without: str = "", intruder: bool = False) -> Board:
    """Return a finished 9x9 board: five columns are Black's, four White's, who has just passed."""
    board = Board(9, rules=rules, komi=komi)
    black = [f"{c}{r}" for c in "DE" for r in range(1, 10) if f"{c}{r}" != without]
    white = [f"{c}{r}" for c in "FG" for r in range(1, 10)] + ["B2"] * intruder
    black = ["pass"] * (len(white) - len(black)) + black + ["B5"]
    for own, other in zip(black, [*white, "pass"], strict=True):
        board.play(own)
        board.play(other)
    return board


@pytest.mark.parametrize("rules", ["cgos", "japanese"])
def test_a_level_that_draws_ends_a_game_that_the_enemy_holds_for_over(rules: str) -> None:
    number, rng = DRAWING[0], np.random.default_rng(5)
    assert made(number).choose(walls(rules), rng) == PASS
    filled = made(number).choose(walls(rules, komi=9.5, without="E5"), rng)
    assert format_gtp(filled, 9, 9) == ("E5" if rules == "cgos" else "pass")
    # What stands counts by area: a dead stone is captured, if that is needed to win.
    captures = made(number).choose(walls(rules, intruder=True), rng)
    assert (captures == PASS) == (rules == "japanese")


def test_a_large_board_has_a_way_of_its_own() -> None:
    level = Level(temperature=1.8, on_large=Level(temperature=1.4))
    assert [level.on(lines).temperature for lines in (9, 12, 13, 19)] == [1.8, 1.8, 1.4, 1.4]
    assert Level(temperature=0.5).on(19).temperature == 0.5
    assert made(7).drawing_player(Board(9)) is None
    for number, size in ((3, 9), (3, 13), (7, 13)):
        drawer, board = made(number).drawing_player(Board(size)), Board(size)
        wanted = LEVELS[number].on(size).temperature
        assert isinstance(drawer, DrawingPlayer) and drawer.temperature == wanted
    judged = load_network("tengen-judge").evaluate([board])[0]
    assert np.allclose(drawer.model.priors(board), judged.proposals)
    assert not np.allclose(judged.proposals, judged.priors, atol=0.01)


def test_levels_that_search_look_at_as_many_positions_as_they_say() -> None:
    board = Board(9)
    for number in SEARCHING:
        search, usual = made(number).search(board), make_player("tengen")
        assert isinstance(search, SearchPlayer) and isinstance(usual, TengenPlayer)
        full = usual.search(board)
        assert isinstance(full, SearchPlayer)
        assert search.visits == LEVELS[number].visits(full.visits)
    *_, report = made(SEARCHING[0]).analyse(board, np.random.default_rng(1), limited=True)
    assert report.visits == LEVELS[SEARCHING[0]].visits(full.visits) == 4
    assert [Level(share=0.05).visits(full) for full in (200, 64, 1)] == [10, 3, 2]


def test_a_weak_level_advises_at_full_strength_and_analyses_by_search() -> None:
    board, player = Board(9, moves="B E5"), made(1)
    assert player.adviser.level is None and player.adviser.visits is None
    first = next(player.analyse(board, np.random.default_rng(1), interval=0.0))
    assert first.visits < 100 and first.ownership is not None
    wanted = {board.point("C3")}
    assert player.only(wanted).choose(board, np.random.default_rng(1)) in wanted


def test_a_board_that_no_network_fits_has_levels_too() -> None:
    board, playouts = Board(4), []
    for number in LEVELS:
        search = made(number).search(board)
        assert isinstance(search, MctsPlayer)
        playouts.append(search.playouts)
    assert playouts == sorted(set(playouts)) and playouts[0] < 5
    assert board.is_legal(made(2).choose(board, np.random.default_rng(1)))
