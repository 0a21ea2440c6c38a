"""A client for GTP engines: send commands, enforce time limits, classify faults."""

from __future__ import annotations

import math
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self, TypeVar

import psutil

from tengen.errors import EngineError
from tengen.gtp.process_guard import PIPES, start_guarded

_MAX_ANSWER = 1 << 22  # bytes; kata-analyze on 19x19 stays far below
# GTP: control characters are ignored, except for tabs and line ends.
_CONTROL = bytes({*range(32), 127} - {9, 10})
# Seconds to wait for the exit status and standard error of an engine whose pipe is closed.
_LAST_WORDS = 5.0
# Seconds per wait for a queue, and the excess from which we count as having been suspended.
_TURN, _STOPPED = 0.5, 1.0

_Item = TypeVar("_Item")


class EngineFault(EngineError):
    """A failure of `engine` during `command`."""

    def __init__(self, engine: str, command: str, reason: str, stderr: Sequence[str] = ()) -> None:
        self.engine, self.command, self.reason, self.stderr = engine, command, reason, stderr
        last_lines = f"; it said: {' | '.join(stderr[-3:])}" if stderr else ""
        during = f" at `{command}`" if command else ""
        super().__init__(f"engine {engine}{during}: {reason}{last_lines}")

    def __reduce__(self) -> tuple[type[EngineFault], tuple[str, str, str, Sequence[str]]]:
        return type(self), (self.engine, self.command, self.reason, self.stderr)


class EngineStartFault(EngineFault):
    """The engine could not be started, or did not answer."""


class EngineCrash(EngineFault):
    """The engine was killed by a signal or exited with a failing status."""


class EngineExit(EngineFault):
    """The engine exited, or closed its output, before `quit`."""


class EngineTimeout(EngineFault):
    """The engine did not answer in time; `reason` names the limit exceeded."""


class EngineBadAnswer(EngineFault):
    """The engine's answer is not GTP, or not what the command requires."""


class EngineRefusal(EngineFault):
    """The engine refused a command that it must support."""


class EngineIllegalMove(EngineFault):
    """The engine played a move that the rules do not allow."""


@dataclass(frozen=True)
class Limits:
    """Time limits in seconds, None for no limit; `command` is for commands that choose no move."""

    startup: float | None = 30.0
    command: float | None = 30.0
    move: float | None = 120.0
    close: float = 2.0


def find_program(name: str) -> str | None:
    """Return the path of a program, also from Debian's /usr/games; None if there is none."""
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/games")


class Deadline:
    """Seconds left to wait, not counting time in which this process was suspended."""

    def __init__(self, seconds: float | None) -> None:
        self.left = math.inf if seconds is None else seconds

    def take(self, line: queue.SimpleQueue[_Item] | queue.Queue[_Item]) -> _Item:
        """Take the next item of a queue; raise `TimeoutError` when there is none in time."""
        while True:
            turn = max(min(self.left, _TURN), 0.0)
            begin = time.monotonic()
            try:
                return line.get(timeout=turn)
            except queue.Empty:
                if self.left <= turn:
                    raise TimeoutError from None
            finally:
                took = time.monotonic() - begin
                self.left -= took if took < turn + _STOPPED else turn


class ChannelClosed(Exception):
    """The other end of a channel is closed."""


