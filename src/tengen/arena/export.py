"""Results as tables for the terminal, CSV, JSON, SGF and one HTML page."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from typing import Any

from tengen.arena.database import Database, GameRow
from tengen.arena.results import Results, Standing, results_of
from tengen.errors import SpecError
from tengen.sanitize import csv_cell

_Sheet = tuple[list[str], list[list[str]]]
"""Column heads and rows of a table, as text."""

_KINDS = ("csv", "json", "html", "sgf")


def export_results(database: Database, kind: str) -> str:
    """Return everything in a database as text of one of the `_KINDS`.

    Raises `SpecError` if there is no such kind.
    """
    if kind == "csv":
        return _games_csv(database.games() + database.voids())
    if kind == "sgf":
        return "".join(row.sgf.strip() + "\n" for row in database.games())
    if kind == "json":
        results = results_of(database)
        value = results_value(results)
        value["games"] = [_game_value(row) for row in results.rows]
        value["void_games"] = [_game_value(row) for row in results.voids]
        return json.dumps(value, indent=1, allow_nan=False) + "\n"
    if kind == "html":
        return _html_page(results_of(database))
    raise SpecError(f"no way to export {kind!r}; there are {', '.join(_KINDS)}, sqlite")


def _games_csv(rows: list[GameRow]) -> str:
    """Return one line per game, without its SGF; void games have the result `Void`."""
    fields = [f.name for f in dataclasses.fields(GameRow) if f.name != "sgf"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([csv_cell(getattr(row, name)) for name in fields] for row in rows)
    return text.getvalue()


def _game_value(row: GameRow) -> dict[str, Any]:
    """Return one game for JSON."""
    return {**dataclasses.asdict(row), "versions": json.loads(row.versions)}


def results_value(results: Results) -> dict[str, Any]:
    """Return the tables of a tournament for JSON."""
    return {
        "tournament": results.tournament.model_dump(),
        "games": len(results.unique),
        "duplicates": results.duplicates,
        "faults": results.faults,
        "standings": [_standing_value(standing) for standing in results.standings],
        "pairings": [
            {
                "a": score.first,
                "b": score.second,
                "games": score.games,
                "wins_a": score.wins,
                "wins_b": score.losses,
                "draws": score.draws,
            }
            for (a, b), score in results.cross.items()
            if (a, b) < (b, a)
        ],
    }


def _standing_value(standing: Standing) -> dict[str, Any]:
    rating = standing.rating
    return {
        "player": standing.name,
        "elo": rating.elo if rating else None,
        "elo_interval": [rating.low, rating.high] if rating else None,
        "anchored": bool(rating and rating.anchored),
        "games": standing.games,
        "wins": standing.wins,
        "losses": standing.losses,
        "draws": standing.draws,
        "win_rate": None if math.isnan(standing.rate) else standing.rate,
        "interval": list(standing.interval),
        "black": {"wins": standing.wins_black, "games": standing.games_black},
        "white": {"wins": standing.wins_white, "games": standing.games_white},
        "seconds_per_move": standing.seconds_per_move,
        "faults": standing.faults,
        "voids": standing.voids,
    }


def standings_table(results: Results) -> _Sheet:
    """Return the standings, best first; `*` marks an anchor."""
    head = ["player", "Elo (95 %)", "+ - =", "rate (95 %)", "Black", "White", "s/move"]
    faulty = any(standing.faults or standing.voids for standing in results.standings)
    rows = [_standing_row(standing) for standing in results.standings]
    if not faulty:
        return head, [row[:-1] for row in rows]
    return [*head, "lost by fault, void"], rows


def _standing_row(standing: Standing) -> list[str]:
    rating = standing.rating
    elo = rate = "-"
    if rating is not None:
        mark = "*" if rating.anchored else ""
        elo = f"{rating.elo:.0f}{mark} ({rating.low:.0f}..{rating.high:.0f})"
    if standing.games:
        low, high = standing.interval
        rate = f"{standing.rate:.1%} ({100 * low:.0f}..{100 * high:.0f})"
    return [
        standing.name,
        elo,
        f"{standing.wins}-{standing.losses}-{standing.draws}",
        rate,
        f"{standing.wins_black}/{standing.games_black}",
        f"{standing.wins_white}/{standing.games_white}",
        f"{standing.seconds_per_move:.3f}",
        f"{standing.faults}, {standing.voids}",
    ]


def cross_table(results: Results) -> _Sheet:
    """Return points of the row's player against the column's out of their games."""
    names = [standing.name for standing in results.standings]
    rows = []
    for row in names:
        cells = []
        for column in names:
            score = results.cross.get((row, column))
            cells.append(f"{score.wins + score.draws / 2:g}/{score.games}" if score else "")
        rows.append([row, *cells])
    return ["", *names], rows


def _html_page(results: Results) -> str:
    """Return the tables as one self-contained HTML page."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("tengen.arena", "."), autoescape=True)
    conditions = results.tournament.conditions
    return environment.get_template("report.html.jinja").render(
        tournament=results.tournament,
        conditions=conditions,
        standings=standings_table(results),
        cross=cross_table(results),
        results=results,
        faulty=[row for row in results.rows if row.fault] + results.voids,
    )
