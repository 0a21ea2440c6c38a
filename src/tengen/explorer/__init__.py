"""Find the moves that a collection of games has in a position, with an index on disk.

It counts games; what a network thinks of the moves is asked by those who show them.
"""

from tengen.explorer.answers import Answer, NextMove, explore, picture
from tengen.explorer.index import (
    Openings,
    OpeningsError,
    build,
    cached_path,
    index_of_games,
    open_index,
)

__all__ = [
    "Answer",
    "NextMove",
    "Openings",
    "OpeningsError",
    "build",
    "cached_path",
    "explore",
    "index_of_games",
    "open_index",
    "picture",
]
