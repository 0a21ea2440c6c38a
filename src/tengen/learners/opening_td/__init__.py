"""Learn openings by temporal differences (Huang, Connell and McQuade 2003); know no player.

`settings` says what a player is and how it is trained, `features` what it sees, `network` how that
is judged, `model` keeps one player, `matches` plays openings that an expert finishes, `training`
teaches, `learner` is the estimator.
"""

from tengen.learners.opening_td.features import SETS, FeatureSet
from tengen.learners.opening_td.judges import OwnershipExpert, PlayoutJudge
from tengen.learners.opening_td.learner import KIND, OpeningTD
from tengen.learners.opening_td.matches import OpeningMatch, Side, opening_board, play_match
from tengen.learners.opening_td.settings import SELF, TDSettings

__all__ = [
    "KIND",
    "SELF",
    "SETS",
    "FeatureSet",
    "OpeningMatch",
    "OpeningTD",
    "OwnershipExpert",
    "PlayoutJudge",
    "Side",
    "TDSettings",
    "opening_board",
    "play_match",
]
