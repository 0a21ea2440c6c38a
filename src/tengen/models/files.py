"""Write files so that a reader sees the old content or the new, never a part; know no format."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".tmp"
"""How the names of half-written files end; those of killed writers may be swept up."""


def write_atomic(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file through a temporary neighbour, flushed to disk and renamed over `path`.

    Makes the folder if it is missing. A kill at any moment leaves `path` whole: old or new.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, temporary = tempfile.mkstemp(TEMPORARY, f".{target.name}.", target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files private; models are meant to be read by others.
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _flush_folder(target.parent)


def sweep(folder: str | os.PathLike[str]) -> None:
    """Delete what killed writers left in a folder. Nobody may be writing there."""
    for left in Path(folder).glob(f".*{TEMPORARY}"):
        with suppress(OSError):
            left.unlink()


def _flush_folder(folder: Path) -> None:
    """Make a rename last through a loss of power, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
