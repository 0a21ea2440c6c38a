"""Play, score, review and learn Go: a fast board, game records, trained networks, matches.

Importing the package loads nothing heavy; names are resolved when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

__version__ = "0.3.0"

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.board": ["BatchBoard", "Board", "Point", "Rules"],
        "tengen.errors": ["TengenError"],
        "tengen.library": ["Analysis", "analyse", "load_network", "play_match", "review", "score"],
        "tengen.records": ["Corpus", "GameRecord", "read_game", "read_games"],
    },
)
