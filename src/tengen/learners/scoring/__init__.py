"""Score finished games: say which stones are dead, learned from games known only by their score."""

from tengen.learners.scoring.learner import BlockScorer, Reading

__all__ = ["BlockScorer", "Reading"]
