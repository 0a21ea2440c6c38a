"""Ask a collection of games what was played in a position: an index on disk, and its answers.

`kernels` follow games and fold positions, `geometry` knows the symmetries, `building` makes an
index and `index` reads it, `answers` says what was played and what models think of it, `pictures`
draws that. Models come as arguments: nothing here knows a learner.
"""

from tengen.explorer.answers import Answer, NextMove, explore
from tengen.explorer.building import build, index_of_games
from tengen.explorer.index import Openings, OpeningsError, cached_path, open_index, stamp_of
from tengen.explorer.pictures import picture

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
    "stamp_of",
]
