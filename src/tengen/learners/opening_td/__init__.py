"""Learn openings by temporal differences (Huang, Connell and McQuade 2003)."""

from tengen.learners.opening_td.learner import (
    KIND,
    OpeningMatch,
    OpeningTD,
    PlayoutJudge,
    Side,
    play_match,
)
from tengen.learners.opening_td.settings import SELF, SETS, TDSettings

__all__ = [
    "KIND",
    "SELF",
    "SETS",
    "OpeningMatch",
    "OpeningTD",
    "PlayoutJudge",
    "Side",
    "TDSettings",
    "play_match",
]
