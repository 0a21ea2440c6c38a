"""The reviews of the server: a queue, every evaluated position stored, watchers notified.

Runs in the server's event loop; a worker process does the review (`review_tasks`). When the server
starts again, an interrupted review repeats its first pass and keeps the positions searched before.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import Response, StreamingResponse

from tengen.errors import TengenError
from tengen.web import review_tasks
from tengen.web.play_routes import attachment
from tengen.web.services import changes, event, read, result_of, services_of, stream, tell
from tengen.web.settings import Settings
from tengen.web.store import StorageError, Store
from tengen.web.uploads import SECONDS
from tengen.web.workers import BRIEF, CancelledJob, Job, Lane

KIND = "review"
_PAUSE = 10.0
"""Seconds until a review that could not be stored goes on."""


class UnknownReviewError(TengenError):
    """No review goes by this id."""


@dataclass(eq=False)
class _Running:
    """A review that waits or is in progress, and the queues that watch it."""

    body: dict[str, Any]
    job: Job
    changed: list[int] = field(default_factory=list)
    """Numbers of the positions in the order in which they arrived or were improved."""
    progress: dict[str, Any] | None = None
    watchers: set[asyncio.Queue[None]] = field(default_factory=set)


class Reviews:
    """All reviews, by id."""

    def __init__(self, store: Store, lane: Lane, settings: Settings) -> None:
        self._store, self._lane, self._settings = store, lane, settings
        self._running: dict[str, _Running] = {}

    def resume(self) -> None:
        """Continue all interrupted reviews, oldest first."""
        for entry in reversed(self._store.list(KIND, limit=None)):
            if entry["status"] == "waiting":
                body = self._store.get(KIND, entry["id"])
                if body is not None:
                    self._start(body)

    def add(
        self, games: list[dict[str, Any]], *, visits: int | None = None, quick: bool = False
    ) -> list[dict[str, Any]]:
        """Queue one review for each game, given as SGF with its headline.

        Raises
        ------
        TengenError
            If too many are waiting.
        """
        if len(self._running) + len(games) > self._settings.queued_reviews:
            raise TengenError("too many reviews are waiting; try again when some are done")
        made = []
        for game in games:
            body: dict[str, Any] = {
                "id": secrets.token_urlsafe(9),
                "sgf": game["sgf"],
                "visits": visits,
                "quick": quick,
                "headline": game["headline"],
                "status": "waiting",
                "trouble": "",
                "summary": None,
            }
            self._put(body)
            self._start(body)
            made.append({"id": body["id"], **body["headline"]})
        return made

    def entries(self) -> list[dict[str, Any]]:
        """Return the latest 200 reviews, latest first, with the progress of those that run."""
        entries = self._store.list(KIND)
        for entry in entries:
            running = self._running.get(entry["id"])
            entry["progress"] = running.progress if running else None
        return entries

    def get(self, key: str) -> dict[str, Any]:
        """Return a review: its record, its settings, its summary."""
        body = self._running[key].body if key in self._running else self._store.get(KIND, key)
        if body is None:
            raise UnknownReviewError("there is no such review")
        return body

    def parts(self, key: str) -> list[dict[str, Any]]:
        """Return the positions evaluated so far."""
        return self._store.parts(KIND, key)

    def progress(self, key: str) -> dict[str, Any] | None:
        """Return how far a running review is: stage, steps done and their total."""
        return self._running[key].progress if key in self._running else None

    def changed(self, key: str) -> list[int]:
        """Return the numbers of the positions that changed, in order.

        While a review runs, the list grows; whoever holds it also has the last changes.
        """
        return self._running[key].changed if key in self._running else []

    def delete(self, key: str) -> None:
        """Stop and delete a review."""
        if not self._store.delete(KIND, key):
            raise UnknownReviewError("there is no such review")
        running = self._running.pop(key, None)
        if running is not None:
            running.job.cancel()
            tell(running.watchers)

    def retry(self, key: str) -> None:
        """Queue a failed review again; the positions that were searched before are kept."""
        body = self.get(key)
        if body["status"] != "failed":
            raise TengenError("only a failed review can be tried again")
        body = {**body, "status": "waiting", "trouble": ""}
        self._put(body)
        self._start(body)

    def cancel_all(self) -> int:
        """Stop and delete all reviews that wait or run; return how many."""
        waiting = list(self._running)
        for key in waiting:
            self.delete(key)
        return len(waiting)

    def close(self) -> None:
        """Stop taking results; running reviews continue when a server opens the database again."""
        self._running.clear()

    def watch(self, key: str) -> asyncio.Queue[None] | None:
        """Return a queue that gets an item at every change; None if the review is not running."""
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
        summary = {**body["headline"], "status": body["status"]}
        self._store.put(KIND, body["id"], summary, body)

    def _start(self, body: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        key = body["id"]
        searched = [p for p in self._store.parts(KIND, key) if p["position"]["visits"] > 1]

        def take(part: Any) -> None:
            loop.call_soon_threadsafe(self._take, key, job, part)

        arguments = {
            "sgf": body["sgf"],
            "visits": body["visits"],
            "quick": body["quick"],
            "known": [(part["number"], part["position"]) for part in searched],
        }
        job = self._lane.submit("review", arguments, take)
        running = self._running.setdefault(key, _Running(body, job))
        running.body, running.job = body, job
        job.future.add_done_callback(
            lambda _: loop.is_closed() or loop.call_soon_threadsafe(self._finish, key, job)
        )

    def _take(self, key: str, job: Job, part: dict[str, Any]) -> None:
        running = self._running.get(key)
        if running is None or running.job is not job or job.is_cancelled:
            return
        number, progress = part["number"], part.pop("progress")
        try:
            self._store.put_part(KIND, key, number, part)
        except StorageError as failure:
            self._postpone(running, failure)
            return
        running.progress = progress
        running.changed.append(number)
        tell(running.watchers)

    def _postpone(self, running: _Running, failure: StorageError) -> None:
        """Go on later with a review that cannot be stored now."""
        running.job.cancel()
        body = running.body = {**running.body, "trouble": str(failure)}

        def go_on() -> None:
            if self._running.get(body["id"]) is running:
                self._start({**body, "trouble": ""})

        asyncio.get_running_loop().call_later(_PAUSE, go_on)
        tell(running.watchers)

    def _finish(self, key: str, job: Job) -> None:
        running = self._running.get(key)
        failure = job.future.exception()
        if running is None or running.job is not job or isinstance(failure, CancelledJob):
            return
        body = dict(running.body)
        if failure is None:
            body["summary"] = job.future.result()
            body["status"] = "done"
        else:
            body["status"], body["trouble"] = "failed", str(failure)
        body["finished"] = time.time()
        try:
            self._put(body)
        except StorageError as problem:
            self._postpone(running, problem)
            return
        del self._running[key]
        tell(running.watchers)


router = APIRouter(prefix="/api", tags=["review"])


def _reviews(request: Request) -> Reviews:
    return services_of(request).reviews


@router.get("/reviews")
async def reviews(request: Request) -> list[dict[str, Any]]:
    """List the latest 200 reviews, latest first, with the progress of those that run."""
    return _reviews(request).entries()


@router.post("/reviews", status_code=201)
async def add(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: Annotated[str, Query(max_length=200)] = "game.sgf",
    visits: Annotated[int | None, Query(ge=2)] = None,
    quick: bool = False,
) -> list[dict[str, Any]]:
    """Queue reviews of all games in a file: SGF, other game formats, a collection, an archive."""
    services = services_of(request)
    most = services.settings.most_visits
    if visits is not None and visits > most:
        raise TengenError(f"at most {most} visits per position")
    games = await read(request, "games", data, name)
    return services.reviews.add(games, visits=visits, quick=quick)


@router.post("/games/{key}/review", status_code=201)
async def add_game(request: Request, key: str) -> list[dict[str, Any]]:
    """Queue a review of a game that was played here."""
    services = services_of(request)
    games = await read(request, "games", services.games.sgf(key), "game.sgf")
    return services.reviews.add(games)


@router.get("/reviews/{key}")
async def show(request: Request, key: str) -> dict[str, Any]:
    """Return a game with all positions, and those evaluated so far.

    `changes` counts the updates they include; `events` continues from there.
    """
    found = _reviews(request)
    body = found.get(key)
    lane = services_of(request).reading
    game = await result_of(lane.submit("replay", {"sgf": body["sgf"]}, limit=SECONDS), request)
    return {
        "id": key,
        "status": body["status"],
        "trouble": body["trouble"],
        "summary": body["summary"],
        "progress": found.progress(key),
        "changes": len(found.changed(key)),
        "game": {**game, **body["headline"]},
        "parts": found.parts(key),
    }


@router.post("/reviews/{key}/retry")
async def retry(request: Request, key: str) -> list[dict[str, Any]]:
    """Queue a failed review again, and list all reviews."""
    _reviews(request).retry(key)
    return _reviews(request).entries()


@router.delete("/reviews/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Stop and delete a review."""
    _reviews(request).delete(key)


