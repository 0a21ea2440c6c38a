"""The commands `gtp`, `analysis` and `web`: servers for other programs and for the browser."""

from __future__ import annotations

import re
import secrets
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tengen.cli.options import OwnSeed, PlayerName, Quiet, RulesName, Seed, flag, option
from tengen.cli.printing import Shown, standard_input
from tengen.errors import ModelError, SpecError, TengenError

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.contracts import Player, Policy

app = typer.Typer()

# ----- gtp -----


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
    from tengen.gtp.engine import GtpEngine

    chosen = secrets.randbits(31) if seed is None else seed
    make = _make_safe_player if safe else _make_player
    if safe:
        _refuse_programs(player)
    engine = GtpEngine(make, player, rules=rules, seed=chosen, safe=safe)
    # A reader of its own: a thread may still wait in it when Python closes its standard input at
    # the end, and closing a reader in use aborts the process.
    source = open(standard_input().fileno(), "rb", closefd=False)  # noqa: SIM115
    engine.run(source, sys.stdout.buffer)


def _make_player(spec: str) -> Player:
    """Import the players when one is needed."""
    from tengen.players import make_player

    return make_player(spec)


def _make_safe_player(spec: str) -> Player:
    """Make a player that starts no other program and runs no foreign code."""
    _refuse_programs(spec)
    return _make_player(spec)


def _refuse_programs(spec: str) -> None:
    """Refuse a spec that names a program or a class, also in an option."""
    if re.search(r"(gtp|python)\s*:", spec, re.IGNORECASE):
        raise SpecError(f"{spec!r}: no gtp: or python: in safe mode")


# ----- analysis -----


@app.command()
def analysis(
    player: PlayerName = "tengen",
    policy: str | None = option(
        None, "Model for includePolicy; the player's own, else by the board's size; or none."
    ),
    visits: int = option(500, "Visits per position unless a query sets them.", min=1),
    threads: int = option(1, "Positions to analyse in parallel.", min=1),
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Run KataGo's JSON analysis protocol, for KaTrain.

    Reads one JSON query per line from standard input and writes answers to standard output as they
    are ready. Ends when the input has ended and all queries are answered.
    """
    from tengen.gtp.analysis import AnalysisServer
    from tengen.models import load_policy
    from tengen.models.registry import network_for
    from tengen.players import make_player, parse_spec

    shown = Shown(quiet=quiet)
    source = standard_input().buffer
    parse_spec(player)  # reject a wrong name before the first query

    @cache
    def load(name: str) -> Policy | None:
        try:
            return load_policy(name)
        except ModelError as failure:
            if policy is not None:
                raise
            shown.remark(f"policy by the search's visits: {failure}")
            return None

    def find_policy(board: Board) -> Policy | None:
        name = policy or network_for(board.rows, board.cols) or "none"
        return None if name == "none" else load(name)

    server = AnalysisServer(
        lambda: make_player(player), find_policy=find_policy, policy_first=policy is not None,
        visits=visits, seed=seed, threads=threads,
    )  # fmt: skip
    shown.remark("tengen analysis: ready for queries")
    server.run(source, sys.stdout.buffer)


# ----- web -----

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

    # Moves are checked one at a time here: plain Python does until the next start.
    compiling.spare("board.kernels", quiet=True)
    from tengen.web.app import serve
    from tengen.web.services import LOOPBACK, Settings
    from tengen.web.store import default_database

    for path in collection or ():
        if not path.exists():
            raise TengenError(f"--collection {path}: there is no such file or folder")
    for path in arena or ():
        if not path.is_file():
            raise TengenError(f"--arena {path}: there is no such file")
    if token == "new":
        token = secrets.token_urlsafe(18)
    if host not in LOOPBACK and len(token or "") < _TOKEN_LENGTH:
        raise TengenError(
            f"--host {host}: others can reach it; give --token with at least {_TOKEN_LENGTH} "
            "characters (`new` makes one)"
        )
    settings = Settings(
        database=database or default_database(),
        host=host,
        port=port,
        token=token,
        players=tuple(player or ()),
        arenas=tuple(arena or ()),
        collections=tuple(collection or ()),
        runs=runs,
    )
    serve(settings, open_browser=browser, tell=Shown(quiet=quiet).remark)
