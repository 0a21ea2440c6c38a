"""How commands talk: faults are told up to a number, results once, a closed input is named."""

from __future__ import annotations

import io
import json

import pytest

from tengen.board import Board
from tengen.cli.terminal import Screen
from tengen.commands.printing import Shown, in_words

Out = pytest.CaptureFixture[str]


def test_the_first_twenty_faults_are_reported_and_the_rest_counted(capsys: Out) -> None:
    Shown().faults([f"game {i} is torn" for i in range(1025)])
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert told.out == "" and len(lines) == 21
    assert lines[19] == "game 19 is torn" and lines[20] == "and 1,005 more"
    Shown().faults(["one"])
    assert capsys.readouterr().err == "one\n"
    Shown(quiet=True).faults(["one"] * 30)
    assert capsys.readouterr().err == ""


def test_a_screen_that_is_no_terminal_shows_plain_text() -> None:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.say("move? ", end="")
    screen.draw(Board(2, moves="B A2"), {3: "z"})
    shown = stream.getvalue()
    assert not screen.fancy and shown.startswith("move? ")
    assert "X" in shown and "z" in shown and "\x1b" not in shown


def test_a_result_is_shown_as_json_or_as_a_table_of_the_same_values(capsys: Out) -> None:
    value = {"free_weights": 12345, "tied": True, "error": 1.2e-5, "win_rate": 0.5}
    value["parts"] = {"a": 1}
    Shown().result({**value, "curve": [{"games": 1}], "best": None}, "a net")
    shown = capsys.readouterr().out
    for words in ("a net", "free weights", "12,345", "yes", "1.2e-05", "a 1", "50.00 %"):
        assert words in shown
    assert "curve" not in shown and "best" not in shown
    Shown(json=True).result(value)
    assert json.loads(capsys.readouterr().out) == value
    rows = [{"name": "one", "size": 9}, {"name": "two", "size": 13}]
    Shown().result(rows, columns={"name": "who"})
    shown = capsys.readouterr().out
    assert "who" in shown and "two" in shown and "13" not in shown
    assert in_words("interval", [0.25, 0.75]) == "[25.00 %, 75.00 %]"
