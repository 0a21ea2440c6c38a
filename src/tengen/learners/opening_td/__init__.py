"""Learn openings by temporal differences (Huang, Connell and McQuade 2003)."""

from tengen.learners.opening_td.learner import OpeningTD, PlayoutJudge, play_match
from tengen.learners.opening_td.settings import TDSettings

__all__ = ["OpeningTD", "PlayoutJudge", "TDSettings", "play_match"]
