"""Run a program whose descendants all end when it ends or when we do, even if we are killed.

`start_guarded` puts a guard process, this file run as a script, between us and the program. It
waits for the program to end or for a pipe from us, the leash, to close, which the system does even
when we are killed. For systems with process groups.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

PIPES: dict[str, Any] = {
    **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
    "bufsize": 0,
}
_GRACE = 0.3  # seconds between SIGTERM and SIGKILL
# From Linux's prctl.h.
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def start_guarded(words: Sequence[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program with pipes to it; return its guard and the leash, a descriptor to close."""
    held, leash = os.pipe()
    read_end, write_end = os.pipe()
    options = ["-I", "-S", __file__, str(held), str(write_end)]
    try:
        command = [sys.executable, *options, *words]
        guard = subprocess.Popen(
            command, pass_fds=(held, write_end), start_new_session=True, **PIPES
        )
    except BaseException:
        os.close(leash)
        os.close(read_end)
        raise
    finally:
        os.close(held)
        os.close(write_end)
    with open(read_end, "rb") as failure:
        number = failure.read()  # returns when the program has started, or failed to
    if number:
        os.close(leash)
        with guard:
            pass
        raise OSError(int(number), os.strerror(int(number)), words[0])
    return guard, leash


# ----- In the guarding process -----


def _guard(leash: int, write_end: int, words: list[str]) -> None:
    """Run the program until it ends or the leash is closed."""
    # Processes that leave the group become our children once their parent is gone.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    for file in (leash, write_end):
        os.set_inheritable(file, False)
    # Signals to the group must not end the guard.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    heard, wake = os.pipe()
    for file in (heard, wake):
        os.set_blocking(file, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    program = os.fork()
    if program == 0:
        _become(words, write_end)
    os.close(write_end)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for file in (0, 1, 2):  # so that our parent notices when the program closes its own
        os.dup2(nowhere, file)
    status = None
    while status is None:
        ready, _, _ = select.select([leash, heard], [], [])
        if heard in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(heard, 4096)
        status = _reap().get(program)
        if leash in ready:
            break
    _end_all(forced=leash in ready)
    _end_like(status)


def _become(words: list[str], write_end: int) -> None:
    """Replace this process with the program, or report why that failed."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # the guard itself may be killed
    signal.set_wakeup_fd(-1)
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and the program would inherit that
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(words[0], words)
    except OSError as failure:
        os.write(write_end, str(failure.errno).encode())
    os._exit(127)


def _reap() -> dict[int, int]:
    """Return the status of children that have ended."""
    ended: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while (child := os.waitpid(-1, os.WNOHANG))[0]:
            ended[child[0]] = child[1]
    return ended


def _end_all(*, forced: bool) -> None:
    """Terminate the group, then kill what is left."""
    deadline = time.monotonic() + _GRACE
    if _children():
        os.killpg(0, signal.SIGTERM)
    while _children() and time.monotonic() < deadline:
        time.sleep(0.01)
        _reap()
    if sys.platform != "linux":
        if forced:
            os.killpg(0, signal.SIGKILL)
        return  # the holder of the leash still runs, and ends the group
    while children := _children():
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
        _reap()


def _children() -> list[int]:
    """List our children; outside Linux, [0] if there are any."""
    if sys.platform != "linux":
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return []
        return [0]
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == os.getpid():
                    found.append(int(name))
    return found


def _end_like(status: int | None) -> None:
    """Exit as the program did, so that our parent gets its status."""
    if status is not None and os.WIFSIGNALED(status):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(0 if status is None else os.WEXITSTATUS(status))


def _prctl(option: int, value: int) -> None:
    """Set what Linux does when a parent dies; do nothing elsewhere."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    _guard(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
