"""Play a match between two players, specs or objects: settings, run and result in one call."""

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
from tengen.arena.tournament import Tournament, checked
from tengen.contracts import Player
from tengen.errors import SpecError


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
    """Play a match and return its result: `tengen arena match` for programs.

    >>> result = play_match("random", "random", games=2, size=5)
    >>> result.games, result.faults
    (2, 0)

    Parameters
    ----------
    a, b
        Specs such as `mcts:playouts=500`, or objects with `choose(board, rng)`, which play in
        this process.
    openings
        Random plies at the start, each opening played with both colours; or a file of games.
    out
        Where the games are kept; the same call goes on with what is missing there.
    """
    from tengen.players.plugins import checked_player

    entrants, objects = [], {}
    for side in (a, b):
        if isinstance(side, str):
            entrants.append(_entrant(side))
        else:
            kind = type(side)
            name = str(getattr(side, "name", kind.__name__))
            name += " (2)" if entrants and entrants[0]["name"] == name else ""
            objects[name] = checked_player(side, name)
            entrants.append({"name": name, "spec": f"python:{kind.__module__}:{kind.__qualname__}"})
    if objects and workers > 1:
        raise SpecError(
            f"{', '.join(objects)}: an object plays in one process; "
            "name its class, python:package.module:Class, to use workers"
        )
    settings = _settings(
        entrants, games=games, size=str(size), komi=komi, rules=rules, openings=str(openings),
        seed=seed,
    )  # fmt: skip
    with lend_players(objects):
        return run_match(checked(Tournament, settings), out=out, workers=workers, quiet=quiet)


def match_settings(a: str, b: str, **options: Any) -> dict[str, Any]:
    """Return the settings of a match, not checked yet, from options of `tengen arena match`."""
    return _settings([_entrant(a), _entrant(b)], **options)


def _entrant(spec: str) -> dict[str, str]:
    from tengen.players import parse_spec

    parse_spec(spec)
    return {"name": spec.strip(), "spec": spec.strip()}


def _settings(
    entrants: list[dict[str, str]],
    *,
    games: int = 20,
    size: str = "9",
    komi: float = 7.5,
    rules: str = "cgos",
    openings: str = "4",
    opening_plies: int = 8,
    judge: str = "auto",
    move_seconds: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    if entrants[0]["name"] == entrants[1]["name"]:
        entrants[1]["name"] += " (2)"
    rows, cols = parse_board_size(size)
    plies = openings.strip().lower()
    opening: dict[str, Any] = {"plies": opening_plies, "file": openings}
    if plies == "none" or plies.isdigit():
        opening = {"plies": 0 if plies == "none" else int(plies)}
    elif not Path(openings).exists():
        raise SpecError(f"openings {openings}: neither a number of plies nor a file")
    return {
        "kind": "match",
        "games": games,
        "seed": seed,
        "conditions": {
            "rows": rows,
            "cols": cols,
            "komi": komi,
            "rules": rules,
            "judge": judge,
            "move_seconds": move_seconds,
        },
        "openings": opening,
        "entrants": entrants,
    }


def parse_board_size(text: str) -> tuple[int, int]:
    """Read a board size, `9` or `9x13` (rows x columns).

    >>> parse_board_size("9x13")
    (9, 13)
    """
    found = re.fullmatch(r"\s*(\d{1,2})(?:\s*[xX]\s*(\d{1,2}))?\s*", text)
    if not found:
        raise SpecError(f"{text}: not a board size such as 9 or 9x13")
    return int(found[1]), int(found[2] or found[1])


def parse_sprt(text: str) -> Sprt:
    """Read a sequential test, `ELO0,ELO1`."""
    try:
        elo0, elo1 = (float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(f"sprt {text}: not two Elo differences such as 0,50") from None
    if not elo0 < elo1:
        raise SpecError(f"sprt {text}: the first difference must be the smaller one")
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
