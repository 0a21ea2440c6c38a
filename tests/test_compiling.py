"""Kernels and their cache: safe folders, clean ends, and what the user is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tengen import compiling
from tengen.board import kernels
from tengen.models.registry import JUDGE

KERNELS = """
import numpy as np
from tengen.jit import kernel

@kernel
def _weigh(a, n):
    return a.sum() * n

@kernel
def outer(a, n):
    return _weigh(a, n) + 1
"""

PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import their_kernels
print(getattr(their_kernels, sys.argv[2])(np.arange(5.0), 7))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "their_kernels.py").write_text(KERNELS)
    return tmp_path


def python(
    *words: str, cache: Path | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python, with a cache of kernels of its own if one is given."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": str(cache)} if cache else {})}
    environment.pop("TENGEN_QUIET", None)
    words = (sys.executable, *words)
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment, cwd=folder
    )


def run(folder: Path, name: str) -> tuple[float, bool]:
    """Run one kernel in a process of its own; return its value and whether it had to compile."""
    done = python("-c", PROGRAM, str(folder), name, cache=folder / "cache")
    assert done.returncode == 0, done.stderr
    return float(done.stdout), "compiling kernels" in done.stderr


BOARD_KERNELS = """import os
from tengen import compiling
folder = compiling.kernel_folder(compiling.PACKAGE / 'board' / 'kernels.py')
folder.mkdir(parents=True)
"""


@pytest.mark.parametrize("compiled", [False, True])
def test_a_process_does_without_the_jit_only_where_it_would_compile(
    compiled: bool, tmp_path: Path
) -> None:
    program = (
        f"{BOARD_KERNELS}"
        f"{compiled} and (folder / 'kernels.f-1.nbi').touch()\n"
        "print(int(compiling.disable_jit_unless_cached('board.kernels')))\n"
        "import tengen\n"
        "tengen.Board(5).legal_mask()\n"
    )
    done = python("-c", program, cache=tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == (not compiled) and ("compiling" in done.stderr) == compiled


# No main guard: a process started by the library would run the script once more.
SCRIPT = """
import tengen
from tengen.scoring.judging import count_without
print(count_without(tengen.Board(5, rules="tromp_taylor"), []).score)
"""


def test_a_plain_script_compiles_and_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    first, again = (python("script.py", folder=tmp_path, cache=tmp_path / "cache") for _ in "12")
    assert first.returncode == again.returncode == 0, first.stderr
    assert len(first.stderr.splitlines()) == 1 and "compiling kernels" in first.stderr
    assert again.stderr == "" and again.stdout == first.stdout


def test_a_changed_text_compiles_again_and_a_new_date_does_not(folder: Path) -> None:
    before, _ = run(folder, "outer")
    os.utime(folder / "their_kernels.py", (1, 1))
    assert run(folder, "outer") == (before, False)
    (folder / "their_kernels.py").write_text(KERNELS.replace("* n\n", "* n + 1\n"))
    assert run(folder, "outer") == (before + 1, True)


FOREIGN = """
import os, sys
import numba.core.config as config
before, environment = dict(vars(config)), dict(os.environ)
import tengen, tengen.board.kernels
sys.path.insert(0, sys.argv[1])
import foreign
assert foreign.double(4) == 8
assert {k: v for k, v in vars(config).items() if k in before} == before
assert dict(os.environ) == environment
"""


def test_numba_stays_as_it_is_for_other_functions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import numba\n\n@numba.njit(cache=True)\ndef double(n):\n    return 2 * n\n"
    (tmp_path / "foreign.py").write_text(text)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    done = python("-c", FOREIGN, str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "__pycache__").glob("foreign.double-*.nbi"))
    assert "foreign" not in done.stderr


def test_a_kernel_file_has_another_folder_once_a_file_it_imports_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tengen"
    package.mkdir()
    monkeypatch.setattr(compiling, "PACKAGE", package)
    low, high, other = (package / f"{name}_kernels.py" for name in ("low", "high", "other"))
    low.write_text("A = 1\n")
    high.write_text("from tengen.low_kernels import A\n")
    other.write_text("B = 1\n")

    def folders() -> list[Path]:
        for remembering in (compiling.kernel_folder, compiling.kernel_sources, compiling.digest_of):
            remembering.cache_clear()
        return [compiling.kernel_folder(path) for path in (low, high, other)]

    before = folders()
    assert folders() == before and len(set(before)) == 3
    low.write_text("A = 2\n")
    after = folders()
    assert after[0] != before[0] and after[1] != before[1] and after[2] == before[2]
    for remembering in (compiling.kernel_folder, compiling.kernel_sources, compiling.digest_of):
        remembering.cache_clear()


def test_old_kernels_are_deleted_and_those_in_use_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    compiling.kernel_folder.cache_clear()
    used = compiling.kernel_folder(Path(kernels.__file__))
    old, new = tmp_path / "kernels-old", tmp_path / "kernels-new"
    for folder in (used, old, new):
        folder.mkdir()
        (folder / "kernels.f-1.py311.nbi").touch()
    for folder in (used, old):
        os.utime(folder, (1, 1))
    compiling.prune()
    compiling.kernel_folder.cache_clear()
    assert used.exists() and new.exists() and not old.exists()


def test_a_folder_that_others_may_write_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(open_to_all))
    monkeypatch.setattr(compiling, "user_folder", lambda: tmp_path / "mine")
    assert compiling.cache_folder.__wrapped__() == tmp_path / "mine"
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    assert "is writable by other users" in capsys.readouterr().err


def test_without_any_folder_a_temporary_one_is_used_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiling, "user_folder", lambda: Path("/dev/null/home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first = compiling.cache_folder.__wrapped__()
    assert first.parent == tmp_path and first.stat().st_mode & 0o777 == 0o700
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert compiling.cache_folder.__wrapped__() == first
    # Somebody else took the name: as a link, or open to others.
    first.rmdir()
    (tmp_path / "trap").mkdir()
    first.symlink_to(tmp_path / "trap")
    other = compiling.cache_folder.__wrapped__()
    assert other not in (first, tmp_path / "trap") and other.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def game(tmp_path: Path) -> Path:
    """Return the record of a small game."""
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[5]KM[0.5];B[cc];W[];B[])")
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_terminated_compilation_ends_with_one_line(game: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TENGEN_QUIET": ""}
    words = [sys.executable, "-m", "tengen", "predict", str(game), "--model", JUDGE]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert "compiling kernels" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait() == 143
    assert rest.splitlines()[-1] == "tengen: terminated" and "Traceback" not in rest


INTERRUPTED = """
import os, sys
from numba.core import codegen
from tengen.cli import main

