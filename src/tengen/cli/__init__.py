"""Parse the command line, call the library, print; hold no knowledge of Go.

Commands live one group to a module and are imported only when they are called, so that
`tengen --help` starts fast. Exit status: 0 done, 1 the user's mistake, 3 interrupted, 4 our bug,
143 told to end by SIGTERM.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import warnings
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tengen import __version__
from tengen.errors import TengenError, Terminated
from tengen.sanitize import printable

_THREADS = "NUMBA_NUM_THREADS"

# Command -> (module, one-line help). The module offers a Typer `app`.
COMMANDS: dict[str, tuple[str, str]] = {
    "play": ("play", "Play against the machine in the terminal."),
    "gtp": ("gtp", "Speak GTP, for Sabaki, GoGui and other programs."),
    "analysis": ("analysis", "Speak KataGo's JSON analysis protocol, for KaTrain."),
    "score": ("score", "Score finished games: dead stones, territory and area."),
    "predict": ("predict", "Show the likely moves of a position with their probabilities."),
    "review": ("review", "Annotate a game: surprises, points lost, final score."),
    "explore": ("explore", "Ask a collection what was played in a position."),
    "web": ("web", "Play, review and look at positions on a board in the browser."),
    "models": ("models", "List the models and their measured strength."),
    "players": ("players", "List the players and how to name them."),
    "doctor": ("doctor", "Tell what is installed, what is missing, and how to get it."),
    "compile": ("compile", "Compile all kernels now, so that nothing waits later."),
    "bench": ("bench", "Measure speed side by side with other libraries."),
    "games": ("games", "Read, check and convert collections of game records."),
    "move-prediction": ("move_prediction", "Predict experts' moves (Araki 2007)."),
    "scoring": ("scoring", "Learn which stones are dead (Burzillo, van der Werf)."),
    "symmetry-network": ("symmetry_network", "Internal symmetry networks (Blair 2008)."),
    "opening-td": ("opening_td", "Openings by temporal differences (Huang 2003)."),
    "opening-evolution": ("opening_evolution", "Openings by evolution (Kendall 2004)."),
    "network": ("network", "One deep network, tied by the board's symmetries."),
    "self-play": ("self_play", "A network that teaches itself, told only the rules."),
    "arena": ("arena", "Matches, tournaments and ratings."),
    "lab": ("lab", "Reproduce all five papers and write one report."),
}


class _LazyGroup(TyperGroup):
    """A group that imports a command's module only when that command is used."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return one command; None if there is none of that name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"tengen.cli.{COMMANDS[cmd_name][0]}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        command.help = command.help or COMMANDS[cmd_name][1]
        _show_flags_as_flags(command, ctx)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands from the table, without importing them."""
        rows = [(name, COMMANDS[name][1]) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _show_flags_as_flags(command: Any, ctx: Any) -> None:
    """Take the type off the flags in the help of a command and those below it."""
    for option in (*command.params, command.get_help_option(ctx)):
        if getattr(option, "is_flag", False):
            option.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _show_flags_as_flags(below, ctx)


_app = typer.Typer(cls=_LazyGroup, add_completion=False, rich_markup_mode=None)


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"tengen, version {__version__}")
        raise typer.Exit


@_app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_tell_version,
            is_eager=True,
            metavar="",
        ),
    ] = False,
) -> None:
    """A laboratory for machines that learn Go."""


def main() -> None:
    """Run the command line and translate failures into exit statuses."""
    signal.signal(signal.SIGTERM, _terminate)
    warnings.showwarning = lambda message, *_: _complain(str(message))
    sys.exit(run(sys.argv[1:]))


def _terminate(number: int, frame: FrameType | None) -> None:
    """End the work as Ctrl-C does, closing what is open; a second signal ends it at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _complain(message: str) -> None:
    """Print a mistake as one line, also where a file's name has two."""
    line = printable(message).replace("\n", "\\n")
    print(f"tengen: {line}", file=sys.stderr)


def _check_threads() -> None:
    """Refuse a number of threads on which Numba would stumble, whatever the command."""
    wanted = os.environ.get(_THREADS, "")
    if re.fullmatch(r"\s*(0+|-\d+)\s*", wanted):  # what is no number Numba leaves alone
        raise TengenError(f"{_THREADS}={wanted}: must be at least 1")


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status, printing errors as one line."""
    cli = typer.main.get_command(_app)
    try:
        _check_threads()
        # Not `cli.main`: that one turns an interruption into a status of its own.
        with cli.make_context("tengen", arguments or ["--help"]) as context:
            result = cli.invoke(context)
    except typer.Exit as stop:
        return int(stop.exit_code)
    except typer.TyperException as mistake:
        mistake.show()  # type: ignore[attr-defined]
        return 1
    except TengenError as mistake:
        _complain(str(mistake))
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # so Rich tells of one, in a table
            return 0
        raise
    except (KeyboardInterrupt, typer.Abort) as stop:
        notes = getattr(stop, "__notes__", [])
        told = isinstance(stop, Terminated)
        word = "terminated" if told else "interrupted"
        print("; ".join([f"tengen: {word}", *notes]), file=sys.stderr)
        return 128 + signal.SIGTERM if told else 3
    except OSError as failure:
        place = f"{failure.filename}: " if failure.filename else ""
        _complain(f"{place}{failure.strerror or failure}")
        return 1
    except Exception:
        import traceback

        traceback.print_exc()
        print(
            "tengen: this is a bug of ours; please report it with the lines above", file=sys.stderr
        )
        return 4
    return int(result) if isinstance(result, int) else 0
