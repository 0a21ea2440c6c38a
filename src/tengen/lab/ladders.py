"""Players against each other: simple players, the levels, the shipped ladder, self-play networks.

Also the tables and plots that other experiments make of their tournaments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

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
from tengen.lab.drawing import replay
from tengen.lab.result import Dot, Dots, Replay, Result, Table, dots, percent, table
from tengen.lab.steps import Context, Experiment, NoSettings
from tengen.statistics import wilson

# ----- Tournaments as tables -----


class _Counter(Listener):
    """Report the number of finished games."""

    def __init__(self, report: Callable[[int, int], None]) -> None:
        self._report, self._done, self._total = report, 0, 0

    def begin(self, total: int, done: int) -> None:
        self._total, self._done = total, done
        self._report(done, total)

    def finished(self, game: PlayedGame) -> None:
        self._done += not game.is_void
        self._report(self._done, self._total)

    def handed_out(self, job: GameJob) -> None:
        return None

    def stopping(self) -> None:
        # The laboratory itself says how to continue.
        return None


def play(
    path: Path,
    settings: dict[str, Any] | Tournament,
    *,
    workers: int,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Results:
    """Play the missing games of a tournament in its database and return the results.

    Raises
    ------
    KeyboardInterrupt
        If it was interrupted before its last game; finished games are kept.
    """
    tournament = settings if isinstance(settings, Tournament) else parse_tournament(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    with Database.open(path, tournament) as database:
        summary = run_tournament(tournament, database, workers=workers, listener=_Counter(report))
        if summary.left:
            raise KeyboardInterrupt
        return results_of(database)


def standings(results: Results, title: str, note: str = "") -> Table:
    """Return the players with ratings, intervals and games, best first."""
    rows = []
    for entry in results.standings:
        rating = entry.rating
        elo = interval = ""
        if rating is not None:
            elo = f"{rating.elo:.0f}"
            fixed = rating.low == rating.high
            interval = "anchor" if fixed else f"{rating.low:.0f} to {rating.high:.0f}"
        rows.append([entry.name, elo, interval, f"{entry.wins:g} of {entry.games}"])
    return table(title, ["player", "Elo", "95 %", "wins"], rows, note=note)


def elo_plot(results: Results, title: str = "Ratings with 95 % intervals") -> Dots:
    """Return a plot of the ratings with their intervals."""
    rated = [(e.name, e.rating) for e in results.standings if e.rating is not None]
    return dots(title, "Elo", [(name, r.elo, r.low, r.high) for name, r in rated])


def cross_table(results: Results) -> Table:
    """Return wins of the row against the column; more wins are darker."""
    names = [entry.name for entry in results.standings]
    rows: list[list[str]] = []
    shade: list[list[float | None]] = []
    for first in names:
        cells: list[str] = [first]
        marks: list[float | None] = [None]
        for second in names:
            score = results.cross.get((first, second))
            if score is None:
                cells.append("·" if first == second else "")
                marks.append(None)
                continue
            wins, games = score.wins + score.draws / 2, score.wins + score.losses + score.draws
            cells.append(f"{wins:g}/{games}")
            marks.append(wins / max(games, 1))
        rows.append(cells)
        shade.append(marks)
    return table("Wins of the row against the column", ["", *names], rows, shade=shade)


# ----- Players that learn nothing -----

_RUNGS = {
    "random": "random",
    "maxlib": "maxlib",
    "mcts 10": "mcts:playouts=10",
    "static": "static",
    "mcts 100": "mcts:playouts=100",
}
"""Players by name, weakest first."""
_ANCHOR = "maxlib"
"""Rated 0. It wins and loses games, so that the others' intervals are narrow."""


@dataclass(frozen=True)
class LadderSize:
    """Which players meet, and how often."""

    games: int | None = 10
    """Per pair; None for the number in the ladder's file."""
    ladder: str = ""
    """A shipped ladder to play again, such as 9x9; without one the players above meet."""
    only: tuple[str, ...] = ()
    """Names of the ladder's players that take part; all by default."""


