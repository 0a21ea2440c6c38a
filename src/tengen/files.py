"""Write files atomically, read them with a size limit, lock them against other processes."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tengen.errors import BusyError, TengenError

if TYPE_CHECKING:
    from filelock import FileLock

TEMPORARY = ".tmp"  # suffix of half-written files; see `sweep`


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing; it replaces `path` if the block succeeds.

    A failure, a full disk or a kill leaves the old file. Pipes and devices are written directly.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as stream:
                yield stream
            return
        with neighbour(path) as temporary, temporary.open("wb") as file:
            yield file
    except OSError as failure:
        if failure.filename is None:  # a full disk names no file
            failure.filename = os.fspath(path)
        raise


@contextmanager
def neighbour(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Create an empty file next to `path`, which it replaces if the block succeeds."""
    target = Path(os.path.realpath(path))  # replace a link's target, not the link
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}{TEMPORARY}")
    try:
        temporary.open("xb").close()
    except OSError as failure:  # which names the temporary file
        raise OSError(failure.errno, failure.strerror, os.fspath(path)) from None
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):  # a new file has the rights that the umask leaves
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _flush_folder(target.parent)


def write_atomic(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a whole file at once; see `replacing`."""
    with replacing(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def read_limited(path: str | os.PathLike[str], limit: int = 1 << 24) -> bytes:
    """Read a file or a pipe of at most `limit` bytes; refuse longer ones and devices."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise TengenError(f"{os.fspath(path)}: neither a file nor a pipe")
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise TengenError(f"{os.fspath(path)}: more than {limit:,} bytes")
    return content


def lock(path: Path, shown: Path, advice: str) -> FileLock:
    """Lock a file; the lock ends when it is released, or with this process, even if killed.

    If another process holds it, raise a `BusyError` with that process, `shown` and `advice`.
    """
    from filelock import FileLock, Timeout  # takes as long to import as all of `tengen`

    held = FileLock(path, thread_local=False)
    try:
        held.acquire(timeout=0)
    except Timeout:
        raise BusyError(f"{shown}: in use by another process{_owner(path)}; {advice}") from None
    return held


def _owner(path: Path) -> str:
    """Return " (id)" of the process that has a file open, or "" if it cannot be found."""
    import psutil

    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if any(Path(opened.path) == path.resolve() for opened in process.open_files()):
                return f" ({process.pid})"
    return ""


def data_folder() -> Path:
    """Return the user's folder for what Tengen keeps."""
    from platformdirs import user_data_path

    return user_data_path("tengen", appauthor=False)


def cache_folder() -> Path:
    """Return the user's folder for what Tengen can make again."""
    from platformdirs import user_cache_path

    return user_cache_path("tengen", appauthor=False)


def refuse_inputs(out: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise `TengenError` if `out` is one of the inputs, which must not be overwritten."""
    place = os.path.realpath(out)
    if any(str(path) != "-" and os.path.realpath(path) == place for path in inputs):
        raise TengenError(f"{out}: is what is read; write to another name")


def sweep(folder: str | os.PathLike[str]) -> None:
    """Delete the files that killed writers left in a folder. No process may be writing there."""
    for left in Path(folder).glob(f".*{TEMPORARY}"):
        with suppress(OSError):
            left.unlink()


def _flush_folder(folder: Path) -> None:
    """Make a rename survive a power failure, where the system supports it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
