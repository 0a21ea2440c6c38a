"""Routes of reviews: upload, watch, read, download."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from tengen.errors import TengenError
from tengen.web import review_tasks
from tengen.web.play_routes import attachment
from tengen.web.records import whole
from tengen.web.reviews import Reviews
from tengen.web.services import services_of
from tengen.web.uploads import read_upload
from tengen.web.waiting import changes, event, result_of, stream
from tengen.web.workers import BRIEF

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
    settings = services.settings
    if visits is not None and visits > settings.most_visits:
        raise TengenError(f"at most {settings.most_visits} visits per position")
    return services.reviews.add(read_upload(data, name, settings), visits=visits, quick=quick)


@router.post("/games/{key}/review", status_code=201)
async def add_game(request: Request, key: str) -> list[dict[str, Any]]:
    """Queue a review of a game that was played here."""
    services = services_of(request)
    records = read_upload(services.games.sgf(key), "game.sgf", services.settings)
    return services.reviews.add(records)


@router.get("/reviews/{key}")
async def show(request: Request, key: str) -> dict[str, Any]:
    """Return a game with all positions, and those evaluated so far.

    `changes` counts the updates they include; `events` continues from there.
    """
    found = _reviews(request)
    body = found.get(key)
    # A long game takes a while to replay; other requests are answered meanwhile.
    game = await run_in_threadpool(whole, review_tasks.record_of(body["sgf"]))
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


@router.delete("/reviews/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Stop and delete a review."""
    _reviews(request).delete(key)


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
