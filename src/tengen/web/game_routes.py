"""Routes of games and problems: begin, move, take back, hint, count, solve."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from tengen.board import PASS
from tengen.errors import TengenError
from tengen.game.session import BOTH
from tengen.web import problems as problems_from_files
from tengen.web.games import GAME, HINT_PLAYER, Colour, GameService, NewGame, WebGame
from tengen.web.positions import NAMES, illegal_points, position_of, to_board, to_value
from tengen.web.reviews import REVIEW
from tengen.web.services import Upload, ask, download, read, services_of
from tengen.web.store import (
    PROBLEM,
    TAGS,
    UnknownItemError,
    add_problems,
    list_problems,
    rate_answer,
)
from tengen.web.workers import GRACE, Json

_Vertex = Annotated[str, Field(max_length=8, examples=["D4", "pass", "resign"])]

# ----- Routes of games -----

router = APIRouter(prefix="/api", tags=["play"])


class Change(BaseModel, extra="forbid"):
    """A change of a game; `version` is that of the position the page shows."""

    version: int | None = None


class Play(Change):
    """A move."""

    move: _Vertex
    sure: bool = False  # whether a pass is meant even if it loses points


class Toggle(Change):
    """A block to mark as dead or alive."""

    vertex: _Vertex


def _games(request: Request) -> GameService:
    return services_of(request).games


@router.get("/opponents")
def opponents(request: Request) -> list[Json]:
    """List the opponents with their ratings (GNU Go 3.8 level 10 = 1800) and ranks."""
    return [asdict(one) for one in _games(request).opponents.values()]


@router.get("/games")
async def games(request: Request) -> list[Json]:
    """List the latest 500 games, latest first."""
    return services_of(request).store.list(GAME)


@router.post("/games", status_code=201)
async def begin(request: Request, game: NewGame) -> Json:
    """Begin a game; with `ladder`, the last results determine the opponent and the handicap."""
    games = _games(request)
    return games.add(WebGame.start(games.on_ladder(game) if game.ladder else game))


@router.get("/ladder")
async def ladder(request: Request, size: Annotated[int, Query(ge=2, le=25)] = 9) -> Json:
    """Return the next game of the ladder on a board: opponent and handicap."""
    game = _games(request).on_ladder(NewGame(size=size))
    return {"opponent": game.opponent, "handicap": game.handicap}


@router.get("/fair-game")
async def fair_game(
    request: Request,
    you: Annotated[str, Query(max_length=10, examples=["8 kyu"])],
    size: Annotated[int, Query(ge=2, le=25)] = 19,
    other: Annotated[str | None, Query(max_length=10)] = None,
    opponent: Annotated[str | None, Query(max_length=40)] = None,
) -> Json:
    """Return opponent, colour, handicap and komi of an even game for a person of a rank.

    Against a person of the rank `other`, against an `opponent`, or against the nearest level.
    """
    return _games(request).fair_game(size, you, other, opponent)


@router.post("/games/upload", status_code=201)
async def upload(
    request: Request,
    data: Upload,
    name: str = "game.sgf",
    colour: Colour = "black",
    opponent: Annotated[str, Query(max_length=40)] = "level-1",
) -> Json:
    """Continue a game from an SGF file."""
    board = to_board(await read(request, "positions.end_of_upload", data, name))
    return _games(request).add(WebGame.start(NewGame(colour=colour, opponent=opponent), board))


@router.get("/games/{key}", response_model=None)
async def show(request: Request, key: str, version: int | None = None) -> Json | Response:
    """Return a game as it stands, or status 204 if nothing has changed since this version."""
    games = _games(request)
    game = games.game(key)
    # Trouble comes without a new version where nothing can be stored.
    if version == game.version and not game.trouble:
        return Response(status_code=204)
    return games.state(key)


@router.delete("/games/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Delete a game."""
    _games(request).delete(key)


@router.post("/games/{key}/moves")
async def move(request: Request, key: str, play: Play) -> Json:
    """Play your move: a vertex, `pass` or `resign`.

    A pass that loses points is not played unless `sure`: the response is the unchanged game, with
    `question` set to `pass`.
    """
    wanted = play.move.strip().lower()
    if wanted == "pass" and not play.sure and await _loses_by_passing(request, key):
        return {**_games(request).state(key), "question": "pass"}

    def act(game: WebGame, now: float) -> None:
        if wanted == "resign":
            game.resign(game.board.turn if game.human == BOTH else game.human)
        elif game.waits_for_machine:
            raise TengenError("it is the machine's turn")
        else:
            game.play(play.move, now)

    return _games(request).change(key, play.version, act)


async def _loses_by_passing(request: Request, key: str) -> bool:
    """Return whether it is the person's turn and a pass would lose points."""
    services = services_of(request)
    game = services.games.game(key)
    if game.is_over or game.is_counting or game.waits_for_machine or game.human == BOTH:
        return False
    found = await ask(request, services.playing, "tasks.is_open", board=to_value(game.board))
    return bool(found["open"])


