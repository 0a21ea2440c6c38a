"""Find the files that the pages show: tournaments, trainings, reports, collections of openings.

Every file gets an id derived from its path. Requests contain only ids, so no path from a request
is ever opened. Tables and openings are read in worker processes.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tengen.arena.database import Database
from tengen.arena.placing import LADDERS
from tengen.arena.results import Standing, results_of
from tengen.errors import RecordError, TengenError
from tengen.explorer import Openings, build, explore, index_of_games, open_index
from tengen.explorer.index import PLIES, SUFFIX, cached_path
from tengen.models import read_metrics
from tengen.models.registry import opinions_on
from tengen.records import GameRecord, loads
from tengen.web.machines import move_probabilities
from tengen.web.positions import likely_moves, packed, to_board, unpacked
from tengen.web.settings import Settings
from tengen.web.store import UnknownItemError
from tengen.web.workers import Context, Json

_MOST = 200  # most items in a list
_ROWS = 2000  # most rows of a training's metrics to return; longer ones are thinned out evenly
_GAME = ("black", "white", "result", "plies", "reason")  # columns of a list of games


@dataclass(frozen=True)
class Found:
    """A file to show: a tournament, a training, a report or a collection."""

    name: str
    path: Path

    @property
    def id(self) -> str:
        """The id used in requests."""
        return hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:12]


def listed(kind: str, settings: Settings) -> list[Found]:
    """List `arenas` (given, in `runs`, shipped), or `trainings` or `reports` (in `runs`)."""
    runs = settings.runs
    if kind != "arenas":
        found = _under(runs, "metrics.jsonl" if kind == "trainings" else "report.html")
        return [Found(_below(path.parent, runs), path) for path in found]
    items = [Found(path.name, path) for path in settings.arenas if path.is_file()]
    items += [Found(_below(path, runs), path) for path in _under(runs, "*.sqlite")]
    shipped = sorted(LADDERS.glob("*.sqlite"), key=lambda path: int(path.stem.partition("x")[0]))
    items += [Found(f"ladder {path.stem}", path) for path in shipped]
    return list({item.id: item for item in items}.values())


def pick(items: list[Found], key: str) -> Found:
    """Return the item whose id is `key`."""
    found = next((item for item in items if item.id == key), None)
    if found is None:
        raise UnknownItemError("there is no such thing here")
    return found


def stamp(path: Path) -> list[int]:
    """Return the modification times of a database, which change when a game is added."""
    log = path.with_name(f"{path.name}-wal")
    return [p.stat().st_mtime_ns for p in (path, log) if p.exists()]


def tables(arguments: Json, context: Context) -> Json:
    """Return the tables of a tournament: standings, results of all pairs, latest games."""
    with Database.look(arguments["path"]) as database:
        results = results_of(database)
    names = [one.name for one in results.standings]
    pairs = [[results.cross.get((first, second)) for second in names] for first in names]
    return {
        "standings": [_standing(one) for one in results.standings],
        "cross": [[[s.wins, s.losses, s.draws] if s else None for s in row] for row in pairs],
        "games": len(results.rows),
        "duplicates": results.duplicates,
        "faults": results.faults,
        "latest": [
            {"number": number, **{name: getattr(row, name) for name in _GAME}}
            for number, row in list(enumerate(results.rows))[: -_MOST - 1 : -1]
        ],
    }


def game_of(path: Path, number: int) -> GameRecord:
    """Return one game of a tournament by its index in the database."""
    with Database.look(path) as database:
        rows = database.games()
    if not 0 <= number < len(rows):
        raise UnknownItemError("there is no such game")
    record = loads(rows[number].sgf)[0]
    record.file = f"{rows[number].black} against {rows[number].white}"
    return record


def metrics(path: Path) -> Json:
    """Return a training's metrics as columns by name, and the column to plot them over."""
    rows = read_metrics(path.parent)
    rows = rows[:: max(1, math.ceil(len(rows) / _ROWS))]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [_number(row.get(name)) for row in rows] for name in names}
    columns = {name: cells for name, cells in columns.items() if set(cells) != {None}}
    return {"over": "step" if rows else None, "rows": len(rows), "columns": columns}


def _standing(one: Standing) -> Json:
    rating = one.rating
    return {
        **{name: getattr(one, name) for name in ("name", "games", "wins", "losses", "draws")},
        "rate": _number(one.rate),
        "elo": rating and _number(rating.elo),
        "interval": rating and [_number(rating.low), _number(rating.high)],
        "seconds_per_move": _number(one.seconds_per_move),
        "faults": one.faults,
    }


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and math.isfinite(value) else None


