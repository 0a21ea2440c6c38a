"""Keep games and reviews in one SQLite database; every change is committed before it is shown.

Rows and JSON only, no Go. Killing the server at any moment loses nothing that a page was shown, and
a second server on the same database is refused.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tengen.errors import TengenError
from tengen.files import lock

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


class StorageError(TengenError):
    """A change that cannot be stored, such as on a full disk; nothing was changed."""


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

    def put(self, kind: str, key: str, summary: dict[str, Any], body: dict[str, Any]) -> None:
        """Insert or replace an item."""
        now = time.time()
        with self._change() as connection:
            connection.execute(
                "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET "
                "changed=excluded.changed, summary=excluded.summary, body=excluded.body",
                (kind, key, now, now, json.dumps(summary), json.dumps(body)),
            )

    def put_part(self, kind: str, key: str, number: int, body: dict[str, Any]) -> None:
        """Insert or replace one part of an item."""
        self.put(_part_of(kind), f"{key}/{number:06}", {}, body)

    def get(self, kind: str, key: str) -> dict[str, Any] | None:
        """Return an item's body, None if there is none."""
        query = "SELECT body FROM items WHERE kind=? AND id=?"
        row = self._connection.execute(query, (kind, key)).fetchone()
        return None if row is None else json.loads(row[0])

    def parts(self, kind: str, key: str) -> list[dict[str, Any]]:
        """Return the parts of an item in the order of their numbers."""
        query = "SELECT body FROM items WHERE kind=? AND id >= ? AND id < ? ORDER BY id"
        rows = self._connection.execute(query, (_part_of(kind), f"{key}/", f"{key}0"))
        return [json.loads(body) for (body,) in rows]

    def list(self, kind: str, limit: int | None = _LISTED) -> list[dict[str, Any]]:
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

    def delete(self, kind: str, key: str) -> bool:
        """Remove an item and its parts; tell whether there was one."""
        with self._change() as connection:
            connection.execute(
                "DELETE FROM items WHERE kind=? AND id >= ? AND id < ?",
                (_part_of(kind), f"{key}/", f"{key}0"),
            )
            query = "DELETE FROM items WHERE kind=? AND id=?"
            return connection.execute(query, (kind, key)).rowcount > 0

    def close(self) -> None:
        """Close the database and let another server use it."""
        self._connection.close()
        self._lock.release()
