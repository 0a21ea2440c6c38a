"""Decorators that compile the kernels of the project.

`kernel` compiles a plain function on arrays and ints with Numba: cached on disk (see `compiling`),
without the GIL, and with NumPy's error model, because the checks for division by zero prevent
vector code. NUMBA_DISABLE_JIT=1 runs every kernel as ordinary Python. An `inner_kernel`, or one
whose name begins with an underscore, is called by kernels only and has no wrapper for Python.

Numba copies a kernel, with all that it calls, into each kernel that calls it. That makes small
kernels fast, but a deep tree of large ones would be compiled many times over. So a large kernel is
a unit: compiled once, and called through its address. Other users of Numba are not affected.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
from numba import types
from numba.core import caching, cgutils, ir, typing
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import AnnotateTypes
from numba.extending import lower_builtin, type_callable

from tengen import compiling

_KERNELS: list[_Kernel] = []
_SIGNATURES: dict[Any, Any] = {}
_PLAIN = compiling.plain()
if _PLAIN:
    np.seterr(over="ignore")  # numbers wrap around, as in compiled kernels

_LARGE = 200  # bytes of bytecode above which a call is cheap compared with the work


def kernel(function: Any) -> Any:
    """Compile a function on arrays and numbers."""
    return _as_unit(function, hot_kernel(function))


def atomic_kernel(function: Any) -> Any:
    """Compile a function that keeps the GIL, for objects that threads may share."""
    return function if _PLAIN else _as_unit(function, _kind_of(function)(function, nogil=False))


def inner_kernel(function: Any) -> Any:
    """Compile a function that only kernels call."""
    return function if _PLAIN else _as_unit(function, _InnerKernel(function))


def hot_kernel(function: Any) -> Any:
    """Compile a function for innermost loops: inlined into its callers regardless of its size."""
    return function if _PLAIN else _kind_of(function)(function)


def _kind_of(function: Any) -> type[_Kernel]:
    return _InnerKernel if function.__name__.startswith("_") else _Kernel


def kernels() -> Iterator[tuple[str, bool]]:
    """Yield the name of every kernel of all imported modules, and whether it is cached."""
    for compiled in _KERNELS:
        name = f"{compiled.py_func.__module__}.{compiled.py_func.__name__}"
        yield name, bool(compiled._cache._cache_file._load_index())


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Caches a kernel in the folder of its file, whose name changes with everything it uses."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._line = file, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator:
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(compiling.kernel_folder(Path(self._py_file)))

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._line)


class _CachedForm(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Locator,)

    def rebuild(self, context: Any, payload: Any) -> Any:
        """Load a kernel; callers that copy it need the units it calls, too."""
        result = super().rebuild(context, payload)
        result.library._reload_init.update(result.reload_init)
        return result


class _KernelCache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CachedForm

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a cached form, or None if the kernel must be compiled."""
        found = super().load_overload(signature, context)
        if found is None:
            compiling.announce(self._py_func)
        return found


class _Typing(typing.Context):  # type: ignore[misc]
    """Numba's typing context with a cache: trying templates took a third of the compile time."""

    def resolve_function_type(self, function: Any, arguments: Any, named: Any) -> Any:
        """Return the signature of a call."""
        if not isinstance(function, types.BaseFunction):
            return super().resolve_function_type(function, arguments, named)
        key = function, tuple(arguments), tuple(named.items())
        if key not in _SIGNATURES:
            found = super().resolve_function_type(function, arguments, named)
            if found is None:
                return None
            _SIGNATURES[key] = found
        return _SIGNATURES[key]


class _Compiler(CompilerBase):  # type: ignore[misc]
    """Numba's own pipeline with `_Typing`, and no reference counting where no array is made."""

    def __init__(self, context: Any, *others: Any) -> None:
        shared = _Typing.__new__(_Typing)
        shared.__dict__ = context.__dict__
        super().__init__(shared, *others)

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CountNothing, AnnotateTypes)
        passes.finalize()
        return [passes]


