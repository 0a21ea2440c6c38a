"""Kernels count references where they make arrays, and nowhere else; nothing is freed too early."""

from __future__ import annotations

import gc
import importlib.util
import sys
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tengen import compiling

KERNELS = """
import numpy as np
from tengen.jit import inner_kernel, kernel

@kernel
def works(a, b):
    a, b = b, a
    line = a[1]
    for i in range(line.size):
        line[i] += b[0, i]
    return line[0] + a[-1, -1]

@inner_kernel
def _half(a):
    return a[: a.size // 2]

@kernel
def views(a):
    part = _half(a)
    part[0] = 7
    return _half(part)[0] + part.size

@inner_kernel
def _fresh(n):
    return np.full(n, 2.0)

@kernel
def makes(n):
    kept = _fresh(n)
    for i in range(3):
        kept = kept + _fresh(n)
    return kept

@kernel
def shifts(a):
    a[1:] = a[:-1]

@kernel
def picks(a, places):
    chosen = a[places]
    return chosen.sum()

@inner_kernel
def _refuse(a, n):
    if n < 0:
        raise ValueError("below none")
    return a[n]

@kernel
def careful(a, n):
    return _refuse(a, n) + 1
"""


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path = tmp_path_factory.mktemp("counting") / "counting_kernels.py"
    path.write_text(KERNELS)
    with pytest.MonkeyPatch.context() as patch:  # code from a cache cannot be inspected
        patch.setattr(compiling, "cache_folder", lambda: path.parent)
        compiling.kernel_folder(path)
    spec = importlib.util.spec_from_file_location("counting_kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["counting_kernels"] = module
    spec.loader.exec_module(module)
    return module


def counts(compiled: Any) -> bool:
    """Tell whether a kernel's only form has words for counting."""
    (text,) = compiled.inspect_llvm().values()
    return "NRT_incref" in text or "NRT_decref" in text


def test_what_makes_no_array_counts_nothing(theirs: ModuleType) -> None:
    a, b = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    before = sys.getrefcount(a), sys.getrefcount(b)
    assert theirs.works(a, b) == theirs.works.py_func(np.arange(6.0).reshape(2, 3), np.ones((2, 3)))
    assert (sys.getrefcount(a), sys.getrefcount(b)) == before
    assert not counts(theirs.works)


def test_nothing_is_freed_too_early_and_nothing_kept(theirs: ModuleType) -> None:
    array = np.arange(8)
    before = sys.getrefcount(array)
    results = [theirs.views(array) for _ in range(3)]
    assert results == [11, 11, 11] and sys.getrefcount(array) == before
    assert array.tolist() == [7, *range(1, 8)]
    made = theirs.makes(5)
    assert made.tolist() == [8.0] * 5 and counts(theirs.makes)
    gone = weakref.ref(made)
    del made
    gc.collect()
    assert gone() is None


def test_copies_and_choices_are_arrays_of_their_own(theirs: ModuleType) -> None:
    array = np.arange(6)
    theirs.shifts(array)
    assert array.tolist() == [0, 0, 1, 2, 3, 4]
    assert theirs.picks(array, np.array([1, 3, 5])) == 6 and counts(theirs.picks)


def test_an_error_passes_through(theirs: ModuleType) -> None:
    array = np.arange(6)
    before = sys.getrefcount(array)
    assert theirs.careful(array, 3) == 4
    with pytest.raises(ValueError, match="below none"):
        theirs.careful(array, -1)
    assert sys.getrefcount(array) == before
