"""List the levels of `tengen` for people, weakest first, as data; play nothing, know no rating.

The weaker ones draw their moves from what people play: first from the move predictor, then from the
network trained on people's games, with less and less chance in it. The stronger ones search with
more and more visits. None makes mistakes on purpose. How strong each is was measured; `arena.ranks`
knows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tengen.errors import SpecError

_LEAST_VISITS = 2
"""A search that looks at less has no move to compare."""
_LARGE = 13
"""Lines of a large board."""


@dataclass(frozen=True)
class Level:
    """How a level plays: a draw from a policy at a temperature, or a search."""

    share: float = 0.0
    """Visits of the search, as a share of those that `tengen` takes by itself; 0 for a draw."""
    draws_from: str = "network"
    """`predictor` or `network`: whose moves are drawn."""
    temperature: float = 1.0
    """Below 1 the likelier moves come more often, above 1 more rarely; 0 takes the likeliest."""
    on_large: Level | None = None
    """How it plays from 13 lines on, where that is another way: longer games forgive less chance,
    and there any search is far stronger than any draw."""

    def on(self, lines: int) -> Level:
        """Return how it plays on a board whose shorter side has so many lines."""
        return self if self.on_large is None or lines < _LARGE else self.on_large

    @property
    def searches(self) -> bool:
        """Whether it looks ahead."""
        return self.share > 0

    def visits(self, full: int) -> int:
        """Return the visits of its search where the full strength takes so many."""
        return max(round(self.share * full), _LEAST_VISITS)

    @property
    def about(self) -> str:
        """What it does, in a few words for people."""
        if self.on_large is not None:
            same = self.searches == self.on_large.searches
            large = f"{self.on_large.temperature:g}" if same else self.on_large.about
            return f"{replace(self, on_large=None).about} ({large} from {_LARGE}x{_LARGE} on)"
        if self.searches:
            few = f", {100 * self.share:g} % of the visits"
            return "searches at full strength" if self.share == 1 else f"searches{few}"
        if self.temperature == 0:
            return f"the {self.draws_from}'s likeliest move"
        return f"draws from the {self.draws_from}, temperature {self.temperature:g}"


LEVELS: dict[int, Level] = {
    1: Level(draws_from="predictor", temperature=2.0),
    2: Level(draws_from="predictor", temperature=1.5),
    3: Level(draws_from="predictor", temperature=1.0),
    4: Level(temperature=1.8, on_large=Level(temperature=1.4)),
    5: Level(temperature=1.0),
    6: Level(temperature=0.5),
    7: Level(share=0.02, on_large=Level(temperature=0.2)),
    8: Level(share=0.15),
    9: Level(share=0.4),
    10: Level(share=1.0),
}
"""The levels of `tengen:level=N` on every board."""


def find_level(number: int) -> Level:
    """Return a level by its number.

    Raises
    ------
    SpecError
        If there is none.
    """
    if number not in LEVELS:
        raise SpecError(f"there is no level {number}; there are 1 to {max(LEVELS)}")
    return LEVELS[number]
