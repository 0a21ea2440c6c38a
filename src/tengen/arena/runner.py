"""Play the missing games of a tournament and write each into the database as it ends.

Workers play; this process writes. Games that were written are never played again; void games are,
until one player has failed too often in a row.
"""

from __future__ import annotations

import atexit
import contextlib
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tengen.arena.config import Conditions, Entrant, Tournament
from tengen.arena.database import Database
from tengen.arena.game import PlayedGame, play_game, void_game
from tengen.arena.schedule import GameJob, GameKey, schedule
from tengen.board import BLACK, WHITE
from tengen.contracts import Player, ScoreEstimator
from tengen.errors import EngineError, TengenError
from tengen.gtp.client import Limits
from tengen.parallel import map_jobs

_GRACE = 5.0
"""Seconds after its time for a move until a silent engine is ended."""
# Workers that one game may lose before the run stops; generous, since accidents happen.
_RETRIES = 10


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


_SILENT = Listener()


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    total: int
    """Games of the tournament."""
    played: int
    """Games finished in this run."""
    left: int
    """Games still missing."""
    stopped: bool
    """Whether a stop was requested."""


@dataclass(frozen=True)
class _WorkerJob:
    """A game with the file whose presence means that no further game is to begin."""

    job: GameJob
    stop_file: str | None


def run_tournament(
    tournament: Tournament,
    database: Database,
    *,
    workers: int = 1,
    ray: str | None = None,
    listener: Listener = _SILENT,
    enough: Callable[[PlayedGame], bool] | None = None,
    jobs: list[GameJob] | None = None,
) -> RunSummary:
    """Play all games of the tournament, or some of its `jobs`, that are not in the database yet.

    The first interrupt (Ctrl-C) ends the run after the games in progress, the second at once;
    `enough`, called after each game, ends it like the first.
    """
    jobs = schedule(tournament) if jobs is None else jobs
    stop = _Stop(database.path, listener)
    failures = _Failures(tournament.max_failures)
    wanted = {job.key for job in jobs}
    played = 0
    before = len(wanted & database.finished())
    listener.begin(len(jobs), before)
    with stop, _note_what_is_kept(database):
        while missing := _missing(jobs, database.finished()):
            results = map_jobs(
                _play_job,
                stop.until(missing),
                workers=workers,
                ray=ray,
                retries=_RETRIES,
                ordered=False,
            )
            with contextlib.closing(results), _players_closed():  # type: ignore[type-var]
                for game in results:
                    if game is None:
                        continue
                    database.add(game)
                    played += not game.is_void
                    listener.finished(game)
                    failures.note(game)
                    if enough is not None and not game.is_void and enough(game):
                        stop.ask()
            if stop.asked:
                break
    left = len(_missing(jobs, database.finished()))
    return RunSummary(len(jobs), played, left, stop.asked)


@contextlib.contextmanager
def _note_what_is_kept(database: Database) -> Iterator[None]:
    """Add to an interrupt what was kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if database.path != "memory":
            games = len(database.finished())
            stop.add_note(f"{database.path} has {games} games; the same command plays the rest")
        raise


def _missing(jobs: list[GameJob], finished: set[GameKey]) -> list[GameJob]:
    return [job for job in jobs if job.key not in finished]


class _Failures:
    """Count void games in a row by player and by game; raise when there are too many."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.by_player: Counter[str] = Counter()
        self.by_game: Counter[GameKey] = Counter()

    def note(self, game: PlayedGame) -> None:
        """Count a game."""
        if not game.is_void:
            for entrant in (game.job.black, game.job.white):
                self.by_player[entrant.name] = 0
            return
        self.by_player[game.fault] += 1
        self.by_game[game.key] += 1
        times = max(self.by_player[game.fault], self.by_game[game.key])
        if times >= self.limit:
            raise EngineError(
                f"stopped: {game.fault} failed {times} times in a row; the last time in game "
                f"{game.key[2] + 1} of {game.key[0]} - {game.key[1]}: {game.detail}"
            )


class _Stop:
    """Stop the run at the first Ctrl-C, or when a file beside the database appears."""

    def __init__(self, path: str, listener: Listener) -> None:
        self.file = None if path == "memory" else Path(path + ".stop")
        self.listener = listener
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

    def until(self, jobs: list[GameJob]) -> Iterator[_WorkerJob]:
        """Yield jobs until the run is to stop."""
        for job in jobs:
            if self.asked:
                return
            self.listener.handed_out(job)
            yield _WorkerJob(job, None if self.file is None else str(self.file))

    def __enter__(self) -> _Stop:
        if self.file is not None:
            self.file.unlink(missing_ok=True)
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self.file is not None:
            self.file.unlink(missing_ok=True)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self.ask()


# ----- In the worker -----

_players: dict[tuple[Entrant, int], Player] = {}
_lent: dict[str, Player] = {}  # by the names of their entrants
_scorer: list[ScoreEstimator] = []


def _play_job(work: _WorkerJob) -> PlayedGame | None:
    """Play one game in a worker, which keeps its players for the next; None after a stop."""
    if work.stop_file is not None and Path(work.stop_file).exists():
        return None
    job = work.job
    if not _players:
        atexit.register(_close_players)
    # The first of a pairing keeps its process in both games; an engine that plays itself under
    # two names has two.
    chairs = {job.key[0]: 0, job.key[1]: 1}
    entrants = (job.black, job.white)
    seated = []
    for colour, entrant in zip((BLACK, WHITE), entrants, strict=True):
        try:
            seated.append(_player(entrant, chairs[entrant.name], job.conditions))
        except EngineError as failure:
            return void_game(job, colour, failure)
    game = play_game(job, *seated, scorer=_the_scorer(job))
    for entrant in entrants:
        if entrant.restart or game.is_void:
            _dismiss(entrant, chairs[entrant.name])
    return game


@contextlib.contextmanager
def lend_players(players: Mapping[str, Player]) -> Iterator[None]:
    """Use these objects as the players of entrants of these names, in this process."""
    _lent.update(players)
    try:
        yield
    finally:
        for name in players:
            _lent.pop(name, None)


def _close_players() -> None:
    """End all engines of this process."""
    for entrant, chair in list(_players):
        _dismiss(entrant, chair)


def _player(entrant: Entrant, chair: int, conditions: Conditions) -> Player:
    """Return the player on this chair, made if there is none."""
    from tengen.players import make_player
    from tengen.players.external import ExternalPlayer

    if entrant.name in _lent:
        return _lent[entrant.name]
    key = entrant, chair
    if key not in _players:
        player = make_player(entrant.spec)
        if isinstance(player, ExternalPlayer) and conditions.move_seconds is not None:
            # One that is late loses on time; one that stays silent is ended.
            player.limits = Limits(move=conditions.move_seconds + _GRACE)
        _players[key] = player
    return _players[key]


def _dismiss(entrant: Entrant, chair: int) -> None:
    player = _players.pop((entrant, chair), None)
    close = getattr(player, "close", None)
    if close is not None:
        with contextlib.suppress(TengenError, OSError):
            close()


def _the_scorer(job: GameJob) -> ScoreEstimator | None:
    """Return the learned scorer if it counts this game."""
    if job.conditions.counter != "scorer":
        return None
    if not _scorer:
        from tengen.game.judging import Judge

        _scorer.append(Judge())
    return _scorer[0]


@contextlib.contextmanager
def _players_closed() -> Iterator[None]:
    """End the engines of this process after a block."""
    try:
        yield
    finally:
        _close_players()
