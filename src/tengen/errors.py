"""Name whose fault a failure is; every error a user can cause derives from `TengenError`.

The command line turns a `TengenError` into one line and exit status 1. Anything else that
escapes is our bug (exit status 4). Nothing here knows Go.
"""

from collections.abc import Iterable
from difflib import get_close_matches


class TengenError(ValueError):
    """A mistake of the input, told in one line that names the input and the place."""


class IllegalMoveError(TengenError):
    """A move that the rules in force do not allow on this board."""


class RecordError(TengenError):
    """A game record that cannot be read; the message names file, game and byte offset."""


class ModelError(TengenError):
    """A model file that is damaged, foreign, or cannot serve what was asked of it."""


class RunError(TengenError):
    """A training run's folder that cannot be used as asked; nothing in it was changed."""


class BusyError(RunError):
    """A file or folder that another process is using."""


class SpecError(TengenError):
    """A player specification, option or configuration that makes no sense."""


class EngineError(TengenError):
    """An external GTP engine that crashed, hung, or answered badly; says which."""


class Terminated(KeyboardInterrupt):
    """Somebody told this process to end (SIGTERM): nobody's fault; work ends as at Ctrl-C."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message: there is none of this name, which one may be meant, which there are."""
    names = list(known)
    close = get_close_matches(name, names, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no {what} {name!r}{hint} There are: {', '.join(names) or 'none'}"
