"""The wheel as users get it: built, installed bare or with one extra, used in another folder.

Needs a package index and some minutes, so only `make test-wheel` and CI run it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from tengen.compiling import cache_folder
from tengen.extras import DISTRIBUTION

pytestmark = pytest.mark.wheel

ROOT = Path(__file__).parents[1]
# Longer than what the pages look at: the position before the 30th move.
GAME = (
    "(;GM[1]FF[4]SZ[9]KM[7.5]RU[Japanese];B[ab];W[da];B[ei];W[ce];B[cb];W[ff];B[ee];W[ef];B[df]"
    ";W[de];B[dg];W[ed];B[db];W[eb];B[fc];W[ec];B[fe];W[ge];B[fd];W[gc];B[fb];W[gb];B[be];W[fa]"
    ";B[hf];W[cf];B[bf];W[cg];B[ch];W[fg];B[bg];W[dh])"
)

IMPORT_EVERYTHING = """
import importlib, pkgutil, tengen
for module in pkgutil.walk_packages(tengen.__path__, "tengen."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as missing:
            print(missing.name.split(".")[0])
"""

# What each extra is for, as a program; kernels run as plain Python, which is quicker here.
USES = {
    "lab": """
from tengen.cli import run
from tengen.lab.drawing import draw
from tengen.lab.rendering import report_page, write_page
from tengen.lab.result import Plot, line
from tengen.statistics import spearman
words = "--strategy cma --generations 2 --population 4 --size 5 --moves 2 --quiet --out run"
assert run(["train", "opening-evolution", *words.split()]) == 0
assert spearman([1, 2, 4], [1, 3, 9]).r > 0.99
assert "</svg>" in draw(Plot("title", "x", "y", (line("a", [1, 2], [3, 4]),)))
""",
    "torch": """
from tengen.cli import run
moves = "".join(f";{'BW'[i % 2]}[{'abcdefghi'[i % 9]}{'aceg'[i // 9]}]" for i in range(36))
open("long.sgf", "w").write(f"(;SZ[9]RE[B+3.5]{moves})")
for words in (
    ["long.sgf", "--shards-only", "--out", "shards", "--scorer", "none"],
    ["shards", "--design", "tiny", "--steps", "1", "--batch", "2", "--device", "cpu",
     "--out", "m.safetensors", "--run", "run", "--quiet"],
):
    assert run(["train", "network", *words]) == 0
""",
    "onnx": """
from tengen.cli import run
assert run(["models", "export", "tengen-small", "network.onnx"]) == 0
""",
    "ray": """
from tengen.cli import run
assert run(["score", "game.sgf", "game.sgf", "--ray", "local", "--json"]) == 0
""",
    "gym": """
import gymnasium
from tengen.environment import GoEnvironment
game = gymnasium.make("Tengen/Go5x5-v0")
game.reset(seed=1)
assert game.step(12)[1] == 0 and GoEnvironment(5).possible_agents
""",
}


def works(python: str) -> bool:
    return subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


def pythons() -> list[object]:
    """Return this interpreter and those of the other versions we promise, if they are here."""
    this = f"python3.{sys.version_info.minor}"
    promised = ("python3.11", "python3.12", "python3.13", "python3.14")
    others = [name for name in promised if name != this]
    here = [name for name in others if shutil.which(name) and works(name)]
    return [sys.executable, *(pytest.param(name, marks=pytest.mark.slow) for name in here)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, or take the one that is about to be released."""
    if given := os.environ.get("TENGEN_WHEEL"):
        return Path(given).resolve()
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*build, "--wheel-dir", folder, ROOT], check=True)
    (built,) = folder.glob("tengen_go-*.whl")
    return built


