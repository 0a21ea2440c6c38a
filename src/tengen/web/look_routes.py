"""Routes of positions, openings, tournaments, trainings and reports; they change no game."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel, Field

from tengen.board import BLACK, WHITE, Board
from tengen.errors import TengenError
from tengen.web import artifacts
from tengen.web.machines import machines as list_machines
from tengen.web.positions import (
    COLOURS,
    illegal_points,
    named_moves,
    packed,
    position_of,
    to_value,
    whole,
)
from tengen.web.services import Upload, ask, parts_of, read, services_of
from tengen.web.workers import Json

router = APIRouter(prefix="/api")

Row = Annotated[str, Field(pattern=r"^[.XO]{2,25}$")]
Captures = Annotated[int, Field(ge=0, le=10_000)]
Move = tuple[Literal["B", "W"], Annotated[str, Field(max_length=8)]]
_POSITIONS: dict[str, Any] = {"tags": ["positions"]}
_OPENINGS: dict[str, Any] = {"tags": ["openings"]}
_LABORATORY: dict[str, Any] = {"tags": ["arena and laboratory"]}


class PositionBody(BaseModel, extra="forbid"):
    """A position: stones on the board (`.` empty, `X` black, `O` white), then moves."""

    size: Annotated[int, Field(ge=2, le=25)] = 19
    stones: Annotated[list[Row], Field(max_length=25)] = []
    turn: Literal["black", "white"] = "black"
    moves: Annotated[list[Move], Field(max_length=2000)] = []
    komi: Annotated[float, Field(ge=-400, le=400)] = 7.5
    rules: Annotated[str, Field(max_length=20)] = "cgos"
    # Stones captured earlier, by Black and by White; they count under territory scoring.
    captures: tuple[Captures, Captures] = (0, 0)

    def board(self) -> Board:
        """Make the board; raises `TengenError` if stones, rules or moves are impossible."""
        if len({len(row) for row in self.stones}) > 1:
            raise TengenError("the rows of the board are not of one length")
        rows = len(self.stones) or self.size
        cols = len(self.stones[0]) if self.stones else self.size
        setup = "/".join(self.stones) if any(c != "." for r in self.stones for c in r) else ""
        options: Json = {"rules": self.rules, "komi": self.komi, "setup": setup}
        board = Board(rows, cols, to_play=COLOURS[self.turn], **options)
        for colour, move in self.moves:
            board.play(move, BLACK if colour == "B" else WHITE)
        return board


class Scored(PositionBody):
    """A position to be scored, with blocks for which the user overrules the scorer."""

    dead: Annotated[list[str], Field(max_length=400)] = []
    alive: Annotated[list[str], Field(max_length=400)] = []


@router.post("/position", **_POSITIONS)
async def position(position: PositionBody) -> Json:
    """Play the moves by the rules and return the resulting position."""
    board = position.board()
    values = {**position_of(board), "moves": named_moves(board)}
    return {**values, "illegal": illegal_points(board), "over": board.is_over}


async def _look(request: Request, task: str, board: Board, **arguments: Any) -> Json:
    lane = services_of(request).looking
    return await ask(request, lane, task, board=to_value(board), **arguments)


@router.post("/predict", **_POSITIONS)
async def predict(
    request: Request, position: PositionBody, top: Annotated[int, Query(ge=1, le=50)] = 10
) -> Json:
    """Return the moves that experts would play, with probabilities."""
    return await _look(request, "tasks.predict", position.board(), top=top)


@router.post("/score", **_POSITIONS)
async def score(request: Request, position: Scored) -> Json:
    """Return the dead stones, and the counts by territory and by area."""
    board, given = position.board(), position.model_dump(include={"dead", "alive", "captures"})
    return {**await _look(request, "tasks.score", board, **given), **position_of(board)}


@router.post("/estimate", **_POSITIONS)
async def estimate(request: Request, position: PositionBody) -> Json:
    """Return the expected score and the ownership, from one evaluation of the network."""
    return await _look(request, "tasks.estimate", position.board())


@router.get("/machines", **_POSITIONS)
async def machines() -> list[Json]:
    """List the machines that evaluate positions, with descriptions and papers."""
    return [asdict(machine) for machine in list_machines()]


@router.post("/see/{machine}", **_POSITIONS)
async def see(request: Request, machine: str, position: PositionBody) -> Json:
    """Return all outputs of one machine: maps, preferred moves, ownership, status of blocks."""
    board = position.board()
    return {**await _look(request, "machines.see", board, machine=machine), **position_of(board)}


@router.post("/analyse", response_class=StreamingResponse, **_POSITIONS)
async def analyse(
    request: Request, position: PositionBody, visits: Annotated[int, Query(ge=2, le=2500)] = 125
) -> StreamingResponse:
    """Search a position; stream one JSON value per line. Close the connection to stop."""
    lane = services_of(request).searching
    player = f"tengen:visits={visits}"
    arguments = {"board": to_value(position.board()), "player": player, "seed": 0}

    async def lines() -> AsyncIterator[str]:
        try:
            async for value in parts_of(lane, "tasks.hint", arguments):
                yield json.dumps(value) + "\n"
        except TengenError as mistake:
            yield json.dumps({"detail": str(mistake)}) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


@router.post("/records", **_POSITIONS)
async def records(
    request: Request,
    data: Upload,
    name: Annotated[str, Query(max_length=200)] = "game.sgf",
    game: Annotated[int, Query(ge=1)] = 1,
) -> Json:
    """Read one game of a file and return all its positions; nothing is stored."""
    return await read(request, "positions.game_of_upload", data, name, game=game)


class Asked(PositionBody):
    """A position, and whether to look only at the corner of its moves."""

    corner: bool = False


@router.get("/collections", **_OPENINGS)
def listed(request: Request) -> list[Json]:
    """List the collections whose openings can be explored."""
    found = artifacts.collections(services_of(request).settings)
    return [{"id": one.id, "name": one.name} for one in found]


@router.post("/collections", status_code=201, **_OPENINGS)
async def add(
    request: Request, data: Upload, name: Annotated[str, Query(max_length=200)] = "games.sgf"
) -> Json:
    """Index the games of a file or an archive, and keep the index."""
    return await _indexed(request, "artifacts.index_upload", packed(data, name))


@router.post("/collections/levels", status_code=201, **_OPENINGS)
async def add_levels(request: Request) -> Json:
    """Index the shipped games of Tengen's levels, and keep the index."""
    return await _indexed(request, "artifacts.index_levels", {})


