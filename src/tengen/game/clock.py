"""Keep the time of both sides and budget a move.

Times are in seconds. A clock takes the times that a controller reports, or keeps time itself: from
one `press` to the next, or by the seconds passed to `spend`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_MARGIN = 0.15  # seconds reserved per move for communication with the controller
_SHORTEST, _LONGEST = 0.01, 600.0  # bounds on the seconds for a move, regardless of the clock
_FEWEST_MOVES_LEFT = 12  # main time must always last for at least this many moves


@dataclass
class Side:
    """One player's clock: main time, or `stones` moves left in a period of `left` seconds."""

    left: float
    stones: int = 0


@dataclass
class Clock:
    """Time settings of a game and what is left for either colour; unlimited unless set."""

    main: float = 0.0
    period: float = 0.0
    stones: int = 0
    increment: float = 0.0  # seconds that every move adds (Fischer)
    limited: bool = False
    sides: dict[int, Side] = field(default_factory=dict)
    since: float | None = None  # when the side to move began to think; None while no time runs

    @classmethod
    def settings(cls, main: float, period: float, stones: int) -> Clock:
        """Return a clock for GTP's time_settings; a period without stones means no limit."""
        return cls(main, period, stones, limited=not (period > 0 and stones == 0))

    @classmethod
    def fischer(
        cls, main: float, increment: float, left: Mapping[int, float] | None = None
    ) -> Clock:
        """Return a clock to which every move adds some time; `left` is for a resumed game."""
        clock = cls(main, increment=increment, limited=True)
        for colour, seconds in (left or {}).items():
            clock.set_left(colour, seconds, 0)
        return clock

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Give both sides their time for a new game."""
        start = Side(self.main) if self.main > 0 else Side(self.period, self.stones)
        self.sides = {colour: replace(start) for colour in (1, 2)} if self.limited else {}
        self.since = None

    def set_left(self, colour: int, left: float, stones: int) -> None:
        """Set one side's time, as GTP's time_left does."""
        self.limited = True
        self.sides[colour] = Side(left, stones)

    def spend(self, colour: int, seconds: float) -> None:
        """Count down one side's clock after a move."""
        side = self.sides.get(colour)
        if side is None or not self.limited:
            return
        side.left -= seconds
        if side.stones > 0:
            side.stones -= 1
            if side.stones == 0:
                side.left, side.stones = self.period, self.stones
        elif side.left <= 0 and self.stones > 0:
            side.left, side.stones = self.period + side.left, self.stones
        side.left = max(side.left, 0.0) + self.increment

    def press(self, colour: int, now: float) -> None:
        """End the move of one side; the other side's time runs from now on."""
        self.spend(colour, 0.0 if self.since is None else now - self.since)
        self.since = now

    def remaining(self, colour: int, turn: int, now: float) -> float:
        """Return the seconds that a side has left while `turn` is to move."""
        spent = now - self.since if self.since is not None and colour == turn else 0.0
        return max(self.sides[colour].left - spent, 0.0)

    def budget(self, colour: int, points: int, plies: int) -> float | None:
        """Return how many seconds the next move may take; None without a limit."""
        side = self.sides.get(colour)
        if side is None or not self.limited:
            return None
        if side.stones > 0:
            seconds = side.left / side.stones * 0.95
        else:
            expected = max(_FEWEST_MOVES_LEFT, (0.7 * points - plies) / 2)
            seconds = min(side.left / expected + 0.9 * self.increment, 0.8 * side.left)
            if self.stones > 0:
                # Periods follow, so main time may be used up faster.
                seconds = min(side.left, 2 * seconds) + 0.9 * self.period / self.stones
                seconds = min(seconds, side.left + 0.9 * self.period / self.stones)
        return min(max(_SHORTEST, seconds - min(_MARGIN, 0.5 * seconds)), _LONGEST)