def simple_players(context: Context, size: LadderSize) -> Result:
    """Rate players by a round robin; players whose programs are not installed are left out."""
    tournament, missing = _shipped(size) if size.ladder else (_rungs(size, context.seed), [])
    path = context.place("ladder") / "games.sqlite"
    report = context.between(0, 1, "games")
    results = play(path, tournament, workers=context.workers, report=report)
    text = (
        "The scale for what follows: players that learn nothing, in a round robin on 9x9 with "
        f"{size.games} games per pair from random openings, each played with both colours. The "
        "rating of a player that lost (or won) every game is only a bound."
    )
    if size.ladder:
        text = "The shipped ladder, played again."
        if missing:
            text += f" Left out, because their programs are not installed: {', '.join(missing)}."
    repeated = results.duplicates
    note = f"{repeated} games repeated another and do not count." if repeated else ""
    title = f"The ladder on {size.ladder}" if size.ladder else f"Ratings, {_ANCHOR} = 0"
    return Result(
        text=text,
        tables=[standings(results, title, note), cross_table(results)],
        figures=[elo_plot(results)],
    )


def _entrants(specs: dict[str, str], anchor: str) -> dict[str, dict[str, Any]]:
    """Return the players of a tournament; the anchor is rated 0."""
    return {
        name: {"spec": spec, **({"elo": 0.0} if name == anchor else {})}
        for name, spec in specs.items()
    }


def _rungs(size: LadderSize, seed: int) -> dict[str, Any]:
    """Return the round robin of the players that learn nothing."""
    return {
        "kind": "round-robin", "games": size.games, "size": 9, "openings": 4, "seed": seed,
        "players": _entrants(_RUNGS, _ANCHOR),
    }  # fmt: skip


def _shipped(size: LadderSize) -> tuple[Tournament, list[str]]:
    """Return the shipped ladder of the installed players, and the names of the missing ones."""
    from tengen.arena import load_tournament
    from tengen.arena.placing import LADDERS, is_installed

    tournament = load_tournament(Path(LADDERS) / f"{size.ladder}.toml")
    wanted = [e for e in tournament.entrants if not size.only or e.name in size.only]
    here = tuple(entrant for entrant in wanted if is_installed(entrant))
    changes: dict[str, Any] = {"entrants": here}
    if size.games is not None:
        changes["games"] = size.games
    missing = [entrant.name for entrant in wanted if entrant not in here]
    return tournament.model_copy(update=changes), missing


# ----- Levels, and the shipped ladder -----


@dataclass(frozen=True)
class LevelsSize:
    """Which levels play, and how many games per pair."""

    levels: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    games: int = 12


