"""What a review is made with; every figure follows from it, the game and the models."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.models.settings import CheckedSettings, setting

DEFAULT_PLAYER = "tengen"


@dataclass(frozen=True)
class ReviewSettings(CheckedSettings):
    """Who judges positions and moves, how long, and how much of it is shown."""

    playouts: int = setting(200, "Playouts a position; more scatter less.", least=1)
    player: str = setting(DEFAULT_PLAYER, "Who judges positions; must be able to analyse.")
    policy: str | None = setting(None, "Model that predicts moves; by the board's size; or none.")
    top: int = setting(5, "Mistakes and surprises to show.", least=0)
    ownership: bool = setting(False, "Mark ownership on every node of the SGF (TB, TW).")
    seed: int = setting(0, "Every random choice follows from it.", least=0)