library = codegen.JITCodeLibrary if hasattr(codegen, "JITCodeLibrary") else codegen.CPUCodeLibrary
found = library._object_getbuffer_hook
signs = [int(sys.argv.pop())]

def interrupt(module):
    if signs:
        os.kill(os.getpid(), signs.pop())
    return found(module)

library._object_getbuffer_hook = interrupt
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_inside_llvm_is_neither_lost_nor_printed_by_it(
    game: Path,
) -> None:
    sign = str(int(signal.SIGINT))
    ended = python("-c", INTERRUPTED, "predict", str(game), "--model", JUDGE, sign)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr.splitlines()[-1] == "tengen: interrupted"
    assert "ignored" not in ended.stderr and "Traceback" not in ended.stderr


# Prints the share of the kernels that the steps of `tengen compile` compile, then the arrays that
# each step leaves behind when it is run for the second time.
LEAKS = """
import gc
from numba.core.runtime import rtsys
from tengen import compiling
from tengen.jit import kernels
from tengen.warming import steps

def kept():
    gc.collect()
    found = rtsys.get_allocation_stats()
    return found.mi_alloc - found.mi_free

for step in steps().values():
    step()
compiling.import_kernels()
compiled = [cached for _, cached in kernels()]
print(sum(compiled) / len(compiled))
for name, step in steps().items():
    before = kept()
    step()
    print(name, kept() - before)
"""


def test_all_kernels_are_compiled_and_free_the_arrays_they_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NUMBA_NRT_STATS", "1")
    done = python("-c", LEAKS)
    assert done.returncode == 0, done.stderr
    share, *lines = done.stdout.splitlines()
    assert float(share) > 0.95
    left = dict(line.split() for line in lines)
    assert left and {name: n for name, n in left.items() if n != "0"} == {}
