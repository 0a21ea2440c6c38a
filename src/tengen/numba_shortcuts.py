"""Spare Numba work that it repeats while compiling; what it makes stays the same to the bit.

More than half of the time of a compilation is Numba's own Python. Much of that went into asking
anew what had been answered before: which of dozens of templates fits `a + b` or `s[i, j]`, which
variables an instruction names, whether there are new built-in functions. Knows no kernel.
"""

from __future__ import annotations

import sys
from typing import Any

from numba.core import errors, event, ir
from numba.core.cpu import CPUContext
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

__all__ = ["take_shortcuts"]

_LOCKS = frozenset({"numba:llvm_lock", "numba:compiler_lock"})
"""Events of Numba's locks, hundreds of thousands, to which nobody here listens."""

_WRAPPERS = frozenset({"no_cpython_wrapper", "no_cfunc_wrapper"})
"""Flags that say how a function is called from outside, and change nothing within it."""


def take_shortcuts() -> None:
    """Remember what was asked before; leave out locks' events and colours that nobody sees."""
    BaseFunction.get_call_type = _remembering(BaseFunction.get_call_type)  # type: ignore[method-assign]
    CPUContext.load_additional_registries = _after_imports(CPUContext.load_additional_registries)
    ir.Inst._rec_list_vars = _variables
    event.start_event = _without_locks(event.start_event)
    event.end_event = _without_locks(event.end_event)
    if hasattr(errors, "HighlightColorScheme"):  # thousands of templates say that they do not fit
        errors.HighlightColorScheme._markup = _uncoloured


def _remembering(find: Any) -> Any:
    """Ask Numba for a signature once for each function, types and flags.

    The answers are kept on the function's type: new templates make a new type. Numba itself tells
    flags of wrappers apart, and compiled `np.zeros` anew for callers that have one or none.
    """

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = context, tuple(args), tuple(kws.items()), _flags()
        known = self.__dict__.setdefault("_signatures", {})
        signature = known.get(key)
        if signature is None:
            signature = known[key] = find(self, context, args, kws)
        return signature

    return get_call_type


def _flags() -> str:
    """Name the flags under which the kernel at hand is compiled."""
    flags = ConfigStack.top_or_none()
    if flags is None:
        return ""
    given = flags._values.items()
    return repr(sorted((name, str(value)) for name, value in given if name not in _WRAPPERS))


def _after_imports(load: Any) -> Any:
    """Look for new built-in functions only when a module was imported since the last look."""
    known: dict[Any, int] = {}

    def load_additional_registries(context: Any) -> None:
        if known.get(context) != len(sys.modules):
            load(context)
            known[context] = len(sys.modules)

    return load_additional_registries


_WITHOUT: set[type] = set()
"""Types of values in an instruction that were found to name no variable."""


def _variables(self: Any, value: Any) -> list[Any]:
    """List the variables within a part of an instruction, in order."""
    found: list[Any] = []
    _gather(value.values() if isinstance(value, dict) else (value,), found)
    return found


def _gather(values: Any, found: list[Any]) -> None:
    for value in values:
        kind = type(value)
        if kind is ir.Var:
            found.append(value)
        elif kind in _WITHOUT:
            continue
        elif kind is ir.Expr:
            _gather(value._kws.values(), found)
        elif isinstance(value, ir.Var):
            found.append(value)
        elif isinstance(value, ir.Inst):
            found.extend(value.list_vars())
        elif isinstance(value, list | tuple):
            _gather(value, found)
        elif isinstance(value, dict):
            _gather(value.values(), found)
        else:
            _WITHOUT.add(kind)


def _uncoloured(self: Any, message: str, *colours: Any, **styles: Any) -> str:
    return message


def _without_locks(announce: Any) -> Any:
    def announce_others(kind: str, *details: Any, **more: Any) -> None:
        if kind not in _LOCKS:
            announce(kind, *details, **more)

    return announce_others
