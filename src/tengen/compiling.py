"""Where compiled kernels are kept, and what the user is told about it.

Cached kernels run as machine code, so the cache folder must be writable by the user alone. Each
kernel file has a folder in it, named by a hash of its text and of everything compiled into it.
"""

from __future__ import annotations

import hashlib
import importlib
import multiprocessing
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGE = Path(__file__).parent
_SETTING = "NUMBA_CACHE_DIR"
_COMPILER = PACKAGE / "jit.py"
_IMPORT = re.compile(
    r"^\s*from (tengen[\w.]*kernels) import|^\s*import (tengen[\w.]*kernels)", re.M
)
_UNUSED_SECONDS = 30 * 86_400


@cache
def cache_folder() -> Path:
    """Return the folder of all compiled kernels."""
    wanted = os.environ.get(_SETTING)
    if wanted and _is_private(Path(wanted)):
        return Path(wanted)
    usual = user_folder()
    if usual is not None and _is_private(usual):
        if wanted:
            _warn(f"{_SETTING}={wanted} is writable by other users; using {usual}")
        return usual
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"tengen-kernels-{user}"
    if not _is_private(folder):
        folder = Path(tempfile.mkdtemp(prefix="tengen-kernels-"))
    _warn(f"no folder to keep compiled kernels in; using {folder} (set {_SETTING} to choose one)")
    return folder


def user_folder() -> Path | None:
    """Return this user's folder for compiled kernels, if there is one."""
    from tengen import files

    try:
        return files.cache_folder() / "kernels"
    except (OSError, RuntimeError):
        return None


def _is_private(folder: Path) -> bool:
    """Create the folder if need be; return whether this user, and no other, can write to it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            return False
        others = stat.S_IWGRP | stat.S_IWOTH
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & others):
            return False
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def kernel_folder(path: Path) -> Path:
    """Return the cache folder of a kernel file; its name changes with anything the file uses."""
    # Numba compares only this file, but kernels of other files are compiled into it.
    # A cached kernel also names the modules of its types, so a file that moves begins anew.
    digests = map(digest_of, (_COMPILER, *sorted(kernel_sources(path))))
    texts = [version("numba"), os.path.relpath(path, PACKAGE), *digests]
    name = hashlib.blake2b(" ".join(texts).encode(), digest_size=12).hexdigest()
    return cache_folder() / f"{path.stem}-{name}"


@cache
def kernel_sources(path: Path) -> frozenset[Path]:
    """Return a kernel file and all kernel files it imports, directly or not."""
    found, todo = {path}, [path]
    while todo:
        for match in _IMPORT.finditer(todo.pop().read_text(encoding="utf-8")):
            name = match.group(1) or match.group(2)
            other = PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
            if other.exists() and other not in found:
                found.add(other)
                todo.append(other)
    return frozenset(found)


@cache
def digest_of(path: Path) -> str:
    """Return a digest of a file's text."""
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def prune() -> None:
    """Delete compiled kernels of other versions that were made over a month ago."""
    current = {kernel_folder(path) for path in PACKAGE.rglob("*kernels.py")}
    for index in cache_folder().glob("*/*.nbi"):
        old = time.time() - index.parent.stat().st_mtime > _UNUSED_SECONDS
        if old and index.parent not in current:
            shutil.rmtree(index.parent, ignore_errors=True)


def import_kernels() -> None:
    """Import every module of kernels, so that `tengen.jit.kernels` lists them all."""
    for file in sorted(PACKAGE.rglob("*kernels.py")):
        importlib.import_module(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts))


def is_compiled(module: str) -> bool:
    """Return whether kernels of a module such as `board.kernels` are in the cache."""
    source = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    if not source.exists():  # a renamed module would go unnoticed
        raise ValueError(f"there is no module {module}")
    return any(kernel_folder(source).glob("*.nbi"))


def disable_jit_unless_cached(module: str) -> bool:
    """Run all kernels of this process as plain Python if those of a module are not compiled.

    For a process with little to do, before it imports any kernel. Return whether it was done.
    """
    if "tengen.jit" in sys.modules or is_compiled(module):
        return False
    from numba.core import config

    config.DISABLE_JIT = True
    return True


@cache
def announce() -> None:
    """Tell the user, once, that kernels are being compiled."""
    if not os.environ.get("TENGEN_QUIET"):
        _warn("compiling kernels, once for this computer (all of them: tengen compile) ...")


def _warn(message: str) -> None:
    """Print a message to standard error, from the main process only."""
    if multiprocessing.parent_process() is None:
        print(f"tengen: {message}", file=sys.stderr)
