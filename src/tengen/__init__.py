"""Play, score, review and learn Go: a fast board, game records, trained networks, matches.

Importing the package loads nothing heavy; names are resolved when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from tengen.board import BatchBoard, Board, Point, Rules
    from tengen.errors import TengenError
    from tengen.library import Analysis, analyse, load_network, play_match, review, score
    from tengen.records import Corpus, GameRecord, read_game, read_games

__all__ = [
    "Analysis",
    "BatchBoard",
    "Board",
    "Corpus",
    "GameRecord",
    "Point",
    "Rules",
    "TengenError",
    "__version__",
    "analyse",
    "load_network",
    "play_match",
    "read_game",
    "read_games",
    "review",
    "score",
]

# Modules that define the public names; each is imported when one of its names is first used.
_HOMES = {
    **dict.fromkeys(["BatchBoard", "Board", "Point", "Rules"], "tengen.board"),
    **dict.fromkeys(["Corpus", "GameRecord", "read_game", "read_games"], "tengen.records"),
    "TengenError": "tengen.errors",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'tengen' has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOMES.get(name, "tengen.library")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
