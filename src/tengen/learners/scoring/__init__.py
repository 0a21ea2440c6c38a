"""Score finished games: find the dead stones, learned from final scores alone."""

from tengen.learners.scoring.learner import BlockScorer, Reading

__all__ = ["BlockScorer", "Reading"]
