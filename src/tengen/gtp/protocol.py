"""The Go Text Protocol, version 2: requests, arguments, answers and a server."""

from __future__ import annotations

import math
import queue
import re
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from tengen.errors import TengenError

MAX_LINE = 1 << 20  # bytes; the longest useful one (gogui-play_sequence) is far shorter
# Repeated from `tengen.board`, so that an engine answers `name` before the kernels are imported.
SMALLEST, LARGEST = 2, 25
BLACK, WHITE = 1, 2
PASS, RESIGN = 0, -1
COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
_INTERRUPT = "# interrupt"  # GoGui's request to stop a command
_ID = re.compile(r"([0-9]+)(?:\s+|$)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class GtpFailure(TengenError):
    """A command that failed; its message follows the `?`."""


class Quit(Exception):
    """Raised by a command to end the session after its answer."""


@dataclass(frozen=True)
class Request:
    """One command: its id as written (empty if none), its name and its arguments."""

    id: str
    name: str
    args: tuple[str, ...] = ()


def parse_request(line: str) -> Request | None:
    """Read one line; None for empty lines and comments, which get no answer.

    >>> parse_request("12 play b d4 # good")
    Request(id='12', name='play', args=('b', 'd4'))
    >>> parse_request("# nothing") is None
    True
    """
    text = _UNPRINTABLE.sub("", line.replace("\t", " ").replace("\n", " "))
    text = text.partition("#")[0].strip()
    if not text:
        return None
    found = _ID.match(text)
    number = found.group(1) if found else ""
    words = text[found.end() :].split() if found else text.split()
    return Request(number, words[0] if words else "", tuple(words[1:]))


# ----- Arguments -----


def need(args: Sequence[str], least: int) -> Sequence[str]:
    """Return the arguments if there are at least `least`; GTP allows extra ones."""
    if len(args) < least:
        raise GtpFailure("syntax error: wrong number of arguments")
    return args


def read_colour(word: str) -> int:
    """Read b, w, black or white, in upper or lower case."""
    colour = COLOURS.get(word.lower())
    if colour is None:
        raise GtpFailure("invalid color")
    return colour


def read_integer(word: str, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Read an integer within bounds."""
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise GtpFailure("not an integer")
    number = int(word)
    if not least <= number <= most:
        raise GtpFailure(f"not an integer between {least} and {most}")
    return number


def read_number(word: str) -> float:
    """Read a finite number."""
    try:
        number = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GtpFailure("not a float")
    return number


# ----- Answers -----


def format_score(score: float) -> str:
    """Write a score for Black as GTP does.

    >>> format_score(3.5), format_score(-12.0), format_score(0)
    ('B+3.5', 'W+12', '0')
    """
    return "0" if abs(score) < 1e-9 else f"{'B' if score > 0 else 'W'}+{abs(score):.10g}"


def format_answer(number: str, text: str, *, ok: bool = True) -> str:
    r"""Format one answer; empty lines are left out, since an empty line ends it.

    >>> format_answer("7", "one\n\ntwo")
    '=7 one\ntwo\n\n'
    """
    lines = [_UNPRINTABLE.sub("", line).rstrip() for line in text.split("\n")]
    body = "\n".join(line for line in lines if line)
    # Boards start on a new line, so that their columns are aligned.
    gap = "\n" if text.startswith("\n") else " "
    return f"{'=' if ok else '?'}{number}{gap + body if body else ''}\n\n"


@dataclass
class Call:
    """The arguments of a command, and a way to answer line by line."""

    request: Request
    write: Callable[[str], None]
    waiting: Callable[[], bool]  # whether input has arrived or ended, which stops an analysis
    interrupted: Callable[[], bool]  # whether GoGui asks to stop this command
    streaming: bool = False

    @property
    def args(self) -> tuple[str, ...]:
        """The arguments of the request."""
        return self.request.args

    def stream(self, line: str) -> None:
        """Send a line of the answer now; the answer ends when the command returns."""
        self.open()
        self.write(_UNPRINTABLE.sub("", line) + "\n")

    def open(self) -> None:
        """Send the head of the answer now, before there is a first line."""
        if not self.streaming:
            self.write(f"={self.request.id}\n")
            self.streaming = True


Command = Callable[[Call], str | None]
"""Returns the text of the answer; raises `GtpFailure` (any `TengenError`) to fail."""

# ----- The server -----


class Dispatcher:
    """Answer lines from a table of commands; every line with a command gets one answer."""

    def __init__(self, commands: Mapping[str, Command], write: Callable[[str], None]) -> None:
        self.commands = commands
        self.write = write

    def handle(
        self,
        line: str,
        waiting: Callable[[], bool] = lambda: False,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Answer one line; return False when the session is over."""
        request = parse_request(line)
        if request is None:
            return True
        command = self.commands.get(request.name)
        if command is None:
            self.write(format_answer(request.id, "unknown command", ok=False))
            return True
        call, text, ok, over = Call(request, self.write, waiting, interrupted), "", True, False
        try:
            text = command(call) or ""
        except Quit:
            over = True
        except TengenError as failure:
            text, ok = str(failure), False
        except Exception as bug:
            traceback.print_exc(file=sys.stderr)
            text, ok = f"internal error: {type(bug).__name__}: {bug}", False
        if not call.streaming:
            self.write(format_answer(request.id, text, ok=ok))
        elif not ok:
            # The answer has begun with `=`, so the failure goes on its last line.
            self.write(f"error {text.splitlines()[0] if text else ''}\n\n")
        else:
            self.write(f"{text}\n\n" if text else "\n")
        return not over


def serve(
    commands: Mapping[str, Command],
    source: BinaryIO,
    target: BinaryIO,
    *,
    when_idle: Callable[[], None] = lambda: None,
) -> None:
    """Answer the commands of `source` on `target` until `quit` or the end of input.

    `when_idle` is called once, when no more commands are waiting, for slow preparations. GoGui's
    `# interrupt` stops the commands before it, running or queued; so does the end of input without
    `quit`.
    """
    reader = _LineReader(source)
    inbox = reader.inbox
    threading.Thread(target=reader.read, daemon=True).start()

    def write(text: str) -> None:
        target.write(text.encode("utf-8", "replace"))
        target.flush()

    dispatcher, patience = Dispatcher(commands, write), 0.3
    idle: Callable[[], None] | None = when_idle
    while True:
        try:
            line = inbox.get(timeout=patience if idle else None)
        except queue.Empty:
            assert idle is not None
            idle()
            idle = None
            continue
        if line is None:
            return
        patience = 0.05
        reader.taken += 1
        try:
            if not dispatcher.handle(line, lambda: not inbox.empty(), reader.interrupted):
                return
        except BrokenPipeError:
            return  # the controller is gone


class _LineReader:
    """Read ahead in a separate thread, so that new input can stop an analysis."""

    def __init__(self, source: BinaryIO) -> None:
        self.source = source
        self.inbox: queue.Queue[str | None] = queue.Queue()  # None at the end of input
        self.taken = 0  # lines taken out of it
        self._before = 0  # lines before the last interrupt

    def interrupted(self) -> bool:
        """Return whether GoGui or the end of input stops the line taken last."""
        return self._before >= self.taken

    def read(self) -> None:
        """Put lines into the inbox until the end of input."""
        lines, last = 0, ""
        while True:
            try:
                raw = self.source.readline(MAX_LINE)
            except (ValueError, OSError):
                raw = b""
            if not raw:
                if last != "quit":
                    self._before = lines  # the controller is gone
                self.inbox.put(None)
                return
            line = raw.decode("utf-8", "replace")
            if len(raw) >= MAX_LINE and not raw.endswith(b"\n"):
                # Neither half of a long line may be taken for a command.
                while raw and not raw.endswith(b"\n"):
                    raw = self.source.readline(MAX_LINE)
                found = _ID.match(line.lstrip())
                line = f"{found.group(1) if found else ''} line_too_long"
            if line.strip().lower() == _INTERRUPT:
                self._before = lines
            elif line.strip():
                lines += 1
                request = parse_request(line)
                last = request.name if request else last
                self.inbox.put(line)
