"""Answer requests about single positions: rules, prediction, score, analysis; keep nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from tengen.board import BLACK, Board
from tengen.errors import TengenError
from tengen.web import sights
from tengen.web.positions import COLOURS, illegal_points, named_moves, to_value
from tengen.web.records import position_of, whole
from tengen.web.services import services_of
from tengen.web.uploads import read_upload
from tengen.web.waiting import parts_of, result_of
from tengen.web.workers import BRIEF

router = APIRouter(prefix="/api", tags=["positions"])

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


@router.post("/position")
async def position(position: Position) -> dict[str, Any]:
    """Play moves by the rules and return where they lead."""
    board = position.board()
    return {
        **position_of(board),
        "moves": named_moves(board),
        "illegal": illegal_points(board),
        "over": board.is_over,
    }


@router.post("/predict")
async def predict(
    request: Request, position: Position, top: Annotated[int, Query(ge=1, le=50)] = 10
) -> dict[str, Any]:
    """Return the moves that experts would play, with probabilities."""
    arguments = {"board": to_value(position.board()), "top": top}
    job = services_of(request).looking.submit("predict", arguments, grace=BRIEF)
    found: dict[str, Any] = await result_of(job, request)
    return found


@router.post("/score")
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


@router.get("/machines")
async def machines() -> list[dict[str, Any]]:
    """List the machines that look at positions, with what they are and their papers."""
    return [asdict(machine) for machine in sights.machines()]


@router.post("/see/{machine}")
async def see(request: Request, machine: str, position: Position) -> dict[str, Any]:
    """Return everything that one machine says: maps, wishes, ownership, the fate of blocks."""
    board = position.board()
    arguments = {"board": to_value(board), "machine": machine}
    job = services_of(request).looking.submit("see", arguments, grace=BRIEF)
    return {**await result_of(job, request), **position_of(board)}


@router.post("/analyse", response_class=StreamingResponse)
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


@router.post("/records")
def records(
    request: Request,
    data: Annotated[bytes, Body(media_type="application/x-go-sgf")],
    name: Annotated[str, Query(max_length=200)] = "game.sgf",
    game: Annotated[int, Query(ge=1)] = 1,
) -> dict[str, Any]:
    """Read one game of a file and return all its positions; nothing is kept."""
    found = read_upload(data, name, services_of(request).settings)
    if game > len(found):
        raise TengenError(f"the file has {len(found)} games")
    return {**whole(found[game - 1]), "games": len(found)}
