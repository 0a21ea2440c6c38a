"""The arena's smaller parts, each by its own name: verdicts, standings, handicaps, exports."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import get_args

import pytest

from tengen.arena import Database, results_of
from tengen.arena.config import Entrant
from tengen.arena.export import export_results, results_value, standings_table
from tengen.arena.game import PlayedGame, Reason, void_game
from tengen.arena.placing import is_installed
from tengen.arena.ranks import ELO_A_RANK, Handicap, fair_handicap
from tengen.arena.ratings import Sprt, SprtVerdict
from tengen.arena.results import MatchResult, Standing
from tengen.arena.runner import lend_players, run_tournament
from tengen.arena.schedule import schedule
from tengen.board import PASS, Board
from tengen.errors import EngineError, SpecError


class Passer:
    """Pass, always."""

    name = "passer"

    def __init__(self) -> None:
        self.asked = 0

    def choose(self, board: Board, rng: object) -> int:
        self.asked += 1
        return PASS


def test_a_sequential_test_stops_at_the_bound_it_crosses() -> None:
    test = Sprt(0, 100)
    low, high = test.bounds
    assert low < 0 < high and math.isclose(low, -high)
    won, lost = test.verdict([1.0] * 50), test.verdict([0.0] * 50)
    assert (won.answer, lost.answer) == ("elo1", "elo0")
    assert won.llr >= high > test.llr(won.games - 1, 0)
    assert test.verdict([1.0, 0.0]) == SprtVerdict("undecided", test.llr(1, 1), 2)


def test_a_standing_counts_time_over_its_own_plies() -> None:
    standing = Standing("a", wins=3, losses=1, draws=2, seconds=6.0, plies=4)
    assert (standing.games, standing.seconds_per_move) == (6, 1.5)
    assert standing.interval[0] < standing.rate == 4 / 6 < standing.interval[1]
    assert Standing("b").seconds_per_move == 0.0 and math.isnan(Standing("b").rate)


def test_a_match_tells_who_is_stronger_and_how_surely() -> None:
    rest = (0, 0, 0, 5, (4, 5), (4, 5))
    match, even = (MatchResult("a", "b", 10, won, 10 - won, 0, *rest) for won in (8, 5))
    assert even.superiority == 0.5 < 0.9 < match.superiority < 1
    assert match.value()["superiority"] == match.superiority
    assert match.win_rate_a == 0.8


def test_a_rank_is_a_stone_on_the_full_board() -> None:
    assert fair_handicap(1000, 1000 + 4 * ELO_A_RANK, 361) == Handicap(4, 0.5)
    assert fair_handicap(1000 + 40 * ELO_A_RANK, 1000, 361) == Handicap(9, 0.5)
    assert str(Handicap()) == "even" and str(Handicap(2, 0.5)) == "2 stones, komi 0.5"


def test_a_game_that_cannot_begin_is_void_by_the_fault_of_who_is_missing(job) -> None:
    game = void_game(job(), 2, EngineError("not there"))
    assert isinstance(game, PlayedGame) and game.is_void and game.moves == []
    assert game.reason == "failure" and game.reason in get_args(Reason)
    assert (game.fault, game.detail) == (job().white.name, "White, move 1: not there")


def test_lent_players_play_for_their_names_alone_and_only_then(tournament) -> None:
    plan = tournament(games=2)
    lent = {entrant.name: Passer() for entrant in plan.entrants}
    with Database.open(None, plan) as database, lend_players(lent):
        jobs = schedule(plan)[:2]
        summary = run_tournament(plan, database, jobs=jobs)
        assert (summary.played, summary.left) == (2, 0)
        assert sum(player.asked for player in lent.values()) >= 4
        assert run_tournament(plan, database, jobs=jobs).played == 0  # they are there
        results = results_of(database)
        value, (head, rows) = results_value(results), standings_table(results)
        assert value["games"] + value["duplicates"] == 2
        assert [row[0].rstrip("*") for row in rows] == [s["player"] for s in value["standings"]]
        assert all(len(row) == len(head) for row in rows)
        table = list(csv.DictReader(io.StringIO(export_results(database, "csv"))))
        assert len(table) == 2 == export_results(database, "sgf").count("(;")
        assert len(json.loads(export_results(database, "json"))["games"]) == 2
        assert export_results(database, "html").startswith("<!")
        with pytest.raises(SpecError, match="csv, json, html, sgf"):
            export_results(database, "pdf")


@pytest.mark.parametrize(
    ("spec", "there"),
    [
        ("random", True),
        ("gtp:sh -c true", True),
        ("gtp:no-such-engine --fast", False),
        ("gtp:", False),
    ],
)
def test_an_engine_is_there_or_not(spec: str, there: bool) -> None:
    assert is_installed(Entrant(name="somebody", spec=spec)) == there
