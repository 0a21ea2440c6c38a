"""Cache compiled kernels, report compilation to the user, and skip it for small tasks.

Cached kernels run as machine code, so the cache folder must be writable by the user alone. Each
kernel file has a folder in it, named by a hash of its text and of everything compiled into it.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import multiprocessing
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")
SCORING_KERNELS = "scoring.kernels"
_PACKAGE = Path(__file__).parent
_SETTING = "NUMBA_CACHE_DIR"
_COMPILER = _PACKAGE / "jit.py"
_IMPORT = re.compile(
    r"^\s*from (tengen[\w.]*kernels) import|^\s*import (tengen[\w.]*kernels)", re.M
)
_COLLECT_RARELY = 100_000, 50, 100  # GC thresholds while compiling: Numba's allocations stay in use
_UNUSED_SECONDS = 30 * 86_400
_REPORT_SECONDS = 5.0
_FEW_CALLS = 10  # slow calls (seconds each) to run uncompiled before compiling pays off

_calls = count()
_spared = False


@cache
def cache_folder() -> Path:
    """Return the folder of all compiled kernels."""
    wanted = os.environ.get(_SETTING)
    if wanted and _is_private(Path(wanted)):
        return Path(wanted)
    usual = _user_folder()
    if usual is not None and _is_private(usual):
        if wanted:
            _warn(f"{_SETTING}={wanted} is not a folder of yours alone; using {usual}")
        return usual
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"tengen-kernels-{user}"
    if not _is_private(folder):
        folder = Path(tempfile.mkdtemp(prefix="tengen-kernels-"))
    _warn(f"no folder to keep compiled kernels in; using {folder} (set {_SETTING} to choose one)")
    return folder


def _user_folder() -> Path | None:
    from platformdirs import user_cache_path

    try:
        return user_cache_path("tengen", appauthor=False) / "kernels"
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
    texts = [version("numba"), *map(_digest, (_COMPILER, *sorted(_imported(path))))]
    name = hashlib.blake2b(" ".join(texts).encode(), digest_size=12).hexdigest()
    return cache_folder() / f"{path.stem}-{name}"


@cache
def _imported(path: Path) -> frozenset[Path]:
    """Return a kernel file and all kernel files it imports, directly or not."""
    found, todo = {path}, [path]
    while todo:
        for match in _IMPORT.finditer(todo.pop().read_text(encoding="utf-8")):
            name = match.group(1) or match.group(2)
            other = _PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
            if other.exists() and other not in found:
                found.add(other)
                todo.append(other)
    return frozenset(found)


@cache
def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def prune() -> None:
    """Delete compiled kernels of other versions that were made over a month ago."""
    current = {kernel_folder(path) for path in _PACKAGE.rglob("*kernels.py")}
    for index in cache_folder().glob("*/*.nbi"):
        old = time.time() - index.parent.stat().st_mtime > _UNUSED_SECONDS
        if old and index.parent not in current:
            shutil.rmtree(index.parent, ignore_errors=True)


def import_kernels() -> None:
    """Import every module of kernels, so that `tengen.jit.kernels` lists them all."""
    for file in sorted(_PACKAGE.rglob("*kernels.py")):
        importlib.import_module(".".join(file.relative_to(_PACKAGE.parent).with_suffix("").parts))


def is_compiled(module: str) -> bool:
    """Return whether kernels of a module such as `board.kernels` are in the cache."""
    source = _PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    if not source.exists():  # a renamed module would go unnoticed
        raise ValueError(f"there is no module {module}")
    return any(kernel_folder(source).glob("*.nbi"))


def spare(module: str, *, quiet: bool = False) -> None:
    """Run all kernels of this process as plain Python if those of a module are not compiled.

    For work so small that compiling would take longer; call it before any kernel is imported.
    """
    global _spared
    if plain() or "tengen.jit" in sys.modules or is_compiled(module):
        return
    _spared = True
    if not quiet and not os.environ.get("TENGEN_QUIET"):
        _warn("kernels are not compiled yet; doing without for so little work (tengen compile)")


def interpreted(function: Callable[..., Result], *arguments: Any, unless: str) -> Result:
    """Call a function; the first few times in an uncompiled process if `unless` is not compiled."""
    if plain() or is_compiled(unless) or next(_calls) >= _FEW_CALLS:
        return function(*arguments)
    return _interpreter().submit(function, *arguments).result()


@cache
def _interpreter() -> ProcessPoolExecutor:
    _warn("kernels are not compiled yet; counting without them (tengen compile)")
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_without_compiling)


def _without_compiling() -> None:
    global _spared
    _spared = True
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it


def plain() -> bool:
    """Return whether kernels run as plain Python, by our choice or by NUMBA_DISABLE_JIT."""
    from numba.core import config

    return _spared or bool(config.DISABLE_JIT)


def _warn(message: str) -> None:
    """Print a message to standard error, from the main process only."""
    if multiprocessing.parent_process() is None:
        print(f"tengen: {message}", file=sys.stderr)


# ----- While kernels are compiled -----


_begun = _reported = 0.0
_compiled = 0


def announce(function: Any) -> None:
    """Report that a kernel is about to be compiled: the first one, then one every five seconds."""
    global _begun, _reported, _compiled
    now = time.monotonic()
    first, _begun = not _begun, _begun or now
    if os.environ.get("TENGEN_QUIET"):
        return
    if first:
        _reported = now
        _warn("compiling kernels, once for this computer ...")
    elif now - _reported > _REPORT_SECONDS:
        _reported = now
        name = f"{function.__module__.removeprefix('tengen.')}.{function.__name__}"
        _warn(f"{_compiled} kernels compiled in {now - _begun:.0f} s, now {name}")
    _compiled += 1


_waiting: list[int] = []  # signals received while a kernel was compiled
_handlers: dict[int, Any] = {}  # their handlers at other times


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM until the end of the block: LLVM would lose them.

    Blocks nest, one per kernel; a delayed signal takes effect when the innermost one ends, and a
    second signal at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    outermost, thresholds = not _handlers, gc.get_threshold()
    if outermost:
        gc.set_threshold(*_COLLECT_RARELY)
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(signal.getsignal(number)):
                _handlers[number] = signal.signal(number, _delay)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        if outermost or _waiting:
            _let_signals_act()


def _delay(number: int, frame: Any) -> None:
    _waiting.append(number)
    if len(_waiting) > 1:
        _let_signals_act()


def _let_signals_act() -> None:
    """Restore the handlers, and call that of the delayed signal, if any."""
    handlers, came = dict(_handlers), _waiting[-1:]
    _handlers.clear()
    _waiting.clear()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for number in came:
        handlers[number](number, None)
