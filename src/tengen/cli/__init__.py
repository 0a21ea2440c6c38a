"""The command line: the table of commands, imported on use, and exit statuses for errors.

A command parses, calls and prints; what it computes belongs to the packages below.
Exit status: 0 success, 1 user error, 3 interrupted, 4 a bug in tengen, 143 ended by SIGTERM.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from difflib import get_close_matches
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from tengen import __version__, extensions
from tengen.errors import TengenError, Terminated
from tengen.sanitize import printable


class Entry(NamedTuple):
    """A command and its line in the help; MODULE or MODULE.GROUP is a group of commands.

    A function returns the command or the entries of a group; another the line.
    """

    place: str | Callable[[], Any]
    line: str | Callable[[], str]

    @property
    def help(self) -> str:
        """The line in the help."""
        return self.line if isinstance(self.line, str) else self.line()


def _learners(verb: str) -> dict[str, Entry]:
    """Return the command of each registered learner, `train` or `evaluate`."""
    names = extensions.entries(extensions.LEARNERS)
    return {n: Entry(partial(_learner, verb, n), partial(_learner_help, verb, n)) for n in names}


def _learner(verb: str, name: str) -> Any:
    from tengen.commands import command
    from tengen.commands.learners import learner

    app = typer.Typer()
    command(app)(getattr(learner(name), verb))
    return next(iter(typer.main.get_group(app).commands.values()))


def _learner_help(verb: str, name: str) -> str:
    from tengen.commands.learners import learner

    try:
        return str(getattr(learner(name), f"{verb}_help"))
    except extensions.ExtensionError as failure:
        return str(failure)


GROUPS: dict[str, dict[str, Entry]] = {
    "Play": {
        "play": Entry("play:play", "Play against the computer in the terminal."),
        "web": Entry("servers:web", "Play, review and explore on a board in the browser."),
        "gtp": Entry("servers:gtp", "Run as a GTP engine, for Sabaki, GoGui and others."),
        "analysis": Entry("servers:analysis", "Run KataGo's analysis protocol, for KaTrain."),
    },
    "Games": {
        "score": Entry("games:score", "Score finished games: dead stones, territory, area."),
        "predict": Entry("games:predict", "Show the likely moves of a position."),
        "review": Entry("games:review", "Review games: points lost by each move, better moves."),
        "explore": Entry("games:explore", "Show what a collection played in a position."),
        "games": Entry("games.collections", "Count, check and convert game records."),
    },
    "Matches": {
        "arena": Entry("arena", "Play matches and tournaments; rate players."),
    },
    "Learn": {
        "train": Entry(partial(_learners, "train"), "Train a learner."),
        "evaluate": Entry(
            partial(_learners, "evaluate"), "Measure what a learner has learned."
        ),
        "lab": Entry("lab:lab", "Reproduce the five papers and write one report."),
        "models": Entry("models", "List, show, export and average models."),
        "players": Entry("models.lists:players", "List the players and their options."),
    },
    "System": {
        "doctor": Entry("system:doctor", "Check what is installed and what is missing."),
        "compile": Entry("system:compile", "Compile all kernels now."),
        "bench": Entry("system:bench", "Measure speed side by side with other libraries."),
    },
}  # fmt: skip


class LazyGroup(TyperGroup):
    """A group that imports the module of a command only when that command is used."""

    sections: dict[str, dict[str, Entry]]
    completing = False

    @property
    def entries(self) -> dict[str, Entry]:
        """The commands of all sections."""
        return {name: entry for part in self.sections.values() for name, entry in part.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the table."""
        return list(self.entries)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return a command; None if there is none of that name."""
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        if self.completing:  # only the name and the help are needed
            return TyperCommand(cmd_name, help=entry.line if isinstance(entry.line, str) else "")
        command = _load(entry.place)
        command.name = cmd_name
        command.help = command.help or entry.help
        _show_flags_as_flags(command, ctx)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or fail with the names that are close."""
        if args[0] not in self.entries and not args[0].startswith("-"):
            close = get_close_matches(args[0], self.entries)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of the table, without importing any command."""
        width = max(map(len, self.entries))
        for title, part in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), each.help) for name, each in part.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a command or option, without importing any command."""
        self.completing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self.completing = False


