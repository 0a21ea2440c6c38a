"""Routes of positions, openings, tournaments, trainings and reports; they change no game."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel, Field

from tengen.board import BLACK, Board
from tengen.errors import TengenError
from tengen.web import openings, shelves, sights
from tengen.web.positions import COLOURS, illegal_points, named_moves, position_of, to_value, whole
from tengen.web.services import parts_of, read, result_of, services_of
from tengen.web.uploads import packed
from tengen.web.workers import BRIEF

router = APIRouter(prefix="/api")

Row = Annotated[str, Field(pattern=r"^[.XO]{2,25}$")]
Move = tuple[Literal["B", "W"], Annotated[str, Field(max_length=8)]]


class Position(BaseModel, extra="forbid"):
    """A position: stones on the board (`.` empty, `X` black, `O` white), then moves."""

    size: Annotated[int, Field(ge=2, le=25)] = 19
    stones: Annotated[list[Row], Field(max_length=25)] = []
    turn: Literal["black", "white"] = "black"
    moves: Annotated[list[Move], Field(max_length=2000)] = []
    komi: Annotated[float, Field(ge=-400, le=400)] = 7.5
    rules: Annotated[str, Field(max_length=20)] = "cgos"
    captures: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] = (0, 0)
    """Stones taken before, by Black and by White; they count under territory scoring."""

    def board(self) -> Board:
        """Make the board.

        Raises
        ------
        TengenError
            If stones, rules or moves are impossible.
        """
        if len({len(row) for row in self.stones}) > 1:
            raise TengenError("the rows of the board are not of one length")
        rows = len(self.stones) or self.size
        cols = len(self.stones[0]) if self.stones else self.size
        setup = "/".join(self.stones) if any(c != "." for r in self.stones for c in r) else ""
        board = Board(
            rows,
            cols,
            rules=self.rules,
            komi=self.komi,
            setup=setup,
            to_play=COLOURS[self.turn],
        )
        for colour, move in self.moves:
            board.play(move, BLACK if colour == "B" else 3 - BLACK)
        return board


class Scored(Position):
    """A position to be scored, with blocks that the scorer is overruled about."""

    dead: Annotated[list[str], Field(max_length=400)] = []
    alive: Annotated[list[str], Field(max_length=400)] = []


@router.post("/position", tags=["positions"])
async def position(position: Position) -> dict[str, Any]:
    """Play moves by the rules and return where they lead."""
    board = position.board()
    return {
        **position_of(board),
        "moves": named_moves(board),
        "illegal": illegal_points(board),
        "over": board.is_over,
    }


@router.post("/predict", tags=["positions"])
async def predict(
    request: Request, position: Position, top: Annotated[int, Query(ge=1, le=50)] = 10
) -> dict[str, Any]:
    """Return the moves that experts would play, with probabilities."""
    arguments = {"board": to_value(position.board()), "top": top}
    job = services_of(request).looking.submit("predict", arguments, grace=BRIEF)
    found: dict[str, Any] = await result_of(job, request)
    return found


@router.post("/score", tags=["positions"])
async def score(request: Request, position: Scored) -> dict[str, Any]:
    """Say which stones are dead, and count territory and area."""
    board = position.board()
    arguments = {
        "board": to_value(board),
        "dead": position.dead,
        "alive": position.alive,
        "captures": position.captures,
    }
    found: dict[str, Any] = await result_of(
        services_of(request).looking.submit("score", arguments, grace=BRIEF), request
    )
    return {**found, **position_of(board)}


@router.post("/estimate", tags=["positions"])
async def estimate(request: Request, position: Position) -> dict[str, Any]:
    """Say what a position comes to and who owns what, by one evaluation of the network."""
    arguments = {"board": to_value(position.board())}
    job = services_of(request).looking.submit("estimate", arguments, grace=BRIEF)
    found: dict[str, Any] = await result_of(job, request)
    return found


@router.get("/machines", tags=["positions"])
async def machines() -> list[dict[str, Any]]:
    """List the machines that look at positions, with what they are and their papers."""
    return [asdict(machine) for machine in sights.machines()]


@router.post("/see/{machine}", tags=["positions"])
async def see(request: Request, machine: str, position: Position) -> dict[str, Any]:
    """Return everything that one machine says: maps, wishes, ownership, the fate of blocks."""
    board = position.board()
    arguments = {"board": to_value(board), "machine": machine}
    job = services_of(request).looking.submit("see", arguments, grace=BRIEF)
    return {**await result_of(job, request), **position_of(board)}


@router.post("/analyse", response_class=StreamingResponse, tags=["positions"])
async def analyse(
    request: Request,
    position: Position,
    visits: Annotated[int, Query(ge=2, le=2500)] = 125,
) -> StreamingResponse:
    """Search a position; stream one JSON value a line while it goes on. Hang up to stop it."""
    lane = services_of(request).looking
    arguments = {"board": to_value(position.board()), "player": "tengen", "visits": visits}

    async def lines() -> AsyncIterator[str]:
        try:
            async for _, value in parts_of(lane, "analyse", arguments):
                yield json.dumps(value) + "\n"
        except TengenError as mistake:
            yield json.dumps({"detail": str(mistake)}) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


@router.post("/records", tags=["positions"])
async def records(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: Annotated[str, Query(max_length=200)] = "game.sgf",
    game: Annotated[int, Query(ge=1)] = 1,
) -> dict[str, Any]:
    """Read one game of a file and return all its positions; nothing is kept."""
    found: dict[str, Any] = await read(request, "game", data, name, game=game)
    return found


class Asked(Position):
    """A position, and whether only the corner of its moves is meant."""

    corner: bool = False


@router.get("/collections", tags=["openings"])
def listed(request: Request) -> list[dict[str, Any]]:
    """List the collections whose openings can be explored."""
    found = openings.collections(services_of(request).settings)
    return [{"id": one.id, "name": one.name} for one in found]


@router.post("/collections", status_code=201, tags=["openings"])
async def add(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: Annotated[str, Query(max_length=200)] = "games.sgf",
) -> dict[str, Any]:
    """Index the games of a file or an archive, and keep the index."""
    services = services_of(request)
    settings = services.settings
    arguments = {**packed(data, name, settings), "folder": str(openings.dropped(settings))}
    job = services.exploring.submit("index", arguments, grace=BRIEF, limit=openings.SECONDS)
    made = await result_of(job, request)
    out = made.pop("out")
    entry = next(one for one in openings.collections(settings) if str(one.path) == out)
    return {"id": entry.id, "name": entry.name, **made}


@router.post("/explore/{key}", tags=["openings"])
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


_REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:"
)
"""A report has script of its own; in a sandbox it has no origin from which it could ask us."""


def _entry(found: shelves.Found) -> dict[str, Any]:
    return {"id": found.id, "name": found.name, "changed": found.path.stat().st_mtime}


@router.get("/arenas", tags=["arena and laboratory"])
def arenas(request: Request) -> list[dict[str, Any]]:
    """List tournaments: those given on the command line, those of the runs, shipped ladders."""
    return [_entry(found) for found in shelves.arenas(services_of(request).settings)]


@router.get("/arenas/{key}", tags=["arena and laboratory"])
async def arena(request: Request, key: str) -> dict[str, Any]:
    """Return a tournament's standings with ratings, its cross table and latest games."""
    services = services_of(request)
    found = shelves.pick(shelves.arenas(services.settings), key)
    stamp = shelves.stamp(found.path)
    known: dict[str, Any] = request.app.state.tables
    if known.get(key, (None,))[0] == stamp:
        return {"name": found.name, **known[key][1]}
    job = services.looking.submit("tables", {"path": str(found.path)}, grace=BRIEF)
    known[key] = stamp, await result_of(job, request)
    return {"name": found.name, **known[key][1]}