@contextmanager
def installed(wheel: Path, python: str, extra: str = "", *pinned: str) -> Iterator[Path]:
    """Install the wheel into an environment whose path has a space; give its program."""
    with tempfile.TemporaryDirectory(prefix="bare ") as name:
        folder = Path(name)
        folder.chmod(0o755)  # another user starts it below
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        install = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-compile"]
        subprocess.run([*install, f"{wheel}{extra}", *pinned], check=True)
        (folder / "elsewhere" / "games").mkdir(parents=True)
        for place in ("game.sgf", "games/game.sgf"):
            (folder / "elsewhere" / place).write_text(GAME)
        yield folder / "venv/bin/tengen"


@pytest.fixture(scope="module", params=pythons())
def tengen(request: pytest.FixtureRequest, wheel: Path) -> Iterator[Path]:
    with installed(wheel, request.param) as program:
        yield program


def start(
    tengen: Path,
    *words: str,
    text: str = "",
    variables: dict[str, str] | None = None,
    **options: object,
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
        env={**environment, **(variables or {}), "HOME": str(tengen.parents[2])},
        **options,  # type: ignore[call-overload]
    )
    print(f"{' '.join(words)[:40]}: {time.perf_counter() - begin:.1f} s")
    return done


def packages_of(extra: str) -> set[str]:
    """Return what the project declares for an extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needs = project["project"]["optional-dependencies"][extra]
    return {re.split(r"[^\w-]", need)[0] for need in needs}


def test_every_module_imports_without_extras(tengen: Path) -> None:
    done = start(tengen.with_name("python"), "-c", IMPORT_EVERYTHING)
    assert done.returncode == 0, done.stderr
    optional = set().union(*map(packages_of, USES), {"triton", "pyspiel", "sgfmill"})
    assert set(done.stdout.split()) <= optional


@pytest.mark.slow
@pytest.mark.parametrize("extra", USES)
def test_an_extra_is_enough_for_what_it_is_for(extra: str, wheel: Path) -> None:
    # The same PyTorch as here: the newest may bring gigabytes.
    pinned = [f"torch=={version('torch')}"] if extra == "torch" and find_spec("torch") else []
    with installed(wheel, sys.executable, f"[{extra}]", *pinned) as program:
        python = program.with_name("python")
        imported = start(python, "-c", IMPORT_EVERYTHING)
        assert imported.returncode == 0, imported.stderr
        assert not set(imported.stdout.split()) & packages_of(extra)
        used = start(python, "-c", USES[extra], variables={"NUMBA_DISABLE_JIT": "1"})
        assert used.returncode == 0, used.stderr


@pytest.mark.parametrize("starter", ["uvx --from", "pipx run --spec"])
def test_it_starts_without_being_installed(starter: str, wheel: Path, tmp_path: Path) -> None:
    program, *words = starter.split()
    if shutil.which(program) is None:
        pytest.skip(f"needs {program} (pip install {'uv' if program == 'uvx' else program})")
    command = [program, *words, wheel, "tengen", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.startswith("tengen, version "), done.stderr


MOST_MEGABYTES = 400


def test_a_plain_environment_is_small(tengen: Path) -> None:
    [packages] = tengen.parents[1].glob("lib/python*/site-packages")
    sizes = [path.stat().st_blocks * 512 for path in packages.rglob("*") if path.is_file()]
    print(f"{sum(sizes) / 1e6:.0f} MB")
    assert sum(sizes) < MOST_MEGABYTES * 1e6


def test_the_page_serves_before_anything_is_compiled(tengen: Path, tmp_path: Path) -> None:
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    begin = time.perf_counter()
    with subprocess.Popen(
        [tengen, "web", "--port", "0", "--no-browser"],
        stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**kept, "HOME": str(tmp_path)},
    ) as server:  # fmt: skip
        try:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, "")
            address = next(
                found[0] for line in lines if (found := re.search(r"http://\S+\d", line))
            )
            with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
                assert "Tengen" in client.get("/").text
                print(f"the page: {time.perf_counter() - begin:.1f} s")
                assert client.get("/api/preparing").json()["steps"] is not None
                wanted = {"opponent": "level-1", "size": 9, "colour": "black"}
                game = client.post("/api/games", json=wanted).json()
                played = client.post(f"/api/games/{game['id']}/moves", json={"move": "E5"}).json()
                assert len(played["moves"]) == 1
        finally:
            server.terminate()


def test_what_is_missing_is_compiled_once_and_the_command_says_so(tengen: Path) -> None:
    text = "boardsize 9\ngenmove b\n"
    first, again = (start(tengen, "gtp", "--player", "maxlib", text=text) for _ in range(2))
    answers = [line for line in first.stdout.splitlines() if line.startswith("=")]
    assert len(answers) == 2 and len(answers[1]) > 3, first.stderr
    assert first.stderr.count("compiling kernels") == 1 and "compiling" not in again.stderr
    assert again.returncode == 0


# Elsewhere the wheel takes kernels that are compiled already: the same sources, the same Numba.
COMPILED = {"NUMBA_CACHE_DIR": str(cache_folder())}


def commands_of(page: str) -> list[str]:
    """Return the commands in a page's blocks and sentences, without the remarks beside them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    shown = re.findall(r"^    (tengen .*)$", text, re.M) + re.findall(r"`(tengen [^`]*)`", text)
    return list(dict.fromkeys(re.sub(r"\s+#.*", "", command) for command in shown))


