"""Put the server together: routes, the page, errors as messages, and the guard around it."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from tengen import __version__
from tengen.board import Board
from tengen.compiling import SCORING_KERNELS, is_compiled
from tengen.errors import IllegalMoveError, TengenError
from tengen.web import look_routes, play_routes, problems, reviews
from tengen.web.game_service import GameService, StaleMoveError, UnknownGameError
from tengen.web.opponents import list_opponents
from tengen.web.positions import to_value
from tengen.web.reviews import Reviews, UnknownReviewError
from tengen.web.security import Connection, Guard
from tengen.web.settings import Settings
from tengen.web.shelves import UnknownItemError
from tengen.web.store import StorageError, Store
from tengen.web.workers import CancelledJob, Lane, compile_kernels

TASKS, READING = "tengen.web.tasks", "tengen.web.uploads"


@dataclass
class Services:
    """Lanes keep kinds of work apart: reviews never make a game or a hint wait."""

    settings: Settings
    playing: Lane = field(default_factory=lambda: Lane(TASKS))
    looking: Lane = field(default_factory=lambda: Lane(TASKS))
    reading: Lane = field(default_factory=lambda: Lane(READING, spare="board.kernels"))
    exploring: Lane = field(default_factory=lambda: Lane(TASKS, background=True))
    studying: Lane = field(default_factory=lambda: Lane(TASKS, background=True))
    store: Store = field(init=False)
    games: GameService = field(init=False)
    reviews: Reviews = field(init=False)

    def __post_init__(self) -> None:
        # First, so that a wrong spec leaves no database open.
        opponents = list_opponents(self.settings.players)
        self.store = Store(self.settings.database)
        self.games = GameService(self.store, self.playing, opponents)
        self.reviews = Reviews(self.store, self.studying, self.settings)

    def close(self) -> None:
        """End the processes and close the database."""
        # First, so that what workers still report is not written to a closed database.
        self.games.close()
        self.reviews.close()
        for lane in (self.playing, self.looking, self.reading, self.exploring, self.studying):
            lane.close()
        self.store.close()


STATIC = Path(__file__).parent / "static"
_GUIDES = (Path(__file__).parents[1] / "guide", Path(__file__).parents[3] / "docs" / "guide")
"""Folders of the guides: in an installed package, and in a clone."""
_STATUS: dict[type[Exception], int] = {
    UnknownGameError: 404,
    UnknownReviewError: 404,
    UnknownItemError: 404,
    problems.UnknownProblemError: 404,
    StaleMoveError: 409,
    StorageError: 507,
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

        def prepare_the_rest(ready: Future[Any]) -> None:
            """Prepare hints, or compile all kernels, unless the server was closed meanwhile."""
            if ready.exception() is None and not compiled:
                compile_kernels()
            elif ready.exception() is None:
                services.looking.submit("warm", {**arguments, "player": play_routes.HINT_PLAYER})

        # The first move before everything else.
        ready.future.add_done_callback(prepare_the_rest)
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
    for routes in (play_routes, problems, reviews, look_routes):
        app.include_router(routes.router)
    for kind in _STATUS:
        app.add_exception_handler(kind, _tell)
    app.add_exception_handler(RequestValidationError, _tell_invalid)

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/sw.js", include_in_schema=False)
    async def service_worker() -> FileResponse:
        # Outside of /static, since it may serve only addresses below its own.
        return FileResponse(STATIC / "sw.js", headers={"cache-control": "no-cache"})

    @app.get("/guide/{name}", include_in_schema=False)
    async def guide(name: str) -> FileResponse:
        for folder in _GUIDES:
            path = folder / f"{name}.md"
            if name.replace("-", "").isalpha() and path.is_file():
                return FileResponse(path, media_type="text/plain; charset=utf-8")
        raise UnknownItemError("there is no such guide")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(Guard, settings=services.settings)
    return app


async def _tell(request: Request, failure: Exception) -> JSONResponse:
    """Turn the visitor's mistake into a message."""
    status = next(code for kind, code in _STATUS.items() if isinstance(failure, kind))
    return JSONResponse({"detail": str(failure) or "stopped"}, status)


async def _tell_invalid(request: Request, failure: Exception) -> JSONResponse:
    """Say in one line what is wrong with a request."""
    assert isinstance(failure, RequestValidationError)
    parts = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in failure.errors()]
    return JSONResponse({"detail": "; ".join(parts)}, 422)


def serve(settings: Settings, *, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve until the process is interrupted; tell the address once it can be visited.

    Raises
    ------
    TengenError
        If the address cannot be listened on, the database not be opened, or a spec names no player.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as failure:
        raise TengenError(
            f"cannot listen on {settings.host}:{settings.port}: {failure.strerror}; "
            "choose another port"
        ) from None
    settings = replace(settings, port=listening.getsockname()[1])
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    query = f"?token={settings.token}" if settings.token else ""
    address = f"http://{shown}:{settings.port}/{query}"
    with listening:
        # Before the server runs: what fails inside of it ends in a traceback.
        services = Services(settings)
        config = uvicorn.Config(
            make_app(services),
            http=Connection,
            log_level="warning",
            lifespan="on",
            timeout_graceful_shutdown=2,
        )
        server = _Server(config, lambda: _ready(address, open_browser, tell))
        server.run(sockets=[listening])


def _ready(address: str, open_browser: bool, tell: Callable[[str], None]) -> None:
    tell(f"the board is at {address} (stop with Ctrl-C)")
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


class _Server(uvicorn.Server):
    """A server that says when it can be visited."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell."""
        await super().startup(sockets)
        if self.started:
            self._on_ready()