@router.get("/arenas/{key}/games/{number}", tags=["arena and laboratory"])
def arena_game(request: Request, key: str, number: int) -> dict[str, Any]:
    """Return one game of a tournament with all its positions."""
    found = shelves.pick(shelves.arenas(services_of(request).settings), key)
    return whole(shelves.game_of(found.path, number))


@router.get("/trainings", tags=["arena and laboratory"])
def trainings(request: Request) -> list[dict[str, Any]]:
    """List trainings in the folder of runs, latest first."""
    return [_entry(found) for found in shelves.trainings(services_of(request).settings)]


@router.get("/trainings/{key}", tags=["arena and laboratory"])
def training(request: Request, key: str) -> dict[str, Any]:
    """Return the metrics of a training as columns."""
    found = shelves.pick(shelves.trainings(services_of(request).settings), key)
    return {"name": found.name, **shelves.metrics(found.path)}


@router.get("/reports", tags=["arena and laboratory"])
def reports(request: Request) -> list[dict[str, Any]]:
    """List the laboratory's reports, latest first."""
    return [_entry(found) for found in shelves.reports(services_of(request).settings)]


@router.get("/reports/{key}", response_class=FileResponse, tags=["arena and laboratory"])
def report(request: Request, key: str) -> FileResponse:
    """Return one report as a page."""
    found = shelves.pick(shelves.reports(services_of(request).settings), key)
    return FileResponse(found.path, headers={"content-security-policy": _REPORT_POLICY})
