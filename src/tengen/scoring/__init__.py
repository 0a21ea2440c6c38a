"""Score finished games: find the dead stones, learned from final scores alone.

`learner` is the model with its `features`, `judging` says whether a game is over and what is dead,
`game_score` scores a record. It chooses no moves; counting is in `board`.
"""

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
