"""Spare Numba work that it repeats while compiling; what it makes stays the same to the bit.

Half of the time of a compilation is Numba's own Python. Most of that went into asking anew, for
each `a + b` and each `s[i, j]` of each kernel, which of dozens of templates fits types that had
been asked for before. Knows no kernel.
"""

from __future__ import annotations

from typing import Any

from numba.core import event
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

__all__ = ["take_shortcuts"]

_LOCKS = frozenset({"numba:llvm_lock", "numba:compiler_lock"})
"""Events of Numba's locks, hundreds of thousands, to which nobody here listens."""


def take_shortcuts() -> None:
    """Remember what a built-in function gives for some types; do not announce locks."""
    BaseFunction.get_call_type = _remembering(BaseFunction.get_call_type)  # type: ignore[method-assign]
    event.start_event = _without_locks(event.start_event)
    event.end_event = _without_locks(event.end_event)


def _remembering(find: Any) -> Any:
    """Ask Numba for a signature once for each function, types and flags.

    The answers are kept on the function's type: new templates make a new type.
    """

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        flags = ConfigStack.top_or_none()
        key = (context, tuple(args), tuple(kws.items()), None if flags is None else flags.copy())
        known = self.__dict__.setdefault("_signatures", {})
        signature = known.get(key)
        if signature is None:
            signature = known[key] = find(self, context, args, kws)
        return signature

    return get_call_type


def _without_locks(announce: Any) -> Any:
    def announce_others(kind: str, *details: Any, **more: Any) -> None:
        if kind not in _LOCKS:
            announce(kind, *details, **more)

    return announce_others
