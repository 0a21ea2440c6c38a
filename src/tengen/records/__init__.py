"""Game records: SGF (also damaged), other formats, archives, collections, arrays.

From the bottom up: `sgf_grammar` (bytes and trees), `sgf_properties` (values and encodings),
`record` (games), `arrays` (many games), `reader` (files, archives, any format), `corpus`, and
`recipes` (collections from public repositories). Records say what was played, not what it is worth.
"""

from tengen.records.arrays import GameArrays
from tengen.records.corpus import Corpus, Position
from tengen.records.reader import loads, read_game, read_games
from tengen.records.record import GameRecord
from tengen.records.sgf_grammar import Fault
from tengen.records.sgf_properties import Result

__all__ = [
    "Corpus",
    "Fault",
    "GameArrays",
    "GameRecord",
    "Position",
    "Result",
    "loads",
    "read_game",
    "read_games",
]
