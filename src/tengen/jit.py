"""Hold the one decorator under which every kernel of the project is compiled.

`kernel` compiles a plain function on arrays and ints with Numba: cached on disk, so that only
the first run after an installation waits; without the GIL, so that threads run side by side; and
with NumPy's error model, because the checks for division by zero block vector code. Set
NUMBA_DISABLE_JIT=1 to run every kernel as ordinary Python. `parallel_kernel` adds `prange`.

Numba's cache knows only the file a kernel stands in. A kernel compiled together with one from
another file would stay as it was when that other file changes, so the stamp under which a
compiled kernel is kept is made here from its file and every kernel file it imports.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit, prange

__all__ = ["kernel", "parallel_kernel", "prange"]

_PACKAGE = Path(__file__).parent
_IMPORT = re.compile(
    r"^\s*from (tengen[\w.]*kernels) import|^\s*import (tengen[\w.]*kernels)", re.M
)


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
def _stamp(path: Path) -> str:
    stats = ((file.name, file.stat()) for file in sorted(_imported(path)))
    return ";".join(f"{name}:{stat.st_mtime_ns}:{stat.st_size}" for name, stat in stats)


def _compile(function: Any, **options: Any) -> Any:
    compiled = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    kept = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if kept is not None and hasattr(kept, "_source_stamp"):
        kept._source_stamp = _stamp(Path(function.__code__.co_filename))
    return compiled


def kernel(function: Any) -> Any:
    """Compile a function on arrays and numbers."""
    return _compile(function)


def parallel_kernel(function: Any) -> Any:
    """Compile a function whose `prange` loops share the work among threads."""
    return _compile(function, parallel=True)
