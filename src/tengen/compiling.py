"""Decide where compiled kernels are kept and when a little work does without; tell who must wait.

Kernels from the cache run as machine code, so the folder has to belong to the user alone. They
are kept next to the code where that can be written (whoever may write there may change the code
itself), else in the user's own cache folder, else in a temporary one.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba.core import caching, config, event

__all__ = [
    "SCORING_KERNELS",
    "cache_folder",
    "import_kernels",
    "interpreted",
    "is_compiled",
    "prepare",
    "spare",
]

Result = TypeVar("Result")
SCORING_KERNELS = "learners.scoring.group_kernels"
"""Those of the scorer that are compiled last: they take longest."""
_PACKAGE = Path(__file__).parent
_SETTING = "NUMBA_CACHE_DIR"
_COLLECTING = 100_000, 50, 100
"""Python's garbage collector while compiling: seldom, for what Numba makes stays in use."""


def prepare() -> None:
    """Choose the cache folder and begin to watch for compilations; for `tengen.jit` alone."""
    folder = cache_folder()
    if folder != _PACKAGE:
        config.CACHE_DIR = str(folder)
        os.environ[_SETTING] = str(folder)  # for the processes that this one starts
    watcher = _Watcher()
    event.register("numba:compile", watcher)
    caching.Cache.load_overload = _undisturbed(caching.Cache.load_overload, watcher)
    if config.DISABLE_JIT:
        np.seterr(over="ignore")  # numbers wrap around, as in compiled kernels


def import_kernels() -> None:
    """Import every module of kernels, so that `tengen.jit.kernels` lists them all."""
    for file in sorted(_PACKAGE.rglob("*kernels.py")):
        importlib.import_module(".".join(file.relative_to(_PACKAGE.parent).with_suffix("").parts))


def is_compiled(kernels: str) -> bool:
    """Tell whether kernels of a module such as `board.kernels` were ever compiled here."""
    source = _PACKAGE.joinpath(*kernels.split(".")).with_suffix(".py")
    if not source.exists():  # renamed: without this, nobody would notice
        raise ValueError(f"there is no module {kernels}")
    return any(cache_folder().rglob(f"{source.stem}.*.nbi"))


def spare(kernels: str, *, children: bool = True) -> None:
    """Let all kernels run as plain Python if those of a module were never compiled here.

    For work so small that compiling would take longer than it; it has to be called before any
    kernel is imported, else it does nothing. Without `children` only this process does without.
    """
    if is_compiled(kernels) or config.DISABLE_JIT or "tengen.jit" in sys.modules:
        return
    config.DISABLE_JIT = 1
    if children:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        if not os.environ.get("TENGEN_QUIET"):
            _warn("kernels are not compiled yet; doing without for so little work (tengen compile)")


def interpreted(function: Callable[..., Result], *arguments: Any, unless: str) -> Result:
    """Call a function in a process in which kernels run as plain Python, unless some are compiled.

    For an answer that takes seconds so and longer to compile; `unless` names one of its modules.
    The process is kept for further calls.
    """
    if config.DISABLE_JIT or is_compiled(unless):
        return function(*arguments)
    return _interpreter().submit(function, *arguments).result()


@cache
def _interpreter() -> ProcessPoolExecutor:
    _warn("kernels are not compiled yet; counting without them (tengen compile)")
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_without_compiling)


def _without_compiling() -> None:
    config.DISABLE_JIT = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks answers it


@cache
def cache_folder() -> Path:
    """Return the folder under which compiled kernels are kept; the package's own means in place."""
    wanted = os.environ.get(_SETTING)
    if wanted and _is_ours(Path(wanted)):
        return Path(wanted)
    if not wanted and _is_writable(_PACKAGE / "__pycache__"):
        return _PACKAGE
    usual = _user_folder()
    if usual is not None and _is_ours(usual):
        if wanted:
            _warn(f"{_SETTING}={wanted} is not a folder of yours alone; using {usual}")
        return usual
    folder = Path(tempfile.gettempdir()) / f"tengen-kernels-{_user()}"
    if not _is_ours(folder):
        folder = Path(tempfile.mkdtemp(prefix="tengen-kernels-"))
    _warn(f"no folder to keep compiled kernels in; using {folder} (set {_SETTING} to choose one)")
    return folder


