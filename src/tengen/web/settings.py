"""Hold what the person who starts the server decided; read nothing from requests."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def default_database() -> Path:
    """Return where games are kept unless told otherwise."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "tengen" / "web.sqlite"


@dataclass(frozen=True)
class Settings:
    """Where to listen, who may ask, what is on offer, and how much one may send."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8361
    token: str | None = None
    """Every request must show it; required for hosts that are not loopback."""
    players: tuple[str, ...] = ()
    """Specs of further opponents, from the command line only."""
    arenas: tuple[Path, ...] = ()
    """Databases of tournaments to show."""
    collections: tuple[Path, ...] = ()
    """Collections of games, or indexes of them, to explore."""
    runs: Path = Path("runs")
    """Folder of trainings and laboratory reports to show."""
    upload_bytes: int = 8_000_000
    """Largest body of a request."""
    upload_games: int = 100
    """Most games taken from one upload."""
    game_moves: int = 2000
    """Most moves of one game."""
    queued_reviews: int = 200
    """Most reviews that wait or run."""
    most_visits: int = 2000
    """Most visits per position that a review may ask for."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can connect."""
        return self.host in LOOPBACK
