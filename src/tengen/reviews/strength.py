"""A player's rank from reviewed games: how likely the network thinks the moves of the player.

The strength of a side is the mean logarithm of the probabilities that the network gives to its
moves as moves of people. On each board it rises with the rank along a line, which
`benchmarks/player_ranks.py` fits to games with known ranks; `ranks.json` has the coefficients.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tengen.records.record import Rank

LEAST_GAMES = 10
"""Games on one board from which a rank is estimated."""
LEAST_PROBABILITY = 0.001
"""Less likely moves count as if they had this probability."""
COEFFICIENTS = Path(__file__).with_name("ranks.json")
_WIDE = 1.96  # standard errors of a 95 % interval
_MOST_DAN = 9


def scale_of(rank: str) -> float:
    """Return a rank as a number: 1k is -1, 1d is 0; NaN if it is unknown or professional."""
    strength = Rank(rank).strength
    if strength >= 200:
        return math.nan
    return strength if strength < 0 else strength - 101


def rank_at(scale: float) -> str:
    """Return the rank next to a number of the scale."""
    nearest = round(scale)
    return f"{-nearest}k" if nearest < 0 else f"{min(nearest + 1, _MOST_DAN)}d"


@dataclass(frozen=True)
class Line:
    """How strength rises with the rank on one board, and the variances around the line."""

    board: str
    start: float  # strength at 1d
    slope: float  # per rank
    player: float  # variance between players of one rank
    game: float  # between games, the same for both sides
    move: float  # between the moves of a side
    lowest: float  # the ranks that it was fitted to
    highest: float


@dataclass(frozen=True)
class RankEstimate:
    """The rank of a player on one board with a 95 % interval; if there is none, `reason` says why.

    A rank outside of those known on the board is told as its end, marked by `beyond`.
    """

    board: str
    games: int
    moves: int = 0
    rank: str = ""
    low: str = ""
    high: str = ""
    beyond: str = ""  # `weaker` or `stronger` than `rank`
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        if self.reason:
            return f"{self.board}: no rank ({self.reason})"
        than = f" or {self.beyond}" if self.beyond else ""
        return f"{self.board}: {self.rank}{than} ({self.low} to {self.high})"


def log_likelihood(probability: float) -> float:
    """Return what a move of this probability adds to the strength of a side."""
    return math.log(max(probability, LEAST_PROBABILITY))


def deviation(line: Line, games: int, moves: int) -> float:
    """Return the standard error of an estimate, in ranks."""
    return math.sqrt(line.player + line.game / games + line.move / moves) / line.slope


@cache
def fitted() -> dict[str, Any]:
    """Return what `benchmarks/player_ranks.py` wrote."""
    found: dict[str, Any] = json.loads(COEFFICIENTS.read_text(encoding="utf-8"))
    return found


def fitted_model() -> str:
    """Return the name of the network whose probabilities the lines take."""
    return str(fitted()["model"])


def lines() -> dict[str, Line]:
    """Return the lines that were fitted, by board."""
    return {entry["board"]: Line(**entry) for entry in fitted()["lines"]}


def estimate(
    board: str,
    games: Sequence[Sequence[float | None]],
    known: Mapping[str, Line] | None = None,
) -> RankEstimate:
    """Estimate a player's rank from the probabilities of the moves in each game on a board."""
    known = lines() if known is None else known
    values = [[log_likelihood(p) for p in game if p is not None] for game in games]
    count, total = len(games), sum(map(len, values))
    if board not in known:
        return RankEstimate(board, count, reason=f"known only on {', '.join(known)}")
    if count < LEAST_GAMES:
        return RankEstimate(board, count, reason=f"takes {LEAST_GAMES} games, not {count}")
    if not total:
        return RankEstimate(board, count, reason="the review predicted no moves")
    line = known[board]
    mean = math.fsum(math.fsum(game) for game in values) / total
    scale = (mean - line.start) / line.slope
    error = _WIDE * deviation(line, count, total)
    beyond = "weaker" if scale < line.lowest else "stronger" if scale > line.highest else ""

    def told(place: float) -> str:
        return rank_at(min(max(place, line.lowest), line.highest))

    return RankEstimate(
        board, count, total, told(scale), told(scale - error), told(scale + error), beyond
    )


def estimates(sides: Iterable[tuple[str, Sequence[float | None]]]) -> list[RankEstimate]:
    """Estimate a player's rank on each board from the board and the probabilities of each game."""
    boards: dict[str, list[Sequence[float | None]]] = {}
    for board, probabilities in sides:
        boards.setdefault(board, []).append(probabilities)
    return [estimate(board, games) for board, games in sorted(boards.items())]
