"""The levels of `tengen` for people, weakest first.

The weaker levels sample their moves from the network trained on people's games, at falling
temperatures. The stronger ones search with increasing visits. No level makes mistakes on purpose.
`arena.placing` has the measured ratings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tengen.errors import SpecError

_LEAST_VISITS = 2
"""A search with fewer visits cannot compare moves."""
_LARGE = 13
"""Lines of a large board."""


@dataclass(frozen=True)
class Level:
    """How a level plays: it samples from the network at a temperature, or searches."""

    share: float = 0.0
    """Visits of the search as a share of those at full strength; 0 samples."""
    temperature: float = 1.0
    """Below 1 likely moves become more frequent, above 1 less so; 0 takes the likeliest."""
    on_large: Level | None = None
    """How it plays from 13 lines on, if differently: longer games forgive less randomness, and any
    search is far stronger there than any sampling."""

    def on(self, lines: int) -> Level:
        """Return how it plays on a board whose shorter side has this many lines."""
        return self if self.on_large is None or lines < _LARGE else self.on_large

    @property
    def searches(self) -> bool:
        """Whether it searches."""
        return self.share > 0

    def visits(self, full: int) -> int:
        """Return the visits of its search, given those at full strength."""
        return max(round(self.share * full), _LEAST_VISITS)

    @property
    def about(self) -> str:
        """A short description for people."""
        if self.on_large is not None:
            same = self.searches == self.on_large.searches
            large = f"{self.on_large.temperature:g}" if same else self.on_large.about
            return f"{replace(self, on_large=None).about} ({large} from {_LARGE}x{_LARGE} on)"
        if self.searches:
            few = f", {100 * self.share:g} % of the visits"
            return "searches at full strength" if self.share == 1 else f"searches{few}"
        if self.temperature == 0:
            return "the network's likeliest move"
        return f"samples from the network, temperature {self.temperature:g}"


LEVELS: dict[int, Level] = {
    1: Level(temperature=4.0, on_large=Level(temperature=2.8)),
    2: Level(temperature=2.8, on_large=Level(temperature=2.2)),
    3: Level(temperature=2.2, on_large=Level(temperature=1.8)),
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
    """Return a level by its number."""
    if number not in LEVELS:
        raise SpecError(f"there is no level {number}; there are 1 to {max(LEVELS)}")
    return LEVELS[number]