class Channel:
    """Pipes to an engine in a separate process, which ends with ours, as do its children."""

    def __init__(self, command: str | Sequence[str]) -> None:
        words = shlex.split(command) if isinstance(command, str) else list(command)
        self.name = os.path.basename(words[0]) if words else "(nothing)"
        if not words:
            raise EngineStartFault(self.name, "", "the command line is empty")
        words[0] = find_program(words[0]) or words[0]
        self._leash = -1
        try:
            if hasattr(os, "killpg"):
                self.process, self._leash = start_guarded(words)
            else:
                self.process = subprocess.Popen(words, **PIPES)
        except (OSError, ValueError) as failure:
            reason = getattr(failure, "strerror", None) or str(failure)
            raise EngineStartFault(self.name, "", f"cannot be started: {reason}") from None
        assert self.process.stdin and self.process.stdout and self.process.stderr
        # Threads read and write the pipes, because queues have timeouts on every system.
        self._written: queue.SimpleQueue[bool] = queue.SimpleQueue()
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._answers: queue.Queue[bytes] = queue.Queue(maxsize=64)
        self._lines: deque[str] = deque(maxlen=200)
        self._gone = self._closed = False
        works = (self._listen, self._read, self._write)
        threads = [threading.Thread(target=work, daemon=True) for work in works]
        self._listener, self._reader, _ = threads
        for thread in threads:
            thread.start()

    def send(self, data: bytes, deadline: Deadline) -> None:
        """Send all of `data`; raise `ChannelClosed` or `TimeoutError`."""
        self._to_write.put(data)
        if not deadline.take(self._written):
            raise ChannelClosed

    def receive(self, deadline: Deadline) -> bytes:
        """Return what has arrived, at least a byte; raise `ChannelClosed` or `TimeoutError`."""
        data = b"" if self._gone else deadline.take(self._answers)
        if not data:
            self._gone = True
            raise ChannelClosed
        return data

    def stderr(self) -> tuple[str, ...]:
        """Return the last lines of standard error."""
        if self.process.poll() is not None:
            self._listener.join(_LAST_WORDS)
        return tuple(self._lines)

    def fate(self) -> int | None:
        """Return the exit status of an engine whose pipe is closed; None if it still runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(_LAST_WORDS)
        return None

    def close(self, patience: float, farewell: bytes = b"") -> None:
        """Send `farewell`, wait, then end the engine and all that it started; always reap it."""
        if self._closed:
            return
        self._closed = True
        assert self.process.stdin and self.process.stdout and self.process.stderr
        helpers = [] if hasattr(os, "killpg") else self._helpers()
        if farewell:
            with suppress(ChannelClosed, TimeoutError, OSError):
                self.send(farewell, Deadline(patience))
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        if self._leash >= 0:
            os.close(self._leash)  # the guard ends all processes, even those that left the group
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(5.0)
        for force, pause in ((False, 0.5), (True, None)):
            self._end(helpers, force=force)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(pause)
        self._to_write.put(None)
        pipes = {self._listener: self.process.stderr, self._reader: self.process.stdout}
        for thread, pipe in pipes.items():
            while thread.is_alive() and not self._answers.empty():
                self._answers.get()  # the reader may be waiting for room
            thread.join(0.5)
            if not thread.is_alive():
                pipe.close()

    def _helpers(self) -> list[psutil.Process]:
        """List the engine's children, for systems without process groups."""
        with suppress(psutil.Error):
            return list(psutil.Process(self.process.pid).children(recursive=True))
        return []

    def _end(self, helpers: list[psutil.Process], *, force: bool) -> None:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL if force else signal.SIGTERM)
            return
        for process in (*helpers, self.process):
            with suppress(psutil.Error, OSError):
                process.kill() if force else process.terminate()

    def _read(self) -> None:
        """Queue what the engine writes; an empty piece is the end."""
        assert self.process.stdout
        with suppress(OSError, ValueError):
            while data := self.process.stdout.read(1 << 16):
                self._answers.put(data)
        self._answers.put(b"")

    def _write(self) -> None:
        """Write what is queued, and report whether that worked."""
        assert self.process.stdin
        while (data := self._to_write.get()) is not None:
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[self.process.stdin.write(rest) :]
                self._written.put(True)
            except (OSError, ValueError):
                self._written.put(False)

    def _listen(self) -> None:
        """Keep the last lines of standard error, of any length and encoding."""
        assert self.process.stderr
        rest = b""
        with suppress(OSError, ValueError):
            while chunk := self.process.stderr.read(1 << 14):
                *lines, rest = (rest + chunk)[-(1 << 16) :].split(b"\n")
                self._lines.extend(line.decode("utf-8", "replace")[:1000] for line in lines)
        if rest:
            self._lines.append(rest.decode("utf-8", "replace")[:1000])