def _user_folder() -> Path | None:
    from platformdirs import user_cache_path

    try:
        return user_cache_path("tengen", appauthor=False) / "kernels"
    except (OSError, RuntimeError):
        return None


def _user() -> int:
    """Return the user's number; 0 on systems that have none."""
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(folder: Path) -> bool:
    """Make the folder if need be; tell whether it is writable, and by this user alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if hasattr(os, "getuid"):
        others = stat.S_IWGRP | stat.S_IWOTH
        if found.st_uid != os.getuid() or found.st_mode & others:
            return False
    return _is_writable(folder)


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _warn(message: str) -> None:
    """Tell it once, in the first process only."""
    if multiprocessing.parent_process() is None:
        print(f"tengen: {message}", file=sys.stderr)


def _undisturbed(load: Any, watcher: _Watcher) -> Any:
    """Let a kernel be loaded from the cache without an interruption."""

    @wraps(load)
    def load_overload(self: Any, sig: Any, target_context: Any) -> Any:
        with watcher.holding_interrupts():
            return load(self, sig, target_context)

    return load_overload


class _Watcher(event.Listener):  # type: ignore[misc]
    """Hear of each kernel that is compiled: say so, and let Ctrl-C or SIGTERM end it between two.

    Inside LLVM an interrupt is lost or ends in a traceback, so it waits for the kernel at hand,
    also for one that is only loaded.
    """

    def __init__(self) -> None:
        self.depth = self.done = self.loading = 0
        self.spoke = False
        self.interrupted = 0
        self.begin = self.last = 0.0
        self.before: dict[int, Any] = {}
        self.collecting = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        """Say which kernel it is."""
        function = event.data["dispatcher"].py_func
        self.depth += 1
        if self.depth == 1:
            self.begin = self.begin or time.monotonic()
            if not self.before:
                self._hold_interrupts()
            self.collecting = gc.get_threshold()
            gc.set_threshold(*_COLLECTING)
        if not function.__module__.startswith(("numba.", "tengen.jit")):
            self._say(function)

    def on_end(self, event: Any) -> None:
        """End here if somebody asked for it."""
        self.depth -= 1
        self.done += 1
        if self.depth == 0:
            gc.set_threshold(*self.collecting)
        if self.interrupted:
            self._answer(self.interrupted)
        elif self.depth == 0 and not self.loading:
            self._release_interrupts()

    @contextmanager
    def holding_interrupts(self) -> Iterator[None]:
        """Let interrupts wait for the end of the block, in the thread that gets them."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.loading += 1
        if self.loading == 1 and not self.before:
            self._hold_interrupts()
        try:
            yield
        finally:
            self.loading -= 1
            if self.interrupted:
                self._answer(self.interrupted)
            elif not self.loading and self.depth == 0:
                self._release_interrupts()

    def _say(self, function: Any) -> None:
        if multiprocessing.parent_process() is not None or os.environ.get("TENGEN_QUIET"):
            return
        now = time.monotonic()
        if not self.spoke:
            self.spoke, self.last = True, now
            print("tengen: compiling kernels, once for this computer ...", file=sys.stderr)
        elif now - self.last > 5:
            self.last = now
            name = f"{function.__module__.removeprefix('tengen.')}.{function.__name__}"
            print(
                f"tengen: {self.done} kernels compiled in {now - self.begin:.0f} s, now {name}",
                file=sys.stderr,
                flush=True,
            )

    def _hold_interrupts(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            usual = signal.getsignal(number)
            if usual is signal.default_int_handler or (
                callable(usual) and number == signal.SIGTERM
            ):
                self.before[number] = signal.signal(number, self._interrupt)

    def _release_interrupts(self) -> None:
        for number, usual in self.before.items():
            signal.signal(number, usual)
        self.before = {}

    def _answer(self, number: int) -> None:
        """Do what the signal does when nothing is compiled."""
        usual = self.before.get(number, signal.default_int_handler)
        self.interrupted = 0
        self._release_interrupts()
        usual(number, None)

    def _interrupt(self, number: int, frame: Any) -> None:
        if self.interrupted:
            self._answer(number)
        self.interrupted = number
