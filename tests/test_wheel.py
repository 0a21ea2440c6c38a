"""The wheel, as a stranger gets it: built, installed into a bare environment, used elsewhere.

Needs a package index and some minutes, so only `make test-wheel` and CI run it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[1]
GAME = "(;GM[1]FF[4]SZ[9]KM[6.5]RU[Japanese];B[ee];W[ce];B[cd];W[dd];B[de];W[cf];B[bd];W[df])"

IMPORT_EVERYTHING = """
import importlib, pkgutil, tengen
for module in pkgutil.walk_packages(tengen.__path__, "tengen."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            print(missing.name.split(".")[0])
"""


def works(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


def pythons() -> list[object]:
    """Return this interpreter and those of the other versions we promise, if they are here."""
    version = f"python3.{sys.version_info.minor}"
    others = [name for name in ("python3.11", "python3.12", "python3.13") if name != version]
    here = [name for name in others if shutil.which(name) and works(name)]
    return [sys.executable, *(pytest.param(name, marks=pytest.mark.slow) for name in here)]


@pytest.fixture(scope="module", params=pythons())
def tengen(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Install the wheel into an environment whose path has a space; give its program."""
    with tempfile.TemporaryDirectory(prefix="bare ") as name:
        folder = Path(name)
        folder.chmod(0o755)  # another user starts it below
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        subprocess.run([*build, "--wheel-dir", folder, ROOT], check=True)
        subprocess.run([request.param, "-m", "venv", folder / "venv"], check=True)
        (wheel,) = folder.glob("tengen-*.whl")
        install = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet", wheel]
        subprocess.run(install, check=True)
        (folder / "elsewhere").mkdir()
        (folder / "elsewhere" / "game.sgf").write_text(GAME)
        yield folder / "venv/bin/tengen"


def start(
    tengen: Path, *words: str, text: str = "", **options: object
) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment in another folder and print how long it took."""
    kept = ("PATH", "LANG", "TMPDIR")
    environment = {key: os.environ[key] for key in kept if key in os.environ}
    begin = time.perf_counter()
    done = subprocess.run(
        [tengen, *words],
        input=text,
        capture_output=True,
        text=True,
        cwd=tengen.parents[2] / "elsewhere",
        env={**environment, "HOME": str(tengen.parents[2])},
        **options,  # type: ignore[call-overload]
    )
    print(f"{' '.join(words)[:40]}: {time.perf_counter() - begin:.1f} s")
    return done


def test_every_module_imports_without_extras(tengen: Path) -> None:
    done = start(tengen.with_name("python"), "-c", IMPORT_EVERYTHING)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    optional = {need.split(">")[0] for needs in extras.values() for need in needs}
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= {*optional, "pyspiel"}


def test_commands_answer(tengen: Path) -> None:
    version = start(tengen, "--version")
    assert version.returncode == 0 and version.stdout.startswith("tengen, version ")
    genmove = start(tengen, "gtp", "--player", "tengen:level=1", text="boardsize 9\ngenmove b\n")
    answers = [line for line in genmove.stdout.splitlines() if line.startswith("=")]
    assert len(answers) == 2 and len(answers[1]) > 3, genmove.stderr
    assert genmove.stderr.count("compiling kernels") == 1
    predict = start(tengen, "predict", "game.sgf", "--json")
    assert predict.returncode == 0 and '"' in predict.stdout, predict.stderr
    score = start(tengen, "score", "game.sgf", "--json")
    assert score.returncode == 0 and '"' in score.stdout, score.stderr
    again = start(tengen, "score", "game.sgf")
    assert again.returncode == 0 and "compiling" not in again.stderr


def test_without_a_writable_place_kernels_are_kept_in_a_temporary_folder(tengen: Path) -> None:
    if os.name != "posix" or os.getuid() != 0:
        pytest.skip("only root can start a program as somebody who may write nowhere")
    program = "from tengen.compiling import cache_folder; import tengen.board.kernels as k; "
    program += "print(cache_folder(), k.point_of(1, 1, 9) if hasattr(k, 'point_of') else '')"
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    try:
        done = start(tengen.with_name("python"), "-c", program, **nobody)
    except PermissionError:
        pytest.skip("the interpreter lies where only root may go")
    assert done.returncode == 0, done.stderr
    place = Path(done.stdout.split()[0])
    try:
        assert place.parent == Path(tempfile.gettempdir())
        assert place.stat().st_mode & 0o777 == 0o700 and place.stat().st_uid == 65534
        assert done.stderr.count("no folder to keep compiled kernels in") == 1
    finally:
        shutil.rmtree(place, ignore_errors=True)