def _lazy_group(sections: dict[str, dict[str, Entry]]) -> type[LazyGroup]:
    return type("Group", (LazyGroup,), {"sections": sections})


def _load(place: str | Callable[[], Any]) -> Any:
    if not isinstance(place, str):
        found = place()
        if not isinstance(found, dict):
            return found
        return _lazy_group({"Commands": found})(no_args_is_help=True, rich_markup_mode=None)
    where, _, name = place.partition(":")
    module, _, group_name = where.partition(".")
    found = importlib.import_module(f"tengen.cli.{module}")
    group = typer.main.get_group(getattr(found, group_name or "app"))
    return group.commands[name] if name else group


def _show_flags_as_flags(command: Any, ctx: Any) -> None:
    """Leave the type of flags out of the help of a command and its subcommands."""
    for option in (*command.params, command.get_help_option(ctx)):
        if getattr(option, "is_flag", False):
            option.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _show_flags_as_flags(below, ctx)


app = typer.Typer(cls=_lazy_group(GROUPS), rich_markup_mode=None)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tengen, version {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False,
        "--version",
        help="Show the version and exit.",
        callback=_show_version,
        is_eager=True,
        metavar="",
    ),
) -> None:
    """A laboratory for machines that learn Go."""


def main() -> None:
    """Run the command line and translate failures into exit statuses."""
    signal.signal(signal.SIGTERM, _stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
        signal.signal(signal.SIGINT, _stop)
    if "_TENGEN_COMPLETE" in os.environ:  # the shell asks for completions
        typer.main.get_command(app).main(prog_name="tengen")
    warnings.showwarning = lambda message, *_: _complain(str(message))  # type: ignore[assignment]
    sys.exit(run(sys.argv[1:]))


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop, closing what is open; a second SIGTERM ends the process at once."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "llvmlite.binding.executionengine":
            # Compiling or loading a kernel: LLVM would lose the exception.
            threading.Timer(0.05, os.kill, [os.getpid(), number]).start()
            return
        frame = frame.f_back
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _complain(message: str) -> int:
    """Print an error as one line, even if it contains line breaks; return the exit status."""
    line = printable(message).replace("\n", "\\n")
    print(f"tengen: {line}", file=sys.stderr)
    return 1


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status, printing errors as one line."""
    cli = typer.main.get_command(app)
    try:
        threads = os.environ.get("NUMBA_NUM_THREADS", "")
        if re.fullmatch(r"\s*(0+|-\d+)\s*", threads):  # Numba ignores what is not a number
            raise TengenError(f"NUMBA_NUM_THREADS={threads}: must be at least 1")
        # Not `cli.main`, which has its own exit status for an interruption.
        with cli.make_context("tengen", arguments or ["--help"]) as context:
            result = cli.invoke(context)
    except typer.Exit as stop:
        return int(stop.exit_code)
    except typer.TyperException as mistake:
        mistake.show()  # type: ignore[attr-defined]
        return 1
    except TengenError as mistake:
        return _complain(str(mistake))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # from a table of Rich
            return 0
        raise
    except (KeyboardInterrupt, typer.Abort) as stop:
        killed, notes = isinstance(stop, Terminated), getattr(stop, "__notes__", [])
        word = "terminated" if killed else "interrupted"
        print("; ".join([f"tengen: {word}", *notes]), file=sys.stderr)
        return 128 + signal.SIGTERM if killed else 3
    except OSError as failure:
        place = f"{failure.filename}: " if failure.filename else ""
        return _complain(f"{place}{failure.strerror or failure}")
    except Exception:
        traceback.print_exc()
        _complain("this is a bug of ours; please report it with the lines above")
        return 4
    return int(result) if isinstance(result, int) else 0
