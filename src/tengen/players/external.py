"""Players that are GTP engines in processes of their own."""

from __future__ import annotations

import shlex
from contextlib import suppress

import numpy as np

from tengen.board import Board, Point
from tengen.errors import SpecError
from tengen.gtp.client import Client, Limits
from tengen.gtp.faults import EngineRefusal
from tengen.gtp.remote_game import RemoteGame


class ExternalPlayer:
    """Ask an engine for moves over GTP; the process starts when first needed and stays.

    Engines with `set_random_seed` are seeded from the generator before every move, so that they are
    repeatable. After a fault (`EngineFault`) the next move starts a new process.
    """

    def __init__(self, *, command: str, limits: Limits | None = None) -> None:
        try:
            shlex.split(command)
        except ValueError as wrong:  # a quotation that does not end
            raise SpecError(f"gtp:{command}: {str(wrong).lower()}") from None
        self.name = f"gtp:{command}"
        self.command = command
        self.limits = limits
        self._session: RemoteGame | None = None

    @property
    def version(self) -> str:
        """The engine's own name and version; starts it if needed."""
        client = self._running().client
        return f"{client.name} {client.version}".strip()

    def new_game(self, seed: int) -> None:
        """Clear the engine's cache and set its seed, if it has commands for that."""
        client = self._running().client
        self._session = RemoteGame(client)
        if client.known("clear_cache"):
            with suppress(EngineRefusal):
                client.command("clear_cache")
        if client.known("set_random_seed"):
            with suppress(EngineRefusal):
                client.command("set_random_seed", seed & 0x3FFFFFFF)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Return the engine's move, checked against our rules."""
        return self._running().genmove(board, seed=int(rng.integers(1, 2**30)))

    def explain(self, board: Board, move: int) -> str:
        """Return the engine's own words for its last move, empty if it has none."""
        return "" if self._session is None else self._session.explain()

    def close(self) -> None:
        """End the process; it starts again when the engine is asked for a move."""
        if self._session is not None:
            self._session.client.close()
            self._session = None

    def _running(self) -> RemoteGame:
        """Return a session with the engine, started anew after a fault."""
        if self._session is not None and self._session.client.fault is not None:
            self.close()
        if self._session is None:
            client = Client.start(self.command, limits=self.limits or Limits())
            self._session = RemoteGame(client)
        return self._session

    def __getstate__(self) -> dict[str, object]:
        """Leave the process behind when sent to another process."""
        return {**self.__dict__, "_session": None}