class _Kernel(CPUDispatcher):  # type: ignore[misc]
    """A function compiled for each combination of argument types."""

    inner = False

    def __init__(self, function: Any, *, nogil: bool = True) -> None:
        options = {
            "nopython": True,
            "nogil": nogil,
            "error_model": "numpy",
            "boundscheck": None,  # set by the environment
            "no_cpython_wrapper": self.inner,
            "no_cfunc_wrapper": True,
        }
        super().__init__(function, targetoptions=options, pipeline_class=_Compiler)
        self._cache = _KernelCache(function)
        _KERNELS.append(self)

    def compile(self, signature: Any) -> Any:
        """Load or compile a form."""
        with compiling.uninterrupted():
            return super().compile(signature)

    def get_call_template(self, arguments: Any, named: Any) -> Any:
        """Describe a call from another kernel."""
        return super().get_call_template(_plain(arguments), named)


class _InnerKernel(_Kernel):
    """A kernel without a Python wrapper: Numba itself would jump to an invalid address."""

    inner = True

    def __call__(self, *arguments: Any) -> Any:
        """Raise `TypeError`."""
        raise TypeError(
            f"{self.__module__}.{self.__name__} is called by kernels only: "
            "compile it as a `kernel`, with a name without underscore, to call it from Python"
        )


def _plain(arguments: Iterable[Any]) -> tuple[Any, ...]:
    """Map all signed integer types to int64, so that a kernel is compiled only once."""
    return tuple(
        types.int64 if isinstance(kind, types.Integer) and kind.signed else kind
        for kind in map(types.unliteral, arguments)
    )


def _as_unit(function: Any, compiled: Any) -> Any:
    """Let kernels call a large kernel instead of taking a copy of it."""
    if _PLAIN or len(function.__code__.co_code) <= _LARGE:
        return compiled

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
        unit = _Unit(function.__module__, function.__name__, signature.args)
        unit()
        # Loading the caller from the cache loads this unit first.
        context.active_code_library._reload_init.add(unit)
        convention, result = context.call_conv, signature.return_type
        shape = convention.get_function_type(result, signature.args)
        symbol = cgutils.get_or_insert_function(builder.module, shape, unit.symbol)
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
        """The unit's symbol, the same in every process: cached callers refer to it."""
        kinds = hashlib.blake2b(repr(self.arguments).encode(), digest_size=8).hexdigest()
        return f"{self.module}.{self.name}.{kinds}"

    def __call__(self) -> None:
        """Load it from the cache, or compile it."""
        dispatcher = getattr(importlib.import_module(self.module), self.name).dispatcher
        dispatcher.compile(self.arguments)
        made = dispatcher.overloads[self.arguments]
        address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
        llvmlite.binding.add_symbol(self.symbol, address)


# ----- Reference counting -----
#
# Numba counts the references to each array and frees it with the last one. A kernel that only works
# on the arrays of its arguments frees nothing, and its caller holds them throughout; yet it would
# count, with atomic instructions, which slow down parallel threads.

_PARTS = frozenset(
    ("build_tuple", "cast", "exhaust_iter", "getattr", "getiter", "iternext", "pair_first",
     "pair_second", "static_getitem")
)  # fmt: skip
"""Expressions that return a part or a view of existing values, never a new array."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _CountNothing(AnalysisPass):  # type: ignore[misc]
    """Turn reference counting off for a kernel that makes and returns no array."""

    _name = "tengen_count_nothing"

    def __init__(self) -> None:  # required by Numba
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Turn counting off if the types of the kernel's variables allow it."""
        if not _makes_arrays(state):
            state.targetctx.enable_nrt = False
            state.targetctx.__dict__.pop("nrt", None)
        return False


def _makes_arrays(state: Any) -> bool:
    """Return whether a kernel may make an array; copying one into a slice makes one, too."""
    models = state.targetctx.data_model_manager

    def is_counted(kind: Any) -> bool:
        return bool(models[kind].contains_nrt_meminfo())

    def is_new(value: Any) -> bool:
        if value.op == "getitem":  # a view, unless indexed by an array
            return is_counted(state.typemap[value.index.name])
        return value.op not in _PARTS

    if is_counted(state.return_type):
        return True
    for block in state.func_ir.blocks.values():
        for step in block.body:
            if isinstance(step, ir.SetItem | ir.StaticSetItem):
                makes = is_counted(state.typemap[step.value.name])
            elif isinstance(step, ir.Assign) and isinstance(step.value, ir.Expr):
                makes = is_counted(state.typemap[step.target.name]) and is_new(step.value)
            else:
                makes = isinstance(step, ir.Assign) and isinstance(step.value, ir.Yield)
            if makes:
                return True
    return False
