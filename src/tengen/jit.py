"""Hold the one decorator under which every kernel of the project is compiled.

`kernel` compiles a plain function on arrays and ints with Numba: cached on disk, so that only
the first run after an installation waits; without the GIL, so that threads run side by side; and
with NumPy's error model, because the checks for division by zero block vector code. Set
NUMBA_DISABLE_JIT=1 to run every kernel as ordinary Python. `parallel_kernel` adds `prange`.
"""

from __future__ import annotations

from numba import njit, prange

__all__ = ["inline_kernel", "kernel", "parallel_kernel", "prange"]

kernel = njit(cache=True, nogil=True, error_model="numpy")
parallel_kernel = njit(cache=True, nogil=True, error_model="numpy", parallel=True)
inline_kernel = njit(cache=True, nogil=True, error_model="numpy", inline="always")
