"""Keep the time of both sides and budget a move.

After main time come periods, if there are any: in each, so many stones have to be played
(Canadian), or one stone within one of several periods (Japanese). Times are in seconds. A clock
takes the times that a controller reports, or keeps time itself: from one `press` to the next, or
by the seconds passed to `spend`.
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
    periods: int = 1  # periods left, with this one


@dataclass
class Clock:
    """Time settings of a game and what is left for either colour; unlimited unless set."""

    main: float = 0.0
    period: float = 0.0
    stones: int = 0
    periods: int = 1  # how often a period may run out before the game is lost
    increment: float = 0.0  # seconds that every move adds (Fischer)
    limited: bool = False
    sides: dict[int, Side] = field(default_factory=dict)
    since: float | None = None  # when the side to move began to think; None while no time runs

    @classmethod
    def settings(cls, main: float, period: float, stones: int) -> Clock:
        """Return a clock for GTP's time_settings; a period without stones means no limit."""
        return cls(main, period, stones, limited=not (period > 0 and stones == 0))

    @classmethod
    def japanese(cls, main: float, period: float, periods: int) -> Clock:
        """Return a clock with periods in which one stone is played; a stone in time keeps one."""
        return cls(main, period, 1, periods, limited=True)

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
        in_main = self.main > 0
        start = Side(self.main if in_main else self.period, 0 if in_main else self.stones)
        start.periods = self.periods
        self.sides = {colour: replace(start) for colour in (1, 2)} if self.limited else {}
        self.since = None

    def set_left(self, colour: int, left: float, stones: int) -> None:
        """Set one side's time, as GTP's time_left does."""
        self.limited = True
        self.sides[colour] = Side(left, stones)

    def passed(self, colour: int, seconds: float) -> Side:
        """Return one side's clock after so many seconds without a move."""
        side = replace(self.sides[colour])
        side.left -= seconds
        if side.left <= 0 and side.stones == 0 and self.stones > 0:
            side.left, side.stones = side.left + self.period, self.stones
        while side.left <= 0 and side.stones > 0 and side.periods > 1:
            side.left, side.periods = side.left + self.period, side.periods - 1
        return side

    def spend(self, colour: int, seconds: float) -> None:
        """Count down one side's clock after a move."""
        if colour not in self.sides or not self.limited:
            return
        side = self.sides[colour] = self.passed(colour, seconds)
        if side.stones > 0:
            side.stones -= 1
            if side.stones == 0:
                side.left, side.stones = self.period, self.stones
        side.left = max(side.left, 0.0) + self.increment

    def press(self, colour: int, now: float) -> None:
        """End the move of one side; the other side's time runs from now on."""
        self.spend(colour, 0.0 if self.since is None else now - self.since)
        self.since = now

    def side(self, colour: int, turn: int, now: float) -> Side:
        """Return one side's clock as it stands while `turn` is to move."""
        return self.passed(
            colour, now - self.since if self.since is not None and colour == turn else 0.0
        )

    def remaining(self, colour: int, turn: int, now: float) -> float:
        """Return the seconds that a side has left until its main time or this period ends.

        They are 0 only when all periods are over too.
        """
        return max(self.side(colour, turn, now).left, 0.0)

    def until_lost(self, colour: int, turn: int, now: float) -> float:
        """Return the seconds until a side that does not move loses on time."""
        side = self.side(colour, turn, now)
        more = side.periods - (side.stones > 0) if self.stones else 0
        return max(side.left, 0.0) + more * self.period

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
