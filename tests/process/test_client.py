"""Each way in which an engine fails is told apart, and no process is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.processes import is_running

from tengen.board import Board
from tengen.gtp.client import (
    Client,
    EngineBadAnswer,
    EngineCrash,
    EngineExit,
    EngineFault,
    EngineIllegalMove,
    EngineRefusal,
    EngineStartFault,
    EngineTimeout,
    Limits,
)
from tengen.players.external import RemoteGame

ENGINES = Path(__file__).parent / "engines.py"
# Seconds for which a process is stopped, long beside what a busy machine takes to go on.
STOPPED = 6.0
LIMITS = Limits(startup=20.0, command=20.0, move=20.0, close=0.3)


def start(kind: str, limits: Limits = LIMITS) -> Client:
    return Client.start([sys.executable, str(ENGINES), kind], limits=limits)


def move_of(kind: str, limits: Limits = LIMITS) -> int:
    """Let an engine move on a board where A1 is taken; end it; look for leftovers."""
    board = Board(9)
    board.play("A1")
    client = start(kind, limits)
    try:
        return RemoteGame(client).genmove(board)
    finally:
        client.close()
        assert not psutil.pid_exists(client.channel.process.pid)  # type: ignore[attr-defined]


def test_a_good_engine_is_greeted_moves_and_quits() -> None:
    with start("good") as client:
        assert (client.name, client.version) == ("good", "good")
        assert client.known("genmove") and not client.known("nonsense")
        assert RemoteGame(client).genmove(Board(9)) == 0
        # Standard error has a reader of its own, which may be a moment behind the answer.
        patience = time.monotonic() + 10
        while not client.stderr() and time.monotonic() < patience:
            time.sleep(0.01)
        assert client.stderr() == ("thinking about move 0",)
    assert not psutil.pid_exists(client.channel.process.pid)  # type: ignore[attr-defined]
    assert client.channel.process.returncode == 0  # type: ignore[attr-defined]
    with pytest.raises(EngineExit, match="was closed"):
        client.command("name")


@pytest.mark.parametrize(
    ("kind", "fault", "words"),
    [
        ("exit", EngineExit, "exited early; it said: thinking about move 0"),
        ("crash", EngineCrash, "exit status 7; it said: thinking about move 0 | out of luck"),
        ("kill", EngineCrash, "killed by SIGKILL"),
        ("garbage", EngineBadAnswer, "'hello, I am not GTP', which is not GTP"),
        ("endless", EngineBadAnswer, "does not end"),
        ("nonsense", EngineBadAnswer, "answered 'Q77', no move"),
        ("illegal", EngineIllegalMove, "played A1, which is illegal at move 2"),
        ("refuse", EngineRefusal, "refused: I do not feel like it"),
        ("close", EngineExit, "closed its output"),
    ],
)
def test_faults_are_distinguished(kind: str, fault: type[EngineFault], words: str) -> None:
    with pytest.raises(EngineFault) as caught:
        move_of(kind)
    assert type(caught.value) is fault
    assert words in str(caught.value)
    assert f"engine {kind} at `genmove w`" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is fault and str(again) == str(caught.value)


def test_a_hang_ends_in_time_even_if_it_ignores_polite_signals() -> None:
    begun = time.monotonic()
    with pytest.raises(EngineTimeout, match="time for a move ran out"):
        move_of("hang", Limits(move=0.3, close=0.3))
    assert time.monotonic() - begun < 60


@pytest.mark.skipif(sys.platform == "win32", reason="there is no Ctrl-Z")
def test_time_in_which_we_are_stopped_is_not_the_engines(tmp_path: Path) -> None:
    begun, word = tmp_path / "begun", tmp_path / "word"
    engine = [sys.executable, str(ENGINES), "waiting", str(tmp_path)]
    script = (
        "from tengen.gtp.client import Client, Limits\n"
        f"limits = Limits(startup=60, move={STOPPED / 2}, close=0.2)\n"
        f"client = Client.start({engine!r}, limits=limits)\n"
        "print(client.think('genmove', 'b'))\n"
        "client.close()\n"
    )
    stopped = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    while not begun.exists():
        assert stopped.poll() is None
        time.sleep(0.02)
    stopped.send_signal(signal.SIGSTOP)
    time.sleep(STOPPED)
    stopped.send_signal(signal.SIGCONT)
    time.sleep(0.2)
    word.touch()
    assert stopped.communicate(timeout=60)[0] == "pass\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/no/such/engine", "cannot be started: No such file"),
        ("", "command line is empty"),
        ([sys.executable, str(ENGINES), "slow_start"], "start-up time ran out"),
    ],
)
def test_engines_that_do_not_start(command: str | list[str], words: str) -> None:
    with pytest.raises(EngineStartFault, match=words):
        Client.start(command, limits=Limits(startup=0.5, close=0.1))


def test_an_engine_that_ends_at_once_has_exited_early() -> None:
    with pytest.raises(EngineExit, match="exited early"):
        start("silent")


def test_an_engine_that_does_not_quit_is_ended() -> None:
    client = start("deaf", Limits(close=0.2))
    client.close()
    assert not psutil.pid_exists(client.channel.process.pid)  # type: ignore[attr-defined]


@pytest.mark.parametrize("groups", [True, False], ids=["groups", "no groups"])
def test_helpers_of_an_engine_go_with_it(groups: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not groups:  # as on Windows
        monkeypatch.delattr(os, "killpg")
    client = start("helper")
    while not client.stderr():
        time.sleep(0.01)
    child = int(client.stderr()[0].split()[1])
    assert psutil.pid_exists(child)
    client.close()
    deadline = time.monotonic() + 60
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child)
