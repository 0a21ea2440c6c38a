"""Laws of the whole package: documentation, quick imports, kernels that can be cached."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import tengen
from tengen.extensions import PAPERS, entries

WITHOUT_POSIX = """
import builtins, importlib, os, pkgutil, signal, sys

def import_all():
    import tengen
    for module in pkgutil.walk_packages(tengen.__path__, "tengen."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError:
                pass  # an extra is not installed

def import_as_on_windows(name, globals=None, *rest):
    if name in MISSING and globals and globals["__name__"].startswith("tengen"):
        raise ImportError(f"{name} in {globals['__name__']}")
    return usual(name, globals, *rest)

import_all()  # what other packages import is their own affair
for name in [name for name in sys.modules if name.split(".")[0] == "tengen"]:
    del sys.modules[name]
MISSING = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "curses")
usual, builtins.__import__ = builtins.__import__, import_as_on_windows
for name in ("SIGKILL", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGSTOP", "SIGCONT", "setitimer"):
    delattr(signal, name)
for name in ("getuid", "geteuid", "fork", "killpg", "setsid", "nice", "sched_getaffinity"):
    delattr(os, name)
import_all()
"""


@pytest.mark.slow
def test_no_module_needs_posix_to_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_POSIX], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


LIGHT = {
    "import tengen": ("numpy", "scipy", "matplotlib", "torch", "ray"),
    "from tengen.cli import run; run(['--help'])": ("numpy",),
    "from tengen.cli import run; run(['train', 'network', '--help'])": ("numba", "scipy", "torch"),
}


@pytest.mark.parametrize("statement", LIGHT)
def test_imports_load_nothing_heavy(statement: str) -> None:
    program = f"import sys; {statement}; print([m for m in {LIGHT[statement]} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


PACKAGES = [
    *("", "board", "commands", "models", "network", "parallel", "players", "records", "scoring"),
    *(f"papers.{entry.value.rpartition('.')[2]}" for entry in entries(PAPERS).values()),
]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_resolve(package: str) -> None:
    module = importlib.import_module(f"tengen.{package}".rstrip("."))
    for name in getattr(module, "__all__", ()):
        assert getattr(module, name) is not None and name in dir(module)


def test_other_names_do_not_resolve() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tengen.nothing
