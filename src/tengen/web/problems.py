"""Problems made of a person's own mistakes: find the better move, today and again another day.

A problem that is solved comes back after more and more days, one that is not comes back tomorrow.
"""

from __future__ import annotations

import time
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from tengen.errors import TengenError
from tengen.web.positions import NAMES, illegal_points, position_of, to_board, to_value
from tengen.web.services import result_of, services_of
from tengen.web.store import Store
from tengen.web.workers import BRIEF

KIND = "problem"
_DAY = 86400.0
_PAUSES = (1, 3, 7, 21, 60)
"""Days until a problem is asked again, by how often in a row it was solved."""
_SOLVED = 3.0
"""A move solves a problem if it loses at most this part of what the mistake lost."""
_LEAST = 1.0
"""Points that a solution may always lose."""

router = APIRouter(prefix="/api", tags=["problems"])


class UnknownProblemError(TengenError):
    """No problem has this id."""


def keep(store: Store, game: str, lessons: list[dict[str, Any]], now: float) -> None:
    """Keep the mistakes of a game as problems for the next day; those kept before stay."""
    for lesson in lessons:
        key = f"{game}-{lesson['number']}-{lesson['move']}"
        if store.get(KIND, key) is None:
            names = ("board", "number", "colour", "move", "best", "points_lost")
            body = {"id": key, **{name: lesson[name] for name in names}}
            _put(store, {**body, "solved": 0, "due": now + _DAY})


def rate(store: Store, body: dict[str, Any], lost: float, move: str, now: float) -> dict[str, Any]:
    """Judge an answer by the points it loses, and set the day of the next question."""
    allowed = max(body["points_lost"] / _SOLVED, _LEAST)
    solved = move == body["best"] or lost <= allowed
    if solved:
        pause = _PAUSES[min(body["solved"], len(_PAUSES) - 1)]
        body |= {"solved": body["solved"] + 1, "due": now + pause * _DAY}
    else:
        body |= {"solved": 0, "due": now + _DAY}
    _put(store, body)
    return {"solved": solved, "points_lost": lost, "best": body["best"], "due": body["due"]}


def due(store: Store, now: float) -> list[dict[str, Any]]:
    """Return the problems to be asked, the ones that wait longest first."""
    waiting = [one for one in store.list(KIND, limit=None) if one["due"] <= now]
    return sorted(waiting, key=lambda one: one["due"])


def _put(store: Store, body: dict[str, Any]) -> None:
    shown = {name: body[name] for name in ("number", "colour", "points_lost", "solved", "due")}
    store.put(KIND, body["id"], {**shown, "size": body["board"]["rows"]}, body)


def find(store: Store, key: str) -> dict[str, Any]:
    """Return a problem by its id."""
    body = store.get(KIND, key)
    if body is None:
        raise UnknownProblemError("there is no such problem")
    return body


class Answer(BaseModel, extra="forbid"):
    """A move that may solve a problem."""

    move: str = Field(max_length=8, examples=["D4"])


@router.get("/problems")
async def problems(request: Request) -> list[dict[str, Any]]:
    """List all problems, the ones that wait longest first."""
    return sorted(services_of(request).store.list(KIND, limit=None), key=lambda one: one["due"])


@router.get("/problems/{key}")
async def show(request: Request, key: str) -> dict[str, Any]:
    """Return a problem: the position, and the move that lost points there."""
    body = find(services_of(request).store, key)
    board = to_board(body["board"])
    names = ("id", "number", "move", "points_lost", "solved", "due")
    return {
        **{name: body[name] for name in names},
        **position_of(board),
        "you": NAMES[board.turn],
        "illegal": illegal_points(board),
    }


@router.post("/problems/{key}/answer")
async def answer(request: Request, key: str, answer: Answer) -> dict[str, Any]:
    """Judge an answer: it solves the problem if it loses far less than the move of the game."""
    services = services_of(request)
    body = find(services.store, key)
    board = to_board(body["board"])
    board.play(answer.move)
    job = services.playing.submit("lesson", {"board": to_value(board)}, grace=BRIEF)
    found = await result_of(job, request)
    return rate(services.store, body, found["points_lost"], found["move"], time.time())


@router.delete("/problems/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Forget a problem."""
    if not services_of(request).store.delete(KIND, key):
        raise UnknownProblemError("there is no such problem")
