"""Answer requests about openings: which collections there are, and what was played in them."""

from __future__ import annotations

import tempfile
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from fastapi.concurrency import run_in_threadpool

from tengen.web import openings, shelves
from tengen.web.look_routes import Position
from tengen.web.positions import to_value
from tengen.web.records import position_of
from tengen.web.services import services_of
from tengen.web.waiting import result_of
from tengen.web.workers import BRIEF

router = APIRouter(prefix="/api", tags=["openings"])


class Asked(Position):
    """A position, and whether only the corner of its moves is meant."""

    corner: bool = False


@router.get("/collections")
def listed(request: Request) -> list[dict[str, Any]]:
    """List the collections whose openings can be explored."""
    found = openings.collections(services_of(request).settings)
    return [{"id": one.id, "name": one.name} for one in found]


@router.post("/collections", status_code=201)
async def add(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: Annotated[str, Query(max_length=200)] = "games.sgf",
) -> dict[str, Any]:
    """Index the games of a file or an archive, and keep the index."""
    services = services_of(request)
    with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
        arguments = await run_in_threadpool(openings.prepare, data, name, folder, services.settings)
        job = services.exploring.submit("index", arguments, grace=BRIEF)
        made = await result_of(job, request)
    found = openings.collections(services.settings)
    entry = next(one for one in found if str(one.path) == arguments["out"])
    return {"id": entry.id, "name": entry.name, **made}


@router.post("/explore/{key}")
async def explore(
    request: Request, key: str, asked: Asked, top: Annotated[int, Query(ge=1, le=100)] = 15
) -> dict[str, Any]:
    """Say what was played next in a position, how often, who won, and what models think of it.

    Mirror images, turns and swapped colours count together. The first question to a collection
    makes its index, which takes a while.
    """
    services = services_of(request)
    board = asked.board()
    found = shelves.pick(openings.collections(services.settings), key)
    arguments = {
        "board": to_value(board),
        "path": str(found.path),
        "corner": asked.corner,
        "top": top,
    }
    job = services.exploring.submit("explore", arguments, grace=BRIEF)
    return {**await result_of(job, request), **position_of(board)}
