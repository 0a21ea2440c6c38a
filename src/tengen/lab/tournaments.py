"""Play tournaments for the laboratory and turn them into tables and plots; rate nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tengen.arena import (
    Database,
    GameJob,
    PlayedGame,
    Results,
    Tournament,
    parse_tournament,
    results_of,
    run_tournament,
)
from tengen.arena.runner import Listener
from tengen.lab.content import Dots, Table, dots, table


class _Counter(Listener):
    """Hear of finished games and pass the number on."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell, self._done, self._total = tell, 0, 0

    def begin(self, total: int, done: int) -> None:
        self._total, self._done = total, done
        self._tell(done, total)

    def finished(self, game: PlayedGame) -> None:
        self._done += not game.is_void
        self._tell(self._done, self._total)

    def handed_out(self, job: GameJob) -> None:
        return None

    def stopping(self) -> None:
        # The laboratory itself says how to go on.
        return None


def play(
    path: Path,
    settings: dict[str, Any] | Tournament,
    *,
    workers: int,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Results:
    """Play what is missing of a tournament in its database and return the tables.

    Raises
    ------
    KeyboardInterrupt
        If somebody stopped it before its last game; what was played is kept.
    """
    tournament = settings if isinstance(settings, Tournament) else parse_tournament(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Database.open(path, tournament) as database:
        summary = run_tournament(tournament, database, workers=workers, listener=_Counter(tell))
        if summary.left:
            raise KeyboardInterrupt
        return results_of(database)


def standings(results: Results, title: str, note: str = "") -> Table:
    """Return players with ratings, intervals and games, best first."""
    rows = []
    for entry in results.standings:
        rating = entry.rating
        elo = "" if rating is None else f"{rating.elo:.0f}"
        span = "" if rating is None else _interval(rating.low, rating.high)
        rows.append([entry.name, elo, span, f"{entry.wins:g} of {entry.games}"])
    return table(title, ["player", "Elo", "95 %", "wins"], rows, note=note)


def _interval(low: float, high: float) -> str:
    return "anchor" if low == high else f"{low:.0f} to {high:.0f}"


def elo_plot(results: Results, title: str) -> Dots:
    """Return the ratings with their intervals as a picture."""
    return dots(
        title,
        "Elo",
        [
            (entry.name, entry.rating.elo, entry.rating.low, entry.rating.high)
            for entry in results.standings
            if entry.rating is not None
        ],
    )


def cross_table(results: Results, title: str) -> Table:
    """Return who beat whom: wins of the row against the column, darker where there are more."""
    names = [entry.name for entry in results.standings]
    rows: list[list[str]] = []
    shade: list[list[float | None]] = []
    for first in names:
        cells, marks = [first], [None]
        for second in names:
            score = results.cross.get((first, second))
            if score is None:
                cells.append("·" if first == second else "")
                marks.append(None)
                continue
            wins, games = score.wins + score.draws / 2, score.wins + score.losses + score.draws
            cells.append(f"{wins:g}/{games}")
            marks.append(wins / max(games, 1))  # type: ignore[arg-type]
        rows.append(cells)
        shade.append(list(marks))
    return table(title, ["", *names], rows, shade=shade)
