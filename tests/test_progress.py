"""Progress is a line now and then, bars on a terminal, or nothing."""

from __future__ import annotations

import sys
import time

import pytest

from tengen.progress import Progress

Out = pytest.CaptureFixture[str]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_lines_have_pace_and_time_left(clock: list[float], capsys: Out) -> None:
    with Progress() as show:
        show("games", 0, 10)
        clock[0] = 5.0
        show.advance("games", 1, 10)  # too early for a line
        clock[0] = 20.0
        show.advance("games", 4, 10, "now")
        show("pages", 3)
        clock[0] = 40.0
        show("pages", 7)
        show("lab", 0.0, 1.0)
        clock[0] = 60.0
        show("lab", 0.5, 1.0)
    assert capsys.readouterr().err.splitlines() == [
        "games: 5/10, 0.25/s, 20 s left now",
        "pages: 7, 0.2/s",
        "lab: 50%, 20 s left",
    ]


def test_work_of_an_earlier_run_does_not_count_for_the_pace(
    clock: list[float], capsys: Out
) -> None:
    with Progress() as show:
        show("games", 80, 100)
        clock[0] = 20.0
        show("games", 90, 100)
    assert capsys.readouterr().err == "games: 90/100, 0.5/s, 20 s left\n"


def test_quiet_progress_shows_nothing(clock: list[float], capsys: Out) -> None:
    with Progress(quiet=True) as show:
        show("games", 1, 10)
        clock[0] = 99.0
        show("games", 2, 10)
        show.say("something")
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_bars_and_what_is_below(
    monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress(below=lambda: "a table") as show:
        show("games", 10, 10)
        show.say("a remark")
    shown = capsys.readouterr().err
    for text in ("games", "10/10", "a remark", "a table"):
        assert text in shown
