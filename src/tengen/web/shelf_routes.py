"""Answer requests about tournaments, trainings and reports; only look at them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse

from tengen.web import shelves
from tengen.web.records import whole
from tengen.web.services import services_of
from tengen.web.waiting import result_of
from tengen.web.workers import BRIEF

router = APIRouter(prefix="/api", tags=["arena and laboratory"])

_REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; img-src data:"
)
"""A report has script of its own; in a sandbox it has no origin from which it could ask us."""


def _entry(found: shelves.Found) -> dict[str, Any]:
    return {"id": found.id, "name": found.name, "changed": found.path.stat().st_mtime}


@router.get("/arenas")
def arenas(request: Request) -> list[dict[str, Any]]:
    """List tournaments: those given on the command line, those of the runs, shipped ladders."""
    return [_entry(found) for found in shelves.arenas(services_of(request).settings)]


@router.get("/arenas/{key}")
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


@router.get("/arenas/{key}/games/{number}")
def arena_game(request: Request, key: str, number: int) -> dict[str, Any]:
    """Return one game of a tournament with all its positions."""
    found = shelves.pick(shelves.arenas(services_of(request).settings), key)
    return whole(shelves.game_of(found.path, number))


@router.get("/trainings")
def trainings(request: Request) -> list[dict[str, Any]]:
    """List trainings in the folder of runs, latest first."""
    return [_entry(found) for found in shelves.trainings(services_of(request).settings)]


@router.get("/trainings/{key}")
def training(request: Request, key: str) -> dict[str, Any]:
    """Return the metrics of a training as columns."""
    found = shelves.pick(shelves.trainings(services_of(request).settings), key)
    return {"name": found.name, **shelves.metrics(found.path)}


@router.get("/reports")
def reports(request: Request) -> list[dict[str, Any]]:
    """List the laboratory's reports, latest first."""
    return [_entry(found) for found in shelves.reports(services_of(request).settings)]


@router.get("/reports/{key}", response_class=FileResponse)
def report(request: Request, key: str) -> FileResponse:
    """Return one report as a page."""
    found = shelves.pick(shelves.reports(services_of(request).settings), key)
    return FileResponse(found.path, headers={"content-security-policy": _REPORT_POLICY})
