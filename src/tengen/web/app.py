"""Put the server together: routes, the page, errors as messages, and the guard around it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from tengen import __version__
from tengen.board import Board
from tengen.compiling import SCORING_KERNELS, is_compiled
from tengen.errors import IllegalMoveError, TengenError
from tengen.web import explore_routes, look_routes, play_routes, review_routes, shelf_routes
from tengen.web.game_service import StaleMoveError, UnknownGameError
from tengen.web.positions import to_value
from tengen.web.reviews import UnknownReviewError
from tengen.web.security import Guard
from tengen.web.services import Services
from tengen.web.shelves import UnknownItemError
from tengen.web.workers import CancelledJob, compile_kernels

STATIC = Path(__file__).parent / "static"
_STATUS: dict[type[Exception], int] = {
    UnknownGameError: 404,
    UnknownReviewError: 404,
    UnknownItemError: 404,
    StaleMoveError: 409,
    IllegalMoveError: 422,
    TengenError: 422,
    CancelledJob: 499,
}
"""The status that tells each kind of failure; the first class that fits."""


def make_app(services: Services) -> FastAPI:
    """Make the server of `tengen web`; it closes the services when it ends."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services.reviews.resume()
        opponent = services.games.opponents["level-1"].spec
        board = to_value(Board(9))
        compiled = is_compiled(SCORING_KERNELS)
        arguments = {"board": board, "player": opponent, "judge": compiled}
        ready = services.playing.submit("warm", arguments)
        if not compiled:  # the first move before everything else
            ready.future.add_done_callback(_compile_the_rest)
        try:
            yield
        finally:
            services.close()

    app = FastAPI(
        title="Tengen",
        version=__version__,
        description="Play, review, score and look at positions; all values are JSON.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.services = services
    app.state.tables = {}
    for routes in (play_routes, review_routes, look_routes, explore_routes, shelf_routes):
        app.include_router(routes.router)
    for kind in _STATUS:
        app.add_exception_handler(kind, _tell)
    app.add_exception_handler(RequestValidationError, _tell_invalid)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, settings=services.settings)
    return app


def _compile_the_rest(ready: Future[Any]) -> None:
    """Compile all kernels unless the server was closed meanwhile."""
    if ready.exception() is None:
        compile_kernels()


async def _tell(request: Request, failure: Exception) -> JSONResponse:
    """Turn the visitor's mistake into a message."""
    status = next(code for kind, code in _STATUS.items() if isinstance(failure, kind))
    return JSONResponse({"detail": str(failure) or "stopped"}, status)


async def _tell_invalid(request: Request, failure: Exception) -> JSONResponse:
    """Say in one line what is wrong with a request."""
    assert isinstance(failure, RequestValidationError)
    parts = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in failure.errors()]
    return JSONResponse({"detail": "; ".join(parts)}, 422)
