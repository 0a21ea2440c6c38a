"""Start a GTP engine on standard input and output; make its player only when needed."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import typer

from tengen.cli.options import OwnSeed, PlayerName, RulesName, flag
from tengen.cli.printing import standard_input

if TYPE_CHECKING:
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
    """Speak GTP, for Sabaki, GoGui and other programs.

    Without a seed one is drawn; `get_random_seed` tells it.
    """
    import secrets

    from tengen.gtp.commands import COMMANDS
    from tengen.gtp.engine import Engine

    chosen = secrets.randbits(31) if seed is None else seed
    if safe:
        _refuse_programs(player)
    engine = Engine(
        _make_safe_player if safe else _make_player,
        player,
        COMMANDS,
        rules=rules,
        seed=chosen,
        safe=safe,
    )
    # A reader of its own: a thread may still wait in it when Python closes its standard input at
    # the end, and closing a reader in use aborts the process.
    source = open(standard_input().fileno(), "rb", closefd=False)  # noqa: SIM115
    engine.run(source, sys.stdout.buffer)


def _make_player(spec: str) -> Player:
    """Import the players when one is needed."""
    from tengen.players import make_player

    return make_player(spec)


def _make_safe_player(spec: str) -> Player:
    """Make a player that starts no other program and runs nobody's code."""
    _refuse_programs(spec)
    return _make_player(spec)


def _refuse_programs(spec: str) -> None:
    """Refuse a spec that names a program or a class, be it in an option.

    Raises
    ------
    SpecError
        If it does.
    """
    from tengen.errors import SpecError

    if re.search(r"(gtp|python)\s*:", spec, re.IGNORECASE):
        raise SpecError(f"{spec!r}: no gtp: or python: in safe mode")
