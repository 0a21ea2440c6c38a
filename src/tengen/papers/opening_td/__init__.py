"""Learn openings by temporal differences (Huang, Connell and McQuade 2003)."""

from tengen.papers.opening_td.learner import OpeningTD, play_match
from tengen.papers.opening_td.settings import TDSettings

__all__ = ["OpeningTD", "TDSettings", "play_match"]
