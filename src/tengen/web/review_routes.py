"""Routes of reviews: queue, show, repeat, delete, download."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from tengen.errors import TengenError
from tengen.web.positions import READ_SECONDS
from tengen.web.reviews import Reviews
from tengen.web.services import Upload, ask, download, read, services_of
from tengen.web.store import keep_problems
from tengen.web.tasks import page_of, table
from tengen.web.workers import GRACE, Json

_PROBLEMS = 10  # most problems that are made of one review
_MOST_VISITS = 2000  # most visits per position that a request may set

router = APIRouter(prefix="/api", tags=["review"])


def _reviews(request: Request) -> Reviews:
    return services_of(request).reviews


@router.get("/reviews")
async def reviews(request: Request) -> list[Json]:
    """List the latest 500 reviews, latest first, with the progress of those that run."""
    return _reviews(request).entries()


@router.post("/reviews", status_code=201)
async def add(
    request: Request,
    data: Upload,
    name: Annotated[str, Query(max_length=200)] = "game.sgf",
    visits: Annotated[int | None, Query(ge=2, le=_MOST_VISITS)] = None,
    quick: bool = False,
    again: bool = False,
) -> Json:
    """Queue reviews of all games in a file: SGF, other game formats, a collection, an archive.

    Returns the `reviews` that were queued, those `known` already, which are not made `again` unless
    that is asked for, and what was `unread`.
    """
    found = await read(request, "positions.games_of_upload", data, name)
    made = _reviews(request).add(found["games"], visits=visits, quick=quick, again=again)
    return {**made, "unread": found["unread"]}


@router.post("/games/{key}/review", status_code=201)
async def add_game(request: Request, key: str) -> Json:
    """Queue a review of a game that was played here, or find it if it is `known` already."""
    games = services_of(request).games
    you = games.game(key).summary()["you"]
    found = await read(request, "positions.games_of_upload", games.sgf(key), "game.sgf")
    found["games"][0]["you"] = None if you == "both" else you
    return {**_reviews(request).add(found["games"]), "unread": []}


@router.get("/reviews/{key}")
async def show(
    request: Request, key: str, known: Annotated[int | None, Query(ge=0)] = None
) -> Json:
    """Return a game with all positions, and those evaluated so far.

    `changes` counts the updates they include. With that number as `known`, the game is left out,
    and until the review is done also the positions that have not changed since.
    """
    found = _reviews(request)
    body, running = found.get(key), found.running(key)
    log = running.changed
    shown = {
        **{name: body[name] for name in ("id", "status", "trouble", "summary")},
        "you": body.get("you"),
        "progress": running.progress,
        "changes": len(log),
    }
    if known is not None:
        parts = found.parts(key)
        if body["status"] == "waiting":
            # After a restart, the server has fewer changes than its clients have seen.
            changed = set(log[known if known <= len(log) else 0 :])
            parts = [part for part in parts if part["number"] in changed]
        return {**shown, "parts": parts}
    lane = services_of(request).reading
    game = await ask(request, lane, "positions.replay", GRACE, READ_SECONDS, sgf=body["sgf"])
    return {**shown, "game": {**game, **body["headline"]}, "parts": found.parts(key)}


@router.post("/reviews/{key}/retry")
async def retry(request: Request, key: str) -> list[Json]:
    """Queue a failed review again, and list all reviews."""
    _reviews(request).retry(key)
    return _reviews(request).entries()


@router.post("/reviews/{key}/problems", status_code=201)
async def practise(
    request: Request, key: str, colour: Literal["black", "white"] | None = None
) -> list[str]:
    """Keep the largest mistakes of a review as problems, and return the ids of the problems."""
    services = services_of(request)
    found = services.reviews
    moves, sgf = found.mistakes(key, colour), found.get(key)["sgf"]
    answer = await ask(request, services.reading, "tasks.lessons", GRACE, sgf=sgf, moves=moves)
    return keep_problems(services.store, key, answer["lessons"], time.time(), most=_PROBLEMS)


@router.delete("/reviews/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Stop and delete a review."""
    _reviews(request).delete(key)


@router.delete("/reviews")
async def cancel(request: Request) -> dict[str, int]:
    """Stop and delete all reviews that wait or run; those that are done stay."""
    return {"cancelled": _reviews(request).cancel_all()}


@router.get("/reviews/{key}/sgf")
async def sgf(request: Request, key: str) -> Response:
    """Return the annotated game as SGF."""
    body = _reviews(request).get(key)
    if body["status"] != "done":
        raise TengenError("the review is not done yet")
    if "annotated" not in body:
        raise TengenError("an older version made this review; review the game again")
    return download(body["annotated"], f"review-{key}.sgf")


@router.get("/reviews/{key}/html")
async def html(request: Request, key: str) -> Response:
    """Return the review as a page that needs no server."""
    found = _reviews(request)
    body = found.get(key)
    if body["status"] != "done":
        raise TengenError("the review is not done yet")
    game = await ask(
        request, services_of(request).reading, "positions.replay", GRACE, READ_SECONDS,
        sgf=body["sgf"],
    )  # fmt: skip
    names = [body["headline"][name] for name in ("black", "white")]
    title = " - ".join(filter(None, names)) or "review"
    page = page_of({**game, **body["headline"]}, found.parts(key), body["summary"], title)
    return download(page, f"review-{key}.html")


@router.get("/reviews/{key}/csv")
async def csv(request: Request, key: str) -> Response:
    """Return the moves with points lost, better moves and predictions as CSV."""
    found = _reviews(request)
    found.get(key)
    return download(table(found.parts(key)), f"review-{key}.csv")
