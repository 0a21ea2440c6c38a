"""Read what work has made, to compare it with what undisturbed work makes; attacks nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def different(calm: Mapping[Any, Any], found: Mapping[Any, Any]) -> list[Any]:
    """List the names under which two hold other things, or only one holds anything."""
    both = calm.keys() & found.keys()
    return sorted(calm.keys() ^ found.keys()) + sorted(
        key for key in both if not _same(calm[key], found[key])
    )


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else bool(a == b)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder but its lock."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def games_of(path: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return the finished games of a tournament; the last of each row is when it began."""
    if not path.exists():
        return {}
    connection = sqlite3.connect(path)
    try:
        found = connection.execute("SELECT a, b, number, moves, result, winner, started FROM games")
        return {(a, b, number): tuple(rest) for a, b, number, *rest in found}
    except sqlite3.OperationalError:  # killed before its tables were made
        return {}
    finally:
        connection.close()


def training_of(folder: Path) -> dict[str, Any]:
    """Return what a training has made: rows, tensors, and the names of files but its states."""
    from tengen.models import load_model, read_metrics

    found: dict[str, Any] = {"rows": read_metrics(folder)}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.startswith("checkpoints") or not path.is_file():
            continue
        found[name] = True
        if path.suffix == ".safetensors":
            for part, array in load_model(path)[0].items():
                found[f"{name}/{part}"] = array
    return found
