"""Tournaments as tables and plots; simple players, and recorded networks of self-play."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tengen.arena import Database, PlayedGame, Results, parse_tournament, results_of, run_tournament
from tengen.arena import results as arena_results
from tengen.arena.runner import Listener
from tengen.lab.result import Dot, Dots, Findings, Table
from tengen.lab.steps import Experiment, LabContext, NoSettings
from tengen.lab.verdicts import percent
from tengen.progress import Report
from tengen.statistics import wilson

# ----- Tournaments as tables -----


class _Counter(Listener):
    """Report the number of finished games."""

    def __init__(self, report: Report) -> None:
        self._report, self._done, self._total = report, 0, 0

    def begin(self, total: int, done: int) -> None:
        self._total, self._done = total, done
        self._report(done, total)

    def finished(self, game: PlayedGame) -> None:
        self._done += not game.is_void
        self._report(self._done, self._total)


def play(
    path: Path, settings: dict[str, Any], *, workers: int, report: Report = lambda done, total: None
) -> Results:
    """Play the missing games of a tournament in its database and return the results."""
    tournament = parse_tournament(settings)
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
        elo = interval = ""
        if rating := entry.rating:
            elo = f"{rating.elo:.0f}"
            fixed = rating.low == rating.high
            interval = "anchor" if fixed else f"{rating.low:.0f} to {rating.high:.0f}"
        rows.append([entry.name, elo, interval, f"{entry.wins:g} of {entry.games}"])
    return Table(title, ["player", "Elo", "95 %", "wins"], rows, note)


def elo_plot(results: Results) -> Dots:
    """Return a plot of the ratings with their intervals."""
    rated = [(e.name, e.rating) for e in results.standings if e.rating is not None]
    rows = [Dot(name, rating.elo, rating.low, rating.high) for name, rating in rated]
    return Dots("Ratings with 95 % intervals", "Elo", rows)


def cross_table(results: Results) -> Table:
    """Return wins of the row against the column; more wins are darker."""
    columns, rows = arena_results.cross_table(results)
    shade: list[list[float | None]] = []
    for number, row in enumerate(rows, 1):
        scores = [results.cross.get((row[0], name)) for name in columns[1:]]
        shade.append([None, *((s.wins + s.draws / 2) / s.games if s else None for s in scores)])
        row[number] = "·"
    return Table("Wins of the row against the column", columns, rows, shade=shade)


# ----- Players that learn nothing -----

_PLAYERS = ("random", "maxlib", "mcts:playouts=10", "static", "mcts:playouts=100")
"""Weakest first."""
_ANCHOR = "maxlib"
"""Rated 0. It wins and loses games, so that the others' intervals are narrow."""


@dataclass(frozen=True)
class PlayersSize:
    """How often the players meet."""

    games: int = 10  # per pair


def simple_players(context: LabContext, size: PlayersSize) -> Findings:
    """Rate players that learn nothing by a round robin."""
    tournament = {
        "kind": "round-robin", "games": size.games, "size": 9, "openings": 4,
        "seed": context.seed,
        "players": {
            spec.replace(":playouts=", " "): {"spec": spec, "elo": 0.0 if spec == _ANCHOR else None}
            for spec in _PLAYERS
        },
    }  # fmt: skip
    path, report = context.place("players") / "games.sqlite", context.between(0, 1, "games")
    results = play(path, tournament, workers=context.workers, report=report)
    repeated = results.duplicates
    note = f"{repeated} games repeated another and do not count." if repeated else ""
    return Findings(
        text="The scale for what follows: players that learn nothing, in a round robin on 9x9 with "
        f"{size.games} games per pair from random openings, each played with both colours. The "
        "rating of a player that lost (or won) every game is only a bound.",
        tables=[standings(results, f"Ratings, {_ANCHOR} = 0", note), cross_table(results)],
        figures=[elo_plot(results)],
    )


# ----- Self-play from nothing: recorded, since it needs a GPU -----

SELF_PLAY_PAGE = "docs/results/self-play.md"


@dataclass(frozen=True)
class SelfPlayNetwork:
    """A network after two million positions of its own games, with (won, played) of matches."""

    network: str
    weights: int
    games: int  # games of self-play
    command: str
    one_ply: tuple[int, int]  # against maxlib, choosing the best position after one ply
    first_choice: tuple[int, int] | None  # against maxlib, the most likely move, if it has one
    against_static: tuple[int, int] | None  # the same against static


def self_play_networks() -> list[SelfPlayNetwork]:
    """Return the recorded trainings."""
    path = Path(__file__).parent / "recorded" / "self-play-networks.json"
    return TypeAdapter(list[SelfPlayNetwork]).validate_json(path.read_bytes())


def from_nothing(context: LabContext, size: NoSettings) -> Findings:
    """Show the recorded trainings."""
    rows = self_play_networks()
    columns = {
        "one_ply": "One ply by its own evaluation, against maxlib",
        "first_choice": "First choice, against maxlib",
        "against_static": "First choice, against static",
    }
    names = ["network", "weights", "one ply, maxlib", "first choice, maxlib", "static"]
    note = "A network without a policy has no first choice."
    cells: list[list[int | str]] = [[row.network, row.weights] for row in rows]
    figures = []
    for name, title in columns.items():
        dots = []
        for row, line in zip(rows, cells, strict=True):
            won = getattr(row, name)
            line.append("" if won is None else percent(won[0] / won[1], wilson(*won)))
            if won is not None:
                dots.append(Dot(row.network, won[0] / won[1], *wilson(*won)))
        figures.append(Dots(title, "games won", dots))
    return Findings(
        text="Three of the papers let a network learn from its own games; this continues their "
        "work. Every network starts from the rules of 9x9 alone and learns from two million "
        "positions of its own games. They differ in the number of weights, in whether the board's "
        "symmetry ties them, and in whether they learn from the results of a search or by temporal "
        f"differences. Recorded on 2026-11-16 on one GPU, one seed each; {SELF_PLAY_PAGE} has the "
        "commands.",
        figures=figures,
        tables=[Table("Recorded: wins on 9x9, 95 % intervals", names, cells, note)],
    )


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "players", "players", "Simple players", simple_players,
        quick=PlayersSize(), full=PlayersSize(100), minutes=(0.3, 2),
    ),
    Experiment(
        "from-nothing", "self-play", "What the papers would have seen", from_nothing,
        quick=NoSettings(), full=NoSettings(), minutes=(0.02, 0.02),
    ),
)  # fmt: skip
"""First and last on the page."""
