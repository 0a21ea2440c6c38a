"""A running tournament on the terminal: table, games in progress, time left."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from tengen.arena.game import PlayedGame, winner_name
from tengen.arena.ratings import win_rate
from tengen.arena.runner import Listener
from tengen.sanitize import for_rich, printable
from tengen.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tengen.arena.database import GameRow
    from tengen.arena.schedule import GameJob, GameKey

_LINE_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""
_SHOWN = 8
"""Games in progress to list."""


class LiveTable(Listener):
    """A table that follows a run: on a terminal it redraws itself, elsewhere it writes lines."""

    def __init__(self, names: Sequence[str], rows: Sequence[GameRow], *, quiet: bool) -> None:
        self.quiet = quiet
        self.scores: dict[str, list[int]] = {name: [0, 0, 0] for name in names}
        for row in rows:
            self._count(row.black, row.white, row.winner)
        self.total = self.done = self.new = self.voids = 0
        self.note = ""
        self.under_way: dict[GameKey, float] = {}
        self._start = self._last = time.monotonic()
        self._live: Any = None

    def __enter__(self) -> LiveTable:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(
                get_renderable=self._draw, console=Console(stderr=True), refresh_per_second=2
            )
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def begin(self, total: int, done: int) -> None:
        """Show that `done` of `total` games are finished already."""
        self.total, self.done = total, done
        self._start = time.monotonic()
        if done:
            self._say(f"{done} of {total} games are finished already")

    def handed_out(self, job: GameJob) -> None:
        """Show a game that a worker was given."""
        self.under_way[job.key] = time.monotonic()

    def finished(self, game: PlayedGame) -> None:
        """Count one game."""
        self.under_way.pop(game.key, None)
        black, white = game.job.black.name, game.job.white.name
        if game.is_void:
            self.voids += 1
            self._say(f"void: {black} - {white}, {game.detail}")
            return
        self.done += 1
        self.new += 1
        self._count(black, white, winner_name(game))
        if game.fault:
            self._say(f"fault: {game.fault} lost a game. {game.detail}")
        if self._live is None and time.monotonic() - self._last > _LINE_EVERY:
            self._last = time.monotonic()
            self._say(self.headline())

    def stopping(self) -> None:
        """Show that the run ends after the games in progress."""
        self._say("stopping after the games in progress")

    def headline(self) -> str:
        """Return games done and time left in a line."""
        left = self.total - self.done
        text = f"{self.done}/{self.total} games"
        if self.new:
            seconds = (time.monotonic() - self._start) / self.new
            text += f", {seconds:.2g} s per game, {_duration(left * seconds)} left"
        return text + (f", {self.voids} void" if self.voids else "")

    def _count(self, black: str, white: str, winner: str | None) -> None:
        for name in (black, white):
            score = self.scores.setdefault(name, [0, 0, 0])
            score[2 if winner is None else 0 if winner == name else 1] += 1

    def _say(self, text: str) -> None:
        self.note = text
        if self._live is None and not self.quiet:
            print(f"arena: {printable(text)}", file=sys.stderr, flush=True)

    def _draw(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        sheet = Table(
            title=self.headline(), caption=for_rich(self.note or "Ctrl-C: stop after these games")
        )
        for column in ("player", "games", "won", "lost", "drawn", "rate", "95 %"):
            sheet.add_column(column, justify="left" if column == "player" else "right")
        order = sorted(
            self.scores.items(), key=lambda entry: -win_rate(*entry[1]) if any(entry[1]) else 0.0
        )
        for name, (won, lost, drawn) in order:
            games = won + lost + drawn
            low, high = wilson(won + drawn / 2, games)
            rate = f"{win_rate(won, lost, drawn):.1%}" if games else "-"
            numbers = (str(games), str(won), str(lost), str(drawn))
            sheet.add_row(for_rich(name), *numbers, rate, f"{low:.1%} - {high:.1%}")
        waiting = [
            f"game {number + 1} of {first} - {second}, {_duration(time.monotonic() - since)}"
            for (first, second, number), since in list(self.under_way.items())[:_SHOWN]
        ]
        if not waiting:
            return sheet
        return Group(sheet, "In progress: " + for_rich("; ".join(waiting)))


def _duration(seconds: float) -> str:
    """Format a duration."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
