"""Parts that other distributions register, and parts that are broken."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tengen import extensions
from tengen.extensions import PLAYERS, ExtensionError, load, load_all, register
from tengen.players import PlayerKind, make_player, player_kinds

ENTRY_POINTS = """\
[tengen.players]
calm = calm:KIND
gone = no_such_module:KIND
odd = calm:NAME
random = calm:KIND
[tengen.learners]
lost = no_such_module:LEARNER
[tengen.models]
lost = no_such_module:Model
[tengen.papers]
lost = no_such_module
"""
CALM = """\
from tengen.players import PlayerKind
NAME = "calm"
KIND = PlayerKind("calm", "tengen.players.simple:RandomPlayer", "A calm player.")
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder that holds a distribution with good and bad players."""
    info = tmp_path / "calm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: calm\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "calm.py").write_text(CALM)
    return tmp_path


@pytest.fixture
def installed(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(plugin)
    monkeypatch.delitem(sys.modules, "calm", raising=False)
    monkeypatch.setattr(extensions, "entries", cache(extensions.entries.__wrapped__))


@pytest.mark.usefixtures("installed")
def test_parts_of_others_are_found_and_bad_ones_left_out() -> None:
    with pytest.warns(UserWarning) as told:
        kinds = player_kinds()
    assert [*kinds][:2] == ["random", "maxlib"] and [*kinds][-1] == "calm"
    assert "Uniformly" in kinds["random"].help, "the first, which is ours, is used"
    assert len([said for said in told if "'gone'" in str(said.message)]) == 1
    assert make_player("calm").name == "calm"
    for name, reason in (("gone", "no_such_module"), ("odd", "calm:NAME")):
        with pytest.raises(ExtensionError, match=f"{name!r} of {PLAYERS}.*{reason}"):
            make_player(name)


def test_a_script_registers_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extensions, "entries", cache(extensions.entries.__wrapped__))
    kind = PlayerKind("mine", "tengen.players.simple:Nobody", "")
    register(PLAYERS, "mine", kind)
    assert load(PLAYERS, "mine", PlayerKind) is kind is load_all(PLAYERS, PlayerKind)["mine"]
    with pytest.raises(ValueError, match="cannot be used"):
        make_player("mine")


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("players", 0, 1),
        ("players gone", 1, 1),
        ("train lost", 1, 1),
        ("lab --list", 0, 1),
    ],
)
def test_a_broken_part_is_one_line(plugin: Path, command: str, status: int, said: int) -> None:
    environment = {**os.environ, "PYTHONPATH": str(plugin)}
    told = subprocess.run(
        [sys.executable, "-m", "tengen", *command.split()],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert told.returncode == status and "Traceback" not in told.stderr
    lines = [line for line in told.stderr.splitlines() if "no_such_module" in line]
    assert len(lines) == said
