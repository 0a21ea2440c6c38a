"""Answer requests about reviews: upload, watch, read, download."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response, StreamingResponse

from tengen.errors import TengenError
from tengen.web import studies
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
    """List the latest 200 reviews, latest first; `done` counts the positions of those that run."""
    return _reviews(request).entries()


@router.post("/reviews", status_code=201)
async def add(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: Annotated[str, Query(max_length=200)] = "game.sgf",
    playouts: Annotated[int | None, Query(ge=10)] = None,
) -> list[dict[str, Any]]:
    """Queue reviews of all games in a file: SGF of any age, a collection, an archive."""
    services = services_of(request)
    settings = services.settings
    wanted = settings.review_playouts if playouts is None else playouts
    if wanted > settings.most_playouts:
        raise TengenError(f"at most {settings.most_playouts} playouts a position")
    return services.reviews.add(read_upload(data, name, settings), wanted)


@router.post("/games/{key}/review", status_code=201)
async def add_game(request: Request, key: str) -> list[dict[str, Any]]:
    """Queue a review of a game that was played here."""
    services = services_of(request)
    records = read_upload(services.room.sgf(key), "game.sgf", services.settings)
    return services.reviews.add(records, services.settings.review_playouts)


@router.get("/reviews/{key}")
async def show(request: Request, key: str) -> dict[str, Any]:
    """Return a game with all positions and what is known of each so far."""
    found = _reviews(request)
    body = found.get(key)
    # A long game takes a while to replay; meanwhile others are answered.
    game = await run_in_threadpool(whole, studies.record_of(body["sgf"]))
    return {
        "id": key,
        "status": body["status"],
        "trouble": body["trouble"],
        "summary": body["summary"],
        "playouts": body["playouts"],
        "game": {**game, **body["headline"]},
        "parts": found.parts(key),
    }


@router.delete("/reviews/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Stop and forget a review."""
    _reviews(request).delete(key)


@router.get("/reviews/{key}/events", response_class=StreamingResponse)
async def events(request: Request, key: str, known: int = 0) -> StreamingResponse:
    """Stream positions from number `known` on as they are judged, then `done`."""
    found = _reviews(request)
    found.get(key)
    queue = found.watch(key)

    async def told() -> AsyncIterator[str]:
        sent = known
        try:
            async for changed in changes(queue) if queue else _once():
                if not changed:
                    yield ": alive\n\n"
                    continue
                parts = found.parts(key)
                for part in parts[sent:]:
                    yield event("part", part)
                sent = max(sent, len(parts))
                body = found.get(key)
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
    """Return the moves with points lost, better moves and predictions as a table."""
    found = _reviews(request)
    found.get(key)
    text = studies.table(found.parts(key))
    return Response(text, media_type="text/csv", headers=attachment(f"review-{key}.csv"))
