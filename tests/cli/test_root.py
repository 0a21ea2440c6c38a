"""The command line itself: help, version, mistakes, and what an interrupted user is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen import __version__, extensions
from tengen.cli import GROUPS
from tengen.errors import Terminated

COMMANDS = [name for group in GROUPS.values() for name in group]


def test_help_shows_all_commands_in_their_groups(tengen: Tengen) -> None:
    for out in (tengen(), tengen("--help")):
        assert all(name in out for name in (*GROUPS, *COMMANDS))


def test_every_learner_is_trained_and_evaluated(tengen: Tengen) -> None:
    learners = extensions.entries(extensions.LEARNERS)
    for group in ("train", "evaluate"):
        out = tengen(group, "--help")
        assert all(name in out for name in learners)
        assert all("--json" in tengen(group, name, "--help") for name in learners)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("trian network", "Did you mean 'train'"),
        ("train scorin", "Did you mean 'scoring'"),
        ("lab opening-dt", "did you mean 'opening-td'"),
        ("players mtcs", "did you mean 'mcts'"),
        ("models show tengen-smal", "did you mean 'tengen-small'"),
        ("bench --only replya", "did you mean 'replay'"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(tengen: Tengen, words: str, hint: str) -> None:
    assert hint in tengen.mistake(words)


def test_the_shell_completes_commands_and_options() -> None:
    def completed(typed: str) -> list[str]:
        words = {"_TENGEN_COMPLETE": "complete_bash", "COMP_WORDS": typed}
        place = {"COMP_CWORD": str(len(typed.split()) - 1)}
        command = [sys.executable, "-m", "tengen"]
        environment = {**os.environ, **words, **place}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True
        ).stdout.split()

    assert completed("tengen train s") == [
        "scoring", "scoring-classifier", "self-play", "symmetry-network"
    ]  # fmt: skip
    assert completed("tengen play --pla") == ["--player", "--plain"]


def test_the_module_is_the_command() -> None:
    words = [sys.executable, "-m", "tengen"]
    shown = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"tengen, version {__version__}\n"


@pytest.mark.parametrize("words", ["dance", "doctor --loudly", "play --size big"])
def test_wrong_usage_is_the_users_mistake(tengen: Tengen, words: str) -> None:
    assert tengen.mistake(words).startswith("Error: ")


@pytest.mark.parametrize(("number", "status"), [("0", 1), ("-2", 1), ("2", 0), ("many", 0)])
def test_a_number_of_threads_that_is_none_is_refused(
    tengen: Tengen, monkeypatch: pytest.MonkeyPatch, number: str, status: int
) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", number)
    tengen("players", status=status)
    complaint = f"tengen: NUMBA_NUM_THREADS={number}: must be at least 1\n"
    assert tengen.err == (complaint if status else "")


def test_help_shows_flags_as_flags(tengen: Tengen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    for command in COMMANDS:
        out = tengen(command, "--help")
        assert "<bool>" not in out
        assert re.search(r"--help +Show this message", out), command


@pytest.mark.parametrize(
    "command",
    ["arena match", "arena run", "games convert", "gtp", "train network", "train opening-evolution",
     "train opening-td", "play", "review", "train scoring", "lab", "train scoring-classifier",
     "train self-play", "train symmetry-network"],
)  # fmt: skip
def test_a_seed_below_zero_is_refused(tengen: Tengen, command: str) -> None:
    assert "Invalid value for '--seed'" in tengen.mistake(command, "--seed -1")


def test_a_reader_who_has_seen_enough_of_a_table_is_no_failure() -> None:
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "tengen", "players"]
    shown = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (shown.returncode, shown.stderr) == (0, "")


@pytest.mark.parametrize(
    ("stop", "status", "word"),
    [(KeyboardInterrupt, 3, "interrupted"), (Terminated, 143, "terminated")],
)
def test_an_interruption_says_what_was_finished(
    tengen: Tengen,
    monkeypatch: pytest.MonkeyPatch,
    stop: type[KeyboardInterrupt],
    status: int,
    word: str,
) -> None:
    def stopped() -> None:
        told = stop()
        told.add_note("runs/x stands at step 5")
        raise told

    monkeypatch.setattr("tengen.cli.system.examine", stopped)
    tengen("doctor", status=status)
    assert tengen.err == f"tengen: {word}; runs/x stands at step 5\n"


@pytest.mark.parametrize("command", ["gtp", "analysis", "games stat -", "review -", "play"])
def test_a_closed_standard_input_is_reported_in_one_line(
    command: str, tengen: Tengen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert tengen.mistake(command) == "tengen: standard input is closed"


def test_a_mistake_is_one_line_whatever_a_file_is_called(tengen: Tengen) -> None:
    said = tengen.mistake("score", Path("no\nsuch.sgf"))
    assert said == "tengen: no\\nsuch.sgf: No such file or directory"
