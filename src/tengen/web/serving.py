"""Listen on an address and serve the board until interrupted."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from tengen.errors import TengenError
from tengen.web.app import make_app
from tengen.web.services import Services
from tengen.web.settings import Settings


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
            "choose another --port"
        ) from None
    settings = replace(settings, port=listening.getsockname()[1])
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    query = f"?token={settings.token}" if settings.token else ""
    address = f"http://{shown}:{settings.port}/{query}"
    with listening:
        # Before the server runs: what fails inside of it ends in a traceback.
        services = Services(settings)
        config = uvicorn.Config(
            make_app(services), log_level="warning", lifespan="on", timeout_graceful_shutdown=2
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
