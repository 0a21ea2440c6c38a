"""What is installed: the name of the distribution, and extras that are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tengen.cli import run

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("words", "missing", "extra"),
    [
        ("lab opening-td", "matplotlib", "lab"),
        ("train opening-evolution --strategy cma --out run", "cma", "lab"),
        ("train self-play --out run --size 5", "torch", "torch"),
        ("models export tengen-small network.onnx", "onnx", "onnx"),
        ("score game.sgf --ray local", "ray", "ray"),
        ("arena export games.sqlite --out games.parquet", "pandas", "pandas"),
    ],
)
def test_a_missing_extra_is_one_line_with_the_command_that_helps(
    words: str,
    missing: str,
    extra: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.sgf").write_text("(;SZ[5];B[cc])")
    if words.startswith("arena"):
        match = "arena match random random --size 5 --games 2 --quiet --out games.sqlite"
        run(match.split())
        capsys.readouterr()
    monkeypatch.setitem(sys.modules, missing, None)
    assert run(words.split()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"pip install 'tengen-go[{extra}]'" in line


PLAIN = """
import sys
for name in "scipy matplotlib cma jinja2 markupsafe torch onnx ray pandas".split():
    sys.modules[name] = None
from tengen.cli import run
open("game.sgf", "w").write("(;SZ[5]KM[0.5]RE[B+1];B[cc];W[cb];B[bb];W[])")
open("two.sgf", "w").write("(;SZ[5];B[cc];W[cb])(;SZ[5];B[bb];W[cc];B[dd])")
for words in (
    "score game.sgf --json",
    "review --quick --quiet two.sgf --out reviews",
    "predict game.sgf --json",
    "arena match random random --size 5 --games 2 --quiet --out arena.sqlite",
    "arena show arena.sqlite",
    "arena export arena.sqlite --out arena.html",
):
    assert run(words.split()) == 0, words
"""


def test_the_plain_install_scores_reviews_and_plays(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reviews" / "index.html").stat().st_size > 2000


def test_the_board_imports_numpy_and_numba_and_what_they_bring() -> None:
    program = "import sys, {0}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    # And the package that knows where a system keeps the compiled kernels.
    found = [
        set(
            subprocess.run(
                [sys.executable, "-c", program.format(names)],
                capture_output=True, text=True, check=True,
            ).stdout.split()
        )
        for names in ("tengen.board", "numpy, numba, llvmlite, platformdirs")
    ]  # fmt: skip
    assert found[0] - found[1] - set(sys.stdlib_module_names) == {"tengen"}
