"""Let any GTP engine play: a process that is started when it is first needed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from tengen.board import Board
from tengen.gtp.client import Client, Limits
from tengen.gtp.faults import EngineRefusal
from tengen.gtp.session import EngineSession


class ExternalPlayer:
    """Ask an engine for its moves; its board follows ours, its seed our generator.

    Parameters
    ----------
    command
        Its command line.
    limits
        Seconds it may take to start, for a move and so on; see `Limits`.

    Raises an `EngineFault` from `choose` when the engine fails; the next call starts it anew. Call
    `close` to end the process.
    """

    def __init__(self, *, command: str, limits: Limits | None = None) -> None:
        self.name = f"gtp:{command}"
        self.command, self.limits = command, limits
        self._session: EngineSession | None = None

    @property
    def version(self) -> str:
        """Name and version as the engine tells them; starts it if needed."""
        client = self._running().client
        return f"{client.name} {client.version}".strip()

    def new_game(self, seed: int) -> None:
        """Make the engine forget its last game, as far as it can; give it a seed if it takes one.

        `choose` needs no call of this: a game that it does not know begins anew by itself.
        """
        client = self._running().client
        self._session = EngineSession(client)
        if client.known("clear_cache"):
            with suppress(EngineRefusal):
                client.command("clear_cache")
        if client.known("set_random_seed"):
            with suppress(EngineRefusal):
                client.command("set_random_seed", seed & 0x3FFFFFFF)

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        """Return the engine's move."""
        return self._running().genmove(board, seed=int(rng.integers(2**30)))

    def close(self) -> None:
        """End the engine; it starts again when it is asked for a move."""
        if self._session is not None:
            self._session.client.close()
            self._session = None

    def _running(self) -> EngineSession:
        """Return a session with the engine, started anew after a fault."""
        if self._session is not None and self._session.client.fault is not None:
            self.close()
        if self._session is None:
            self._session = EngineSession(Client.start(self.command, limits=self.limits))
        return self._session
