"""Play a match between two players given by their specs: settings, run and result in one call."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tengen.arena.config import Tournament
from tengen.arena.database import Database
from tengen.arena.display import LiveTable
from tengen.arena.game import PlayedGame
from tengen.arena.ratings import Sprt
from tengen.arena.results import MatchResult, match_result
from tengen.arena.runner import run_tournament
from tengen.errors import SpecError


def match_settings(
    a: str,
    b: str,
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
    """Return the settings of a match as `Tournament` takes them; they are not checked yet.

    A player that meets itself gets a second name.

    Raises
    ------
    SpecError
        If size or openings cannot be read, or a spec names no player.
    """
    from tengen.players import parse_spec

    for spec in (a, b):
        parse_spec(spec)
    rows, cols = parse_board_size(size)
    plies = openings.strip().lower()
    opening: dict[str, Any] = {"plies": opening_plies, "file": openings}
    if plies == "none" or plies.isdigit():
        opening = {"plies": 0 if plies == "none" else int(plies)}
    elif not Path(openings).exists():
        raise SpecError(f"--openings {openings}: neither a number of plies nor a file")
    first, second = a.strip(), b.strip()
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
        "entrants": [
            {"name": first, "spec": first},
            {"name": second + (" (2)" if first == second else ""), "spec": second},
        ],
    }


def parse_board_size(text: str) -> tuple[int, int]:
    """Read a board size, `9` or `9x13` (rows x columns).

    >>> parse_board_size("9x13")
    (9, 13)

    Raises
    ------
    SpecError
        If it is none.
    """
    found = re.fullmatch(r"\s*(\d{1,2})(?:\s*[xX]\s*(\d{1,2}))?\s*", text)
    if not found:
        raise SpecError(f"--size {text}: no size of a board; write 9, or 9x13")
    return int(found[1]), int(found[2] or found[1])


def parse_sprt(text: str) -> Sprt:
    """Read a sequential test, `ELO0,ELO1`.

    Raises
    ------
    SpecError
        If it makes no sense.
    """
    try:
        elo0, elo1 = (float(part) for part in text.split(","))
    except ValueError:
        raise SpecError(f"--sprt {text}: write two Elo differences, as in 0,50") from None
    if not elo0 < elo1:
        raise SpecError(f"--sprt {text}: the first difference must be the smaller one")
    return Sprt(elo0, elo1)


def play_match(
    tournament: Tournament,
    *,
    out: str | Path | None = None,
    workers: int = 1,
    ray: str | None = None,
    sprt: str | None = None,
    quiet: bool = False,
) -> MatchResult:
    """Play what is missing of a match and return its result; without `out` games are not kept.

    Raises
    ------
    EngineError
        If a player keeps failing.
    """
    test = None if sprt is None else parse_sprt(sprt)
    a, b = (entrant.name for entrant in tournament.entrants[:2])
    with Database.open(out, tournament) as database:

        def decided(game: PlayedGame | None) -> bool:
            if test is None:
                return False
            result = match_result(a, b, database.games(), (), sprt=test)
            return result.sprt is not None and result.sprt.answer != "undecided"

        if decided(None):
            rows, voids = database.games(), database.voids()
            return match_result(a, b, rows, voids, left=tournament.games - len(rows), sprt=test)
        with LiveTable([a, b], database.games(), quiet=quiet) as listener:
            summary = run_tournament(
                tournament,
                database,
                workers=workers,
                ray=ray,
                listener=listener,
                enough=decided,
            )
        return match_result(a, b, database.games(), database.voids(), left=summary.left, sprt=test)
