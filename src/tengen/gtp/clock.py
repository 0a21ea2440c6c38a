"""Keep both players' clocks and say how long to think; know no moves.

Times are seconds. The clock follows `time_left` where a program sends it and counts down by itself
where it does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# Seconds kept back at every move for the way to the program and back.
_MARGIN = 0.15
# The shortest time worth asking a player for.
_SHORTEST = 0.01
# The longest that anybody waits for a move, whatever the clock allows.
_LONGEST = 600.0
# Moves we expect to play before main time matters no more.
_FEWEST_MOVES_LEFT = 12


@dataclass
class _Side:
    """One player's clock: main time, or `stones` moves left in a period of `left` seconds."""

    left: float
    stones: int = 0


@dataclass
class Clock:
    """Time settings of a game and what is left for either colour."""

    main: float = 0.0
    period: float = 0.0
    stones: int = 0
    increment: float = 0.0
    """Seconds that every move adds (Fischer's clock)."""
    limited: bool = False
    sides: dict[int, _Side] = field(default_factory=dict)

    @classmethod
    def settings(cls, main: float, period: float, stones: int) -> Clock:
        """Set the clock as GTP's time_settings does: a period with no stones is no limit."""
        clock = cls(main, period, stones, limited=not (period > 0 and stones == 0))
        clock.restart()
        return clock

    @classmethod
    def fischer(cls, main: float, increment: float) -> Clock:
        """Set a clock to which every move adds some time."""
        clock = cls(main, increment=increment, limited=True)
        clock.restart()
        return clock

    def restart(self) -> None:
        """Give both sides their time for a new game."""
        start = _Side(self.main) if self.main > 0 else _Side(self.period, self.stones)
        self.sides = {colour: _Side(start.left, start.stones) for colour in (1, 2)}

    def set_left(self, colour: int, left: float, stones: int) -> None:
        """Believe a program about one side's time (GTP's time_left)."""
        self.limited = True
        self.sides[colour] = _Side(left, stones)

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

    def budget(self, colour: int, points: int, plies: int) -> float | None:
        """Say how many seconds the next move may take; None when nobody counts.

        `points` and `plies` are the size of the board and the moves so far.
        """
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
