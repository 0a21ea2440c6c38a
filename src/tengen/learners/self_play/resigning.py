"""Decide when games against itself are given up, measured on games that never are; play nothing.

Some games are played out whatever happens. Of those, the lowest value that the later winner once
had is remembered; a game is given up below the value that only few winners ever saw.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

_REMEMBERED, ENOUGH = 2000, 200
"""Winners that are remembered, and how many there must be before anybody resigns."""
NOBODY = -2.0
"""Below all values."""


class Resigning:
    """Lowest values of the games under way, and of winners lately."""

    def __init__(
        self, games: int, *, error: float, played_out: float, device: torch.device
    ) -> None:
        self.error, self.share = error, played_out
        self.lowest = torch.ones((games, 2), device=device)
        """Of Black and White in every game, at their own moves."""
        self.played_out = torch.ones(games, dtype=torch.bool, device=device)
        self.winners = torch.zeros(_REMEMBERED, device=device)
        """The lowest values of winners of games played out, a ring."""
        self.count = torch.zeros(1, dtype=torch.int64, device=device)
        """Winners ever remembered."""
        self.floor = torch.full((), NOBODY, device=device)
        """The value below which a game is given up."""
        self._game = torch.arange(games, device=device)

    def begin(self, games: Tensor, chances: Tensor) -> None:
        """Forget games that ended; some of the new ones are to be played out."""
        self.lowest[games] = 1.0
        self.played_out[games] = chances < self.share

    def note(self, side: Tensor, value: Tensor) -> Tensor:
        """Remember what the side to move thinks of every game; tell which are given up."""
        column = side.long() - 1
        before = self.lowest[self._game, column]
        self.lowest[self._game, column] = torch.minimum(before, value)
        return (value < self.floor) & ~self.played_out

    def ended(self, games: Tensor, lead: Tensor) -> None:
        """Remember the winners of games that were played out; `lead` is Black's."""
        decided = self.played_out[games] & (lead != 0)
        won_by_white = (lead[decided] < 0).long()
        lowest = self.lowest[games[decided], won_by_white][-_REMEMBERED:]
        before = int(self.count[0])
        places = (before + torch.arange(len(lowest), device=lowest.device)) % _REMEMBERED
        self.winners[places] = lowest
        self.count += len(lowest)
        known = min(before + len(lowest), _REMEMBERED)
        if known >= ENOUGH:
            self.floor.copy_(torch.quantile(self.winners[:known], self.error))

    def tensors(self) -> dict[str, Tensor]:
        """Return everything that later resignations depend on."""
        return {
            "lowest": self.lowest,
            "played_out": self.played_out,
            "winners": self.winners,
            "winners_count": self.count,
            "floor": self.floor,
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over what `tensors` returned."""
        for name, mine in self.tensors().items():
            mine.copy_(tensors[name])
