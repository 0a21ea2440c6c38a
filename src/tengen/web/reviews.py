"""Keep the reviews: queue them, store every position as it is judged, tell everybody who watches.

Runs in the server's event loop; the judging itself is a worker's (`studies`). A review that was
interrupted goes on where it stopped when the server starts again.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from tengen.errors import TengenError
from tengen.records import GameRecord
from tengen.review.batch import headline
from tengen.web.settings import Settings
from tengen.web.store import Store
from tengen.web.waiting import tell
from tengen.web.workers import CancelledJob, Job, Lane

KIND = "review"


class UnknownReviewError(TengenError):
    """No review goes by this id."""


@dataclass(eq=False)
class _Running:
    """A review that waits or is worked on, and the queues that watch it."""

    body: dict[str, Any]
    job: Job
    count: int
    """Positions judged so far."""
    watchers: set[asyncio.Queue[None]] = field(default_factory=set)


class Reviews:
    """All reviews, by id."""

    def __init__(self, store: Store, lane: Lane, settings: Settings) -> None:
        self._store, self._lane, self._settings = store, lane, settings
        self._running: dict[str, _Running] = {}

    def resume(self) -> None:
        """Go on with everything that was interrupted, oldest first."""
        for entry in reversed(self._store.list(KIND, limit=None)):
            if entry["status"] == "waiting":
                body = self._store.get(KIND, entry["id"])
                if body is not None:
                    self._start(body)

    def add(self, records: list[GameRecord], playouts: int) -> list[dict[str, Any]]:
        """Queue one review for each game.

        Raises
        ------
        TengenError
            If too many wait already.
        """
        if len(self._running) + len(records) > self._settings.queued_reviews:
            raise TengenError("too many reviews wait already; try again when some are done")
        made = []
        for record in records:
            body: dict[str, Any] = {
                "id": secrets.token_urlsafe(9),
                "sgf": record.utf8_sgf().decode("utf-8", "replace"),
                "playouts": playouts,
                "headline": headline(record),
                "status": "waiting",
                "trouble": "",
                "summary": None,
            }
            self._put(body)
            self._start(body)
            made.append({"id": body["id"], **body["headline"]})
        return made

    def entries(self) -> list[dict[str, Any]]:
        """Return the latest 200 reviews, latest first, with how far they are."""
        entries = self._store.list(KIND)
        for entry in entries:
            running = self._running.get(entry["id"])
            entry["done"] = running.count if running else None
        return entries

    def get(self, key: str) -> dict[str, Any]:
        """Return a review: its record, what is known of its positions, its summary."""
        body = self._running[key].body if key in self._running else self._store.get(KIND, key)
        if body is None:
            raise UnknownReviewError("there is no such review")
        return body

    def parts(self, key: str) -> list[dict[str, Any]]:
        """Return what is known of each position so far."""
        return self._store.parts(KIND, key)

    def delete(self, key: str) -> None:
        """Stop and forget a review."""
        running = self._running.pop(key, None)
        if running is not None:
            running.job.cancel()
            tell(running.watchers)
        if not self._store.delete(KIND, key):
            raise UnknownReviewError("there is no such review")

    def close(self) -> None:
        """Take in nothing more; what is under way goes on when a server opens the database."""
        self._running.clear()

    def watch(self, key: str) -> asyncio.Queue[None] | None:
        """Return a queue that gets an item at every change; None if nothing will change."""
        running = self._running.get(key)
        if running is None:
            return None
        queue: asyncio.Queue[None] = asyncio.Queue(maxsize=1)
        running.watchers.add(queue)
        return queue

    def unwatch(self, key: str, queue: asyncio.Queue[None]) -> None:
        """Stop watching."""
        if key in self._running:
            self._running[key].watchers.discard(queue)

    def _put(self, body: dict[str, Any]) -> None:
        summary = {**body["headline"], "status": body["status"], "playouts": body["playouts"]}
        self._store.put(KIND, body["id"], summary, body)

    def _start(self, body: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        key = body["id"]
        done = self._store.parts(KIND, key)

        def take(part: Any) -> None:
            loop.call_soon_threadsafe(self._take, key, job, part)

        arguments = {
            "sgf": body["sgf"],
            "playouts": body["playouts"],
            "done": [part["position"] for part in done],
        }
        job = self._lane.submit("review", arguments, take)
        self._running[key] = _Running(body, job, len(done))
        job.future.add_done_callback(
            lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._finish, key, job)
        )

    def _take(self, key: str, job: Job, part: dict[str, Any]) -> None:
        running = self._running.get(key)
        if running is None or running.job is not job:
            return
        # A job that was run again after a crash tells its first positions again.
        number = part["move"]["number"] if part["move"] else 0
        self._store.put_part(KIND, key, number, part)
        running.count = max(running.count, number + 1)
        tell(running.watchers)

    def _finish(self, key: str, job: Job) -> None:
        running = self._running.get(key)
        failure = job.future.exception()
        if running is None or running.job is not job or isinstance(failure, CancelledJob):
            return
        del self._running[key]
        body = running.body
        if failure is None:
            body["summary"] = job.future.result()
            body["status"] = "done"
        else:
            body["status"], body["trouble"] = "failed", str(failure)
        body["finished"] = time.time()
        self._put(body)
        tell(running.watchers)
