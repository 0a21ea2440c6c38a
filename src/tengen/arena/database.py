"""Results databases: one SQLite file per tournament, each finished game a committed row.

`meta` has the format's version and the tournament as JSON, `players` the entrants, `games` the
finished games and `voids` the games that have to be played again. One process may write at a time:
it locks a file next to the database, and the system releases that lock even when it is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from filelock import FileLock
from pydantic import TypeAdapter

from tengen import __version__
from tengen.arena.game import PlayedGame
from tengen.arena.tournament import GameKey, Tournament, checked
from tengen.errors import SpecError, TengenError
from tengen.files import lock, neighbour

_FORMAT = 1  # version of the tables; a file of another version is refused


@dataclass(frozen=True)
class GameRow:
    """One finished game."""

    a: str
    b: str
    number: int
    black: str
    white: str
    result: str
    winner: str | None  # None for a draw
    reason: str
    fault: str | None
    detail: str | None
    seed: int
    opening: int  # plies
    moves: str
    plies: int
    seconds_black: float
    seconds_white: float
    seconds: float
    started: str
    versions: str
    sgf: str

    @property
    def key(self) -> GameKey:
        """Which game of the tournament it is."""
        return self.a, self.b, self.number

    @classmethod
    def of(cls, game: PlayedGame) -> GameRow:
        """Return the row of a game."""
        job = game.job
        return cls(
            *job.key,
            black=job.black.name,
            white=job.white.name,
            result=str(game.result),
            winner=game.winner,
            reason=game.reason,
            fault=game.fault or None,
            detail=game.detail or None,
            seed=job.seed,
            opening=len(job.opening),
            moves=game.vertices,
            plies=len(game.moves),
            seconds_black=game.seconds[1],
            seconds_white=game.seconds[2],
            seconds=game.wall,
            started=game.started,
            versions=json.dumps(game.versions),
            sgf=game.sgf(),
        )


_TYPES = {"str": "TEXT NOT NULL", "int": "INTEGER NOT NULL", "float": "REAL NOT NULL"}
_NAMES = ", ".join(f.name for f in fields(GameRow))
_DEFINED = ", ".join(f"{f.name} {_TYPES.get(str(f.type), 'TEXT')}" for f in fields(GameRow))
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS players (name TEXT PRIMARY KEY, spec TEXT NOT NULL, elo REAL);
CREATE TABLE IF NOT EXISTS games ({_DEFINED}, PRIMARY KEY (a, b, number));
CREATE TABLE IF NOT EXISTS voids (id INTEGER PRIMARY KEY, {_DEFINED});
"""


_ROWS = TypeAdapter(list[GameRow])


@contextlib.contextmanager
def _readable(path: str | Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeError) as failure:
        raise TengenError(f"{path}: no results database: {failure}") from None


