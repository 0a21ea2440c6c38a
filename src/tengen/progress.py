"""Show the progress of long work and the time left: bars on a terminal, lines elsewhere.

Long-running functions call back with the stage, the steps done and the total number of steps; a
`Progress` is such a callback.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from tengen.sanitize import for_rich, printable

OnStep = Callable[[int, int], None]  # called with the steps done and the total
_LINE_EVERY, _BAR_EVERY = 10.0, 0.1  # seconds between lines, and between changes of a bar


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


@dataclass
class _Stage:
    begun: float
    first: float  # steps done at the first report, from which the pace is measured
    done: float
    shown: float
    task: Any = None


class Progress:
    """Progress of stages on standard error; `below` returns what to draw below the bars."""

    def __init__(self, *, quiet: bool = False, below: Callable[[], Any] | None = None) -> None:
        self.quiet, self._below = quiet, below
        self._stages: dict[str, _Stage] = {}
        self._bars: Any = None
        self._live: Any = None

    def __enter__(self) -> Self:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console, Group
            from rich.live import Live
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bars

            name, text = TextColumn("{task.description}"), TextColumn("{task.fields[text]}")
            self._bars, below = Bars(name, BarColumn(), text), self._below or Group
            self._live = Live(
                get_renderable=lambda: Group(self._bars, below()), console=Console(stderr=True)
            )
            self._live.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, stage: str, done: float, total: float | None = None, note: str = "") -> None:
        """Show that `done` steps of a stage are done, as a percentage if `total` is a float."""
        now = time.monotonic()
        if stage not in self._stages:
            self._stages[stage] = _Stage(now, done, done, now)
            if self._bars is not None:
                self._stages[stage].task = self._bars.add_task(for_rich(stage), text="")
        at = self._stages[stage]
        at.done = done
        every = _LINE_EVERY if self._bars is None else 0.0 if done == total else _BAR_EVERY
        if self.quiet or now - at.shown < every:
            return
        at.shown = now
        text = " ".join(filter(None, (_text(at, total, now), note)))
        if self._bars is None:
            self.say(f"{stage}: {text}")
        else:
            self._bars.update(at.task, completed=done, total=total, text=for_rich(text))

    def advance(self, stage: str, steps: int = 1, total: int | None = None, note: str = "") -> None:
        """Add finished steps to a stage."""
        before = self._stages[stage].done if stage in self._stages else 0
        self(stage, before + steps, total, note)

    def say(self, text: str) -> None:
        """Print a line; bars stay below it."""
        if self._live is not None:
            self._live.console.print(for_rich(text), highlight=False)
        elif not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)


def _text(at: _Stage, total: float | None, now: float) -> str:
    """Return steps, pace and time left; no estimate of the time before a twentieth is done."""
    pace = (at.done - at.first) / max(now - at.begun, 1e-9)
    if isinstance(total, float):
        shown = f"{at.done / total:.0%}"
    else:
        shown = f"{at.done}/{total}, {pace:.2g}/s" if total else f"{at.done}, {pace:.2g}/s"
    if total and pace > 0 and 20 * at.done > total:
        shown += f", {span((total - at.done) / pace)} left"
    return shown
