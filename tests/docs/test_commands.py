"""Every command that README and docs show exists, with its options and as many arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from tengen import extensions
from tengen.cli import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def commands(text: str) -> Iterator[str]:
    """Yield the commands of a page: lines of code blocks, and code within the text."""
    text = re.sub(r"\s*\\\n\s*", " ", text)
    for line in re.findall(r"(?m)^(?: {4}|\$ )?((?:tengen|python|make) .*)$", text):
        yield re.sub(r"\s+#.*$", "", line)
    for code in re.findall(r"(?<!`)`((?:tengen|python|make) [^`]*)`(?!`)", text):
        yield " ".join(code.split())


def words(command: str) -> list[str]:
    """Split a command as a shell does, up to a pipe; marks of what may be left out go."""
    plain = re.sub(r"\.\.\.|(?<=\s)\[|\](?=\s|$)", "", command)
    plain = re.split(r"\s(?:\||&&|<|>|;)\s", plain)[0]
    return shlex.split(plain)


def check_tengen(arguments: list[str]) -> None:
    """Follow a command to its end and let its parser read what is left."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("tengen", ["--help-me-not"], resilient_parsing=True)
    while getattr(command, "list_commands", None):
        if not arguments or arguments[0].startswith("-"):
            break
        name = arguments[0]
        below = command.get_command(context, name)
        # A page may speak of a command and leave out which of its parts.
        assert below is not None, f"no command {name!r}"
        command, arguments = below, arguments[1:]
        context = type(context)(command, info_name=name, parent=context)
    known = options(command)
    for word in arguments:
        if word.startswith("--"):
            assert word.partition("=")[0] in known, f"no option {word}"
    if "--help" in arguments or getattr(command, "list_commands", None):
        return
    _, rest, _ = command.make_parser(context).parse_args(list(arguments))
    assert rest == [], f"too many arguments: {rest}"


def options(command: Any) -> set[str]:
    """Return the options of a command, of a group those of all its parts."""
    parts = (command, *getattr(command, "commands", {}).values())
    names = {n for part in parts for p in part.params for n in (*p.opts, *p.secondary_opts)}
    return {*names, "--help"}


def check_script(arguments: list[str]) -> None:
    """Look whether a script is there and knows the options."""
    if not arguments or not arguments[0].endswith(".py"):
        return
    text = (ROOT / arguments[0]).read_text()
    for word in arguments[1:]:
        if word.startswith("--"):
            assert f'"{word}"' in text, f"{arguments[0]}: no option {word}"


@pytest.fixture
def sixth_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """The example that one page installs and trains."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "sixth_paper" / "src"))
    monkeypatch.setattr(extensions, "entries", cache(extensions.entries.__wrapped__))
    extensions.register(extensions.LEARNERS, "monte-carlo-go", "monte_carlo_go.commands:LEARNER")


@pytest.mark.usefixtures("sixth_paper")
@pytest.mark.parametrize("name", NAMES)
def test_commands_exist(name: str) -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text()))
    wrong = []
    for shown in commands((ROOT / name).read_text()):
        try:
            program, *arguments = words(shown)
            if program == "tengen":
                check_tengen(arguments)
            elif program == "python":
                check_script(arguments)
            else:
                assert arguments[0] in targets, f"no target {arguments[0]!r}"
        except Exception as mistake:
            wrong.append(f"{shown}: {mistake}".splitlines()[0])
    assert wrong == []


def test_the_check_finds_what_is_wrong() -> None:
    check_tengen(["lab", "levels", "--set", "games=2"])
    check_tengen(["train", "scoring", "GAMES", "--members", "3"])
    for wrong in (["labs"], ["lab", "--sometimes"], ["gtp", "tengen"], ["train", "sing"]):
        with pytest.raises(AssertionError):
            check_tengen(wrong)
    with pytest.raises((AssertionError, OSError)):
        check_script(["benchmarks/nothing.py"])
    assert list(commands("a `tengen lab` b\n\n    tengen gtp \\\n      --quiet  # why\n")) == [
        "tengen gtp --quiet",
        "tengen lab",
    ]
