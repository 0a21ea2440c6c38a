"""The settings of the server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Settings:
    """Settings of the server, fixed when it starts; requests cannot change them."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8361
    token: str | None = None  # every request must contain it; required unless the host is loopback
    players: tuple[str, ...] = ()  # specs of further opponents
    arenas: tuple[Path, ...] = ()  # databases of tournaments to show
    collections: tuple[Path, ...] = ()  # collections of games, or indexes of them, to explore
    runs: Path = Path("runs")  # folder of trainings and laboratory reports to show