def _under(folder: Path, pattern: str) -> list[Path]:
    """List the non-empty files below a folder, latest first."""
    found = [path for path in folder.rglob(pattern) if path.is_file() and path.stat().st_size]
    return sorted(found, key=lambda path: -path.stat().st_mtime)[:_MOST]


def _below(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path != folder else path.resolve().name


# ----- Openings -----

INDEX_SECONDS = 300.0  # most seconds for indexing an uploaded collection
_LIKED = 3  # preferred moves of each model to show
LEVELS = Path(__file__).with_name("levels.sgf.gz")
_KEPT = 20  # most uploaded collections to keep; the oldest are deleted first


def collections(settings: Settings) -> list[Found]:
    """List the collections: given, uploaded, or indexed by `tengen explore`."""
    found = [Found(path.name, path) for path in settings.collections]
    taken = {cached_path([str(path)], PLIES) for path in settings.collections}
    others = (*_indexes(dropped(settings)), *_indexes(cached_path([], 0).parent))
    return found + [Found(_title(path), path) for path in others if path not in taken]


def index_upload(arguments: Json, context: Context) -> Json:
    """Unpack and index an uploaded collection; messages use the sender's file name."""
    data, shown, suffix = unpacked(arguments["data"], arguments["name"])
    kept = Path(arguments["folder"])
    for old in _indexes(kept)[_KEPT - 1 :]:
        old.unlink(missing_ok=True)
    out = kept / f"{hashlib.sha256(data).hexdigest()[:16]}{SUFFIX}"
    with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
        # The index stores the file names of its games, so the file gets the sender's name.
        games = Path(folder) / f"{_plain(shown.removesuffix(suffix))}{suffix}"
        games.write_bytes(data)
        try:
            return {**_entry(build([games], out)), "out": str(out)}
        except RecordError as wrong:
            raise RecordError(str(wrong).replace(str(games), games.name)) from None


def index_levels(arguments: Json, context: Context) -> Json:
    """Index the shipped games of Tengen's levels, for those who have no collection yet."""
    return index_upload(
        {**arguments, **packed(gzip.decompress(LEVELS.read_bytes()), LEVELS.stem)}, context
    )


def explore_openings(arguments: Json, context: Context) -> Json:
    """Return what was played in a position, and what the models would play."""
    board = to_board(arguments["board"])
    index = _opened(arguments["path"], Path(arguments["path"]).stat().st_mtime_ns)
    models = opinions_on(board.rows, board.cols)
    answer = explore(
        index, board, corner=arguments["corner"], limit=arguments["top"],
        policies=models.policies, evaluators=models.evaluators,
    )  # fmt: skip
    marks = {id(move): letter for letter, move in answer.marks().items()}
    values = answer.to_dict()
    for row, move in zip(values["moves"], answer.moves, strict=True):
        row["letter"] = marks.get(id(move), "")
        row["example"]["file"] = Path(row["example"]["file"]).name
    liked = {}
    if not answer.corner:  # what each model likes best, whether it was played or not
        everybody: Json = {**models.policies, **models.evaluators}
        for name, model in everybody.items():
            liked[name] = likely_moves(move_probabilities(model, board), board, _LIKED)
    return {**values, "models": models.names, "liked": liked, "about": _entry(index)}


def _entry(index: Openings) -> Json:
    return {name: getattr(index.about, name) for name in ("games", "sizes", "plies")}


@lru_cache(maxsize=4)
def _opened(path: str, changed: int) -> Openings:
    return index_of_games([path])


def dropped(settings: Settings) -> Path:
    """Return the folder with the indexes of uploaded collections."""
    return settings.database.parent / "openings"


def _indexes(folder: Path) -> list[Path]:
    """List the indexes in a folder, latest first."""
    return sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: -path.stat().st_mtime)


def _title(path: Path) -> str:
    """Name an index by the file that its first game came from."""
    try:
        index = open_index(path)
        file, _ = index.origin(0)
    except TengenError:
        return path.name  # opening it reports what is wrong
    return f"{Path(file).name}, {index.about.games:,} games"


def _plain(name: str) -> str:
    """Replace characters that some file systems do not allow in a name."""
    return "".join(c if c.isalnum() or c in " -_()+" else "_" for c in name).strip() or "games"
