"""Make, keep and read what scorers are trained on, for the commands of `tengen scoring`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.common import progress, remark

if TYPE_CHECKING:
    from tengen.learners.scoring.bundle import Bundle
    from tengen.learners.scoring.training import Labelled
    from tengen.records import GameArrays, GameRecord

MAKER = "mcts:playouts=100,resign=0"
"""Who plays the games that are made."""

Made = Annotated[
    list[str] | None,
    typer.Option("--made", help="SIZE:GAMES to play and learn from, as 9:300; repeatable."),
]
Maker = Annotated[str, typer.Option("--player", help="Who plays the games that are made.")]


def parse_made(text: str) -> tuple[int, int]:
    """Return size and number of games of SIZE:GAMES."""
    from tengen.errors import TengenError

    size, _, count = text.partition(":")
    if not (size.isdecimal() and count.isdecimal() and 5 <= int(size) <= 19 and int(count) > 0):
        raise TengenError(f"--made takes SIZE:GAMES with a size from 5 to 19, as 9:300, not {text}")
    return int(size), int(count)


def play_made(
    count: int, size: int, player: str, seed: int, *, workers: int, quiet: bool
) -> list[GameRecord]:
    """Play games and cut them where they are settled."""
    from functools import partial

    from tengen.learners.scoring.made import make_games
    from tengen.players import make_player

    make_player(player)  # a wrong spec is told before the first game
    with progress(f"{size}x{size} games", count, quiet=quiet) as bar:
        return make_games(
            partial(make_player, player), player, count, size, seed, workers=workers,
            tell=lambda done: bar.advance(),
        )  # fmt: skip


def write_made(records: list[GameRecord], path: Path) -> None:
    """Write the games whole or not at all."""
    from tengen.models import write_atomic

    write_atomic(path, b"\n".join(record.utf8_sgf() for record in records) + b"\n")


def make_labelled(
    path: Path, count: int, size: int, player: str, seed: int, *, workers: int, resume: bool,
    quiet: bool,
) -> list[Labelled]:  # fmt: skip
    """Return labelled positions of made games, kept in a file that `resume` uses again."""
    from tengen.errors import TengenError
    from tengen.learners.scoring.made import read_labelled

    if not (resume and path.is_file()):
        records = play_made(count, size, player, seed, workers=workers, quiet=quiet)
        if not records:
            raise TengenError(f"none of {count} games on {size}x{size} settled: make more")
        write_made(records, path)
    return read_labelled([path])


def described(games: GameArrays, kept: Path | None, *, resume: bool, quiet: bool) -> Bundle:
    """Return the features of games, from the file `kept` where `resume` finds the same games."""
    from tengen.learners.scoring.bundle import Bundle, gather

    if resume and kept is not None and kept.is_file():
        bundle = Bundle.load(kept)
        if bundle.belongs_to(games):
            return bundle
        remark(f"{kept} belongs to other games: computed anew", quiet=quiet)
    with progress("features", len(games), quiet=quiet) as bar:
        bundle = gather(games, tell=lambda done: bar.advance())
    if kept is not None:
        bundle.save(kept)
    return bundle
