"""Play the missing games of a tournament, write each into the database as it ends, show progress.

Workers play; this process writes. Games that were written are never played again; void games are,
until one player has failed too often in a row.
"""

from __future__ import annotations

import atexit
import contextlib
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from tengen.arena.database import Database, GameRow
from tengen.arena.game import PlayedGame, play_game, void_game
from tengen.arena.ratings import win_rate
from tengen.arena.tournament import Conditions, Entrant, GameJob, GameKey, Tournament, schedule
from tengen.board import BLACK, WHITE
from tengen.contracts import Player
from tengen.errors import EngineError, TengenError
from tengen.gtp.client import Limits
from tengen.parallel import map_jobs
from tengen.progress import Progress, span
from tengen.sanitize import for_rich
from tengen.scoring.judging import Judge
from tengen.statistics import wilson

_GRACE = 5.0  # seconds after the limit for a move until a silent engine is ended
_RETRIES = 10  # workers that may die during one game before the run stops


class Listener:
    """Called during a run; a subclass shows its progress."""

    def begin(self, total: int, done: int) -> None:
        """Begin a run of `total` games, of which `done` are finished already."""

    def handed_out(self, job: GameJob) -> None:
        """Note that a worker was given a game, to play now or next."""

    def finished(self, game: PlayedGame) -> None:
        """Note one game, after it was written."""

    def stopping(self) -> None:
        """Note that the run ends after the games in progress."""


SILENT = Listener()


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    played: int  # games finished in this run
    left: int
    stopped: bool  # whether a stop was requested


def run_tournament(
    tournament: Tournament,
    database: Database,
    *,
    workers: int = 1,
    ray: str | None = None,
    listener: Listener = SILENT,
    enough: Callable[[PlayedGame], bool] | None = None,
    jobs: list[GameJob] | None = None,
) -> RunSummary:
    """Play all games of the tournament, or some of its `jobs`, that are not in the database yet.

    The first interrupt (Ctrl-C) ends the run after the games in progress, the second at once;
    `enough`, called after each game, ends it like the first.
    """
    jobs = schedule(tournament) if jobs is None else jobs
    stop = _Stop(database, listener)
    failures: Counter[str | GameKey] = Counter()
    played = 0

    def missing() -> list[GameJob]:
        finished = database.finished()
        return [job for job in jobs if job.key not in finished]

    listener.begin(len(jobs), len(jobs) - len(missing()))
    with stop:
        while todo := missing():
            results = map_jobs(
                _play_job, stop.until(todo), workers=workers, ray=ray, retries=_RETRIES,
                ordered=False,
            )  # fmt: skip
            with contextlib.ExitStack() as stack:
                stack.callback(results.close)  # type: ignore[attr-defined]
                stack.callback(_close_players)
                for game in results:
                    if game is None:
                        continue
                    database.add(game)
                    played += not game.is_void
                    listener.finished(game)
                    _count_failure(game, failures, tournament.max_failures)
                    if enough is not None and not game.is_void and enough(game):
                        stop.ask()
            if stop.asked:
                break
    return RunSummary(played, len(missing()), stop.asked)


def _count_failure(game: PlayedGame, failures: Counter[str | GameKey], limit: int) -> None:
    """Count void games in a row by player and by game; raise when there are too many."""
    a, b, number = game.key
    if not game.is_void:
        failures[a] = failures[b] = 0
        return
    failures.update([game.fault, game.key])
    times = max(failures[game.fault], failures[game.key])
    if times >= limit:
        raise EngineError(
            f"stopped: {game.fault} failed {times} times in a row; the last time in game "
            f"{number + 1} of {a} - {b}: {game.detail}"
        )


