"""Counting games of a tournament."""

from __future__ import annotations

from tengen.arena.database import GameRow
from tengen.arena.ratings import PairScore
from tengen.arena.results import pair_scores


def row(a: str, b: str, winner: str | None) -> GameRow:
    """Make a row of which only the players and the winner matter."""
    none = dict.fromkeys(GameRow.__dataclass_fields__, None)
    return GameRow(**{**none, "a": a, "b": b, "winner": winner})


def test_every_pairing_is_counted_from_the_first_players_side() -> None:
    rows = [row("x", "y", "x"), row("x", "y", "y"), row("x", "y", "x"), row("x", "z", None)]
    assert pair_scores(rows) == [PairScore("x", "y", 2, 1, 0), PairScore("x", "z", 0, 0, 1)]
    assert pair_scores([]) == []