def levels(context: Context, size: LevelsSize) -> Result:
    """Let neighbouring levels play, and rate them."""
    from tengen.players.levels import LEVELS

    known = [n for n in size.levels if n in LEVELS]
    # A level that wins and loses, so that the others' intervals are narrow.
    middle = known[len(known) // 2]
    specs = {f"level {n}": f"tengen:level={n}" for n in known}
    results = play(
        context.place("player") / "levels.sqlite",
        {
            "kind": "ladder", "reach": 2, "games": size.games, "size": 9, "seed": context.seed,
            "players": _entrants(specs, f"level {middle}"),
        },
        workers=context.workers,
        report=context.between(0.0, 1.0, "games"),
    )  # fmt: skip
    title = f"Levels played here, level {middle} = 0"
    return Result(
        text=f"Levels for people, from beginner to full strength. Levels {known[0]} to "
        f"{known[-1]} play the two nearest levels on each side here, {size.games} games per pair; "
        "no level makes mistakes on purpose.",
        tables=[
            standings(results, title),
            table(
                "What the levels are",
                ["level", "description"],
                [[n, level.about] for n, level in LEVELS.items()],
            ),
        ],
        figures=[elo_plot(results, f"{title}, with 95 % intervals")],
        replays=[_step_through(results.rows[-1], 9)],
    )


def _step_through(row: Any, board: int) -> Replay:
    """Turn a game of the arena into frames with a shipped network's evaluations."""
    from tengen.models import has_model, load_evaluator
    from tengen.records import loads
    from tengen.records.record import board_at, positions

    record = loads(row.sgf)[0]
    owners: list[Any] = []
    values: list[float] = []
    if has_model("isn-best"):
        evaluator: Any = load_evaluator("isn-best")
        for position in [*(before for before, _ in positions(record)), board_at(record)]:
            owners.append(np.clip(evaluator.ownership(position), -1, 1))
            values.append(float(evaluator.values([position])[0]))
    title = f"{row.black} (Black) against {row.white}, {row.result}"
    words = "Squares: the owner of each point, and the expected score, by isn-best."
    return replay(title, record.moves, board, board, ownership=owners, values=values, words=words)


def shipped_ladder(context: Context, size: NoSettings) -> Result:
    """Show the shipped ladder on 9x9 with ratings, intervals and results of the pairs."""
    from tengen.arena.database import reading
    from tengen.arena.placing import shipped_ladder as find

    with reading(find("9x9")) as database:
        results = results_of(database)
    return Result(
        text=f"The shipped ladder, on which new players are rated: {len(results.rows)} games, GNU "
        "Go level 10 at 1800. These games were not played in this run; the package has each with "
        "its record and seed (`tengen arena show`).",
        tables=[standings(results, "The shipped ladder on 9x9"), cross_table(results)],
        figures=[elo_plot(results)],
    )


# ----- Self-play from nothing: recorded, since it needs a GPU -----

_SELF_PLAY = Path(__file__).with_name("recorded") / "self-play-networks.json"
SELF_PLAY_PAGE = "docs/results/self-play.md"


@dataclass(frozen=True)
class SelfPlayNetwork:
    """A network after two million positions of its own games, with (won, played) of matches."""

    network: str
    weights: int
    games: int
    """Games of self-play."""
    command: str
    one_ply: tuple[int, int]
    """Against maxlib, choosing the best position after one ply."""
    first_choice: tuple[int, int] | None
    """Against maxlib, choosing the most likely move; None without a policy."""
    against_static: tuple[int, int] | None
    """The same against static."""


def self_play_networks() -> list[SelfPlayNetwork]:
    """Return the recorded trainings."""
    from pydantic import TypeAdapter

    return TypeAdapter(list[SelfPlayNetwork]).validate_json(_SELF_PLAY.read_bytes())


def from_nothing(context: Context, size: NoSettings) -> Result:
    """Show the recorded trainings."""
    rows = self_play_networks()
    columns = {
        "one_ply": "One ply by its own evaluation, against maxlib",
        "first_choice": "First choice, against maxlib",
        "against_static": "First choice, against static",
    }
    cells = [
        [row.network, row.weights, *(_share(getattr(row, name)) for name in columns)]
        for row in rows
    ]
    return Result(
        text="Three of the papers let a network learn from its own games; this continues their "
        "work. Every network starts from the rules of 9x9 alone and learns from two million "
        "positions of its own games. They differ in the number of weights, in whether the board's "
        "symmetry ties them, and in whether they learn from the results of a search or by temporal "
        f"differences. Recorded on 2026-11-16 on one GPU, one seed each; {SELF_PLAY_PAGE} has the "
        "commands.",
        figures=[_wins(title, rows, name) for name, title in columns.items()],
        tables=[
            table(
                "Recorded: wins on 9x9, 95 % intervals",
                ["network", "weights", "one ply, maxlib", "first choice, maxlib", "static"],
                cells,
                note="A network without a policy has no first choice.",
            )
        ],
    )


def _share(won: tuple[int, int] | None) -> str:
    return "" if won is None else percent(won[0] / won[1], wilson(*won))


def _wins(title: str, rows: list[SelfPlayNetwork], name: str) -> Dots:
    found = [(row.network, won) for row in rows if (won := getattr(row, name)) is not None]
    shares = [Dot(network, won[0] / won[1], *wilson(*won)) for network, won in found]
    return Dots(title, "games won", shares)


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "ladder", "players", "Simple players", simple_players,
        quick=LadderSize(), full=LadderSize(games=None, ladder="9x9"), minutes=(0.2, 240),
    ),
)  # fmt: skip
"""First on the page."""

LAST_EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "from-nothing", "self-play", "What the papers would have seen", from_nothing,
        quick=NoSettings(), full=NoSettings(), minutes=(0.1, 0.1),
    ),
    Experiment(
        "levels", "levels", "Levels for people", levels,
        quick=LevelsSize(), full=LevelsSize(), minutes=(0.3, 1),
    ),
    Experiment(
        "shipped-ladder", "levels", "The ladder", shipped_ladder,
        quick=NoSettings(), full=NoSettings(), minutes=(0.1, 0.1),
    ),
)  # fmt: skip
"""Last on the page."""
