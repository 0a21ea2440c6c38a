"""Counting games of a tournament."""

from __future__ import annotations

import csv
import json
import math
from io import StringIO
from pathlib import Path

import pytest

from tengen.arena import Database, placing, results_of
from tengen.arena.database import GameRow
from tengen.arena.ratings import PairScore
from tengen.arena.results import (
    MatchResult,
    Standing,
    export_results,
    pair_scores,
    results_value,
    standings_table,
)
from tengen.arena.runner import lend_players, run_tournament
from tengen.arena.tournament import Entrant, schedule
from tengen.board import PASS, Board
from tengen.errors import SpecError


def row(a: str, b: str, winner: str | None) -> GameRow:
    """Make a row of which only the players and the winner matter."""
    none = dict.fromkeys(GameRow.__dataclass_fields__, None)
    return GameRow(**{**none, "a": a, "b": b, "winner": winner})


def test_every_pairing_is_counted_from_the_first_players_side() -> None:
    rows = [row("x", "y", "x"), row("x", "y", "y"), row("x", "y", "x"), row("x", "z", None)]
    assert pair_scores(rows) == [PairScore("x", "y", 2, 1, 0), PairScore("x", "z", 0, 0, 1)]
    assert pair_scores([]) == []


class Passer:
    """Pass, always."""

    name = "passer"

    def __init__(self) -> None:
        self.asked = 0

    def choose(self, board: Board, rng: object) -> int:
        self.asked += 1
        return PASS


def test_a_standing_counts_time_over_its_own_plies() -> None:
    standing = Standing("a", wins=3, losses=1, draws=2, seconds=6.0, plies=4)
    assert (standing.games, standing.seconds_per_move) == (6, 1.5)
    assert standing.interval[0] < standing.rate == 4 / 6 < standing.interval[1]
    assert Standing("b").seconds_per_move == 0.0 and math.isnan(Standing("b").rate)


def test_a_match_tells_who_is_stronger_and_how_surely() -> None:
    rest = (0, 0, 0, (4, 5), (4, 5))
    match, even = (MatchResult("a", "b", 10, won, 10 - won, 0, *rest) for won in (8, 5))
    assert even.superiority == 0.5 < 0.9 < match.superiority < 1
    assert match.value()["superiority"] == match.superiority
    assert match.win_rate_a == 0.8


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
        table = list(csv.DictReader(StringIO(export_results(database, "csv"))))
        assert len(table) == 2 == export_results(database, "sgf").count("(;")
        assert len(json.loads(export_results(database, "json"))["games"]) == 2
        assert export_results(database, "html").startswith("<!")
        with pytest.raises(SpecError, match="csv, parquet, json"):
            export_results(database, "pdf")


def test_an_engine_is_there_or_not() -> None:
    specs = ("random", "gtp:sh -c true", "gtp:no-such-engine --fast", "gtp:")
    found = [placing.is_installed(Entrant(name="somebody", spec=spec)) for spec in specs]
    assert found == [True, True, False, False]


@pytest.mark.parametrize(
    ("elo", "rank"),
    [
        (-500, "30 kyu"),
        (1849, "9 kyu"),
        (1851, "8 kyu"),
        (2600, "1 kyu"),
        (2660, "1 dan"),
        (9000, "9 dan"),
    ],
)
def test_ranks(elo: float, rank: str) -> None:
    assert placing.rank_of(elo) == rank


@pytest.mark.parametrize(
    ("apart", "lines", "stones"), [(40, 19, 0), (-200, 19, 2), (5000, 19, 9), (600, 13, 3)]
)
def test_a_stone_is_worth_more_on_a_small_board(apart: float, lines: int, stones: int) -> None:
    found = placing.fair_handicap(1000, 1000 + apart, lines * lines)
    assert found == (stones, 0.5 if stones else None)


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    def entry(level: int, elo: float, size: str) -> dict[str, object]:
        interval = [elo - 50, elo + 50]
        name = f"tengen:level={level}"
        return {"player": name, "size": size, "elo": elo, "interval": interval, "games": 10}

    path = tmp_path / "ratings.json"
    rows = [entry(1, 500.0, "9x9"), entry(2, 1410.0, "9x9"), entry(2, 1300.0, "19x19")]
    path.write_text(json.dumps([*rows, {**entry(3, 1.0, "9x9"), "player": "static"}]))
    return path


def test_levels_that_were_rated(ratings: Path) -> None:
    found = placing.level_ratings("9x9", ratings)
    assert list(found) == [1, 2] and found[2]["rank"] == "13 kyu" and found[2]["games"] == 10
    assert found[1]["interval"] == [450.0, 550.0]
    assert placing.level_ratings("13x13", ratings) == {}


def test_advice_between_levels(ratings: Path) -> None:
    assert placing.advise(1, 2, 9, ratings) == (2, 0.5)
    with pytest.raises(SpecError, match="level 1 is not rated on 19x19"):
        placing.advise(1, 2, 19, ratings)
    with pytest.raises(SpecError, match="no level 77"):
        placing.advise(1, 77, 9, ratings)


def test_a_new_rating_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "ratings.json"
    assert placing.recorded(path) == []
    placing.record(placing.Placing("static", 100.0, (50.0, 150.0)), "9", 1, path)
    placing.record(placing.Placing("maxlib", 900.0, (850.0, 950.0)), "9", 1, path)
    placing.record(placing.Placing("static", 120.0, (60.0, 160.0)), "9", 2, path)
    placing.record(placing.Placing("static", 1.0, (0.0, 2.0)), "13", 2, path)
    found = [(e["size"], e["player"], e["elo"]) for e in placing.recorded(path)]
    assert found == [("13x13", "static", 1.0), ("9x9", "maxlib", 900.0), ("9x9", "static", 120.0)]
    path.write_text('[{"player": "x"}]')
    with pytest.raises(SpecError, match=r"ratings\.json"):
        placing.recorded(path)
