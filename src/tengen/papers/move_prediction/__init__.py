"""Predict experts' moves by maximum entropy, after Araki et al. 2007."""

from tengen.papers.move_prediction.learner import MovePredictor
from tengen.papers.move_prediction.settings import PredictionSettings

__all__ = ["MovePredictor", "PredictionSettings"]
