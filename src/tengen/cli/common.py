"""Share the options and the ways of printing that every command has.

`Output` keeps the promise of `--json`: exactly one JSON value on standard output, everything
else on standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress, no remarks.")]
Seed = Annotated[int, typer.Option("--seed", help="Every random choice follows from it.")]
Workers = Annotated[int, typer.Option("--workers", min=1, help="Processes to work side by side.")]
Ray = Annotated[
    str | None, typer.Option("--ray", help="Address of a Ray cluster ('auto' or host:port).")
]


def emit(value: Any, *, as_json: bool, text: str | None = None) -> None:
    """Print `value` as JSON, or `text` for people."""
    if as_json:
        print(json.dumps(value, allow_nan=False))
    elif text is not None:
        print(text)


def remark(message: str, *, quiet: bool = False) -> None:
    """Print a remark on standard error, where it cannot disturb the output."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for people on standard output."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    sheet = Table(title=title or None)
    for column in columns:
        sheet.add_column(column)
    for row in rows:
        sheet.add_row(*(escape(str(cell)) for cell in row))
    Console().print(sheet)


class Progress:
    """Count finished steps; draws a bar on a terminal and plain lines elsewhere."""

    def __init__(self, label: str, total: int | None, *, quiet: bool = False) -> None:
        import time

        self.label, self.total, self.quiet, self.done = label, total, quiet, 0
        self._start = self._last = time.monotonic()
        self._clock = time.monotonic
        self._bar: Any = None
        self._task: Any = None
        if not quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._bar.start()
            self._task = self._bar.add_task(label, total=total, rate="")

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Say that `steps` more steps are done."""
        self.done += steps
        now = self._clock()
        rate = self.done / max(now - self._start, 1e-9)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, rate=f"{rate:.1f}/s {note}")
        elif not self.quiet and now - self._last > 10:
            self._last = now
            left = f", {(self.total - self.done) / rate:.0f} s left" if self.total and rate else ""
            of = f"/{self.total}" if self.total else ""
            remark(f"{self.label}: {self.done}{of}, {rate:.1f}/s{left} {note}".rstrip())

    def close(self) -> None:
        """Stop drawing."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress(label: str, total: int | None, *, quiet: bool = False) -> Iterator[Progress]:
    """Show progress with rate and time left while the block runs."""
    counter = Progress(label, total, quiet=quiet)
    try:
        yield counter
    finally:
        counter.close()
