"""Learn openings by temporal differences (Huang, Connell and McQuade 2003); know no player."""

from tengen.learners.opening_td.features import SETS, FeatureSet
from tengen.learners.opening_td.judges import OwnershipExpert, PlayoutJudge
from tengen.learners.opening_td.learner import OpeningTD
from tengen.learners.opening_td.matches import OpeningMatch, play_match
from tengen.learners.opening_td.training import Trainer

__all__ = [
    "SETS",
    "FeatureSet",
    "OpeningMatch",
    "OpeningTD",
    "OwnershipExpert",
    "PlayoutJudge",
    "Trainer",
    "play_match",
]
