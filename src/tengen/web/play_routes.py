"""Answer requests about games: begin, move, take back, hint, count, download."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, Field

from tengen.errors import TengenError
from tengen.game.session import BOTH
from tengen.web.game_service import GameService, UnknownGameError, WebGame
from tengen.web.opponents import next_rung
from tengen.web.positions import to_board, to_value
from tengen.web.services import changes, event, read, result_of, services_of, stream
from tengen.web.workers import BRIEF

router = APIRouter(prefix="/api", tags=["play"])

HINT_PLAYER = "tengen:seconds=0.8"
"""Searches with the network."""
_Colour = Literal["black", "white"]
_Vertex = Annotated[str, Field(max_length=8, examples=["D4", "pass", "resign"])]


class NewGame(BaseModel, extra="forbid"):
    """A game to begin."""

    size: Annotated[int, Field(ge=5, le=19)] = 9
    colour: _Colour = "black"
    opponent: Annotated[str, Field(max_length=40)] = "level-1"
    handicap: Annotated[int, Field(ge=0, le=9)] = 0
    komi: Annotated[float | None, Field(ge=-200, le=200)] = None
    rules: Literal["cgos", "chinese", "japanese", "aga", "new_zealand", "tromp_taylor"] = "cgos"
    minutes: Annotated[float, Field(ge=0, le=600)] = 0
    increment: Annotated[float, Field(ge=0, le=600)] = 0
    ladder: bool = False
    teach: Annotated[float, Field(ge=0, le=100)] = 0
    """Stop the game after moves that lose at least so many points; 0 for no teacher."""


class Play(BaseModel, extra="forbid"):
    """A move; `version` is that of the position the page shows."""

    move: _Vertex
    version: int | None = None
    sure: bool = False
    """Whether a pass is meant even if it loses points."""


class Change(BaseModel, extra="forbid"):
    """Any other change of a game."""

    version: int | None = None


class Toggle(Change):
    """A block to be taken for dead or alive."""

    vertex: _Vertex


def _games(request: Request) -> GameService:
    return services_of(request).games


@router.get("/opponents")
def opponents(request: Request) -> list[dict[str, Any]]:
    """List whom one can play against, with ratings (GNU Go 3.8 level 10 = 1800) and ranks."""
    return [asdict(one) for one in _games(request).opponents.values()]


@router.get("/games")
async def games(request: Request) -> list[dict[str, Any]]:
    """List the latest 200 games, latest first."""
    return _games(request).list()


@router.post("/games", status_code=201)
async def begin(request: Request, game: NewGame) -> dict[str, Any]:
    """Begin a game; with `ladder` opponent and handicap follow the last results."""
    games = _games(request)
    if game.ladder:
        game = _on_ladder(games, game)
    return games.add(WebGame.start(human=game.colour, **game.model_dump(exclude={"colour"})))


@router.get("/ladder")
async def ladder(request: Request, size: Annotated[int, Query(ge=5, le=19)] = 9) -> dict[str, Any]:
    """Tell the next game of the ladder on a board: level and handicap."""
    game = _on_ladder(_games(request), NewGame(size=size, ladder=True))
    return {"opponent": game.opponent, "handicap": game.handicap}


def _on_ladder(games: GameService, game: NewGame) -> NewGame:
    levels = [one for one in games.opponents.values() if one.kind == "level"]
    board = f"{game.size}x{game.size}"
    ratings = {o.level: float(o.ratings[board]) for o in levels if o.level and board in o.ratings}
    rung = next_rung(games.ladder(game.size), len(levels), ratings, game.size**2)
    changes = {"opponent": f"level-{rung.level}", "handicap": rung.handicap}
    if rung.handicap:
        changes["colour"] = "black"
    return game.model_copy(update=changes)


@router.post("/games/upload", status_code=201)
async def upload(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: str = "game.sgf",
    colour: _Colour = "black",
    opponent: str = "level-1",
) -> dict[str, Any]:
    """Go on with a game from an SGF file."""
    board = to_board(await read(request, "unfinished", data, name))
    return _games(request).add(WebGame.resume(board, human=colour, opponent=opponent))


@router.get("/games/{key}")
async def show(request: Request, key: str) -> dict[str, Any]:
    """Return a game as it stands."""
    return _games(request).state(key)


@router.delete("/games/{key}", status_code=204)
async def delete(request: Request, key: str) -> None:
    """Forget a game."""
    _games(request).delete(key)


@router.get("/games/{key}/events", response_class=StreamingResponse)
async def events(request: Request, key: str) -> StreamingResponse:
    """Stream the game at every change as events called `state`; `gone` once it is deleted."""
    games = _games(request)
    queue = games.watch(key)

    async def told() -> AsyncIterator[str]:
        try:
            yield event("state", games.state(key))
            async for changed in changes(queue):
                yield event("state", games.state(key)) if changed else ": alive\n\n"
        except UnknownGameError:
            yield event("gone", {})
        finally:
            games.unwatch(key, queue)

    return stream(told())


@router.post("/games/{key}/moves")
async def move(request: Request, key: str, play: Play) -> dict[str, Any]:
    """Play a move of yours: a vertex, `pass` or `resign`.

    A pass that loses points is not played unless `sure`: the answer is the game as it was, with
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
    """Tell whether it is the person's turn in a game that is not over."""
    services = services_of(request)
    game = services.games.game(key)
    if game.is_over or game.is_counting or game.waits_for_machine or game.human == BOTH:
        return False
    job = services.looking.submit("is_open", {"board": to_value(game.board)}, grace=BRIEF)
    found: dict[str, Any] = await result_of(job, request)
    return bool(found["open"])


