"""Score finished games: find the dead stones, learned from final scores alone."""

from tengen.scoring.learner import BlockScorer, Reading

__all__ = ["BlockScorer", "Reading"]