def _add_change(name: str, act: Callable[[WebGame, float], None], about: str) -> None:
    async def change(request: Request, key: str, change: Change) -> Json:
        return _games(request).change(key, change.version, act)

    router.post(f"/games/{{key}}/{name}", name=name, description=about)(change)


_add_change(
    "count",
    lambda game, now: game.stop(),
    "End the game and count it as it stands, although it may not be over.",
)
_add_change(
    "undo",
    lambda game, now: game.undo(now),
    "Take back your last move and what followed; stops the machine's thinking.",
)
_add_change("go-on", lambda game, now: game.go_on(), "After a lesson, leave the move as it is.")
_add_change("accept", lambda game, now: game.accept(), "At the end, let the count stand.")


@router.post("/games/{key}/dead")
async def dead(request: Request, key: str, toggle: Toggle) -> Json:
    """At the end, mark a block as dead, or as alive again, and repeat the count."""
    return _games(request).change(key, toggle.version, lambda game, now: game.toggle(toggle.vertex))


@router.post("/games/{key}/retry")
async def retry(request: Request, key: str) -> Json:
    """Let the machine think again after its search failed."""
    return _games(request).retry(key)


@router.post("/games/{key}/hint")
async def hint(request: Request, key: str) -> Json:
    """Return the candidate moves of a strong player; close the connection to stop the search."""
    services = services_of(request)
    game = services.games.game(key)
    arguments: Json = {"board": to_value(game.board), "player": HINT_PLAYER, "seed": game.seed}
    return await ask(request, services.searching, "tasks.hint", GRACE, **arguments)


@router.get("/games/{key}/sgf")
async def sgf(request: Request, key: str) -> Response:
    """Return the game as SGF."""
    return download(_games(request).sgf(key), f"game-{key}.sgf")


# ----- Tags of games and reviews -----

_Tag = Annotated[str, Field(min_length=1, max_length=30)]


class Tags(BaseModel, extra="forbid"):
    """The tags of a game or a review."""

    tags: Annotated[list[_Tag], Field(max_length=20)]


@router.get("/tags")
async def all_tags(request: Request) -> dict[str, list[str]]:
    """Return the tags of all games and reviews that have any, by id."""
    return {one["id"]: one["tags"] for one in services_of(request).store.list(TAGS, limit=None)}


@router.put("/tags/{key}", status_code=204)
async def tag(request: Request, key: str, tags: Tags) -> None:
    """Set the tags of a game or a review."""
    store = services_of(request).store
    if not (store.has(GAME, key) or store.has(REVIEW, key)):
        raise UnknownItemError("there is no such game or review")
    store.put(TAGS, key, tags.model_dump(), {})


# ----- Routes of problems -----

problem_router = APIRouter(prefix="/api/problems", tags=["problems"])


class ProblemAnswer(BaseModel, extra="forbid"):
    """A move that may solve a problem."""

    move: str = Field(max_length=8, examples=["D4"])


@problem_router.get("")
async def problems(request: Request) -> list[Json]:
    """List all problems by due date, earliest first."""
    return list_problems(services_of(request).store)


@problem_router.post("/start", status_code=201)
async def start_problems(request: Request) -> list[str]:
    """Add the problems that ship with Tengen, due now; return their ids."""
    return add_problems(services_of(request).store, problems_from_files.shipped(), time.time())


@problem_router.post("/upload", status_code=201)
async def upload_problems(
    request: Request, data: Upload, name: Annotated[str, Query(max_length=200)] = "problems.sgf"
) -> Json:
    """Add the problems of a collection in SGF, due now: positions set up, with their solutions.

    Returns the ids, how many `others` set up no position, and what was `unread`.
    """
    found = await read(request, "problems.problems_of_upload", data, name)
    ids = add_problems(services_of(request).store, found.pop("problems"), time.time())
    return {"ids": ids, **found}


@problem_router.get("/{key}")
async def problem(request: Request, key: str) -> Json:
    """Return a problem: the position, and the move that lost points there."""
    body = services_of(request).store.get(PROBLEM, key)
    board = to_board(body["board"])
    names = ("id", "number", "move", "points_lost", "solved", "due", "title")
    shown = {**{name: body.get(name, "") for name in names}, **position_of(board)}
    return {**shown, "you": NAMES[board.turn], "illegal": illegal_points(board)}


@problem_router.post("/{key}/answer")
async def answer(request: Request, key: str, answer: ProblemAnswer) -> Json:
    """Judge an answer: it solves the problem if it loses far less than the move of the game."""
    services = services_of(request)
    body = services.store.get(PROBLEM, key)
    board = to_board(body["board"])
    point = board.to_point(answer.move)
    board.play(point)
    if "answers" in body or point == PASS:  # a review forgives most passes
        return rate_answer(services.store, body, None, str(point), time.time())
    found = await ask(request, services.playing, "tasks.lesson", board=to_value(board))
    return rate_answer(services.store, body, found["points_lost"], found["move"], time.time())


@problem_router.delete("/{key}", status_code=204)
async def delete_problem(request: Request, key: str) -> None:
    """Delete a problem."""
    services_of(request).store.delete(PROBLEM, key)
