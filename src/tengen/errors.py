"""Errors: all that a user can cause derive from `TengenError`; anything else is our bug."""

from collections.abc import Iterable
from difflib import get_close_matches


class TengenError(ValueError):
    """A mistake in the input; its one line names the input and the place."""


class IllegalMoveError(TengenError):
    """A move that the rules in force do not allow on this board."""


class RecordError(TengenError):
    """A game record that cannot be read; the message names file, game and byte offset."""


class ModelError(TengenError):
    """A model file that is damaged, of another kind, or unfit for what was asked."""


class RunError(TengenError):
    """A folder of a training run that cannot be used as asked; it was not changed."""


class BusyError(RunError):
    """A file or folder that another process is using."""


class SpecError(TengenError):
    """A player specification, option or configuration that makes no sense."""


class EngineError(TengenError):
    """A GTP engine that crashed, hung, or answered badly."""


class Terminated(KeyboardInterrupt):
    """The process got SIGTERM; work ends as at Ctrl-C."""


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message: there is none of this name, which one may be meant, which there are."""
    names = list(known)
    close = get_close_matches(name, names, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no {what} {name!r}{hint} There are: {', '.join(names) or 'none'}"
