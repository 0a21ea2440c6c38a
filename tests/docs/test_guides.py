"""The guides name what exists: GoGui's commands, words of the game, options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tengen.cli import run

GUIDE = Path(__file__).parents[2] / "docs" / "guide"


def test_the_table_of_gogui_commands_is_whole() -> None:
    from tengen.gtp.commands import ANALYZE_COMMANDS

    page = (GUIDE / "sabaki-and-gogui.md").read_text()
    for line in ANALYZE_COMMANDS:
        assert f"| {line.split('/')[1]} |" in page


def test_the_words_of_a_game_are_told() -> None:
    from tengen.cli.play import WORDS

    page = (GUIDE / "play-and-review.md").read_text()
    for word in WORDS:
        assert re.search(rf"`{word}\b", page), word


@pytest.mark.parametrize("page", ["sabaki-and-gogui.md", "play-and-review.md"])
def test_options_that_are_named_exist(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    known = set()
    for command in ("play", "players", "review", "analysis", "gtp"):
        run([command, "--help"])
        known |= set(re.findall(r"--[a-z][a-z-]*", capsys.readouterr().out))
    # Scripts and other programs have options of their own (scripts': `test_commands`).
    text = (GUIDE / page).read_text()
    text = re.sub(r"`python [^`]*`|(?m:^    (?!tengen|printf).*$)", "", text)
    named = set(re.findall(r"`?(--[a-z][a-z-]*)", text))
    assert named <= known, named - known


def test_links_between_guides_lead_somewhere() -> None:
    for page in ("sabaki-and-gogui.md", "play-and-review.md", "extending.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (GUIDE / page).read_text()):
            assert (GUIDE / target).exists(), f"{page}: {target}"
