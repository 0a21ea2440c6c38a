"""The reviews of the server; every evaluated position is stored.

The service runs in the server's event loop; a worker process does the review. When the server
starts again, an interrupted review repeats its first pass and keeps the positions searched before.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from tengen.errors import TengenError
from tengen.models.settings import fingerprint
from tengen.web.store import StorageError, Store
from tengen.web.workers import CancelledJob, Job, Json, Lane

REVIEW = "review"
_PAUSE = 10.0  # seconds until a review that could not be stored goes on
_MOST_QUEUED = 1000  # most reviews that wait or run


@dataclass(eq=False)
class _Running:
    """A review that is queued or in progress."""

    body: Json
    job: Job
    changed: list[int] = field(default_factory=list)  # positions in the order of their changes
    progress: Json | None = None


class Reviews:
    """All reviews, by id."""

    def __init__(self, store: Store, lane: Lane) -> None:
        self._store, self._lane = store, lane
        self._running: dict[str, _Running] = {}

    def resume(self) -> None:
        """Continue all interrupted reviews, oldest first."""
        for entry in reversed(self._store.list(REVIEW, limit=None)):
            if entry["status"] == "waiting":
                self._start(self._store.get(REVIEW, entry["id"]))

    def add(
        self,
        games: list[Json],
        *,
        visits: int | None = None,
        quick: bool = False,
        again: bool = False,
    ) -> dict[str, list[Json]]:
        """Queue one review for each game, given as SGF with its headline.

        Returns the `reviews` queued and those `known`: the same game with the same settings is not
        reviewed twice, unless `again` is given.
        """
        entries = self._store.list(REVIEW, limit=None)
        there = {e.get("fingerprint"): e for e in entries if e["status"] != "failed"}
        new: list[Json] = []
        known: dict[str, Json] = {}
        for game in games:
            mark = fingerprint(game["sgf"], str(visits), str(quick))
            if mark in there and not again:
                known[there[mark]["id"]] = there[mark]
                continue
            headline = {**game["headline"], "fingerprint": mark}
            settings = {"visits": visits, "quick": quick, "summary": None}
            body = {**game, "id": secrets.token_urlsafe(9), "headline": headline, **settings}
            new.append(body)
            there[mark] = {"id": body["id"], **headline}
        if len(self._running) + len(new) > _MOST_QUEUED:
            raise TengenError("too many reviews are waiting; try again when some are done")
        for body in new:
            self._queue(body)
        made = [{"id": body["id"], **body["headline"]} for body in new]
        fresh = {body["id"] for body in new}
        return {"reviews": made, "known": [one for one in known.values() if one["id"] not in fresh]}

    def entries(self) -> list[Json]:
        """Return the latest 500 reviews, latest first, with the progress of those that run."""
        entries = self._store.list(REVIEW)
        for entry in entries:
            running = self._running.get(entry["id"])
            entry["progress"] = running.progress if running else None
        return entries

    def get(self, key: str) -> Json:
        """Return a review: its record, its settings, its summary."""
        running = self._running.get(key)
        return running.body if running else self._store.get(REVIEW, key)

    def parts(self, key: str) -> list[Json]:
        """Return the positions evaluated so far."""
        return self._store.parts(REVIEW, key)

    def running(self, key: str) -> _Running:
        """Return the state of a review that waits or runs; an empty one for a finished review."""
        return self._running.get(key) or _Running(self.get(key), Job("", {}))

    def delete(self, key: str) -> None:
        """Stop and delete a review."""
        self._store.delete(REVIEW, key)
        running = self._running.pop(key, None)
        if running is not None:
            running.job.cancel()

    def retry(self, key: str) -> None:
        """Queue a failed review again; the positions that were searched before are kept."""
        body = self.get(key)
        if body["status"] != "failed":
            raise TengenError("only a failed review can be tried again")
        self._queue(body)

    def mistakes(self, key: str, colour: str | None) -> list[Json]:
        """Return the mistakes that a review found so far, of one side or both."""
        moves = [part["move"] for part in self.parts(key) if part["move"]]
        found = [move for move in moves if move["verdict"] == "mistake"]
        return [move for move in found if colour in (None, move["colour"])]

    def of_player(self, name: str) -> list[Json]:
        """Return the finished reviews of a player's games by date, each with its `rows` of moves.

        Reviews of older versions keep their moves only in the parts.
        """
        found = []
        for entry in self._store.list(REVIEW, limit=None):
            if entry["status"] == "done" and name in (entry["black"], entry["white"]):
                body, key = self.get(entry["id"]), entry["id"]
                rows = body.get("moves") or [p["move"] for p in self.parts(key) if p["move"]]
                found.append({**body["headline"], **body, "rows": rows, **entry})
        return sorted(found, key=lambda one: (one["date"], one["changed"]))

    def cancel_all(self) -> int:
        """Stop and delete all reviews that wait or run; return how many."""
        waiting = list(self._running)
        for key in waiting:
            self.delete(key)
        return len(waiting)

    def close(self) -> None:
        """Stop taking results; running reviews continue when a server opens the database again."""
        self._running.clear()

    def _queue(self, body: Json) -> None:
        body = {**body, "status": "waiting", "trouble": ""}
        self._put(body)
        self._start(body)

    def _put(self, body: Json) -> None:
        summary = {**body["headline"], "status": body["status"]}
        if found := body["summary"]:
            summary["lost"] = {side: found[side]["mean_points_lost"] for side in ("black", "white")}
        self._store.put(REVIEW, body["id"], summary, body)

    def _start(self, body: Json) -> None:
        loop = asyncio.get_running_loop()
        parts = [(part["number"], part["position"]) for part in self.parts(body["id"])]
        arguments = {name: body[name] for name in ("sgf", "visits", "quick")}
        arguments["known"] = [(n, position) for n, position in parts if position["visits"] > 1]

        def take(part: Any) -> None:
            loop.call_soon_threadsafe(lambda: self._take(running, job, part))

        job = self._lane.submit("tasks.review", arguments, take)
        running = self._running.setdefault(body["id"], _Running(body, job))
        running.body, running.job = body, job
        job.future.add_done_callback(
            lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._finish, running, job)
        )

    def _is_current(self, running: _Running, job: Job) -> bool:
        """Return whether a job is current: its review was neither deleted nor started again."""
        return self._running.get(running.body["id"]) is running and running.job is job

    def _take(self, running: _Running, job: Job, part: Json) -> None:
        if not self._is_current(running, job) or job.is_cancelled:
            return
        number, progress = part["number"], part.pop("progress")
        try:
            self._store.put_part(REVIEW, running.body["id"], number, part)
        except StorageError as failure:
            self._postpone(running, failure)
            return
        running.progress = progress
        running.changed.append(number)

    def _postpone(self, running: _Running, failure: StorageError) -> None:
        """Cancel a review that cannot be stored now, and continue it later."""
        running.job.cancel()
        body = running.body = {**running.body, "trouble": str(failure)}

        def go_on() -> None:
            if self._running.get(body["id"]) is running:
                self._start({**body, "trouble": ""})

        asyncio.get_running_loop().call_later(_PAUSE, go_on)

    def _finish(self, running: _Running, job: Job) -> None:
        failure = job.future.exception()
        if not self._is_current(running, job) or isinstance(failure, CancelledJob):
            return
        body = {**running.body, "finished": time.time()}
        if failure is None:
            body |= {"status": "done", **job.future.result()}
        else:
            body |= {"status": "failed", "trouble": str(failure)}
        try:
            self._put(body)
        except StorageError as problem:
            self._postpone(running, problem)
            return
        del self._running[body["id"]]
