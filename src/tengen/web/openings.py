"""Ask collections of games what was played in a position; in a worker process, plain values only.

The collections are those given on the command line, those that `tengen explore` has indexed before,
and those that visitors dropped; requests name them by id. See `explorer` for how games are folded.
"""

from __future__ import annotations

import hashlib
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from tengen.board import Board
from tengen.errors import RecordError, TengenError
from tengen.explorer import Openings, build, explore, index_of_games, open_index
from tengen.explorer.building import PLIES
from tengen.explorer.index import SUFFIX, cached_path
from tengen.models.registry import Opinions, opinions_on
from tengen.web.positions import likely_moves, to_board
from tengen.web.settings import Settings
from tengen.web.shelves import Found
from tengen.web.sights import wanted
from tengen.web.uploads import unpack_arguments, unpacked
from tengen.web.workers import Context

SECONDS = 300.0
"""Most seconds for indexing a dropped collection."""
_LIKED = 3
"""Moves that each model names of its own accord."""
KEPT = 20
"""Dropped collections that are kept; the oldest go first."""


def collections(settings: Settings) -> list[Found]:
    """List the collections: given ones, dropped ones, and those indexed by `tengen explore`."""
    found = [Found(path.name, path) for path in settings.collections]
    taken = {cached_path([str(path)], PLIES) for path in settings.collections}
    for path in (*_indexes(dropped(settings)), *_indexes(cached_path([], 0).parent)):
        if path not in taken:
            found.append(Found(_title(path), path))
    return found


def index_upload(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Unpack and index a dropped collection; messages name it as its sender did."""
    data, name, settings = unpack_arguments(arguments)
    shown = Path(name).name[:80] or "games.sgf"
    data, suffix = unpacked(data, shown, settings)
    kept = Path(arguments["folder"])
    for old in _indexes(kept)[KEPT - 1 :]:
        old.unlink(missing_ok=True)
    out = kept / f"{hashlib.sha256(data).hexdigest()[:16]}{SUFFIX}"
    with tempfile.TemporaryDirectory(prefix="tengen-") as folder:
        # The index names its games by file, so the file goes by the name that its sender gave it.
        games = Path(folder) / f"{_plain(shown.removesuffix(suffix))}{suffix}"
        games.write_bytes(data)
        try:
            return {**_entry(build([games], out)), "out": str(out)}
        except RecordError as wrong:
            raise RecordError(str(wrong).replace(str(games), games.name)) from None


def ask(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Say what was played in a position, and what the models would play."""
    board = to_board(arguments["board"])
    index = _opened(arguments["path"], Path(arguments["path"]).stat().st_mtime_ns)
    models = opinions_on(board.rows, board.cols)
    answer = explore(
        index,
        board,
        corner=arguments["corner"],
        policies=models.policies,
        evaluators=models.evaluators,
        limit=arguments["top"],
    )
    marks = {id(move): letter for letter, move in answer.marks().items()}
    told = answer.to_dict()
    for row, move in zip(told["moves"], answer.moves, strict=True):
        row["letter"] = marks.get(id(move), "")
        row["example"]["file"] = Path(row["example"]["file"]).name
    return {
        **told,
        "models": models.names,
        "liked": {} if answer.corner else _liked(models, board),
        "about": _entry(index),
    }


def _entry(index: Openings) -> dict[str, Any]:
    about = index.about
    return {"games": about.games, "sizes": about.sizes, "plies": about.plies}


def _liked(models: Opinions, board: Board) -> dict[str, Any]:
    """Return the moves that each model likes best, whether they were played or not."""
    everybody = {**models.policies, **models.evaluators}
    return {
        name: likely_moves(wanted(model, board), board, _LIKED) for name, model in everybody.items()
    }


@lru_cache(maxsize=4)
def _opened(path: str, changed: int) -> Openings:
    return index_of_games([path])


def dropped(settings: Settings) -> Path:
    """Return the folder of the indexes of dropped collections."""
    return settings.database.parent / "openings"


def _indexes(folder: Path) -> list[Path]:
    """List the indexes in a folder, latest first."""
    found = folder.glob(f"*{SUFFIX}") if folder.is_dir() else ()
    return sorted(found, key=lambda path: -path.stat().st_mtime)


def _title(path: Path) -> str:
    """Name an index by the file that its first game came from."""
    try:
        index = open_index(path)
        file, _ = index.origin(0)
    except TengenError:
        return path.name  # to open it says what is wrong
    return f"{Path(file).name}, {index.about.games:,} games"


def _plain(name: str) -> str:
    """Keep of a sender's name what any file system takes."""
    return "".join(c if c.isalnum() or c in " -_()+" else "_" for c in name).strip() or "games"
