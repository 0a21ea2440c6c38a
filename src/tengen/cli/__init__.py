"""The command line: run one command and translate failures into exit statuses.

Exit status: 0 done, 1 the user's mistake, 3 interrupted, 4 our bug, 143 ended by SIGTERM.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from types import FrameType
from typing import Annotated

import typer

from tengen import __version__
from tengen.cli.commands import GROUPS, lazy_group
from tengen.errors import TengenError, Terminated
from tengen.sanitize import printable

_THREADS = "NUMBA_NUM_THREADS"


_app = typer.Typer(cls=lazy_group(GROUPS), rich_markup_mode=None)


def _show_version(wanted: bool) -> None:
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
            callback=_show_version,
            is_eager=True,
            metavar="",
        ),
    ] = False,
) -> None:
    """A laboratory for machines that learn Go."""


def main() -> None:
    """Run the command line and translate failures into exit statuses."""
    signal.signal(signal.SIGTERM, _terminate)
    if "_TENGEN_COMPLETE" in os.environ:  # the shell asks for completions
        typer.main.get_command(_app).main(prog_name="tengen")
    warnings.showwarning = lambda message, *_: _complain(str(message))
    sys.exit(run(sys.argv[1:]))


def _terminate(number: int, frame: FrameType | None) -> None:
    """End the work as Ctrl-C does, closing what is open; a second signal ends it at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _complain(message: str) -> None:
    """Print a mistake as one line, also if a file's name has two."""
    line = printable(message).replace("\n", "\\n")
    print(f"tengen: {line}", file=sys.stderr)


def _check_threads() -> None:
    """Refuse a number of threads that Numba cannot use."""
    wanted = os.environ.get(_THREADS, "")
    if re.fullmatch(r"\s*(0+|-\d+)\s*", wanted):  # Numba ignores what is not a number
        raise TengenError(f"{_THREADS}={wanted}: must be at least 1")


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status, printing errors as one line."""
    cli = typer.main.get_command(_app)
    try:
        _check_threads()
        # Not `cli.main`, which has its own exit status for an interruption.
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
        if isinstance(stop.__context__, BrokenPipeError):  # from a table of Rich
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
