"""Predict experts' moves: the pipeline of Araki et al. 2007, and a stronger recipe of our own."""

from tengen.learners.move_prediction.learner import MovePredictor
from tengen.learners.move_prediction.settings import FullSettings, PaperSettings

__all__ = ["FullSettings", "MovePredictor", "PaperSettings"]
