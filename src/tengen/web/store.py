"""Store games, reviews and problems in one SQLite database; commit changes before showing them.

Killing the server at any moment loses nothing that a page was shown, and a second server on the
same database is refused. Problems come from a person's own mistakes or from files: a solved one
comes back after ever longer pauses, an unsolved one on the next day.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tengen.errors import TengenError
from tengen.files import data_folder, lock
from tengen.web.workers import Json

_FORMAT = 0  # PRAGMA user_version; raise it when older versions could not read the rows
_LISTED = 500  # default length of a list
_TABLES = """
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


def default_database() -> Path:
    """Return the path of the database unless the command line names another file."""
    usual = data_folder() / "web.sqlite"
    former = Path.home() / ".local" / "share" / "tengen" / "web.sqlite"
    if sys.platform != "linux" and former.exists() and not usual.exists():
        return former  # where earlier versions kept it
    return usual


class StorageError(TengenError):
    """A change that cannot be stored, such as on a full disk; nothing was changed."""


class UnknownItemError(TengenError):
    """No item has this id."""


class Store:
    """Items by kind and id: a summary for lists, and a body with everything.

    Only one server may open a database, because it holds games in memory; others may, too, who
    only add problems and answer them.
    """

    def __init__(self, path: Path, *, server: bool = True) -> None:
        self._lock = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if server:
                real = path.resolve()  # one lock per database, even through links
                beside = real.with_name(real.name + ".lock")
                self._lock = lock(beside, path, "stop that server or choose another --database")
        except OSError as failure:
            raise TengenError(f"{path}: cannot be made ({failure.strerror})") from None
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_TABLES)
            [found] = self._connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as failure:
            if self._lock:
                self._lock.release()
            raise TengenError(f"{path}: not a database of games ({failure})") from None
        if found > _FORMAT:
            self.close()
            raise TengenError(f"{path}: written by a newer version of tengen (format {found})")

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """Commit all changes of a `with` block, or none of them."""
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
        """Insert or replace a part of an item, stored as kind `KIND-part` with id `ID/NUMBER`."""
        self.put(f"{kind}-part", f"{key}/{number:06}", {}, body)

    def get(self, kind: str, key: str) -> Json:
        """Return an item's body."""
        query = "SELECT body FROM items WHERE kind=? AND id=?"
        row = self._connection.execute(query, (kind, key)).fetchone()
        if row is None:
            raise UnknownItemError(f"there is no such {kind}")
        body: Json = json.loads(row[0])
        return body

    def has(self, kind: str, key: str) -> bool:
        """Return whether there is such an item."""
        query = "SELECT 1 FROM items WHERE kind=? AND id=?"
        return self._connection.execute(query, (kind, key)).fetchone() is not None

    def parts(self, kind: str, key: str) -> list[Json]:
        """Return the parts of an item in the order of their numbers."""
        query = "SELECT body FROM items WHERE kind=? AND id >= ? AND id < ? ORDER BY id"
        rows = self._connection.execute(query, (f"{kind}-part", f"{key}/", f"{key}0"))
        return [json.loads(body) for (body,) in rows]

    def list(self, kind: str, limit: int | None = _LISTED) -> list[Json]:
        """Return the latest summaries of a kind with id and times, latest first; None for all."""
        query = (
            "SELECT id, created, changed, summary FROM items WHERE kind=? "
            "ORDER BY changed DESC, created DESC LIMIT ?"
        )
        rows = self._connection.execute(query, (kind, -1 if limit is None else limit))
        return [
            {"id": key, "created": created, "changed": changed, **json.loads(summary)}
            for key, created, changed, summary in rows
        ]

    def delete(self, kind: str, key: str) -> None:
        """Remove an item and its parts."""
        with self._change() as connection:
            connection.execute(
                "DELETE FROM items WHERE kind=? AND id >= ? AND id < ?",
                (f"{kind}-part", f"{key}/", f"{key}0"),
            )
            query = "DELETE FROM items WHERE kind=? AND id=?"
            if connection.execute(query, (kind, key)).rowcount == 0:
                raise UnknownItemError(f"there is no such {kind}")

    def close(self) -> None:
        """Close the database and let another server use it."""
        self._connection.close()
        if self._lock:
            self._lock.release()


TAGS = "tags"  # the kind of the tags of games and reviews, with their ids

# ----- Problems -----

PROBLEM = "problem"
_DAY = 86400.0
_PAUSES = (1, 3, 7, 21, 60)  # days until a problem comes back, by times solved in a row
_WORST = 3  # moves of a game that become problems
_SOLVED = 3.0  # a solution loses at most the loss of the mistake divided by this
_LEAST = 1.0  # points that a solution may always lose
_KEPT = ("id", "board", "number", "colour", "move", "best", "points_lost", "answers", "title")


def worst_lessons(lessons: list[Json], most: int = _WORST) -> list[Json]:
    """Return the mistakes that lost most, worst first; only the worst of each move number."""
    worst = {one["number"]: one for one in sorted(lessons, key=lambda one: one["points_lost"])}
    return sorted(worst.values(), key=lambda one: -one["points_lost"])[:most]


def keep_problems(
    store: Store, game: str, lessons: list[Json], now: float, *, most: int = _WORST
) -> list[str]:
    """Keep the worst mistakes of a game as problems for the next day; return their ids."""
    chosen = [
        {**one, "id": f"{game}-{one['number']}-{one['move']}"}
        for one in worst_lessons(lessons, most)
    ]
    return add_problems(store, chosen, now + _DAY)


def add_problems(store: Store, problems: list[Json], due: float) -> list[str]:
    """Add problems that are not there yet; return the ids of all."""
    for one in problems:
        if not store.has(PROBLEM, one["id"]):
            body = {name: one[name] for name in _KEPT if name in one}
            _put_problem(store, {**body, "solved": 0, "due": due})
    return [one["id"] for one in problems]


def rate_answer(store: Store, body: Json, lost: float | None, move: str, now: float) -> Json:
    """Rate an answer by the points it loses, and set the day when the problem comes back.

    Without points, only the answers of its file solve a problem, or else its best move.
    """
    if lost is None:
        solved = move in body.get("answers", [body["best"]])
    else:
        solved = move == body["best"] or lost <= max(body["points_lost"] / _SOLVED, _LEAST)
    days = _PAUSES[min(body["solved"], len(_PAUSES) - 1)] if solved else 1
    body |= {"solved": body["solved"] + 1 if solved else 0, "due": now + days * _DAY}
    _put_problem(store, body)
    return {"solved": solved, "points_lost": lost, "best": body["best"], "due": body["due"]}


def list_problems(store: Store) -> list[Json]:
    """Return all problems by due date, earliest first."""
    return sorted(store.list(PROBLEM, limit=None), key=lambda one: float(one["due"]))


def _put_problem(store: Store, body: Json) -> None:
    names = ("number", "colour", "points_lost", "solved", "due", "title")
    shown = {name: body[name] for name in names if name in body}
    store.put(PROBLEM, body["id"], {**shown, "size": body["board"]["rows"]}, body)
