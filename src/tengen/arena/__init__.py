"""Matches, tournaments, ratings and the results database.

`play_match` plays a match. `load_tournament` reads a TOML file, `Database.open` opens the
file of results, `run_tournament` plays the missing games, `results_of` makes the tables.
Players come from `players`, the end of a game from `scoring`; who shows results is not known here.
"""

from tengen.arena.database import Database
from tengen.arena.game import PlayedGame, play_game
from tengen.arena.match import play_match
from tengen.arena.ratings import Rating, rate
from tengen.arena.results import MatchResult, Results, results_of
from tengen.arena.runner import run_tournament
from tengen.arena.tournament import (
    Conditions,
    Entrant,
    GameJob,
    Tournament,
    load_tournament,
    pairings,
    parse_tournament,
    schedule,
)

__all__ = [
    "Conditions",
    "Database",
    "Entrant",
    "GameJob",
    "MatchResult",
    "PlayedGame",
    "Rating",
    "Results",
    "Tournament",
    "load_tournament",
    "pairings",
    "parse_tournament",
    "play_game",
    "play_match",
    "rate",
    "results_of",
    "run_tournament",
    "schedule",
]
