"""The commands of `tengen arena`: matches, tournaments, results and ratings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tengen.cli.options import (
    Json,
    Options,
    RulesName,
    Seed,
    Shown,
    WorkOptions,
    argument,
    command,
    option,
)
from tengen.cli.printing import emit, remark, table

app = typer.Typer(no_args_is_help=True)

_Out = Annotated[
    Path | None, typer.Option("--out", help="Results database; games there are not played again.")
]
_Size = Annotated[str, typer.Option("--size", help="9, or rows x columns as in 9x13.")]


@dataclass(frozen=True, kw_only=True)
class _Conditions(Options):
    """Conditions of the games of a match; see `arena.match.match_settings`."""

    games: Annotated[int, typer.Option("--games", min=1, help="Games; colours alternate.")] = 20
    size: _Size = "9"
    komi: Annotated[float, typer.Option("--komi", help="White's compensation in points.")] = 7.5
    rules: RulesName = "cgos"
    openings: Annotated[
        str,
        typer.Option(
            "--openings", help="Random plies before the players take over, or an SGF file."
        ),
    ] = "4"
    opening_plies: Annotated[
        int, typer.Option("--opening-plies", min=1, help="Plies to take from a file of openings.")
    ] = 8
    judge: Annotated[
        str,
        typer.Option("--judge", help="Counts the games: auto, tromp-taylor or scorer."),
    ] = "auto"
    move_seconds: Annotated[
        float | None,
        typer.Option(
            "--move-seconds", help="Time limit per move; a silent engine is ended 5 s later."
        ),
    ] = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class _Results(WorkOptions):
    """Where results are stored, and where the games are played."""

    out: _Out = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Fail unless --out exists; it is always continued."),
    ] = False


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
    from tengen.arena.match import match_settings, run_match
    from tengen.arena.tournament import Tournament, checked

    _insist(results.resume, results.out)
    tournament = checked(Tournament, match_settings(a, b, **vars(conditions)))
    result = run_match(
        tournament,
        out=results.out,
        workers=results.workers,
        ray=results.ray,
        sprt=sprt,
        quiet=shown.quiet,
    )
    emit(result.value(), json=shown.json)
    if not shown.json:
        print(result)
    if result.left and results.out is not None and result.sprt is None:
        remark(f"{result.left} games are left; the same command plays them", quiet=shown.quiet)
    return 3 if result.left and (result.sprt is None or result.sprt.answer == "undecided") else 0


@command(app)
def run(
    config: Annotated[Path, typer.Argument(help="Tournament in TOML.")],
    kept: _Results,
    shown: Shown,
    seed: int | None = option(None, "Overrides the file's seed.", min=0),
) -> int:
    """Run a tournament from a TOML file; the same command continues it.

    Results go to the file's name with `.sqlite` unless --out says otherwise.
    """
    from tengen.arena import Database, load_tournament, results_of, run_tournament
    from tengen.arena.runner import LiveTable

    tournament = load_tournament(config)
    if seed is not None:
        tournament = tournament.model_copy(update={"seed": seed})
    path = kept.out or config.with_suffix(".sqlite")
    _insist(kept.resume, path)
    with Database.open(path, tournament) as database:
        names = [entrant.name for entrant in tournament.entrants]
        with LiveTable(names, database.games(), quiet=shown.quiet) as listener:
            summary = run_tournament(
                tournament, database, workers=kept.workers, ray=kept.ray, listener=listener
            )
        results = results_of(database)
    _show(results, shown.json)
    if summary.left:
        remark(f"{summary.left} games are left; the same command plays them", quiet=shown.quiet)
    return 3 if summary.left else 0


@app.command()
def show(
    database: Path = argument("Results database."),
    json: Json = False,
) -> None:
    """Show the standings and the cross table of a results database, also during a run."""
    from tengen.arena import results_of
    from tengen.arena.database import Database

    with Database.look(database) as opened:
        results = results_of(opened)
    _show(results, json)


@command(app)
def rate(
    player: str = argument("Spec of the player to rate."),
    size: _Size = "9",
    games: int = option(40, "Games to play in all.", min=2),
    database: Path | None = option(None, "Database of a ladder instead of the shipped one."),
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
        player,
        size=size,
        games=games,
        ladder=database,
        out=out,
        workers=work.workers,
        ray=work.ray,
        seed=seed,
        say=lambda text: remark(text, quiet=shown.quiet),
    )
    if keep is not None and not placed.stopped:
        record(placed, size, seed, keep)
    emit(placed.value(), json=shown.json)
    if not shown.json:
        rows = [
            (rung.second, f"{elo:.0f}", rung.games, rung.wins, rung.losses, rung.draws)
            for rung, elo in placed.rungs
        ]
        table("", ["rung", "Elo", "games", "won", "lost", "drawn"], rows)
        low, high = placed.interval
        print(f"{player}: {placed.elo:.0f} Elo, 95 %: {low:.0f} to {high:.0f}")
    return 3 if placed.stopped else 0


@app.command()
def export(
    database: Path = argument("Results database."),
    out: Path = option(..., "File to write: .csv, .json, .html, .sgf or .sqlite."),
    kind: str | None = option(
        None, "csv, json, html, sgf or sqlite; by default from the name.", "--format"
    ),
) -> None:
    """Write results as CSV (one row per game), JSON, HTML, SGF, or a database.

    `--out -` prints them.
    """
    from tengen.arena.database import Database
    from tengen.arena.results import export_results
    from tengen.files import refuse_inputs, write_atomic

    refuse_inputs(out, [database])
    if kind == "sqlite" or (kind is None and out.suffix == ".sqlite"):
        with Database.look(database) as opened:
            opened.copy_to(out)
        remark(f"wrote {out}")
        return
    with Database.look(database) as opened:
        text = export_results(opened, kind or out.suffix.removeprefix("."))
    if str(out) == "-":
        print(text, end="")
    else:
        write_atomic(out, text)
        remark(f"wrote {out}")


def _insist(resume: bool, path: Path | None) -> None:
    """Refuse to resume without results."""
    from tengen.errors import TengenError

    if resume and (path is None or not path.exists()):
        raise TengenError(f"{path or '--out'}: nothing to resume")


def _show(results: Any, json: bool) -> None:
    """Print all tables of a tournament."""
    from tengen.arena.results import cross_table, results_value, standings_table

    if json:
        emit(results_value(results), json=True)
        return
    table("", *standings_table(results))
    table("points won by the row's player", *cross_table(results))
    if results.duplicates:
        print(f"{results.duplicates} games repeat another one and do not count")
    if results.faults:
        print(f"{results.faults} games lost or void through a fault; see `tengen arena export`")
