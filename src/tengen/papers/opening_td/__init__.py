"""Learn openings by temporal differences (Huang, Connell and McQuade 2003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

if TYPE_CHECKING:
    from tengen.papers.opening_td.learner import OpeningTD, play_match
    from tengen.papers.opening_td.settings import TDSettings

__all__ = ["OpeningTD", "TDSettings", "play_match"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.papers.opening_td.learner": ["OpeningTD", "play_match"],
        "tengen.papers.opening_td.settings": ["TDSettings"],
    },
)
