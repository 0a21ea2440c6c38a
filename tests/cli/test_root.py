"""The command line itself: help, version, mistakes, and what an interrupted user is told."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.cli.conftest import Tengen

from tengen import __version__, extensions
from tengen.cli import GROUPS
from tengen.errors import Terminated

ROOT = Path(__file__).parents[2]
COMMANDS = [name for group in GROUPS.values() for name in group]


def test_help_shows_all_commands_in_five_groups_and_imports_none(tengen: Tengen) -> None:
    assert list(GROUPS) == ["Play", "Games", "Matches", "Learn", "System"]
    for out in (tengen(), tengen("--help")):
        assert all(name in out for name in COMMANDS) and len(COMMANDS) <= 18
        assert all(f"\n{title}:\n" in out for title in GROUPS)
    code = (
        "import sys; from tengen.cli import run; run(['--help']); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


def test_every_learner_is_trained_and_evaluated(tengen: Tengen) -> None:
    learners = extensions.entries(extensions.LEARNERS)
    for group in ("train", "evaluate"):
        out = tengen(group, "--help")
        assert all(name in out for name in learners)
        assert all("--json" in tengen(group, name, "--help") for name in learners)


@pytest.mark.parametrize("command", ["train --help", "evaluate --help", "train network --help"])
def test_help_on_learners_imports_no_kernels(command: str) -> None:
    heavy = {"numba", "scipy", "torch", "matplotlib", "tengen.board"}
    code = (
        f"import sys; from tengen.cli import run; run({command.split()}); "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


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

    assert completed("tengen pl") == ["play", "players"]
    assert completed("tengen train s") == [
        "scoring", "scoring-classifier", "self-play", "symmetry-network"
    ]  # fmt: skip
    assert completed("tengen play --pla") == ["--player", "--plain"]


def test_the_module_is_the_command() -> None:
    words = [sys.executable, "-m", "tengen"]
    shown = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"tengen, version {__version__}\n"
    wrong = subprocess.run([*words, "players", "nobody"], capture_output=True, text=True)
    assert wrong.returncode == 1 and wrong.stderr.startswith("tengen: there is no player 'nobody'")


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


def test_every_package_that_is_imported_is_declared_and_no_other() -> None:
    # What a development tool happens to bring along is missing where only the wheel is installed.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for_users = [names for extra, names in extras.items() if extra not in ("dev", "docs")]
    listed = [*project["dependencies"], *(name for names in for_users for name in names)]
    names = {re.split(r"[\[<>=~! ]", name)[0].replace("-", "_") for name in listed}
    names = {"pyspiel" if name == "open_spiel" else name for name in names}
    imported: dict[str, Path] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported.update({alias.name.partition(".")[0]: path for alias in node.names})
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported[node.module.partition(".")[0]] = path
    foreign = set(imported) - set(sys.stdlib_module_names) - {"tengen"}
    assert {name: imported[name] for name in foreign - names} == {}
    needed = {re.split(r"[\[<>=~! ]", n)[0].replace("-", "_") for n in project["dependencies"]}
    assert needed - foreign == set(), "declared, but nobody imports it"


@pytest.mark.parametrize("command", ["gtp", "analysis", "games stat -", "review -", "play"])
def test_a_closed_standard_input_is_reported_in_one_line(
    command: str, tengen: Tengen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert tengen.mistake(command) == "tengen: standard input is closed"


def test_a_mistake_is_one_line_whatever_a_file_is_called(tengen: Tengen) -> None:
    said = tengen.mistake("score", Path("no\nsuch.sgf"))
    assert said == "tengen: no\\nsuch.sgf: No such file or directory"
