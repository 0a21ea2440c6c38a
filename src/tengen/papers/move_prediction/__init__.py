"""Predict experts' moves by maximum entropy, after Araki et al. 2007."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

if TYPE_CHECKING:
    from tengen.papers.move_prediction.learner import MovePredictor
    from tengen.papers.move_prediction.settings import PredictionSettings

__all__ = ["MovePredictor", "PredictionSettings"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.papers.move_prediction.learner": ["MovePredictor"],
        "tengen.papers.move_prediction.settings": ["PredictionSettings"],
    },
)
