"""CONTRIBUTING and the laboratory's guide name folders, files, functions and steps that exist."""

from __future__ import annotations

import io
import re
import sys
import threading
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import tengen
from tengen.board import Board, play_random
from tengen.cli import run
from tengen.game.sgf import sgf_of_board
from tengen.gtp.engine import Engine
from tengen.lab import experiments
from tengen.players import make_player

ROOT = Path(__file__).parents[2]
SOURCE = Path(tengen.__file__).parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
WAYS = PAGE.partition("## Three ways")[2].partition("## Habits")[0]


def test_every_layer_has_a_row_in_order() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    named = re.findall(r"(?m)^\| `(\w+)/` \|", PAGE)
    assert named == [layer.removeprefix("tengen.") for layer in reversed(layers)]
    guide = (ROOT / "docs" / "guide" / "extending.md").read_text()
    listed = re.findall(r"`(parallel, [^`]*)`", guide)[0]
    assert [name.strip() for name in listed.split(",")] == named


def test_files_and_functions_on_the_ways_exist() -> None:
    found = re.findall(r"`([\w/]+\.py)`(?: `(\w+)`)?", WAYS)
    assert len(found) >= 15
    for file, name in found:
        text = (SOURCE / file).read_text()
        pattern = rf"(?m)^\s*(?:(?:async )?def|class) {name}\b|^{name}\b"
        assert not name or re.search(pattern, text), f"{file}: {name}"


def walk(action: Callable[[], None]) -> set[tuple[str, str]]:
    """Do it, and return the functions of ours that were called: file, name."""
    seen = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            seen.add((path.relative_to(SOURCE).as_posix(), frame.f_code.co_name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return seen


def score(game: Path) -> None:
    assert run(["score", str(game)]) == 0


def genmove(game: Path) -> None:
    engine = Engine(make_player, "tengen:visits=2")
    engine.run(io.BytesIO(b"boardsize 5\ngenmove b\nquit\n"), io.BytesIO())


def train(game: Path) -> None:
    out = str(game.with_name("mine.safetensors"))
    options = ["--size", "7", "--minimum", "2", "--out", out]
    assert run(["train", "move-prediction", str(game), *options]) == 0


@pytest.mark.parametrize(("number", "walked"), [(1, score), (2, genmove), (3, train)])
def test_the_ways_are_those_that_the_program_walks(
    number: int,
    walked: Callable[[Path], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    game = tmp_path / "games.sgf"
    boards = [play_random(Board(7), 30, np.random.default_rng(seed)) for seed in range(3)]
    game.write_text("\n".join(map(sgf_of_board, boards)))
    called = walk(lambda: walked(game))
    table = WAYS.split("\n**")[number].partition("\n|")[2].partition("\n\n")[0]
    named = re.findall(r"`([\w/]+\.py)` `(\w+)`", table)
    functions = {(file, name) for file, name in named if name.islower() and "kernels" not in file}
    assert len(functions) >= 6 and functions <= called


def test_tests_without_the_jit_are_named() -> None:
    files = {path.name for path in (ROOT / "tests").rglob("test*without_jit.py")}
    assert files <= set(re.findall(r"`(\w+\.py)`", PAGE))


def test_the_guide_lists_every_step_of_the_whole_laboratory() -> None:
    text = (ROOT / "docs" / "guide" / "laboratory.md").read_text()
    rows = re.findall(r"(?m)^\| ([a-z, -]+) \| .* \|.*\|$", text)
    named = [name for row in rows for name in row.split(", ") if name != "experiment"]
    assert sorted(named) == sorted(each.name for each in experiments())