class Database:
    """A results database, opened for writing by `open` and for reading by `look`."""

    def __init__(self, connection: sqlite3.Connection, path: str, lock: FileLock | None) -> None:
        self._connection, self.path, self._lock = connection, path, lock

    @classmethod
    def open(cls, path: str | Path | None, tournament: Tournament) -> Database:
        """Open a database, in memory without a path, to write this tournament's games.

        A later run may have more games and more players; everything else must be the same.
        """
        if path is None:
            database = cls(sqlite3.connect(":memory:"), "memory", None)
            database._make(tournament)
            return database
        path = Path(path)
        if path.is_dir():
            raise TengenError(f"{path}: is a folder, not a results database")
        path.parent.mkdir(parents=True, exist_ok=True)
        held = lock(path.with_name(path.name + ".lock"), path, "wait for it or stop it")
        with contextlib.ExitStack() as stack, _readable(path):
            stack.callback(held.release)
            database = cls(sqlite3.connect(path, timeout=30), str(path), held)
            stack.callback(database.close)
            database._connection.execute("PRAGMA journal_mode=WAL")
            # A power cut must not lose a game that was reported as finished.
            database._connection.execute("PRAGMA synchronous=FULL")
            database._check_pages()
            database._make(tournament)
            stack.pop_all()
        return database

    @classmethod
    def look(cls, path: str | Path) -> Database:
        """Open a database to read it, also while a run writes into it."""
        path = Path(path)
        if not path.is_file():
            raise TengenError(f"{path}: no such results database")
        # Where nothing may be written next to it (a shipped ladder), it is opened as immutable.
        frozen = not os.access(path.parent, os.W_OK) or not os.access(path, os.W_OK)
        mode = "mode=ro&immutable=1" if frozen else "mode=rw"
        with contextlib.ExitStack() as stack, _readable(path):
            connection = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True, timeout=30)
            database = cls(connection, str(path), None)
            stack.callback(database.close)
            # Not opened as read-only, so that the last reader can remove the log next to the file.
            connection.execute("PRAGMA query_only=ON")
            database._check_pages()
            database._check_format()
            stack.pop_all()
        return database

    def close(self) -> None:
        """Close the file and release its lock."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ----- Writing -----

    def add(self, game: PlayedGame) -> None:
        """Write and commit one game: to the table `games`, or to `voids` if it is void."""
        table, row = "voids" if game.is_void else "games", astuple(GameRow.of(game))
        marks = ", ".join("?" * len(row))
        try:
            with self._connection:
                self._connection.execute(f"INSERT INTO {table} ({_NAMES}) VALUES ({marks})", row)
        except sqlite3.IntegrityError:
            raise TengenError(f"{self.path}: game {game.key} already exists") from None
        except sqlite3.Error as failure:
            raise TengenError(f"{self.path}: cannot write: {failure}") from None

    # ----- Reading -----

    @property
    def tournament(self) -> Tournament:
        """The tournament whose games these are."""
        text = self._meta("tournament")
        if text is None:
            raise TengenError(f"{self.path}: holds no tournament")
        try:
            return checked(Tournament, json.loads(text))
        except (json.JSONDecodeError, SpecError) as failure:
            raise TengenError(f"{self.path}: damaged: {failure}") from None

    def games(self) -> list[GameRow]:
        """List the finished games by number and pairing, regardless of when they were played."""
        return self._game_rows("games ORDER BY number, a, b")

    def finished(self) -> set[GameKey]:
        """Return the keys of all finished games."""
        return set(self._rows("a, b, number", "games"))

    def voids(self) -> list[GameRow]:
        """List the void games in the order in which they happened."""
        return self._game_rows("voids ORDER BY id")

    def copy_to(self, path: str | Path) -> None:
        """Write a compact copy that can be read where nothing may be written, for shipping."""
        if Path(path).exists():
            raise TengenError(f"{path}: already exists")
        self._connection.execute("PRAGMA query_only=OFF")
        try:
            with neighbour(path) as unfinished:
                self._connection.execute("VACUUM INTO ?", (str(unfinished),))
                with contextlib.closing(sqlite3.connect(unfinished)) as copy:
                    copy.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as failure:
            raise TengenError(f"{self.path}: cannot be copied to {path}: {failure}") from None

    def _rows(self, columns: str, table: str) -> list[Any]:
        try:
            return self._connection.execute(f"SELECT {columns} FROM {table}").fetchall()
        except (sqlite3.Error, UnicodeError) as failure:
            raise TengenError(f"{self.path}: cannot be read: {failure}") from None

    def _game_rows(self, table: str) -> list[GameRow]:
        names = [field.name for field in fields(GameRow)]
        rows = [dict(zip(names, row, strict=True)) for row in self._rows(_NAMES, table)]
        try:
            found = _ROWS.validate_python(rows)
            for row in found:
                json.loads(row.versions)
        except ValueError:  # of pydantic, too
            raise TengenError(f"{self.path}: damaged: not every row is a game") from None
        for row in found:
            if {row.black, row.white} != {row.a, row.b} or row.winner not in (None, row.a, row.b):
                raise TengenError(f"{self.path}: damaged: who plays game {row.key}?")
        return found

    def _meta(self, key: str) -> str | None:
        with _readable(self.path):
            found = dict(self._connection.execute("SELECT key, value FROM meta"))
        return None if key not in found else str(found[key])

    # ----- Making -----

    def _make(self, tournament: Tournament) -> None:
        """Create the tables, or check that existing ones belong to this tournament."""
        names = {row[0] for row in self._connection.execute("SELECT name FROM sqlite_master")}
        if names and "meta" not in names:
            raise TengenError(f"{self.path}: an SQLite file, but no results database")
        with self._connection:
            for statement in _SCHEMA.strip().split(";\n"):
                self._connection.execute(statement)
            if self._meta("format") is None:
                self._set_meta("format", str(_FORMAT))
                self._set_meta("made_by", f"tengen {__version__}")
            self._check_format()
            if self._meta("tournament") is not None:
                tournament = _joined(self.tournament, tournament, self.path)
            self._set_meta("tournament", tournament.model_dump_json())
            for entrant in tournament.entrants:
                self._connection.execute(
                    "INSERT OR REPLACE INTO players VALUES (?, ?, ?)",
                    (entrant.name, entrant.spec, entrant.elo),
                )

    def _set_meta(self, key: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _check_pages(self) -> None:
        """Refuse a file in which pages were lost or overwritten."""
        found = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise TengenError(f"{self.path}: damaged: {found}")

    def _check_format(self) -> None:
        found = self._meta("format")
        if found != str(_FORMAT):
            raise TengenError(f"{self.path}: results in format {found}, this reads {_FORMAT}")


def _joined(old: Tournament, new: Tournament, path: str) -> Tournament:
    """Return the new tournament with the old one's players too, if both can share a file."""
    for name in ("conditions", "openings", "seed"):
        was, now = getattr(old, name), getattr(new, name)
        if was != now:
            raise TengenError(
                f"{path}: holds games with {name} {was!s}, not {now!s}; take another file"
            )
    known = {entrant.name: entrant for entrant in old.entrants}
    for entrant in new.entrants:
        before = known.pop(entrant.name, entrant)
        if before.spec != entrant.spec:
            raise TengenError(
                f"{path}: {entrant.name!r} was {before.spec!r} there, not {entrant.spec!r}; "
                "give it another name"
            )
    if not known:
        return new
    kind = "round-robin" if new.kind == "match" else new.kind
    return new.model_copy(update={"kind": kind, "entrants": (*new.entrants, *known.values())})