async def _indexed(request: Request, task: str, arguments: Json) -> Json:
    services = services_of(request)
    arguments = {**arguments, "folder": str(artifacts.dropped(services.settings))}
    limit = artifacts.INDEX_SECONDS
    made = await ask(request, services.exploring, task, limit=limit, **arguments)
    out = made.pop("out")
    entry = next(o for o in artifacts.collections(services.settings) if str(o.path) == out)
    return {"id": entry.id, "name": entry.name, **made}


@router.post("/explore/{key}", **_OPENINGS)
async def explore(
    request: Request, key: str, asked: Asked, top: Annotated[int, Query(ge=1, le=100)] = 15
) -> Json:
    """Return the next moves of a position with counts, results and the models' predictions.

    Mirror images, rotations and swapped colours count together. The first query of a collection
    builds its index, which takes a while.
    """
    services = services_of(request)
    board = asked.board()
    path = artifacts.pick(artifacts.collections(services.settings), key).path
    arguments: Json = {"board": to_value(board), "path": str(path), "top": top}
    arguments["corner"] = asked.corner
    found = await ask(request, services.exploring, "artifacts.explore_openings", **arguments)
    return {**found, **position_of(board)}


def _found(request: Request, kind: str, key: str) -> artifacts.Found:
    return artifacts.pick(artifacts.listed(kind, services_of(request).settings), key)


def _add_list(kind: str, about: str) -> None:
    def entries(request: Request) -> list[Json]:
        found = artifacts.listed(kind, services_of(request).settings)
        return [{"id": o.id, "name": o.name, "changed": o.path.stat().st_mtime} for o in found]

    router.get(f"/{kind}", name=kind, description=about, **_LABORATORY)(entries)


_add_list("arenas", "List tournaments: those given, those of the runs, shipped ladders.")
_add_list("trainings", "List trainings in the folder of runs, latest first.")
_add_list("reports", "List the laboratory's reports, latest first.")


@router.get("/arenas/{key}", **_LABORATORY)
async def arena(request: Request, key: str) -> Json:
    """Return a tournament's standings with ratings, its cross table and latest games."""
    found, known = _found(request, "arenas", key), request.app.state.tables
    stamp = artifacts.stamp(found.path)
    if known.get(key, (None,))[0] != stamp:
        lane, path = services_of(request).looking, str(found.path)
        known[key] = stamp, await ask(request, lane, "artifacts.tables", path=path)
    return {"name": found.name, **known[key][1]}


@router.get("/arenas/{key}/games/{number}", **_LABORATORY)
def arena_game(request: Request, key: str, number: int) -> Json:
    """Return one game of a tournament with all its positions."""
    return whole(artifacts.game_of(_found(request, "arenas", key).path, number))


@router.get("/trainings/{key}", **_LABORATORY)
def training(request: Request, key: str) -> Json:
    """Return the metrics of a training as columns."""
    found = _found(request, "trainings", key)
    return {"name": found.name, **artifacts.metrics(found.path)}


_REPORT_POLICY = (  # a sandboxed report has no origin, so its script cannot use our API
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:"
)


@router.get("/reports/{key}", response_class=FileResponse, **_LABORATORY)
def report(request: Request, key: str) -> FileResponse:
    """Return one report as a page."""
    found = _found(request, "reports", key)
    return FileResponse(found.path, headers={"content-security-policy": _REPORT_POLICY})
