"""No process is left behind: not by engines that hide, not when their owners are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from tengen.gtp.client import Client, Limits

ENGINES = Path(__file__).parent / "engines.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux does")


def left(mark: str) -> list[psutil.Process]:
    """List the processes with this word on their command line; forks have their parent's."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def gone(mark: str, patience: float = 60.0) -> bool:
    """Wait until they are gone; what is left then is killed."""
    deadline = time.monotonic() + patience
    while (there := left(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for process in there:
        process.kill()
    return not there


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """Name this test on the command line of its engines."""
    return f"mark-{os.getpid()}-{tmp_path.name}"


def engine(kind: str, mark: str) -> str:
    return f"{sys.executable} -S {ENGINES} {kind} {mark}"


@pytest.mark.parametrize(("kind", "processes"), [("stubborn", 3), ("daemon", 4)])
def test_closing_an_engine_leaves_nothing(kind: str, processes: int, mark: str) -> None:
    client = Client.start(engine(kind, mark), limits=Limits(close=0.2))
    assert len(left(mark)) == processes  # one of them keeps the others
    client.close()
    assert left(mark) == []


OWNER = """
import sys, time
from tengen.gtp.client import Client
client = Client.start(sys.argv[1])
print("started", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("kind", ["stubborn", "daemon"])
def test_engines_go_when_their_owner_is_killed(kind: str, mark: str) -> None:
    # The mark is one of the words of the engine, not of the owner.
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, engine(kind, mark)], stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None and owner.stdout.readline() == b"started\n"
        owner.kill()
    assert gone(mark)


def test_an_engine_goes_when_its_keeper_is_killed(mark: str) -> None:
    client = Client.start(engine("good", mark), limits=Limits(close=0.2))
    keeper = client.channel.process  # type: ignore[attr-defined]
    keeper.kill()
    keeper.wait()
    with pytest.raises(Exception, match="killed by SIGKILL"):
        client.command("name")
    assert gone(mark)


def test_the_rest_of_the_group_goes_though_its_keeper_was_killed(mark: str) -> None:
    client = Client.start(engine("stubborn", mark), limits=Limits(close=0.2))
    client.channel.process.kill()  # type: ignore[attr-defined]
    client.close()
    assert gone(mark)


def arena(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tengen", "arena", "match", *words, "--size", "5", "--quiet"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TENGEN_QUIET": "1"},
    )


def test_nothing_is_left_after_a_match_with_workers(mark: str, tmp_path: Path) -> None:
    spec = f"gtp:{engine('daemon', mark)}"
    match = arena(tmp_path, "random", spec, "--games", "4", "--workers", "2", "--json")
    out, err = match.communicate(timeout=300)
    assert gone(mark, 0.0)
    assert (match.returncode, err) == (0, "")
    assert json.loads(out)["games"] == 4


def test_an_interrupted_match_says_what_is_kept_and_leaves_nothing(
    mark: str, tmp_path: Path
) -> None:
    spec = f"gtp:{engine('slow', mark)}"
    words = ["random", spec, "--games", "50", "--out", "m.sqlite", "--workers", "2"]
    match = arena(tmp_path, *words)
    deadline = time.monotonic() + 240
    while not left(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    match.send_signal(signal.SIGTERM)
    _, err = match.communicate(timeout=240)
    assert match.returncode == 143
    assert err.startswith("tengen: terminated; m.sqlite has ")
    assert err.endswith(" games; the same command plays the rest\n") and err.count("\n") == 1
    assert gone(mark)


@pytest.mark.parametrize("command", ["gtp", "analysis"])
def test_a_server_that_is_terminated_ends_its_engines(command: str, mark: str) -> None:
    player = ["--player", f"gtp:{engine('stubborn', mark)}"]
    with subprocess.Popen(
        [sys.executable, "-m", "tengen", command, *player],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        if command == "gtp":
            server.stdin.write(b"genmove b\n")
            server.stdin.flush()
            assert server.stdout.readline() == b"= pass\n"
            assert left(mark)
        else:
            server.stdin.write(b'{"id":"a","action":"query_version"}\n')
            server.stdin.flush()
            assert server.stdout.readline()
        server.send_signal(signal.SIGTERM)
        assert server.stderr is not None
        said = server.stderr.read()
        assert server.wait(240) == 143
    assert said.splitlines()[-1] == b"tengen: terminated" and b"Traceback" not in said
    assert gone(mark)


def test_an_interrupted_training_says_how_to_resume(tmp_path: Path) -> None:
    words = ["--size", "5", "--moves", "3", "--generations", "100000", "--snapshot-every", "5"]
    train = [sys.executable, "-m", "tengen", "train", "opening-evolution", *words, "--out", "run"]
    with subprocess.Popen(train, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as training:
        metrics = tmp_path / "run" / "metrics.jsonl"
        deadline = time.monotonic() + 300
        while not metrics.exists() or metrics.read_bytes().count(b"\n") < 20:
            assert training.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        training.send_signal(signal.SIGTERM)
        _, said = training.communicate()
        assert training.returncode == 143
    last = said.splitlines()[-1]
    assert last.startswith("tengen: terminated; run ") and last.endswith("can be resumed")
    assert "Traceback" not in said
