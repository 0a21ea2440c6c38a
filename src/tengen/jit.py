"""The decorator of kernels: `numba.njit` with the settings of this project.

A kernel is a plain function on arrays and numbers. It is cached on disk (see `compiling`), runs
without the GIL, and divides as NumPy does, because checks for zero prevent vector code. One whose
name begins with an underscore has no wrapper for Python: only kernels may call it.
NUMBA_DISABLE_JIT=1 runs all kernels as ordinary Python, for debugging.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import caching

from tengen import compiling

_KERNELS: list[Any] = []
_OURS: set[Callable[..., Any]] = set()

FOR_BROWSER = os.environ.get("TENGEN_TARGET") == "wasm32"
"""Whether kernels are compiled to be translated to WebAssembly (see `tengen.web.wasm`)."""

if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # numbers wrap around, as in compiled kernels


def kernel(
    function: Callable[..., Any] | None = None,
    *,
    makes_arrays: bool = False,
    keeps_gil: bool = False,
) -> Any:
    """Compile a function, on its first call for each combination of argument types.

    Only a kernel that `makes_arrays`, for itself or as a result, or that receives some from another
    kernel, counts references; elsewhere counting would cost time and slow down parallel threads.
    One that `keeps_gil` is atomic, for objects that threads may share.
    """
    if function is None:
        return lambda late: kernel(late, makes_arrays=makes_arrays, keeps_gil=keeps_gil)
    _OURS.add(function)
    compiled = numba.njit(
        cache=not FOR_BROWSER,
        nogil=not keeps_gil,
        error_model="numpy",
        no_cfunc_wrapper=True,
        no_cpython_wrapper=function.__name__.startswith("_"),
        _nrt=makes_arrays,  # if it were not set, a kernel would inherit it from its first caller
    )(function)
    _KERNELS.append(compiled)
    return compiled


def kernels() -> Iterator[tuple[str, bool]]:
    """Yield the name of every kernel of all imported modules, and whether it is cached."""
    for compiled in _KERNELS:
        function = getattr(compiled, "py_func", compiled)
        folder = compiling.kernel_folder(Path(function.__code__.co_filename))
        line = function.__code__.co_firstlineno
        name = function.__qualname__.replace("<locals>", "_locals_")
        yield (
            f"{function.__module__}.{function.__name__}",
            any(folder.glob(f"*.{name}-{line}.*.nbi")),
        )


class _Locator(caching._CacheLocator):  # type: ignore[misc]
    """Caches a kernel in the folder of its file, whose name changes with everything it uses."""

    def __init__(self, function: Any, file: str) -> None:
        self._function, self._py_file = function, file  # Numba names the file in warnings

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator | None:
        return cls(function, file) if function in _OURS else None

    def get_cache_path(self) -> str:
        return str(compiling.kernel_folder(Path(self._py_file)))

    def ensure_cache_path(self) -> None:
        """Make the folder; Numba asks for it when it has compiled a kernel."""
        compiling.announce()
        super().ensure_cache_path()

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return str(self._function.__code__.co_firstlineno)


caching.CacheImpl._locator_classes.insert(0, _Locator)
