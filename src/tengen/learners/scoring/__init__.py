"""Score finished games: say which stones are dead, learned from games whose only label is a score."""

from tengen.learners.scoring.learner import BlockScorer, Reading

__all__ = ["BlockScorer", "Reading"]
