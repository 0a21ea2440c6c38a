"""Routes of one player's reviewed games: the worst positions, as problems too, and the ranks."""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from tengen.reviews.player import MOST_MOMENTS, ranks_over_time, worst_rows
from tengen.reviews.strength import fitted_model
from tengen.web.positions import READ_SECONDS
from tengen.web.services import ask, download, services_of
from tengen.web.store import UnknownItemError, keep_problems
from tengen.web.workers import GRACE, Json

router = APIRouter(prefix="/api/player", tags=["review"])

_Name = Annotated[str, Query(min_length=1, max_length=120)]


async def _games(request: Request, name: str) -> list[Json]:
    found = await run_in_threadpool(services_of(request).reviews.of_player, name)
    if not found:
        raise UnknownItemError("no reviewed game has a player of this name")
    return found


async def _moments(request: Request, games: list[Json], name: str) -> tuple[Json, list[Any]]:
    """Return what the task says of the worst positions, and their games and moves."""
    worst = worst_rows(games, name)[:MOST_MOMENTS]
    arguments = [{"sgf": g["sgf"], "move": move, "title": _title(g)} for g, move in worst]
    lane = services_of(request).reading
    found = await ask(request, lane, "tasks.moments", GRACE, READ_SECONDS, games=arguments)
    return found, worst


def _title(game: Json) -> str:
    return " - ".join(filter(None, (game["black"], game["white"], game["date"])))


@router.get("")
async def player(request: Request, name: _Name) -> Json:
    """Return a player's worst positions and the ranks over time."""
    games = await _games(request, name)
    found, worst = await _moments(request, games, name)
    sides = {game["id"]: "black" if game["black"] == name else "white" for game in games}
    judged = [
        (
            game["date"],
            "x".join(map(str, game["size"])),
            [row["probability"] for row in game["rows"] if row["colour"] == sides[game["id"]]],
        )
        for game in games
        if not game["handicap"] and game["summary"]["judge"].startswith(fitted_model())
    ]
    return {
        "worst": [
            {"review": game["id"], "title": _title(game), "move": move, "position": position}
            for (game, move), position in zip(worst, found["positions"], strict=True)
        ],
        "ranks": ranks_over_time(judged),
    }


@router.get("/sgf")
async def sgf(request: Request, name: _Name) -> Response:
    """Return a player's worst positions as problems in SGF."""
    found, _ = await _moments(request, await _games(request, name), name)
    return download(found["sgf"], "problems.sgf")


@router.post("/problems", status_code=201)
async def practise(request: Request, name: _Name) -> list[str]:
    """Keep a player's worst positions as problems, and return the ids of the problems."""
    services = services_of(request)
    ids: list[str] = []
    for game, move in worst_rows(await _games(request, name), name)[:MOST_MOMENTS]:
        answer = await ask(
            request, services.reading, "tasks.lessons", GRACE, sgf=game["sgf"], moves=[move]
        )
        ids += keep_problems(services.store, game["id"], answer["lessons"], time.time())
    return ids
