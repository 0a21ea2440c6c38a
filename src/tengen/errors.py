"""Exceptions: all that a user can cause derive from `TengenError`; any other is a bug."""

from collections.abc import Iterable
from difflib import get_close_matches


class TengenError(ValueError):
    """A mistake in the input; the one-line message names the input and where it is wrong."""


class IllegalMoveError(TengenError):
    """A move that the rules in force do not allow on this board."""


class RecordError(TengenError):
    """A game record that cannot be read; the message names file, game and byte offset."""


class ModelError(TengenError):
    """A model file that is damaged, of another kind, or unsuitable for the request."""


class RunError(TengenError):
    """A training run's folder that cannot be used as requested; it was not changed."""


class BusyError(RunError):
    """A file or folder that another process is using."""


class SpecError(TengenError):
    """A player specification, option or configuration that is invalid."""


class EngineError(TengenError):
    """A GTP engine that crashed, hung, or gave a bad response."""


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM; work ends as on Ctrl-C."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message that a name is unknown, with the closest match and all known names."""
    names = list(known)
    close = get_close_matches(name, names, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no {what} {name!r}{hint} There are: {', '.join(names) or 'none'}"
