"""Assemble the server: routes, the page, error messages, and the request guard."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles

from tengen import __version__
from tengen.board import Board
from tengen.compiling import is_compiled
from tengen.errors import TengenError
from tengen.web import game_routes, look_routes, paper_routes, player_routes, review_routes
from tengen.web.games import HINT_PLAYER, StaleMoveError
from tengen.web.positions import to_value
from tengen.web.security import Connection, Guard
from tengen.web.services import Services
from tengen.web.settings import Settings
from tengen.web.store import StorageError, UnknownItemError
from tengen.web.tasks import STATIC
from tengen.web.workers import CancelledJob, Compilation, Json, OverloadedError

# Folders of the guides: in an installed package, and in a clone.
_GUIDES = (Path(__file__).parents[1] / "guide", Path(__file__).parents[3] / "docs" / "guide")
_STATUS: dict[type[Exception], int] = {  # by class of error; the first match counts
    UnknownItemError: 404,
    StaleMoveError: 409,
    StorageError: 507,
    OverloadedError: 503,
    TengenError: 422,
    CancelledJob: 499,
}


def make_app(services: Services, on_ready: Callable[[], None] = lambda: None) -> FastAPI:
    """Make the server of `tengen web`; on shutdown it closes the services."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services.reviews.resume()
        opponent = services.games.opponents["level-1"].spec
        compiled = is_compiled("scoring.kernels")
        services.will_compile = not compiled
        arguments = {"board": to_value(Board(9)), "player": opponent, "judge": compiled}
        services.first_move = ready = services.playing.submit("tasks.warm", arguments)

        def prepare_the_rest(ready: Future[Any]) -> None:
            """Prepare hints, or compile all kernels, unless the server was closed meanwhile."""
            if not ready.exception() and services.will_compile:
                services.compilation = Compilation()
            services.will_compile = False
            if not ready.exception() and compiled:
                services.searching.submit("tasks.warm", {**arguments, "player": HINT_PLAYER})

        # Prepare the first move before everything else.
        ready.future.add_done_callback(prepare_the_rest)
        on_ready()
        try:
            yield
        finally:
            services.close()

    about = "Play, review, score and look at positions; all values are JSON."
    app = FastAPI(
        title="Tengen", version=__version__, description=about, lifespan=lifespan,
        openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.state.services = services
    app.state.tables = {}
    for router in (
        game_routes.router,
        game_routes.problem_router,
        review_routes.router,
        player_routes.router,
        look_routes.router,
        paper_routes.router,
    ):
        app.include_router(router)
    for kind in (*_STATUS, RequestValidationError):
        app.add_exception_handler(kind, _tell)

    @app.get("/api/preparing", tags=["look"])
    def preparing() -> Json:
        """Tell what is not ready yet: the first move, and steps of compiling, done and in all."""
        return services.preparing()

    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/sw.js", include_in_schema=False)
    async def service_worker() -> FileResponse:
        # Not under /static: a service worker controls only addresses below its own.
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
    """Return an error as a JSON response with a one-line message."""
    if isinstance(failure, RequestValidationError):
        parts = [f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in failure.errors()]
        return JSONResponse({"detail": "; ".join(parts)}, 422)
    status = next(code for kind, code in _STATUS.items() if isinstance(failure, kind))
    return JSONResponse({"detail": str(failure) or "stopped"}, status)


def serve(settings: Settings, *, open_browser: bool, tell: Callable[[str], None]) -> None:
    """Serve until the process is interrupted; pass the address to `tell` once it can be opened."""
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
    query = f"?{urlencode({'token': settings.token})}" if settings.token else ""
    address = f"http://{shown}:{settings.port}/{query}"

    def on_ready() -> None:
        listening.listen()  # connections wait until the server accepts them
        tell(f"the board is at {address} (stop with Ctrl-C)")
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    with listening:
        # Before the server runs: an error inside it would end in a traceback.
        app = make_app(Services(settings), on_ready)
        config = uvicorn.Config(
            app, http=Connection, log_level="warning", lifespan="on", timeout_graceful_shutdown=2
        )
        uvicorn.Server(config).run(sockets=[listening])
