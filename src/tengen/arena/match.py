"""Play a match between two players: settings, run and result in one call."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from tengen.arena.database import Database
from tengen.arena.game import PlayedGame
from tengen.arena.ratings import Sprt
from tengen.arena.results import MatchResult, match_result
from tengen.arena.runner import LiveTable, lend_players, run_tournament
from tengen.arena.tournament import Tournament, parse_tournament
from tengen.contracts import Player
from tengen.errors import SpecError
from tengen.players import parse_spec
from tengen.players.plugins import checked_player


def play_match(
    a: str | Player,
    b: str | Player,
    *,
    games: int = 20,
    size: int | str = 9,
    komi: float = 7.5,
    rules: str = "cgos",
    openings: int | str = 4,
    seed: int = 0,
    out: str | Path | None = None,
    workers: int = 1,
    quiet: bool = True,
) -> MatchResult:
    """Play a match and return its result, like the command `tengen arena match`.

    Players are specs such as `mcts:playouts=500`, or objects with `choose(board, rng)`, which play
    in this process. `openings` is a number of random plies, each opening played with both colours,
    or a file of games. `out` stores the games; the same call plays what is missing there.

    >>> result = play_match("random", "random", games=2, size=5)
    >>> result.games, result.faults
    (2, 0)
    """
    specs, objects = _sides(a, b)
    if objects and workers > 1:
        raise SpecError(
            f"{', '.join(objects)}: an object plays in one process; "
            "name its class, python:package.module:Class, to use workers"
        )
    tournament = _tournament(
        specs, games=games, size=str(size), komi=komi, rules=rules, openings=str(openings),
        seed=seed,
    )  # fmt: skip
    with lend_players(objects):
        return run_match(tournament, out=out, workers=workers, quiet=quiet)


def match_tournament(a: str, b: str, **options: Any) -> Tournament:
    """Return the match of two specs with options of `tengen arena match`."""
    return _tournament(_sides(a, b)[0], **options)


def _sides(*players: str | Player) -> tuple[dict[str, str], dict[str, Player]]:
    """Return the specs of two players by name, and those that are objects."""
    specs: dict[str, str] = {}
    objects: dict[str, Player] = {}
    for player in players:
        kind = type(player)
        if isinstance(player, str):
            parse_spec(player)
            name = spec = player.strip()
        else:
            name = str(getattr(player, "name", kind.__name__))
            spec = f"python:{kind.__module__}:{kind.__qualname__}"
        name += " (2)" if name in specs else ""
        specs[name] = spec
        if not isinstance(player, str):
            objects[name] = checked_player(player, name)
    return specs, objects


def _tournament(
    specs: dict[str, str],
    *,
    size: str = "9",
    openings: str = "4",
    opening_plies: int = 8,
    **settings: Any,
) -> Tournament:
    plies = openings.strip().lower()
    opening: dict[str, Any] = {"plies": opening_plies, "file": openings}
    if plies == "none" or plies.isdigit():
        opening = {"plies": 0 if plies == "none" else int(plies)}
    elif not Path(openings).exists():
        raise SpecError(f"openings {openings}: neither a number of plies nor a file")
    board = {"size": list(parse_board_size(size)), "openings": opening}
    return parse_tournament({**settings, **board, "players": specs})


def parse_board_size(text: str) -> tuple[int, int]:
    """Read a board size, `9` or `9x13` (rows x columns)."""
    found = re.fullmatch(r"\s*(\d{1,2})(?:\s*[xX]\s*(\d{1,2}))?\s*", text)
    if not found:
        raise SpecError(f"{text}: not a board size such as 9 or 9x13")
    return int(found[1]), int(found[2] or found[1])


_LARGEST_ELO = 4000


def parse_sprt(text: str) -> Sprt:
    """Read a sequential test, `ELO0,ELO1`."""
    try:
        elo0, elo1 = (float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(f"sprt {text}: not two Elo differences such as 0,50") from None
    if not -_LARGEST_ELO <= elo0 < elo1 <= _LARGEST_ELO:
        raise SpecError(
            f"sprt {text}: the first difference must be the smaller one, and both between "
            f"-{_LARGEST_ELO} and {_LARGEST_ELO}"
        )
    return Sprt(elo0, elo1)


def run_match(
    tournament: Tournament,
    *,
    out: str | Path | None = None,
    workers: int = 1,
    ray: str | None = None,
    sprt: str | None = None,
    quiet: bool = False,
) -> MatchResult:
    """Play what is missing of a match and return its result; without `out` games are not kept."""
    test = None if sprt is None else parse_sprt(sprt)
    a, b = (entrant.name for entrant in tournament.entrants[:2])
    with Database.open(out, tournament) as database:

        def result(left: int = 0) -> MatchResult:
            return match_result(a, b, database.games(), database.voids(), left=left, sprt=test)

        def decided(game: PlayedGame | None = None) -> bool:
            verdict = None if test is None else result().sprt
            return verdict is not None and verdict.answer != "undecided"

        if decided():
            found = result()
            return replace(found, left=max(tournament.games - found.games - found.duplicates, 0))
        with LiveTable([a, b], database.games(), quiet=quiet) as listener:
            summary = run_tournament(
                tournament, database, workers=workers, ray=ray, listener=listener, enough=decided
            )
        return result(summary.left)
