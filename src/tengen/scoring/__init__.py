"""Score finished games: find the dead stones, learned from final scores alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

if TYPE_CHECKING:
    from tengen.scoring.learner import BlockScorer, Reading

__all__ = ["BlockScorer", "Reading"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.scoring.learner": ["BlockScorer", "Reading"],
    },
)
