"""A tournament killed at any statement, continued, and run twice equals one that never stopped."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.arena.conftest import make_tournament

from tengen.arena import Database, Tournament, run_tournament
from tengen.arena.database import GameRow
from tengen.arena.runner import Listener
from tengen.errors import BusyError, TengenError

GAMES = 6  # per pair of three players
numbers = st.integers(1, GAMES)


def round_robin(*, games: int) -> Tournament:
    entrants = [{"name": name, "spec": "random"} for name in ("anna", "bert", "carl")]
    return make_tournament(games=games, entrants=entrants)


def rows_of(path: Path) -> list[GameRow]:
    """Return the games of a database without what differs between two runs."""
    with Database.look(path) as database:
        games = database.games()
    times = {"seconds": 0.0, "seconds_black": 0.0, "seconds_white": 0.0, "started": "", "sgf": ""}
    return [replace(row, **times) for row in games]


def play(path: Path, tournament: Tournament, **options: Any) -> None:
    with Database.open(path, tournament) as database:
        run_tournament(tournament, database, **options)


class Killed(BaseException):
    """The process ended here."""


class Image(Listener):
    """What a kill at a statement would leave of a database; the run ends soon after."""

    def __init__(self, path: Path, statement: int) -> None:
        self.path, self.left = path, statement

    def traced(self, statement: str) -> None:
        self.left -= 1
        if self.left == 0:
            for file in self.path.parent.iterdir():
                shutil.copy(file, self.path.parent.parent / "image")

    def handed_out(self, job: object) -> None:
        if self.left <= 0:
            raise Killed

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Run the block with all statements watched; put the image, if any, into its place."""
        image, connect = self.path.parent.parent / "image", sqlite3.connect
        image.mkdir()

        def watched(*arguments: Any, **named: Any) -> sqlite3.Connection:
            connection = connect(*arguments, **named)
            connection.set_trace_callback(self.traced)
            return connection

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite3, "connect", watched)
            with suppress(Killed):
                yield
        if self.left <= 0:
            shutil.rmtree(self.path.parent)
            image.rename(self.path.parent)
        else:
            image.rmdir()


class Arena(RuleBasedStateMachine):
    """One database, and the games of a run that never stopped."""

    whole: list[GameRow]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "arena" / "games.sqlite"
        self.path.parent.mkdir()
        self.begun = False

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def rows(self) -> list[GameRow]:
        try:
            rows = rows_of(self.path)
        except TengenError:
            assert not self.begun  # only a database that was never made may have no tables
            return []
        self.begun = True
        return rows

    @rule(games=numbers, statement=st.integers(1, 80))
    def is_killed(self, games: int, statement: int) -> None:
        before = self.rows()
        image = Image(self.path, statement)
        with image.taken():
            play(self.path, round_robin(games=games), listener=image)
        assert {row.key for row in before} <= {row.key for row in self.rows()}

    @rule(games=numbers)
    def goes_on(self, games: int) -> None:
        before = {row.key for row in self.rows()}
        play(self.path, round_robin(games=games))
        found = self.rows()
        due = {row.key for row in self.whole if row.number < games}
        assert {row.key for row in found} == due | before
        assert not self.path.with_name(self.path.name + "-wal").exists()

    @rule(games=numbers)
    def is_run_twice(self, games: int) -> None:
        tournament = round_robin(games=games)
        with Database.open(self.path, tournament):
            before = self.rows()
            with pytest.raises(BusyError):
                play(self.path, tournament)
            assert self.rows() == before

    @invariant()
    def games_are_those_of_the_whole_run(self) -> None:
        known = {row.key: row for row in self.whole}
        assert all(known[row.key] == row for row in self.rows())


def test_a_tournament_killed_anywhere_equals_one_that_never_stopped(tmp_path: Path) -> None:
    play(tmp_path / "whole.sqlite", round_robin(games=GAMES))
    Arena.whole = rows_of(tmp_path / "whole.sqlite")
    assert len(Arena.whole) == 3 * GAMES
    Arena.TestCase.settings = settings(max_examples=10, stateful_step_count=8)
    Arena.TestCase("runTest").runTest()
