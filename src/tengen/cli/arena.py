"""The commands of `tengen arena`: matches, tournaments, results and ratings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.commands.options import (
    BoardSize,
    Options,
    RulesName,
    Seed,
    WorkOptions,
    command,
    flag,
    option,
)
from tengen.commands.printing import Shown, table
from tengen.errors import TengenError
from tengen.files import refuse_inputs, write_atomic

app = typer.Typer(no_args_is_help=True)

_Database = Annotated[Path, typer.Argument(help="Results database.")]
_Out = Annotated[
    Path | None, typer.Option("--out", help="Results database; games there are not played again.")
]


@dataclass(frozen=True, kw_only=True)
class _Conditions(Options):
    """Conditions of the games of a match; see `arena.match.match_tournament`."""

    games: int = option(20, "Games; colours alternate.", min=1)
    size: BoardSize = "9"
    komi: float = option(7.5, "White's compensation in points.")
    rules: RulesName = "cgos"
    openings: str = option("4", "Random plies before the players take over, or an SGF file.")
    opening_plies: int = option(8, "Plies to take from a file of openings.", min=1)
    judge: str = option("auto", "Counts the games: auto, tromp-taylor or scorer.")
    move_seconds: float | None = option(
        None, "Time limit per move; a silent engine is ended 5 s later."
    )
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class _Results(WorkOptions):
    """Where results are stored, and where the games are played."""

    out: _Out = None
    resume: bool = option(False, "Fail unless --out exists; it is always continued.", "--resume")

    def check(self, path: Path | None) -> None:
        """Refuse to resume without results."""
        if self.resume and (path is None or not path.exists()):
            raise TengenError(f"{path or '--out'}: nothing to resume")


@command(app)
def match(
    a: Annotated[str, typer.Argument(help="Spec of the first player.")],
    b: Annotated[str, typer.Argument(help="Spec of the second player.")],
    conditions: _Conditions,
    results: _Results,
    shown: Shown,
    sprt: str | None = option(None, "Stop early: ELO0,ELO1 of a sequential test."),
) -> int:
    """Play a match between two players; print the win rate with its 95 % interval."""
    from tengen.arena.match import match_tournament, run_match

    results.check(results.out)
    result = run_match(
        match_tournament(a, b, **vars(conditions)),
        out=results.out, workers=results.workers, ray=results.ray, sprt=sprt, quiet=shown.quiet,
    )  # fmt: skip
    if not shown.as_json(result.value()):
        print(result)
    left = result.left if result.sprt is None or result.sprt.answer == "undecided" else 0
    return _left(left, shown, told=results.out is not None and result.sprt is None)


@command(app)
def run(
    config: Annotated[Path, typer.Argument(help="Tournament in TOML.")],
    kept: _Results,
    shown: Shown,
    seed: int | None = option(None, "Overrides the file's seed.", min=0),
) -> int:
    """Run a tournament from a TOML file, by default into FILE.sqlite; run again to continue."""
    from tengen.arena import Database, load_tournament, results_of, run_tournament
    from tengen.arena.runner import LiveTable

    tournament = load_tournament(config)
    if seed is not None:
        tournament = tournament.model_copy(update={"seed": seed})
    path = kept.out or config.with_suffix(".sqlite")
    kept.check(path)
    with Database.open(path, tournament) as database:
        names = [entrant.name for entrant in tournament.entrants]
        with LiveTable(names, database.games(), quiet=shown.quiet) as listener:
            summary = run_tournament(
                tournament, database, workers=kept.workers, ray=kept.ray, listener=listener
            )
        _show(results_of(database), shown)
    return _left(summary.left, shown)


def _left(games: int, shown: Shown, *, told: bool = True) -> int:
    """Print how many games are left; return the exit status."""
    if games and told:
        shown.remark(f"{games} games are left; the same command plays them")
    return 3 if games else 0


@command(app)
def show(database: _Database, *, shown: Shown) -> None:
    """Show the standings and the cross table of a results database, also during a run."""
    from tengen.arena import Database, results_of

    with Database.look(database) as opened:
        _show(results_of(opened), shown)


@command(app)
def rate(
    player: Annotated[str, typer.Argument(help="Spec of the player to rate.")],
    size: BoardSize = "9",
    games: int = option(40, "Games to play in all.", min=2),
    database: Path | None = option(None, "Database of a ladder instead of the shipped one."),
    programs: bool = flag("--programs", "Start programs and classes that --database names, too."),
    out: _Out = None,
    keep: Path | None = option(None, "Also write the rating into this JSON file.", "--record"),
    *,
    work: WorkOptions,
    seed: Seed = 0,
    shown: Shown,
) -> int:
    """Rate a player by games against players of the ladder."""
    from tengen.arena.placing import place, record

    placed = place(
        player, size=size, games=games, ladder=database, programs=programs, out=out, seed=seed,
        say=shown.remark, **vars(work),
    )  # fmt: skip
    if keep is not None and not placed.stopped:
        record(placed, size, seed, keep)
    if not shown.as_json(placed.value()):
        rows = [
            (rung.second, f"{elo:.0f}", rung.games, rung.wins, rung.losses, rung.draws)
            for rung, elo in placed.rungs
        ]
        table("", ["rung", "Elo", "games", "won", "lost", "drawn"], rows)
        low, high = placed.interval
        print(f"{player}: {placed.elo:.0f} Elo, 95 %: {low:.0f} to {high:.0f}")
    return 3 if placed.stopped else 0


@command(app)
def export(
    database: _Database,
    out: Path = option(..., "File to write: .csv, .parquet, .json, .html, .sgf or .sqlite."),
) -> None:
    """Write results as CSV or Parquet (one row per game), JSON, HTML, SGF, or a database."""
    from tengen.arena import Database
    from tengen.arena.results import export_results

    refuse_inputs(out, [database])
    kind = out.suffix.removeprefix(".")
    with Database.look(database) as opened:
        if kind == "sqlite":
            opened.copy_to(out)
        else:
            write_atomic(out, export_results(opened, kind))
    Shown().remark(f"wrote {out}")


def _show(results: Any, shown: Shown) -> None:
    from tengen.arena.results import cross_table, results_value, standings_table

    if shown.as_json(results_value(results)):
        return
    table("", *standings_table(results))
    table("points won by the row's player", *cross_table(results))
    if results.duplicates:
        print(f"{results.duplicates} games repeat another one and do not count")
    if results.faults:
        print(f"{results.faults} games lost or void through a fault; see `tengen arena export`")