@router.post("/games/{key}/count")
async def count(request: Request, key: str, change: Change) -> dict[str, Any]:
    """End the game and count it as it stands, although it may not be over."""
    return _games(request).change(key, change.version, lambda game, now: game.stop())


@router.post("/games/{key}/undo")
async def undo(request: Request, key: str, change: Change) -> dict[str, Any]:
    """Take back your last move and what followed; stops the machine's thinking."""
    return _games(request).change(key, change.version, lambda game, now: game.undo(now))


@router.post("/games/{key}/go-on")
async def go_on(request: Request, key: str, change: Change) -> dict[str, Any]:
    """After a lesson, leave the move as it is."""
    return _games(request).change(key, change.version, lambda game, now: game.go_on())


@router.post("/games/{key}/retry")
async def retry(request: Request, key: str) -> dict[str, Any]:
    """Let the machine think again after its search failed."""
    return _games(request).retry(key)


@router.post("/games/{key}/dead")
async def dead(request: Request, key: str, toggle: Toggle) -> dict[str, Any]:
    """At the end, take a block for dead, or for alive again, and count anew."""

    def act(game: WebGame, now: float) -> None:
        game.toggle(toggle.vertex)

    return _games(request).change(key, toggle.version, act)


@router.post("/games/{key}/accept")
async def accept(request: Request, key: str, change: Change) -> dict[str, Any]:
    """At the end, let the count stand."""
    return _games(request).change(key, change.version, lambda game, now: game.accept())


@router.post("/games/{key}/hint")
async def hint(request: Request, key: str) -> dict[str, Any]:
    """Say what a strong player would think of; hang up to stop its thinking."""
    services = services_of(request)
    game = services.games.game(key)
    arguments = {"board": to_value(game.board), "player": HINT_PLAYER, "seed": game.seed}
    job = services.looking.submit("hint", arguments)
    found: dict[str, Any] = await result_of(job, request)
    return found


@router.get("/games/{key}/sgf")
async def sgf(request: Request, key: str) -> Response:
    """Return the game as SGF."""
    data = _games(request).sgf(key)
    return Response(data, media_type="application/x-go-sgf", headers=attachment(f"game-{key}.sgf"))


def attachment(name: str) -> dict[str, str]:
    """Return the header that saves an answer under a name of ours."""
    return {"content-disposition": f'attachment; filename="{name}"'}
