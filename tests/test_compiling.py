"""Kernels and their cache: units across processes, one signature, safe folders, clean ends."""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tengen import compiling
from tengen.board import kernels
from tengen.jit import kernels as all_kernels

BY_SIGNAL = pytest.mark.parametrize(
    ("sign", "status", "word"),
    [(signal.SIGINT, 3, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)

KERNELS = """
import numpy as np
from tengen.jit import kernel

@kernel
def weigh(a, n):
    t = 0.0
    for i in range(n):
        for j in range(a.size):
            t += a[j] * i - a[a.size - 1 - j]
            if t > 1e9:
                t = 0.0
            elif t < -1e9:
                t = 1.0
            else:
                t += a[j] + a[a.size - 1 - j] * a[j] - a[0]
    for i in range(n):
        t += a[i % a.size] * a[(i + 1) % a.size] + a[(i + 2) % a.size] * a[(i + 3) % a.size]
        t -= a[(i + 4) % a.size] * a[(i + 5) % a.size] + a[(i + 6) % a.size] * 3.0
    return t

@kernel
def _inner(a, n):
    return weigh(a, n) + weigh(a, 3)

@kernel
def middle(a, n):
    return _inner(a, n) + 1

@kernel
def outer(a, n):
    return middle(a, n) * 2
"""

PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import their_kernels
assert hasattr(their_kernels.weigh, "dispatcher"), "large enough to be a unit"
print(getattr(their_kernels, sys.argv[2])(np.arange(5.0), 7))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "their_kernels.py").write_text(KERNELS)
    return tmp_path


def python(
    *words: str, cache: Path | None = None, text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python, with a cache of kernels of its own if one is given."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": str(cache)} if cache else {})}
    environment.pop("TENGEN_QUIET", None)
    words = (sys.executable, *words)
    return subprocess.run(
        words, input=text, capture_output=True, text=True, env=environment, cwd=folder
    )


def run(folder: Path, name: str) -> tuple[float, bool]:
    """Run one kernel in a process of its own; return its value and whether it had to compile."""
    done = python("-c", PROGRAM, str(folder), name, cache=folder / "cache")
    assert done.returncode == 0, done.stderr
    return float(done.stdout), "compiling kernels" in done.stderr


def test_kernels_from_the_cache_find_the_units_they_call(folder: Path) -> None:
    middle, compiled = run(folder, "middle")
    assert compiled
    # `middle` comes from the cache and is copied into `outer`, which then has to know the unit too.
    assert run(folder, "outer") == (2 * middle, True)
    assert run(folder, "outer") == (2 * middle, False)


GAME = """(;GM[1]SZ[5]KM[0.5]RU[Japanese]
;B[bc];W[cc];B[bb];W[cb];B[bd];W[cd];B[ba];W[ca];B[be];W[ce];B[];W[])"""


def test_one_game_is_scored_without_compiling_what_nobody_has_compiled(tmp_path: Path) -> None:
    game, cache = tmp_path / "game.sgf", tmp_path / "cache"
    game.write_text(GAME)
    words = ["-m", "tengen", "score", str(game), "--json"]
    done = python(*words, cache=cache)
    assert done.stdout == python(*words).stdout and '"result": "W+5.5"' in done.stdout
    assert done.stderr.count("\n") == 1 and "kernels are not compiled yet" in done.stderr
    assert not list(cache.rglob("*.nb?"))


def test_gtp_counts_a_game_before_the_scorer_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "game.sgf").write_text(GAME)
    words = ["-m", "tengen", "gtp", "--rules", "japanese"]
    commands = "loadsgf game.sgf\nfinal_score\nfinal_status_list alive\nquit\n"
    bare = python(*words, text=commands, folder=tmp_path, cache=tmp_path / "cache")
    compiled = python(*words, text=commands, folder=tmp_path)
    assert bare.stdout == compiled.stdout and "= W+5.5" in bare.stdout
    assert bare.stderr.count("counting without them") == 1
    assert not list(tmp_path.rglob("group_kernels*"))


BOARD_KERNELS = """import os
from tengen import compiling
folder = compiling.kernel_folder(compiling._PACKAGE / 'board' / 'kernels.py')
folder.mkdir(parents=True)
"""


def test_what_is_compiled_already_is_used(tmp_path: Path) -> None:
    # A process that interprets kernels would report another process id.
    program = (
        f"{BOARD_KERNELS}"
        "SCORING = compiling.SCORING_KERNELS\n"
        "(folder / 'kernels.f-1.nbi').touch()\n"
        "assert compiling.is_compiled('board.kernels') and not compiling.is_compiled(SCORING)\n"
        "assert compiling.interpreted(os.getpid, unless='board.kernels') == os.getpid()\n"
        "asked = [compiling.interpreted(os.getpid, unless=SCORING) for _ in range(20)]\n"
        "assert asked[0] != os.getpid() == asked[-1]\n"  # many calls are worth compiling for
    )
    done = python("-c", program, cache=tmp_path)
    assert done.returncode == 0, done.stderr


