"""Show how far a laboratory is, whole and part, with the time left: bars or plain lines.

On a terminal two bars are drawn; elsewhere a line is written at the start and end of each step and
now and then between. The time left is foretold from the steps' own guesses, corrected by how long
the steps so far really took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from tengen.lab.steps import Step, Watch

_EVERY = 15.0
"""Seconds between lines where there is no terminal."""


def span(seconds: float) -> str:
    """Write a length of time for people.

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


class Teller(Watch):
    """Say in plain lines how far the whole and its parts are."""

    def __init__(
        self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say, self._clock = say, clock
        self._todo: list[Step] = []
        self._number = self._total = 0
        self._planned = self._spent = 0.0
        self._begun = self._told = clock()
        self._share = 0.0

    def plan(self, steps: Sequence[Step], done: set[str]) -> None:
        """Hear what is to be done, and what is there already."""
        self._todo = [step for step in steps if step.name not in done]
        self._total = len(steps)
        self._number = self._total - len(self._todo)
        if self._number:
            self._say(f"{self._number} of {self._total} steps were there already")

    def begin(self, step: Step) -> None:
        """Hear that a step begins."""
        self._number += 1
        self._begun = self._told = self._clock()
        self._share = 0.0
        self._say(
            f"[{self._number}/{self._total}] {step.title} ({step.name}): begins; "
            f"about {span(self.left(step))} in all"
        )

    def at(self, step: Step, share: float, note: str) -> None:
        """Hear how far it is."""
        self._share = max(share, self._share)
        now = self._clock()
        if now - self._told < _EVERY:
            return
        self._told = now
        self._say(
            f"[{self._number}/{self._total}] {step.name}: {self._share:.0%}, {note}; "
            f"{span(self.step_left(step))} for this step, {span(self.left(step))} in all"
        )

    def end(self, step: Step, seconds: float) -> None:
        """Hear that its result is written."""
        self._planned += step.minutes * 60
        self._spent += self._clock() - self._begun
        self._todo = [other for other in self._todo if other.name != step.name]
        self._say(f"[{self._number}/{self._total}] {step.name}: done in {span(seconds)}")

    def step_left(self, step: Step) -> float:
        """Foretell the seconds that the present step still takes."""
        took = self._clock() - self._begun
        guess = step.minutes * 60 * self._pace()
        if self._share > 0.02:
            # The further it is, the more its own pace counts.
            own = took / self._share * (1 - self._share)
            return self._share * own + (1 - self._share) * max(guess - took, 0.0)
        return max(guess - took, 0.0)

    def left(self, step: Step) -> float:
        """Foretell the seconds until everything is done."""
        later = sum(s.minutes * 60 for s in self._todo if s.name != step.name)
        return self.step_left(step) + later * self._pace()

    def _pace(self) -> float:
        """Return how much longer things take here than was guessed."""
        if self._planned < 1:
            return 1.0
        return (self._spent + 30) / (self._planned + 30)


class Bars(Teller):
    """Draw the whole and the present part as bars on a terminal."""

    def __init__(self) -> None:
        super().__init__(lambda text: None)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bars: Any = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
        )
        self._whole: Any = None
        self._part: Any = None
        self._all: list[Step] = []

    def plan(self, steps: Sequence[Step], done: set[str]) -> None:
        """Hear what is to be done, and what is there already."""
        super().plan(steps, done)
        self._all = list(steps)
        self._bars.start()
        self._whole = self._bars.add_task("laboratory", total=1.0, left="", note="")
        self._draw_whole(None)

    def begin(self, step: Step) -> None:
        """Hear that a step begins."""
        super().begin(step)
        if self._part is not None:
            self._bars.remove_task(self._part)
        self._part = self._bars.add_task(step.name, total=1.0, left="", note=step.title)
        self._draw_whole(step)

    def at(self, step: Step, share: float, note: str) -> None:
        """Hear how far it is."""
        super().at(step, share, note)
        left = f"{span(self.step_left(step))} left"
        self._bars.update(self._part, completed=self._share, left=left, note=note)
        self._draw_whole(step)

    def end(self, step: Step, seconds: float) -> None:
        """Hear that its result is written."""
        super().end(step, seconds)
        self._bars.update(self._part, completed=1.0, left="", note="done")
        self._bars.print(f"{step.name}: {span(seconds)}")
        self._draw_whole(None)

    def close(self) -> None:
        """Stop drawing."""
        self._bars.stop()

    def _draw_whole(self, step: Step | None) -> None:
        total = sum(s.minutes for s in self._all) or 1.0
        todo = {s.name for s in self._todo}
        done = sum(s.minutes for s in self._all if s.name not in todo)
        done += step.minutes * self._share if step is not None else 0.0
        left = f"{span(self.left(step))} left" if step is not None else ""
        self._bars.update(self._whole, completed=done / total, left=left)


def make_watch(*, quiet: bool) -> Watch:
    """Return who watches: nobody, bars on a terminal, or plain lines on standard error."""
    if quiet:
        return Watch()
    if sys.stderr.isatty():
        return Bars()
    return Teller(lambda text: print(text, file=sys.stderr, flush=True))
