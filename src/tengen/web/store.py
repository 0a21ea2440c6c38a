"""Keep games, reviews and problems in one SQLite database; changes are committed before they show.

Rows and JSON only, no Go. Killing the server at any moment loses nothing that a page was shown, and
a second server on the same database is refused.

Problems are made of a person's own mistakes: find the better move. A solved problem comes back
after more and more days, an unsolved one tomorrow.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tengen.errors import TengenError
from tengen.files import lock
from tengen.web.workers import Json

_FORMAT = 1
_LISTED = 200
"""Items of a list unless more are asked for."""
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS items (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    created REAL NOT NULL,
    changed REAL NOT NULL,
    summary TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE INDEX IF NOT EXISTS by_change ON items (kind, changed DESC);
"""


def _part_of(kind: str) -> str:
    """Return the kind of an item's parts; the id of a part is `ID/NUMBER`."""
    return f"{kind}-part"


def default_database() -> Path:
    """Return where games are kept unless the command line names another file."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "tengen" / "web.sqlite"


class StorageError(TengenError):
    """A change that cannot be stored, such as on a full disk; nothing was changed."""


class UnknownItemError(TengenError):
    """Nothing goes by this id."""


class Store:
    """Items by kind and id: a summary for lists, and a body with everything."""

    def __init__(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            real = path.resolve()  # one lock per database, whatever links lead to it
            beside = real.with_name(real.name + ".lock")
            self._lock = lock(beside, path, "stop that server or choose another --database")
        except OSError as failure:
            raise TengenError(f"{path}: cannot be made ({failure.strerror})") from None
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_TABLES)
            self._check_format(path)
        except sqlite3.DatabaseError as failure:
            self._lock.release()
            raise TengenError(f"{path}: not a database of games ({failure})") from None

    def _check_format(self, path: Path) -> None:
        with self._connection as connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (str(_FORMAT),))
            [found] = connection.execute("SELECT value FROM meta WHERE key='format'").fetchone()
        if int(found) > _FORMAT:
            raise TengenError(f"{path}: written by a newer version of tengen (format {found})")

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """Commit what a block changes, or nothing."""
        try:
            with self._connection as connection:
                yield connection
        except sqlite3.OperationalError as failure:
            raise StorageError(f"nothing can be stored ({failure}); is the disk full?") from None

    def put(self, kind: str, key: str, summary: Json, body: Json) -> None:
        """Insert or replace an item."""
        now = time.time()
        with self._change() as connection:
            connection.execute(
                "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET "
                "changed=excluded.changed, summary=excluded.summary, body=excluded.body",
                (kind, key, now, now, json.dumps(summary), json.dumps(body)),
            )

    def put_part(self, kind: str, key: str, number: int, body: Json) -> None:
        """Insert or replace one part of an item."""
        self.put(_part_of(kind), f"{key}/{number:06}", {}, body)

    def get(self, kind: str, key: str) -> Json:
        """Return an item's body."""
        query = "SELECT body FROM items WHERE kind=? AND id=?"
        row = self._connection.execute(query, (kind, key)).fetchone()
        if row is None:
            raise UnknownItemError(f"there is no such {kind}")
        body: Json = json.loads(row[0])
        return body

    def has(self, kind: str, key: str) -> bool:
        """Tell whether there is such an item."""
        query = "SELECT 1 FROM items WHERE kind=? AND id=?"
        return self._connection.execute(query, (kind, key)).fetchone() is not None

    def parts(self, kind: str, key: str) -> list[Json]:
        """Return the parts of an item in the order of their numbers."""
        query = "SELECT body FROM items WHERE kind=? AND id >= ? AND id < ? ORDER BY id"
        rows = self._connection.execute(query, (_part_of(kind), f"{key}/", f"{key}0"))
        return [json.loads(body) for (body,) in rows]

    def list(self, kind: str, limit: int | None = _LISTED) -> list[Json]:
        """Return the latest summaries of a kind with id and times, latest change first.

        There are 200 at most, or `limit`; with None all come.
        """
        query = (
            "SELECT id, created, changed, summary FROM items WHERE kind=? "
            "ORDER BY changed DESC, created DESC LIMIT ?"
        )
        most = -1 if limit is None else limit  # for SQLite, -1 is no limit
        return [
            {"id": key, "created": created, "changed": changed, **json.loads(summary)}
            for key, created, changed, summary in self._connection.execute(query, (kind, most))
        ]

    def delete(self, kind: str, key: str) -> None:
        """Remove an item and its parts."""
        with self._change() as connection:
            connection.execute(
                "DELETE FROM items WHERE kind=? AND id >= ? AND id < ?",
                (_part_of(kind), f"{key}/", f"{key}0"),
            )
            query = "DELETE FROM items WHERE kind=? AND id=?"
            if connection.execute(query, (kind, key)).rowcount == 0:
                raise UnknownItemError(f"there is no such {kind}")

    def close(self) -> None:
        """Close the database and let another server use it."""
        self._connection.close()
        self._lock.release()


# ----- Problems -----

PROBLEM = "problem"
_DAY = 86400.0
_PAUSES = (1, 3, 7, 21, 60)
"""Days until a problem is asked again, by how often in a row it was solved."""
_SOLVED = 3.0
"""A move solves a problem if it loses at most this part of what the mistake lost."""
_LEAST = 1.0
"""Points that a solution may always lose."""


def keep_problems(store: Store, game: str, lessons: list[Json], now: float) -> None:
    """Keep the mistakes of a game as problems for the next day; those kept before stay."""
    for lesson in lessons:
        key = f"{game}-{lesson['number']}-{lesson['move']}"
        if not store.has(PROBLEM, key):
            names = ("board", "number", "colour", "move", "best", "points_lost")
            body = {"id": key, **{name: lesson[name] for name in names}}
            _put_problem(store, {**body, "solved": 0, "due": now + _DAY})


def rate_answer(store: Store, body: Json, lost: float, move: str, now: float) -> Json:
    """Judge an answer by the points it loses, and set the day of the next question."""
    solved = move == body["best"] or lost <= max(body["points_lost"] / _SOLVED, _LEAST)
    days = _PAUSES[min(body["solved"], len(_PAUSES) - 1)] if solved else 1
    body |= {"solved": body["solved"] + 1 if solved else 0, "due": now + days * _DAY}
    _put_problem(store, body)
    return {"solved": solved, "points_lost": lost, "best": body["best"], "due": body["due"]}


def list_problems(store: Store) -> list[Json]:
    """Return all problems, those that wait longest first."""
    return sorted(store.list(PROBLEM, limit=None), key=lambda one: float(one["due"]))


def _put_problem(store: Store, body: Json) -> None:
    shown = {name: body[name] for name in ("number", "colour", "points_lost", "solved", "due")}
    store.put(PROBLEM, body["id"], {**shown, "size": body["board"]["rows"]}, body)
