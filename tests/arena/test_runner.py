"""Runs: the same games however they are played, resumed or stopped; failing players end them."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tengen.arena import Database, results_of, run_tournament
from tengen.arena.results import match_result, points_in_order, unique_games
from tengen.arena.runner import Listener
from tengen.errors import EngineError


def moves_of(database: Database) -> dict[Any, tuple[str, str]]:
    return {row.key: (row.moves, row.result) for row in database.games()}


class Watcher(Listener):
    """Do something about every game."""

    def __init__(self, action=lambda games: None) -> None:
        self.games: list[Any] = []
        self.given: list[Any] = []
        self.begun, self.stops, self.action = None, 0, action

    def begin(self, total: int, done: int) -> None:
        self.begun = total, done

    def handed_out(self, job: Any) -> None:
        self.given.append(job.key)

    def finished(self, game: Any) -> None:
        assert game.key in self.given
        self.games.append(game)
        self.action(self.games)

    def stopping(self) -> None:
        self.stops += 1


def run_whole(tournament, **options) -> dict[Any, tuple[str, str]]:
    with Database.open(None, tournament) as database:
        summary = run_tournament(tournament, database, **options)
        assert (summary.left, summary.stopped) == (0, False)
        return moves_of(database)


def test_same_seeds_same_games_and_other_seeds_others(tournament) -> None:
    first = run_whole(tournament())
    assert len(first) == 12
    assert run_whole(tournament(), workers=2) == first
    assert run_whole(tournament(seed=6)) != first


def test_stop_after_the_game_under_way_then_resume(tmp_path, tournament) -> None:
    path = tmp_path / "r.sqlite"

    def interrupt(games: list[Any]) -> None:
        if len(games) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    watcher = Watcher(interrupt)
    with Database.open(path, tournament()) as database:
        summary = run_tournament(tournament(), database, listener=watcher)
    assert (summary.played, summary.left, summary.stopped) == (5, 7, True)
    assert watcher.stops == 1
    again = Watcher()
    with Database.open(path, tournament()) as database:
        summary = run_tournament(tournament(), database, listener=again)
        assert moves_of(database) == run_whole(tournament())
    assert again.begun == (12, 5)
    assert (summary.played, summary.left) == (7, 0)
    assert not {g.key for g in again.games} & {g.key for g in watcher.games}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.sqlite", "r.sqlite.lock"]


def test_a_second_interrupt_stops_at_once(tmp_path, tournament) -> None:
    def twice(games: list[Any]) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with Database.open(tmp_path / "r.sqlite", tournament()) as database:
        with pytest.raises(KeyboardInterrupt):
            run_tournament(tournament(), database, listener=Watcher(twice))
        assert len(database.games()) == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_a_file_beside_the_database_stops_the_run(tmp_path, tournament) -> None:
    path = tmp_path / "r.sqlite"
    stop = tmp_path / "r.sqlite.stop"
    stop.touch()  # left over from a killed run: must not stop this one
    with Database.open(path, tournament()) as database:
        watcher = Watcher(lambda games: stop.touch() if len(games) == 2 else None)
        summary = run_tournament(tournament(), database, workers=2, listener=watcher)
    assert summary.stopped
    assert 0 < summary.left < 12


class Clumsy:
    """A player that fails in given games (counted over its life), and passes otherwise."""

    made = 0
    plays = 0
    fails: tuple[int, ...] = ()

    def __init__(self) -> None:
        self.name = "clumsy"
        type(self).made += 1

    def new_game(self, seed: int) -> None:
        type(self).plays += 1

    def choose(self, board, rng) -> int:
        if self.plays in self.fails:
            raise RuntimeError("stumbled")
        return 0


@pytest.fixture
def clumsy(monkeypatch):
    """Make all players called `random` clumsy."""
    import tengen.players

    make = tengen.players.make_player
    new = lambda spec: Clumsy() if spec == "random" else make(spec)  # noqa: E731
    monkeypatch.setattr(tengen.players, "make_player", new)
    monkeypatch.setattr(Clumsy, "made", 0)
    monkeypatch.setattr(Clumsy, "plays", 0)
    return Clumsy


def test_void_games_are_played_again(tournament, clumsy, monkeypatch) -> None:
    monkeypatch.setattr(clumsy, "fails", (2, 5))
    watcher = Watcher()
    with Database.open(None, tournament()) as database:
        summary = run_tournament(tournament(), database, listener=watcher)
        assert (summary.played, summary.left) == (12, 0)
        assert len(database.voids()) == 2
        results = results_of(database, resamples=0)
    assert {s.name: s.voids for s in results.standings} == {"random": 2, "maxlib": 0, "stone": 0}
    assert results.faults == 2
    assert clumsy.made > 1  # a player that failed is made anew


def test_a_player_that_keeps_failing_stops_the_run(tournament, clumsy, monkeypatch) -> None:
    monkeypatch.setattr(clumsy, "fails", tuple(range(3, 1000)))
    with Database.open(None, tournament()) as database:
        with pytest.raises(EngineError, match=r"random failed 3 times in a row.*stumbled"):
            run_tournament(tournament(), database)
        assert len(database.voids()) == 3
        finished = database.finished()
        monkeypatch.setattr(clumsy, "fails", ())
        summary = run_tournament(tournament(), database)
    assert summary.played == 12 - len(finished)


def test_duplicates_count_once(tournament, clumsy) -> None:
    # Clumsy passes and maxlib passes after it when it wins: without openings games repeat.
    entrants = [{"name": name, "spec": "random"} for name in "xy"]
    one = tournament(kind="match", games=6, openings={"plies": 0}, entrants=entrants)
    with Database.open(None, one) as database:
        run_tournament(one, database)
        rows = database.games()
    assert len(rows) == 6
    assert len(unique_games(rows)) == 2
    result = match_result("x", "y", rows, [])
    assert (result.games, result.duplicates) == (2, 4)
    assert result.wins_a + result.wins_b + result.draws == 2
    assert result.a_black[1] == result.a_white[1] == 1
    # Nobody has a stone on the board, so that White wins by komi, whoever it is.
    assert (result.wins_a, result.wins_b) == (1, 1)


def test_sequential_test_waits_for_whole_pairs_in_order(tournament) -> None:
    entrants = [{"name": "x", "spec": "random"}, {"name": "y", "spec": "maxlib"}]
    whole = tournament(kind="match", games=8, entrants=entrants)
    with Database.open(None, whole) as database:
        run_tournament(whole, database)
        rows = database.games()
    assert len(points_in_order("x", rows)) == 8
    without = [row for row in rows if row.number not in (3, 6)]
    assert points_in_order("x", without) == points_in_order("x", rows)[:2]
    assert points_in_order("y", rows) == [1 - p for p in points_in_order("x", rows)]
