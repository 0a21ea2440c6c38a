"""Score finished games: say which stones are dead, learned from games known only by their score."""

from tengen.learners.scoring.learner import BlockScorer, Reading
from tengen.learners.scoring.life import Foresight, LifeEvaluator

__all__ = ["BlockScorer", "Foresight", "LifeEvaluator", "Reading"]
