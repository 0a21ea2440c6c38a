"""The commands `gtp`, `analysis` and `web`: servers for other programs and for the browser."""

from __future__ import annotations

import secrets
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tengen.commands.options import OwnSeed, PlayerName, Quiet, RulesName, Seed, flag, option
from tengen.commands.printing import Shown, standard_input
from tengen.errors import SpecError, TengenError

if TYPE_CHECKING:
    from tengen.arrays import FloatArray
    from tengen.board import Board
    from tengen.contracts import Player

app = typer.Typer()


@app.command()
def gtp(
    player: PlayerName = "tengen",
    rules: RulesName = "cgos",
    seed: OwnSeed = None,
    safe: bool = flag(
        "--safe", "For controllers you do not trust: no files, no gtp: or python: players."
    ),
) -> None:
    """Run as a GTP engine, for Sabaki, GoGui and other programs.

    Without a seed one is drawn; the command `get_random_seed` returns it.
    """
    from tengen.gtp.commands import commands_of
    from tengen.gtp.engine import GtpEngine

    chosen = secrets.randbits(31) if seed is None else seed
    if safe:
        _refuse(player)
    make = partial(_make_player, player if safe else None)
    engine = GtpEngine(make, player, rules=rules, seed=chosen, safe=safe)
    # A separate reader: a thread may still wait in it when Python closes its standard input at
    # exit, and closing a reader in use aborts the process.
    source = open(standard_input().fileno(), "rb", closefd=False)  # noqa: SIM115
    engine.run(commands_of(engine), source, sys.stdout.buffer)


def _make_player(given: str | None, spec: str) -> Player:
    """Make a player; in safe mode, only the `given` one may be a file's."""
    if given not in (None, spec):
        _refuse(spec, files=True)
    from tengen.players import make_player  # only when a player is needed

    return make_player(spec)


def _refuse(spec: str, *, files: bool = False) -> None:
    from tengen.players import reaches_out

    if reaches_out(spec, files=files):
        raise SpecError(f"{spec!r}: no gtp:, python: or files in safe mode")


@app.command()
def analysis(
    player: PlayerName = "tengen",
    visits: int | None = option(
        None, "Visits per position unless a query sets them: the player's own, or 500.", min=1
    ),
    threads: int = option(1, "Positions to analyse in parallel.", min=1),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Run KataGo's JSON analysis protocol, for KaTrain: one JSON query per line."""
    from tengen.gtp.analysis import AnalysisServer
    from tengen.players import make_player, parse_spec

    source = standard_input().buffer
    parse_spec(player)  # reject a wrong name before the first query
    make = partial(make_player, player)
    server = AnalysisServer(make, visits=visits, seed=seed, threads=threads, people=moves_of_rank)
    Shown(quiet=quiet).remark("tengen analysis: ready for queries")
    server.run(source, sys.stdout.buffer)


def moves_of_rank(rank: str, board: Board) -> FloatArray:
    """Return how likely the level of a rank plays each move: its shares, or those of its visits."""
    import numpy as np

    from tengen.arena.placing import level_of_rank
    from tengen.gtp.analysis import visit_shares
    from tengen.players.tengen import TengenPlayer

    player = TengenPlayer(level=level_of_rank(rank, board.rows, board.cols))
    if (drawer := player.drawing_player(board)) is not None:
        return drawer.shares(board)
    *_, info = player.analyse(board.copy(), np.random.default_rng(0), limited=True)
    return visit_shares(info, board)


_TOKEN_LENGTH = 12  # characters of a token that protects the server from other machines


@app.command()
def web(
    port: int = option(8361, "0 for any free port.", min=0, max=65535),
    host: str = option(
        "127.0.0.1", "Address to listen on; another than this machine's own needs --token."
    ),
    token: str | None = option(None, "Secret that visitors must give; `new` makes one."),
    browser: bool = option(True, "Open the page.", "--browser/--no-browser"),
    database: Path | None = option(None, "Database of games and reviews."),
    player: list[str] | None = option(None, "Spec of a further opponent; repeatable."),
    arena: list[Path] | None = option(None, "Database of a tournament to show; repeatable."),
    collection: list[Path] | None = option(None, "Games, or their index, to explore; repeatable."),
    runs: Path = option(Path("runs"), "Folder of trainings and reports to show."),
    quiet: Quiet = False,
) -> None:
    """Play, review, score and compare models on a board in the browser."""
    from tengen import compiling

    # Moves are checked one at a time here: plain Python is fast enough until the next start.
    compiling.disable_jit_unless_cached("board.kernels")
    from tengen.web.app import serve
    from tengen.web.settings import LOOPBACK, Settings
    from tengen.web.store import default_database

    missing = [f"--collection {path}" for path in collection or () if not path.exists()]
    missing += [f"--arena {path}" for path in arena or () if not path.is_file()]
    if missing:
        raise TengenError(f"{missing[0]}: there is no such file")
    if token == "new":
        token = secrets.token_urlsafe(18)
    if token and not token.isprintable():
        raise TengenError("--token: a character in it cannot be printed")
    if host not in LOOPBACK and len(token or "") < _TOKEN_LENGTH:
        raise TengenError(
            f"--host {host}: others can reach it; give --token with at least {_TOKEN_LENGTH} "
            "characters (`new` makes one)"
        )
    settings = Settings(
        database=database or default_database(), host=host, port=port, token=token, runs=runs,
        players=tuple(player or ()), arenas=tuple(arena or ()), collections=tuple(collection or ()),
    )  # fmt: skip
    serve(settings, open_browser=browser, tell=Shown(quiet=quiet).remark)
