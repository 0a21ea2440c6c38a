"""A running tournament on the terminal: progress, table, games in progress."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from tengen.arena.game import PlayedGame, winner_name
from tengen.arena.ratings import win_rate
from tengen.arena.runner import Listener
from tengen.progress import Progress, span
from tengen.sanitize import for_rich
from tengen.statistics import wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tengen.arena.database import GameRow
    from tengen.arena.schedule import GameJob, GameKey

_SHOWN = 8
"""Games in progress to list."""


class LiveTable(Listener):
    """The progress of a run; on a terminal also a table that redraws itself."""

    def __init__(self, names: Sequence[str], rows: Sequence[GameRow], *, quiet: bool) -> None:
        self.scores: dict[str, list[int]] = {name: [0, 0, 0] for name in names}
        for row in rows:
            self._count(row.black, row.white, row.winner)
        self.total = self.done = self.voids = 0
        self.under_way: dict[GameKey, float] = {}
        self._progress = Progress(quiet=quiet, below=self.draw)

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.__exit__(*exception)

    def begin(self, total: int, done: int) -> None:
        """Show that `done` of `total` games are finished already."""
        self.total, self.done = total, done
        self._progress("arena", done, total)
        if done:
            self._progress.say(f"arena: {done} of {total} games are finished already")

    def handed_out(self, job: GameJob) -> None:
        """Show a game that a worker was given."""
        self.under_way[job.key] = time.monotonic()

    def finished(self, game: PlayedGame) -> None:
        """Count one game."""
        self.under_way.pop(game.key, None)
        black, white = game.job.black.name, game.job.white.name
        if game.is_void:
            self.voids += 1
            self._progress.say(f"arena: void: {black} - {white}, {game.detail}")
            return
        self.done += 1
        self._count(black, white, winner_name(game))
        if game.fault:
            self._progress.say(f"arena: fault: {game.fault} lost a game. {game.detail}")
        void = f"{self.voids} void" if self.voids else ""
        self._progress("arena", self.done, self.total, void)

    def stopping(self) -> None:
        """Show that the run ends after the games in progress."""
        self._progress.say("arena: stopping after the games in progress")

    def _count(self, black: str, white: str, winner: str | None) -> None:
        for name in (black, white):
            score = self.scores.setdefault(name, [0, 0, 0])
            score[2 if winner is None else 0 if winner == name else 1] += 1

    def draw(self) -> Any:
        """Return the table and the games in progress, for Rich."""
        from rich.console import Group
        from rich.table import Table

        sheet = Table(caption="Ctrl-C: stop after these games")
        for column in ("player", "games", "won", "lost", "drawn", "rate", "95 %"):
            sheet.add_column(column, justify="left" if column == "player" else "right")
        order = sorted(
            self.scores.items(), key=lambda entry: -win_rate(*entry[1]) if any(entry[1]) else 0.0
        )
        for name, (won, lost, drawn) in order:
            games = won + lost + drawn
            low, high = wilson(won + drawn / 2, games)
            rate = f"{win_rate(won, lost, drawn):.1%}" if games else "-"
            numbers = map(str, (games, won, lost, drawn))
            sheet.add_row(for_rich(name), *numbers, rate, f"{low:.1%} - {high:.1%}")
        waiting = [
            f"game {number + 1} of {first} - {second}, {span(time.monotonic() - since)}"
            for (first, second, number), since in list(self.under_way.items())[:_SHOWN]
        ]
        return Group(sheet, "In progress: " + for_rich("; ".join(waiting)) if waiting else "")
