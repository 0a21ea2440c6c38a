"""Routes of the exhibits: the papers, what their rows say, and their machines on any position."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from pydantic import Field

from tengen.web import exhibits
from tengen.web.look_routes import PositionBody
from tengen.web.positions import position_of, to_value
from tengen.web.services import ask, services_of
from tengen.web.store import UnknownItemError
from tengen.web.workers import GRACE, Json

router = APIRouter(prefix="/api/papers", tags=["papers"])

_At = Annotated[int | None, Query(ge=0, description="A snapshot; by default the finished machine.")]


@router.get("")
def papers() -> list[Json]:
    """List the papers, each with an exhibit."""
    return exhibits.listed()


@router.get("/{paper}")
def exhibit(paper: str) -> Json:
    """Return an exhibit: the paper's story, its machine, and positions where that fails."""
    return exhibits.described(paper)


@router.get("/{paper}/results")
async def results(request: Request, paper: str) -> Json:
    """Return claims with verdicts, answers to questions and the learning curve, from the rows."""
    folder = exhibits.find_paper(paper).data
    known: dict[str, Any] = request.app.state.tables
    stamp = max((path.stat().st_mtime_ns for path in folder.glob("*/run.json")), default=0)
    key = f"paper {paper}"
    if known.get(key, (None,))[0] != stamp:
        lane = services_of(request).looking
        known[key] = stamp, await ask(request, lane, "exhibits.results", GRACE, paper=paper)
    found: Json = known[key][1]
    return found


@router.get("/{paper}/files/{file:path}", response_class=FileResponse)
def file(paper: str, file: str) -> FileResponse:
    """Return a file of the paper's folder: its code, or the rows of a recorded run."""
    found = exhibits.files_of(exhibits.find_paper(paper)).get(file)
    if found is None:
        raise UnknownItemError("there is no such file")
    if found.suffix == ".gz":
        name = f"{paper}-{found.parent.name}.csv.gz"
        return FileResponse(found, media_type="application/gzip", filename=name)
    return FileResponse(found, media_type="text/plain; charset=utf-8")


@router.post("/{paper}/see")
async def see(request: Request, paper: str, position: PositionBody, at: _At = None) -> Json:
    """Return all outputs of the paper's machine for a position."""
    exhibits.model_of(exhibits.find_paper(paper), at)
    board = position.board()
    arguments: Json = {"board": to_value(board), "paper": paper, "at": at}
    found = await ask(request, services_of(request).looking, "exhibits.see", **arguments)
    return {**found, **position_of(board)}


class Turn(PositionBody):
    """A position in which a player is to choose a move."""

    player: Annotated[str, Field(max_length=40, examples=["machine", "machine@250", "level-1"])]
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0


@router.post("/{paper}/move")
async def move(request: Request, paper: str, turn: Turn) -> Json:
    """Return the move of the paper's machine, of a snapshot of it, or of an opponent."""
    services = services_of(request)
    spec = exhibits.player_of(paper, turn.player, services.games.opponents)
    arguments: Json = {"board": to_value(turn.board()), "player": spec, "seed": turn.seed}
    return await ask(request, services.playing, "tasks.choose", GRACE, **arguments)
