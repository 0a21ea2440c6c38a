"""Show the progress of a run and of its present step, with the time left.

The time left is estimated from the steps' own estimates, scaled by how long the finished steps
really took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

_EVERY = 15.0
"""Seconds between lines where there is no terminal."""


def span(seconds: float) -> str:
    """Format a length of time.

    >>> [span(s) for s in (4, 75, 3700, 200000)]
    ['4 s', '1 min 15 s', '1 h 1 min', '2 days 7 h']
    """
    seconds = max(round(seconds), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if days:
        return f"{days} day{'s' if days > 1 else ''} {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


class Progress:
    """Track the steps of a run and estimate the time left; shows nothing itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._titles: dict[str, str] = {}
        self._estimates: dict[str, float] = {}
        self._left: list[str] = []
        self._step = ""
        self._share = 0.0
        self._planned = self._spent = 0.0
        self._begun = clock()

    def plan(self, steps: Sequence[tuple[str, str, float]], done: set[str]) -> None:
        """Start a run of steps: name, title and estimated minutes of each; some may be done."""
        self._titles = {name: title for name, title, _ in steps}
        self._estimates = {name: 60 * minutes for name, _, minutes in steps}
        self._left = [name for name, _, _ in steps if name not in done]

    def begin(self, step: str) -> None:
        """Begin a step."""
        self._step, self._share, self._begun = step, 0.0, self._clock()

    def at(self, share: float, note: str = "") -> None:
        """Report what share of the step is done."""
        self._share = max(min(max(share, 0.0), 1.0), self._share)

    def end(self, seconds: float) -> None:
        """End the step; `seconds` includes earlier attempts."""
        self._planned += self._estimates[self._step]
        self._spent += self._clock() - self._begun
        self._left.remove(self._step)

    def step_left(self) -> float:
        """Estimate the seconds left of the present step."""
        took = self._clock() - self._begun
        guess = max(self._estimates[self._step] * self._pace() - took, 0.0)
        if self._share <= 0.02:
            return guess
        # The further it is, the more its own pace counts.
        own = took / self._share * (1 - self._share)
        return self._share * own + (1 - self._share) * guess

    def left(self) -> float:
        """Estimate the seconds left of the whole run."""
        later = sum(self._estimates[name] for name in self._left if name != self._step)
        return self.step_left() + later * self._pace()

    def _pace(self) -> float:
        """Return the ratio of real to estimated time so far."""
        return 1.0 if self._planned < 1 else (self._spent + 30) / (self._planned + 30)

    @property
    def _number(self) -> str:
        total = len(self._titles)
        return f"[{total - len(self._left) + 1}/{total}]"


class LineProgress(Progress):
    """Write a line at the start and end of each step, and a note now and then between."""

    def __init__(
        self,
        write: Callable[[str], None],
        note: Callable[[str], None] | None = None,
        *,
        every: float = _EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self._write, self._note = write, note or write
        self._every, self._written = every, clock()

    def plan(self, steps: Sequence[tuple[str, str, float]], done: set[str]) -> None:
        """Start a run of steps."""
        super().plan(steps, done)
        finished = len(steps) - len(self._left)
        if finished:
            self._write(f"{finished} of {len(steps)} steps are already finished")

    def begin(self, step: str) -> None:
        """Begin a step."""
        super().begin(step)
        self._written = self._begun
        title = self._titles[step]
        self._write(f"{self._number} {title} ({step}): begins; {span(self.left())} left in all")

    def at(self, share: float, note: str = "") -> None:
        """Report what share of the step is done."""
        super().at(share, note)
        now = self._clock()
        if now - self._written >= self._every:
            self._written = now
            self._note(
                f"{self._number} {self._step}: {self._share:.0%}, {note}; "
                f"{span(self.step_left())} left, {span(self.left())} in all"
            )

    def end(self, seconds: float) -> None:
        """End the step."""
        number = self._number
        super().end(seconds)
        self._write(f"{number} {self._step}: done in {span(seconds)}")


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Progress]:
    """Show progress on standard error: on a terminal with a status line that changes in place."""
    if quiet:
        yield Progress()
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        with console.status("") as status:
            write = partial(console.print, markup=False, highlight=False)
            yield LineProgress(write, lambda text: status.update(Text(text)), every=0.5)
    else:
        yield LineProgress(lambda text: print(text, file=sys.stderr, flush=True))
