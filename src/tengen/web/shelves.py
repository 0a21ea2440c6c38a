"""Find tournaments, trainings and reports on this machine, and read them; change nothing.

Everything found gets an id made of its path. Requests name ids only, so no path from outside is
ever opened.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tengen.arena.database import reading
from tengen.arena.placing import LADDERS
from tengen.arena.results import Results, results_of
from tengen.errors import TengenError
from tengen.records import GameRecord, loads
from tengen.web.settings import Settings

MOST = 200
"""Things of each kind that are listed."""
ROWS = 2000
"""Rows of a training's metrics that are told; of more, every second, third, ..."""


class UnknownItemError(TengenError):
    """Nothing goes by this id."""


@dataclass(frozen=True)
class Found:
    """Something that can be shown."""

    name: str
    path: Path

    @property
    def id(self) -> str:
        """The id by which requests name it."""
        return hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:12]


def arenas(settings: Settings) -> list[Found]:
    """List the databases of tournaments: given ones, those of the runs, the shipped ladders."""
    # They were there when the server started; one that went since is not listed.
    given = [Found(path.name, path) for path in settings.arenas if path.is_file()]
    own = [Found(_below(p, settings.runs), p) for p in _under(settings.runs, "*.sqlite")]
    shipped = [Found(f"ladder {p.stem}", p) for p in sorted(LADDERS.glob("*.sqlite"), key=_size)]
    return _distinct([*given, *own, *shipped])


def trainings(settings: Settings) -> list[Found]:
    """List the trainings: folders with metrics, latest first."""
    found = _under(settings.runs, "metrics.jsonl")
    return [Found(_below(path.parent, settings.runs), path) for path in found]


def reports(settings: Settings) -> list[Found]:
    """List the reports that the laboratory wrote, latest first."""
    found = _under(settings.runs, "report.html")
    return [Found(_below(path.parent, settings.runs), path) for path in found]


def pick(items: list[Found], key: str) -> Found:
    """Return the item with an id.

    Raises
    ------
    UnknownItemError
        If there is none.
    """
    for item in items:
        if item.id == key:
            return item
    raise UnknownItemError("there is no such thing here")


def stamp(path: Path) -> list[int]:
    """Return what changes whenever a game is added to a database."""
    log = path.with_name(f"{path.name}-wal")
    return [p.stat().st_mtime_ns for p in (path, log) if p.exists()]


def tables(arguments: dict[str, Any], context: object) -> dict[str, Any]:
    """Make the tables of a tournament; runs in a worker."""
    with reading(arguments["path"]) as database:
        results = results_of(database)
    return {
        "standings": [_standing(one) for one in results.standings],
        "cross": _cross(results),
        "games": len(results.rows),
        "duplicates": results.duplicates,
        "faults": results.faults,
        "latest": [
            {
                "number": number,
                "black": row.black,
                "white": row.white,
                "result": row.result,
                "plies": row.plies,
                "reason": row.reason,
            }
            for number, row in list(enumerate(results.rows))[: -MOST - 1 : -1]
        ],
    }


def game_of(path: Path, number: int) -> GameRecord:
    """Return one game of a tournament by its place in the database."""
    with reading(path) as database:
        rows = database.games()
    if not 0 <= number < len(rows):
        raise UnknownItemError("there is no such game")
    record = loads(rows[number].sgf)[0]
    record.file = f"{rows[number].black} against {rows[number].white}"
    return record


def metrics(path: Path) -> dict[str, Any]:
    """Return the numbers of a training as columns by name, and the column to plot them over."""
    rows = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # the line that is being written right now
        if isinstance(row, dict):
            rows.append(row)
    rows = rows[:: max(1, math.ceil(len(rows) / ROWS))]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [_number(row.get(name)) for row in rows] for name in names}
    columns = {
        name: values for name, values in columns.items() if any(v is not None for v in values)
    }
    over = next((n for n in ("step", "games", "generation", "epoch") if n in columns), None)
    return {"over": over, "rows": len(rows), "columns": columns}


def _standing(one: Any) -> dict[str, Any]:
    rating = one.rating
    return {
        "name": one.name,
        "games": one.games,
        "wins": one.wins,
        "losses": one.losses,
        "draws": one.draws,
        "rate": _number(one.rate),
        "elo": rating and _number(rating.elo),
        "interval": rating and [_number(rating.low), _number(rating.high)],
        "seconds_per_move": _number(one.seconds_per_move),
        "faults": one.faults,
    }


def _cross(results: Results) -> list[list[list[int] | None]]:
    """Return wins, losses and draws of each player (row) against each other, in standing order."""
    names = [one.name for one in results.standings]
    table: list[list[list[int] | None]] = []
    for first in names:
        row: list[list[int] | None] = []
        for second in names:
            score = results.cross.get((first, second))
            row.append(None if score is None else [score.wins, score.losses, score.draws])
        table.append(row)
    return table


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else None


def _under(folder: Path, pattern: str) -> list[Path]:
    if not folder.is_dir():
        return []
    found = [path for path in folder.rglob(pattern) if path.is_file()]
    return sorted(found, key=lambda path: -path.stat().st_mtime)[:MOST]


def _below(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path != folder else path.resolve().name


def _size(path: Path) -> int:
    digits = path.stem.partition("x")[0]
    return int(digits) if digits.isdigit() else 0


def _distinct(items: list[Found]) -> list[Found]:
    return list({item.id: item for item in items}.values())