@router.delete("/reviews")
async def cancel(request: Request) -> dict[str, int]:
    """Stop and delete all reviews that wait or run; those that are done stay."""
    return {"cancelled": _reviews(request).cancel_all()}


@router.get("/reviews/{key}/events", response_class=StreamingResponse)
async def events(request: Request, key: str, known: int = 0) -> StreamingResponse:
    """Stream positions as they are evaluated or improved, after the first `known` changes."""
    found = _reviews(request)
    found.get(key)
    queue, log = found.watch(key), found.changed(key)

    async def told() -> AsyncIterator[str]:
        # A server that was started again has fewer changes than its watchers know of.
        sent = known if known <= len(log) else 0
        try:
            async for alive in changes(queue) if queue else _once():
                if not alive:
                    yield ": alive\n\n"
                    continue
                # The status first: changes that come while events are sent are for the next round.
                body = dict(found.get(key))
                changed = log[sent:]
                sent += len(changed)
                parts = {part["number"]: part for part in found.parts(key)} if changed else {}
                for number in dict.fromkeys(changed):
                    yield event("part", parts[number])
                yield event("progress", found.progress(key))
                if body["status"] != "waiting":
                    told = {name: body[name] for name in ("status", "trouble", "summary")}
                    yield event("done", told)
                    return
        except TengenError:
            yield event("done", {"status": "failed", "trouble": "deleted", "summary": None})
        finally:
            if queue:
                found.unwatch(key, queue)

    if queue is not None and queue.empty():
        queue.put_nowait(None)
    return stream(told())


async def _once() -> AsyncIterator[bool]:
    yield True


@router.get("/reviews/{key}/sgf")
async def sgf(request: Request, key: str) -> Response:
    """Return the annotated game as SGF."""
    services = services_of(request)
    body = services.reviews.get(key)
    if body["status"] != "done":
        raise TengenError("the review is not done yet")
    arguments = {
        "sgf": body["sgf"],
        "summary": body["summary"],
        "parts": services.reviews.parts(key),
    }
    text: str = await result_of(
        services.looking.submit("export_sgf", arguments, grace=BRIEF), request
    )
    name = attachment(f"review-{key}.sgf")
    return Response(text, media_type="application/x-go-sgf", headers=name)


@router.get("/reviews/{key}/csv")
async def table(request: Request, key: str) -> Response:
    """Return the moves with points lost, better moves and predictions as CSV."""
    found = _reviews(request)
    found.get(key)
    text = review_tasks.table(found.parts(key))
    return Response(text, media_type="text/csv", headers=attachment(f"review-{key}.csv"))