# What a person types into the commands that ask.
TYPED = {
    "tengen play --size 9 --player tengen:level=3": "E5\nhelp\nquit\n",
    "tengen gtp": "boardsize 9\nplay b E5\ngenmove w\nquit\n",
    "tengen analysis": '{"id":"a","rules":"chinese","komi":7.5,"boardXSize":9,"boardYSize":9,'
    '"moves":[["B","E5"]],"maxVisits":10}\n',
}
PAGES = ("README.md", "docs/tutorial/players.md")
SAID = sorted({command for page in PAGES for command in commands_of(page)})
# These have tests of their own, or the pages show them with a file, too.
ELSEWHERE = {"tengen web", "tengen lab opening-evolution", "tengen score", "tengen predict"}


def test_what_the_first_pages_say_works_in_an_empty_folder(tengen: Path) -> None:
    assert len(SAID) > 9 and {*TYPED, *ELSEWHERE} <= {*SAID}
    for command in SAID:
        if command not in ELSEWHERE:
            words, typed = command.split()[1:], TYPED.get(command, "")
            done = start(tengen, *words, text=typed, variables=COMPILED)
            assert done.returncode == 0 and done.stdout, (command, done.stderr)


def test_the_sessions_of_readme_and_tutorial_run(tengen: Path) -> None:
    options = ("-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE")
    for page in ("README.md", "docs/tutorial/python.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```$", text, re.S | re.M)
        (tengen.parents[2] / "elsewhere" / "session.txt").write_text("\n".join(blocks), "utf-8")
        done = start(
            tengen.with_name("python"), "-m", "doctest", *options, "session.txt", variables=COMPILED
        )
        assert blocks and done.returncode == 0, done.stdout


def test_a_missing_extra_names_this_distribution(tengen: Path, wheel: Path) -> None:
    done = start(tengen, "lab", "opening-evolution")
    [line] = done.stderr.splitlines()
    assert done.returncode == 1 and f"pip install '{DISTRIBUTION}[lab]'" in line
    assert wheel.name.startswith(DISTRIBUTION.replace("-", "_"))


@pytest.mark.slow
def test_a_paper_is_reproduced_as_the_readme_says(wheel: Path) -> None:
    with installed(wheel, sys.executable, "[lab]") as program:
        done = start(program, "lab", "opening-evolution", variables=COMPILED)
        assert done.returncode == 0, done.stderr
        page = program.parents[2] / "elsewhere" / "runs" / "lab" / "report.html"
        assert "Kendall" in page.read_text("utf-8")
