"""Measure how well a predictor foresees the moves of games; train nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tengen.arrays import FloatArray
from tengen.statistics import wilson

TOPS = (1, 5, 10, 20, 40, 60, 80)
"""Ranks at which cumulative accuracy is measured."""

_PHASE = 30
"""Plies in one phase of the game."""

_PHASES = 10


@dataclass
class Measured:
    """Counts of a measurement; rates are fractions."""

    games: int = 0
    hits: FloatArray = field(default_factory=lambda: np.zeros((_PHASES, len(TOPS))))
    counts: FloatArray = field(default_factory=lambda: np.zeros(_PHASES))
    loss: float = 0.0
    seconds: float = 0.0  # of processor time

    @property
    def positions(self) -> int:
        """Return how many moves were predicted."""
        return int(self.counts.sum())

    def rate(self, top: int) -> float:
        """Return the share of moves that were among the best `top`."""
        return float(self.hits[:, TOPS.index(top)].sum() / max(self.positions, 1))

    def interval(self, top: int) -> tuple[float, float]:
        """Return the 95 % interval of `rate`, taking positions as independent."""
        return wilson(float(self.hits[:, TOPS.index(top)].sum()), self.positions)

    def phases(self) -> list[dict[str, float]]:
        """Return top-1 accuracy for every 30 plies of the game."""
        return [
            {
                "from_ply": _PHASE * k,
                "positions": int(self.counts[k]),
                "top1": float(self.hits[k, 0] / self.counts[k]),
            }
            for k in range(_PHASES)
            if self.counts[k] > 0
        ]

    def summary(self) -> dict[str, object]:
        """Return the JSON of `move-prediction evaluate`."""
        n = max(self.positions, 1)
        return {
            "games": self.games,
            "positions": self.positions,
            **{f"top{top}": self.rate(top) for top in (1, 5, 10, 20)},
            "log_loss": self.loss / n,
            "seconds": self.seconds,
            "interval": list(self.interval(1)),
            "milliseconds_per_position": 1000 * self.seconds / n,
            "phases": self.phases(),
        }
