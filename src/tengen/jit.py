"""Hold the decorators under which every kernel of the project is compiled.

`kernel` compiles a plain function on arrays and ints with Numba: cached on disk, so that only
the first run after an installation waits; without the GIL, so that threads run side by side; and
with NumPy's error model, because the checks for division by zero block vector code. Set
NUMBA_DISABLE_JIT=1 to run every kernel as ordinary Python. An `inner_kernel`, or one whose name
begins with an underscore, is called by kernels only: no wrapper for Python is compiled, and a call
from Python is refused. References to arrays are counted only where arrays are made
(`tengen.numba_counting`).

Numba copies a kernel, with all that it calls, into each kernel that calls it, and optimises the
copy again. That makes small kernels fast, for they vanish into their callers; a large one does
not vanish, and a deep tree of them was compiled many times over. Here a large kernel is a unit:
compiled once, and called by its callers through its address.

Numba's cache knows only the file a kernel stands in. A kernel compiled together with one from
another file would stay as it was when that other file changes, so the stamp under which a
compiled kernel is kept is made here from the text of its file and of every kernel file it imports.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Any

import llvmlite.binding
from numba import types
from numba.core import cgutils, config
from numba.core.registry import CPUDispatcher
from numba.extending import lower_builtin, overload, type_callable
from numba.np import arrayobj

from tengen import compiling
from tengen.numba_counting import KernelCompiler
from tengen.numba_shortcuts import take_shortcuts

__all__ = ["atomic_kernel", "hot_kernel", "inner_kernel", "kernel", "kernels"]

compiling.prepare()
take_shortcuts()

_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(
    r"^\s*from (tengen[\w.]*kernels) import|^\s*import (tengen[\w.]*kernels)", re.M
)
_KERNELS: list[Any] = []

_COMPILER = (Path(__file__), *sorted(_PACKAGE.glob("numba_*.py")))
"""What makes a kernel's code besides Numba and the kernel itself."""

_LARGE = 200
"""Bytes of bytecode above which a call costs little beside the work that is called."""


def kernel(function: Any) -> Any:
    """Compile a function on arrays and numbers."""
    return _as_unit(function, _compile(function))


def atomic_kernel(function: Any) -> Any:
    """Compile a function that keeps the GIL, so that no other thread runs until it returns.

    For what changes or reads an object that Python code may share among threads.
    """
    return _as_unit(function, _compile(function, atomic=True))


def inner_kernel(function: Any) -> Any:
    """Compile a function that only kernels call."""
    return _as_unit(function, _compile(function, inner=True))


def hot_kernel(function: Any) -> Any:
    """Compile a function that is copied into its callers however large it is.

    For what runs in the innermost loops, where a call costs as much as a small kernel's work.
    """
    return _compile(function)


def _as_unit(function: Any, compiled: Any) -> Any:
    """Make a unit of a large kernel."""
    large = len(function.__code__.co_code) > _LARGE
    return _unit(function, compiled) if large and not config.DISABLE_JIT else compiled


def _unit(function: Any, compiled: Any) -> Any:
    """Let kernels call a compiled function instead of taking a copy of it."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return compiled(*arguments)

    call.dispatcher = compiled  # type: ignore[attr-defined]

    def type_call(context: Any) -> Any:
        def type_arguments(*arguments: Any) -> Any:
            plain = _plain(arguments)
            compiled.compile(plain)
            return compiled.overloads[plain].signature

        type_arguments.pysig = inspect.signature(function)  # type: ignore[attr-defined]
        return type_arguments

    def lower_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        unit_used = _Unit(function.__module__, function.__name__, signature.args)
        unit_used()
        # Whoever loads the caller from the cache loads this unit before.
        context.active_code_library._reload_init.add(unit_used)
        convention, result = context.call_conv, signature.return_type
        shape = convention.get_function_type(result, signature.args)
        symbol = cgutils.get_or_insert_function(builder.module, shape, unit_used.symbol)
        status, value = convention.call_function(builder, symbol, result, signature.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return value

    type_callable(call)(type_call)
    lower_builtin(call, types.VarArg(types.Any))(lower_call)
    return call


@dataclass(frozen=True)
class _Unit:
    """One compiled form of a unit; calling it makes its symbol known to compiled callers."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    @property
    def symbol(self) -> str:
        """Name it the same in every process: cached callers refer to it so."""
        types_used = hashlib.blake2b(repr(self.arguments).encode(), digest_size=8).hexdigest()
        return f"{self.module}.{self.name}.{types_used}"

    def __call__(self) -> None:
        """Load it from the cache, or compile it."""
        dispatcher = getattr(importlib.import_module(self.module), self.name).dispatcher
        dispatcher.compile(self.arguments)
        made = dispatcher.overloads[self.arguments]
        address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        llvmlite.binding.add_symbol(self.symbol, address)


