"""What some tests need beyond a plain `make setup`; without it they are skipped.

A test, a fixture or a whole file calls `need`. `pytest --bare`, as `make test` runs it, leaves out
what is installed on the machine too, so that every machine runs the same tests.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tengen.gtp.client import find_program

REASON = "needs "
"""Begins the reason of every test that is skipped here."""

_ROOT = Path(__file__).parents[1]
_without_programs = False


class _Need(NamedTuple):
    """Who provides a thing, and how to find it: a Python module by default."""

    provider: str
    find: Callable[[str], Any] | None = None


def _chromium(_: str) -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def _firefox(_: str) -> str | None:
    return shutil.which("firefox-esr") or shutil.which("firefox")


def _node_package(folder: str, file: str) -> Callable[[str], Path | None]:
    path = _ROOT / folder / "node_modules" / file
    return lambda _: path if path.exists() and shutil.which("node") else None


_NEEDS = {
    "torch": _Need("the extra torch"),
    "onnx": _Need("the extra onnx"),
    "ray": _Need("the extra ray"),
    "pandas": _Need("the extra pandas"),
    "tensorboard": _Need("the extra tensorboard"),
    "pettingzoo": _Need("the extra gym"),
    "pyspiel": _Need("the extra bench"),
    "hatchling": _Need("the extra dev"),
    "sgfmill": _Need("the extra bench"),
    "onnxruntime": _Need("the extra bench"),
    "sklearn.linear_model": _Need("the extra bench"),
    "zensical": _Need("the extra docs"),
    "nbclient": _Need("the extra notebooks"),
    "playwright.sync_api": _Need("the extra browser"),
    "katrain.core.engine": _Need("KaTrain"),
    "chromium": _Need("Chromium", _chromium),
    "firefox": _Need("Firefox", _firefox),
    "gnugo": _Need("GNU Go", find_program),
    "c++": _Need("a C++ compiler", shutil.which),
    "@sabaki/gtp": _Need("npm packages", _node_package("tests/process", "@sabaki/gtp")),
    "esbuild": _Need("npm packages", _node_package("web", "esbuild/bin/esbuild")),
    "axe-core": _Need("npm packages", _node_package("web", "axe-core/axe.min.js")),
}


def leave_out_programs() -> None:
    """Treat programs as missing, installed or not."""
    global _without_programs
    _without_programs = True


def need(name: str) -> Any:
    """Return a module or the path of a program; skip the test or the file where it is missing."""
    provider, find = _NEEDS[name]
    if find is None:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    elif not _without_programs and (found := find(name)) is not None:
        return found
    return pytest.skip(REASON + provider, allow_module_level=True)