class Client:
    """A connection to one engine, for a `with` block; after a fault all commands raise it."""

    def __init__(self, channel: Channel, *, limits: Limits | None = None) -> None:
        self.channel, self.limits = channel, limits or Limits()
        self.name = channel.name
        self.version = ""
        self.commands: frozenset[str] = frozenset()
        self.fault: EngineFault | None = None
        self._buffer = b""
        self._closed = False

    @classmethod
    def start(cls, command: str | Sequence[str], *, limits: Limits | None = None) -> Self:
        """Start an engine and ask for its name, version and commands."""
        client = cls(Channel(command), limits=limits)
        try:
            client.greet()
        except BaseException:
            client.close()
            raise
        return client

    def greet(self) -> None:
        """Query the engine's name, version and commands, within the limit for start-up."""
        deadline = Deadline(self.limits.startup)
        try:
            listed = self._exchange("list_commands", deadline, "start-up time")
        except EngineTimeout as fault:
            self.fault = EngineStartFault(fault.engine, fault.command, fault.reason, fault.stderr)
            raise self.fault from None
        self.commands = frozenset(listed.split())
        for attribute in ("name", "version"):
            with suppress(EngineRefusal):
                text = self._exchange(attribute, deadline, "start-up time")
                setattr(self, attribute, text.strip() or getattr(self, attribute))

    def command(self, name: str, *args: object) -> str:
        """Send a command and return the text of its answer."""
        line = " ".join([name, *map(str, args)])
        return self._exchange(line, Deadline(self.limits.command), "time for a command")

    def think(self, name: str, *args: object) -> str:
        """Send a command under the time limit for a move and return the text of its answer."""
        line = " ".join([name, *map(str, args)])
        return self._exchange(line, Deadline(self.limits.move), "time for a move")

    def known(self, name: str) -> bool:
        """Return whether the engine lists a command."""
        return name in self.commands

    def stderr(self) -> tuple[str, ...]:
        """Return the last lines that the engine wrote to standard error."""
        return self.channel.stderr()

    def close(self) -> None:
        """Ask the engine to quit, and end it if it does not; safe to call twice."""
        self._closed = True
        if self.fault is None:
            self.channel.close(self.limits.close, b"quit\n")
        else:
            self.channel.close(0.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, line: str, deadline: Deadline, limit_name: str) -> str:
        if self.fault is not None:
            raise self.fault
        if self._closed:
            raise EngineExit(self.name, line, "was closed")
        if "\n" in line or "\r" in line:
            raise ValueError(f"a command is one line, not {line!r}")
        try:
            self.channel.send(line.encode() + b"\n", deadline)
            answer = self._answer(line, deadline)
        except TimeoutError:
            raise self._fail(EngineTimeout, line, f"{limit_name} ran out") from None
        except ChannelClosed:
            raise self._gone(line) from None
        if answer[:1] == "?":
            text = answer[1:].strip() or "failed without a reason"
            raise EngineRefusal(self.name, line, f"refused: {text}", self.channel.stderr())
        return answer[1:].strip()

    def _answer(self, line: str, deadline: Deadline) -> str:
        """Read one answer up to its empty line; it starts with `=` or `?`."""
        while True:
            data = self._buffer.translate(None, _CONTROL).lstrip(b" \t\n")
            if data and data[:1] not in b"=?":
                shown = data.split(b"\n")[0].decode("utf-8", "replace")[:80]
                raise self._fail(EngineBadAnswer, line, f"answered {shown!r}, which is not GTP")
            text, end, rest = data.partition(b"\n\n")
            if end:
                self._buffer = rest
                return text.decode("utf-8", "replace")
            if len(data) > _MAX_ANSWER:
                raise self._fail(EngineBadAnswer, line, "its answer does not end")
            self._buffer = data + self.channel.receive(deadline)

    def _gone(self, line: str) -> EngineFault:
        """Distinguish a crash from an early exit."""
        status = self.channel.fate()
        if status is not None and status < 0:
            with suppress(ValueError):
                name = signal.Signals(-status).name
                return self._fail(EngineCrash, line, f"was killed by {name}")
        if status:
            return self._fail(EngineCrash, line, f"crashed with exit status {status}")
        return self._fail(EngineExit, line, "exited early" if status == 0 else "closed its output")

    def _fail(self, kind: type[EngineFault], line: str, reason: str) -> EngineFault:
        """Record a fault, end the engine, and return the fault to raise."""
        self.fault = kind(self.name, line, reason, self.channel.stderr())
        self.close()
        return self.fault
