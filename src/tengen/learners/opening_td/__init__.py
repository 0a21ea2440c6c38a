"""Learn openings by temporal differences (Huang, Connell and McQuade 2003)."""

from tengen.learners.opening_td.learner import KIND, OpeningTD
from tengen.learners.opening_td.settings import SELF, SETS, FeatureSet, TDSettings
from tengen.learners.opening_td.training import (
    OpeningMatch,
    PlayoutJudge,
    Side,
    opening_board,
    play_match,
)

__all__ = [
    "KIND",
    "SELF",
    "SETS",
    "FeatureSet",
    "OpeningMatch",
    "OpeningTD",
    "PlayoutJudge",
    "Side",
    "TDSettings",
    "opening_board",
    "play_match",
]
