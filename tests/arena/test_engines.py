"""Real engines that misbehave in a match: who is blamed, what is played again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.arena import Database, parse_tournament, run_tournament
from tengen.board import Board
from tengen.errors import EngineError
from tengen.players import make_player

TOY = f"gtp:{sys.executable} -S {Path(__file__).with_name('toy_engine.py')}"


def match(option: str, **settings: Any) -> Any:
    """Return a match of a toy engine with this option against random moves."""
    players = {"bad": {"spec": f"{TOY} {option}"}, "good": {"spec": "random"}}
    return parse_tournament({"games": 2, "size": 5, **settings, "players": players})


def test_engines_get_their_seed_and_are_kept_between_games() -> None:
    games = []
    for seed in (1, 1, 2):
        tournament = match("", games=4, seed=seed, openings=0)
        with Database.open(None, tournament) as database:
            run_tournament(tournament, database)
            games.append([row.moves for row in database.games()])
            assert {json.loads(row.versions)["bad"] for row in database.games()} == {"Toy 0.7"}
    assert games[0] == games[1] != games[2]
    assert len(set(games[0])) == 4


@pytest.mark.parametrize(
    ("option", "seconds", "reason", "kind"),
    [
        ("--illegal-at 3", 60, "illegal", "F"),
        ("--nonsense-at 3", 60, "answer", "F"),
        ("--hang-at 3", 3, "time", "T"),
    ],
)
def test_engines_that_misbehave_lose(option, seconds, reason, kind) -> None:
    # Who is good does not lose by the time that its kernels take to load.
    make_player("random").choose(Board(5), np.random.default_rng(0))
    tournament = match(option, move_seconds=seconds)
    with Database.open(None, tournament) as database:
        run_tournament(tournament, database)
        games = database.games()
    assert [row.reason for row in games] == [reason] * 2
    assert [row.result for row in games] == [f"W+{kind}", f"B+{kind}"]
    assert [row.winner for row in games] == ["good"] * 2
    assert [row.fault for row in games] == ["bad"] * 2


def test_engines_that_fail_once_play_again(tmp_path) -> None:
    tournament = match(f"--exit-at 3 --once {tmp_path / 'once'}", games=4)
    with Database.open(None, tournament) as database:
        summary = run_tournament(tournament, database)
        assert (summary.played, len(database.voids())) == (4, 1)
        assert database.voids()[0].fault == "bad"


def test_an_engine_that_always_fails_stops_the_match() -> None:
    tournament = match("--crash-at 2", games=10)
    with Database.open(None, tournament) as database:
        with pytest.raises(EngineError, match=r"bad failed 3 times.*out of toys"):
            run_tournament(tournament, database)
        assert (len(database.games()), len(database.voids())) == (0, 3)


def test_an_engine_that_is_not_there_stops_the_match() -> None:
    players = {"no": {"spec": "gtp:no-such-engine-anywhere"}, "yes": {"spec": "random"}}
    tournament = parse_tournament({"games": 2, "size": 5, "players": players})
    with (
        Database.open(None, tournament) as database,
        pytest.raises(EngineError, match="no-such-engine-anywhere"),
    ):
        run_tournament(tournament, database)