def test_hardly_any_kernel_is_left_to_be_compiled_later() -> None:
    from tengen.cli import run

    assert run(["compile", "--workers", "1", "--quiet"]) == 0
    compiling.import_kernels()
    compiled = [kept for _, kept in all_kernels()]
    assert sum(compiled) > 0.95 * len(compiled)


@pytest.mark.parametrize(
    ("compiled", "imported", "spared"),
    [(False, "os", 1), (True, "os", 0), (False, "tengen.jit", 0)],
)
def test_compiling_is_spared_only_where_it_would_be_done(
    compiled: bool, imported: str, spared: int, tmp_path: Path
) -> None:
    program = (
        f"import {imported}\n"
        f"{BOARD_KERNELS}"
        f"{compiled} and (folder / 'kernels.f-1.nbi').touch()\n"
        "compiling.spare('board.kernels')\n"
        "print(int(compiling.plain()))\n"
    )
    done = python("-c", program, cache=tmp_path)
    assert int(done.stdout) == spared and bool(done.stderr) == bool(spared)


def test_a_changed_text_compiles_again_and_a_new_date_does_not(folder: Path) -> None:
    before, _ = run(folder, "weigh")
    os.utime(folder / "their_kernels.py", (1, 1))
    assert run(folder, "weigh") == (before, False)
    (folder / "their_kernels.py").write_text(KERNELS.replace("return t\n", "return t + 1\n"))
    assert run(folder, "weigh") == (before + 1, True)


def test_an_inner_kernel_refuses_a_call_from_python(folder: Path) -> None:
    text = KERNELS.replace("import kernel", "import inner_kernel, kernel")
    text = text.replace("@kernel\ndef weigh", "@inner_kernel\ndef weigh")
    (folder / "their_kernels.py").write_text(text)
    for name in ("weigh", "_inner"):  # a unit and one that is copied
        done = python("-c", PROGRAM, str(folder), name, cache=folder / "cache")
        assert done.returncode == 1  # neither -11 nor an answer
        assert f"TypeError: their_kernels.{name} is called by kernels only" in done.stderr
    run(folder, "outer")


def test_the_garbage_collector_is_as_before_after_compiling() -> None:
    from tengen.jit import kernel

    def twice(n: int) -> int:
        return 2 * n

    before = gc.get_threshold()
    assert kernel(twice)(4) == 8
    assert gc.get_threshold() == before


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
    monkeypatch.setattr(compiling, "_PACKAGE", package)
    low, high, other = (package / f"{name}_kernels.py" for name in ("low", "high", "other"))
    low.write_text("A = 1\n")
    high.write_text("from tengen.low_kernels import A\n")
    other.write_text("B = 1\n")

    def folders() -> list[Path]:
        for remembering in (compiling.kernel_folder, compiling._imported, compiling._digest):
            remembering.cache_clear()
        return [compiling.kernel_folder(path) for path in (low, high, other)]

    before = folders()
    assert folders() == before and len(set(before)) == 3
    low.write_text("A = 2\n")
    after = folders()
    assert after[0] != before[0] and after[1] != before[1] and after[2] == before[2]
    for remembering in (compiling.kernel_folder, compiling._imported, compiling._digest):
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
    monkeypatch.setattr(compiling, "_user_folder", lambda: tmp_path / "mine")
    assert compiling.cache_folder.__wrapped__() == tmp_path / "mine"
    assert (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    assert "not a folder of yours alone" in capsys.readouterr().err


def test_without_any_folder_a_temporary_one_is_used_with_one_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiling, "_user_folder", lambda: Path("/dev/null/home"))
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
@BY_SIGNAL
def test_an_interrupted_compilation_ends_with_one_line(
    game: Path, tmp_path: Path, sign: signal.Signals, status: int, word: str
) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TENGEN_QUIET": ""}
    words = [sys.executable, "-m", "tengen", "predict", str(game)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert "compiling kernels" in process.stderr.readline()
        process.send_signal(sign)
        rest = process.stderr.read()
        assert process.wait() == status
    assert rest.splitlines()[-1] == f"tengen: {word}" and "Traceback" not in rest


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
@BY_SIGNAL
def test_an_interrupt_inside_llvm_is_neither_lost_nor_told_by_it(
    game: Path, sign: signal.Signals, status: int, word: str
) -> None:
    ended = python("-c", INTERRUPTED, "predict", str(game), str(int(sign)))
    assert (ended.returncode, ended.stdout) == (status, "")
    assert ended.stderr.splitlines()[-1] == f"tengen: {word}"
    assert "ignored" not in ended.stderr and "Traceback" not in ended.stderr


# ----- Kernels count references where they make arrays, and nowhere else -----


COUNTING = """
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
    path.write_text(COUNTING)
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