def kernels() -> Iterator[tuple[str, bool]]:
    """Name the kernels of all imported modules and tell which of them the cache has."""
    for compiled in _KERNELS:
        name = f"{compiled.py_func.__module__}.{compiled.py_func.__name__}"
        kept = getattr(compiled._cache, "_cache_file", None)
        yield name, bool(kept is not None and kept._load_index())


class _InnerKernel(CPUDispatcher):  # type: ignore[misc]
    """A kernel without a wrapper: Numba itself would jump to an address that is not there."""

    def __call__(self, *arguments: Any) -> Any:
        """Refuse."""
        raise TypeError(
            f"{self.__module__}.{self.__name__} is called by kernels only: "
            "compile it as a `kernel`, with a name without underscore, to call it from Python"
        )


def _compile(function: Any, *, inner: bool = False, atomic: bool = False) -> Any:
    if config.DISABLE_JIT:
        return function
    inner = inner or function.__name__.startswith("_")
    options = {
        "nopython": True,
        "nogil": not atomic,
        "error_model": "numpy",
        "boundscheck": None,  # as the environment says
        "no_cpython_wrapper": inner,
        "no_cfunc_wrapper": True,
    }
    made_by = _InnerKernel if inner else CPUDispatcher
    compiled: Any = made_by(function, targetoptions=options, pipeline_class=KernelCompiler)
    compiled.enable_caching()
    _KERNELS.append(compiled)
    compiled._cache._cache_file._source_stamp = _stamp(Path(function.__code__.co_filename))
    _remember_units(compiled._cache._impl)
    template = compiled.get_call_template
    compiled.get_call_template = lambda given, named: template(_plain(given), named)
    return compiled


def _plain(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """Make one type of the many that a number can have, so that a kernel is compiled once.

    Numba would compile `f(x, 0)` and `f(x, n)` apart, and again for each width of a number.
    """
    return tuple(
        types.int64 if isinstance(kind, types.Integer) and kind.signed else kind
        for kind in map(types.unliteral, arguments)
    )


def _remember_units(keeper: Any) -> None:
    """Let a kernel from the cache tell its callers, as a fresh one does, which units it calls."""
    rebuild = keeper.rebuild

    def rebuild_with_units(context: Any, payload: Any) -> Any:
        result = rebuild(context, payload)
        result.library._reload_init.update(result.reload_init)
        return result

    keeper.rebuild = rebuild_with_units


@cache
def _imported(path: Path) -> frozenset[Path]:
    """Return a kernel file and all kernel files it imports, directly or not."""
    found, todo = {path}, [path]
    while todo:
        text = todo.pop().read_text(encoding="utf-8")
        for match in _IMPORT.finditer(text):
            name = match.group(1) or match.group(2)
            other = _PACKAGE.parent.joinpath(*name.split(".")).with_suffix(".py")
            if other.exists() and other not in found:
                found.add(other)
                todo.append(other)
    return frozenset(found)


@cache
def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


@cache
def _stamp(path: Path) -> str:
    used = [*_COMPILER, *sorted(_imported(path))]
    return ";".join(f"{file.name}:{_digest(file)}" for file in used)


def _shapes_differ(source: Any, target: Any) -> None:
    """Stand for the error of copying an array into a slice of another shape."""


def _compile_shapes_differ(source: Any, target: Any) -> Any:
    def say(source: Any, target: Any) -> None:
        raise ValueError("cannot assign slice from input of different size")

    return say


# Numba's own message spells both shapes out. The text routines for that were compiled into every
# kernel that copies an array, and into every kernel that calls one.
if hasattr(arrayobj, "raise_with_shape_context"):
    overload(_shapes_differ)(_compile_shapes_differ)
    arrayobj.raise_with_shape_context = _shapes_differ