class _Stop:
    """Stop the run at the first Ctrl-C, or when a stop file appears next to the database."""

    def __init__(self, database: Database, listener: Listener) -> None:
        self.database, self.listener = database, listener
        self.file = None if database.path == "memory" else Path(database.path + ".stop")
        self._asked = False
        self._before: signal.Handlers | int | Callable[..., object] | None = None

    @property
    def asked(self) -> bool:
        """Whether no further game may begin."""
        if not self._asked and self.file is not None and self.file.exists():
            self.ask()
        return self._asked

    def ask(self) -> None:
        """Let no further game begin."""
        if self._asked:
            return
        self._asked = True
        if self.file is not None:
            # For workers, which hold a game or two besides the one they play.
            self.file.touch()
        self.listener.stopping()

    def until(self, jobs: list[GameJob]) -> Iterator[tuple[GameJob, Path | None]]:
        """Yield jobs until the run is to stop."""
        for job in jobs:
            if self.asked:
                return
            self.listener.handed_out(job)
            yield job, self.file

    def __enter__(self) -> _Stop:
        if self.file is not None:
            self.file.unlink(missing_ok=True)
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> None:
        """Restore the signal handler; after an interrupt, add a note on what was kept."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self.file is not None:
            self.file.unlink(missing_ok=True)
            if isinstance(failure, KeyboardInterrupt):
                kept = f"{self.database.path} has {len(self.database.finished())} games"
                failure.add_note(f"{kept}; the same command plays the rest")

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self.ask()


# ----- Progress -----

_SHOWN = 8  # games in progress to list


class LiveTable(Progress, Listener):
    """The progress of a run; on a terminal also a table that redraws itself."""

    def __init__(self, names: Sequence[str], rows: Sequence[GameRow], *, quiet: bool) -> None:
        super().__init__(quiet=quiet, below=self.draw)
        self.scores: dict[str, list[int]] = {name: [0, 0, 0] for name in names}
        for row in rows:
            self._count(row.black, row.white, row.winner)
        self.total = self.done = self.voids = 0
        self.under_way: dict[GameKey, float] = {}

    def begin(self, total: int, done: int) -> None:
        """Show that `done` of `total` games are finished already."""
        self.total, self.done = total, done
        self("arena", done, total)
        if done:
            self.say(f"arena: {done} of {total} games are finished already")

    def handed_out(self, job: GameJob) -> None:
        """Show a game that a worker was given."""
        self.under_way[job.key] = time.monotonic()

    def finished(self, game: PlayedGame) -> None:
        """Count one game."""
        self.under_way.pop(game.key, None)
        black, white = game.job.black.name, game.job.white.name
        if game.is_void:
            self.voids += 1
            self.say(f"arena: void: {black} - {white}, {game.detail}")
            return
        self.done += 1
        self._count(black, white, game.winner)
        if game.fault:
            self.say(f"arena: fault: {game.fault} lost a game. {game.detail}")
        void = f"{self.voids} void" if self.voids else ""
        self("arena", self.done, self.total, void)

    def stopping(self) -> None:
        """Show that the run ends after the games in progress."""
        self.say("arena: stopping after the games in progress")

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
        rates = {name: win_rate(*score) if any(score) else 0 for name, score in self.scores.items()}
        for name in sorted(rates, key=lambda name: -rates[name]):
            won, lost, drawn = self.scores[name]
            games = won + lost + drawn
            low, high = wilson(won + drawn / 2, games)
            rate = f"{rates[name]:.1%}" if games else "-"
            numbers = map(str, (games, won, lost, drawn))
            sheet.add_row(for_rich(name), *numbers, rate, f"{low:.1%} - {high:.1%}")
        waiting = [
            f"game {number + 1} of {first} - {second}, {span(time.monotonic() - since)}"
            for (first, second, number), since in list(self.under_way.items())[:_SHOWN]
        ]
        return Group(sheet, "In progress: " + for_rich("; ".join(waiting)) if waiting else "")


# ----- In the worker -----

_players: dict[Entrant, Player] = {}
_lent: dict[str, Player] = {}  # by the names of their entrants


def _play_job(work: tuple[GameJob, Path | None]) -> PlayedGame | None:
    """Play one game in a worker, which keeps its players; None when the stop file exists."""
    job, stop_file = work
    if stop_file is not None and stop_file.exists():
        return None
    if not _players:
        atexit.register(_close_players)
    sides = {BLACK: job.black, WHITE: job.white}
    seated = []
    for colour, entrant in sides.items():
        try:
            seated.append(_player(entrant, job.conditions))
        except EngineError as failure:
            return void_game(job, colour, failure)
    game = play_game(job, *seated, scorer=Judge())
    for entrant in sides.values():
        if entrant.restart or game.is_void:
            _dismiss(entrant)
    return game


@contextlib.contextmanager
def lend_players(players: Mapping[str, Player]) -> Iterator[None]:
    """Use these objects as the players of the entrants with these names, in this process."""
    _lent.update(players)
    try:
        yield
    finally:
        for name in players:
            _lent.pop(name, None)


def _close_players() -> None:
    """End all engines of this process."""
    for entrant in list(_players):
        _dismiss(entrant)


def _player(entrant: Entrant, conditions: Conditions) -> Player:
    """Return the player of an entrant, made if there is none."""
    from tengen.players import make_player
    from tengen.players.external import ExternalPlayer

    if entrant.name in _lent:
        return _lent[entrant.name]
    if entrant not in _players:
        player = make_player(entrant.spec)
        if isinstance(player, ExternalPlayer) and conditions.move_seconds is not None:
            # An engine that is late loses on time; one that stays silent is ended.
            player.limits = Limits(move=conditions.move_seconds + _GRACE)
        _players[entrant] = player
    return _players[entrant]


def _dismiss(entrant: Entrant) -> None:
    player = _players.pop(entrant, None)
    close = getattr(player, "close", None)
    if close is not None:
        with contextlib.suppress(TengenError, OSError):
            close()
