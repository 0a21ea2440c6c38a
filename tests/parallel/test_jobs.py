"""Jobs give the same results in process, in processes and on Ray, and survive lost workers."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest
from tests.processes import is_running

from tengen.errors import TengenError
from tengen.parallel import Team, WorkerLostError, cluster, map_jobs, spawn_seeds

# Workers inherit this path, so that they can import the functions by name.
sys.path.insert(0, str(Path(__file__).parent))
from functions_for_workers import (
    die_always,
    die_once,
    draw,
    echo_big,
    fail_on_three,
    own_pid,
    say_goodbye,
    unsendable,
)


def test_processes_give_what_this_process_gives() -> None:
    seeds = spawn_seeds(5, 20)
    here = list(map_jobs(draw, seeds))
    assert list(map_jobs(draw, seeds, workers=2)) == here
    assert sorted(map_jobs(draw, seeds, workers=2, ordered=False)) == sorted(here)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_raises_raises_here_with_its_number(workers: int) -> None:
    with pytest.raises(TengenError, match="three is wrong") as caught:
        list(map_jobs(fail_on_three, range(10), workers=workers))
    assert "job 3" in "".join(caught.value.__notes__)


def test_a_team_stays_for_many_lots_and_goes_when_it_is_closed() -> None:
    with Team(own_pid, workers=2) as team:
        pids = set(team.map(range(6))) | set(team.map(range(6)))
        # On a busy machine one process may do all of it.
        assert len(pids) <= 2 and os.getpid() not in pids
        os.kill(next(iter(pids)), signal.SIGKILL)
        again = set(team.map(range(6)))
        assert again and pids.isdisjoint({os.getpid()} | again)
    assert not any(map(is_running, again | pids))
    assert Team(own_pid).map(range(2)) == [os.getpid()] * 2
    with pytest.raises(TengenError, match="three is wrong"), Team(fail_on_three, workers=2) as team:
        team.map(range(10))


@pytest.mark.parametrize("ordered", [True, False])
def test_a_round_that_was_left_early_leaves_nothing_to_the_next(ordered: bool) -> None:
    with Team(draw, workers=2) as team:
        left = team.iterate(range(1000, 1100), ordered=ordered)
        assert next(left) in [draw(seed) for seed in range(1000, 1100)]
        left.close()  # type: ignore[attr-defined]
        assert team.map(range(5)) == [draw(seed) for seed in range(5)]
    with Team(fail_on_three, workers=2) as team:
        with pytest.raises(TengenError, match="three is wrong"):
            team.map(range(10))
        assert team.map(range(4, 9)) == list(range(4, 9))


def test_killed_workers_are_replaced_and_their_jobs_done_once_each(tmp_path: Path) -> None:
    jobs = [(i, str(tmp_path)) for i in range(12)]
    # A killed worker takes the jobs beside it along, so one job may be lost as often as all die.
    results = map_jobs(die_once, jobs, workers=2, retries=len(jobs))
    assert list(results) == [i * i for i in range(12)]


def test_a_job_that_always_kills_its_worker_is_given_up() -> None:
    with pytest.raises(WorkerLostError, match="job 0 lost 2 workers"):
        list(map_jobs(die_always, [1], workers=2, retries=1))


def test_big_jobs_and_results_do_not_block_each_other() -> None:
    jobs = [np.full(500_000, i) for i in range(6)]
    assert [int(r[0]) for r in map_jobs(echo_big, jobs, workers=2)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("workers", [1, 2])
def test_endless_jobs_are_read_lazily_and_closing_ends_the_workers(workers: int) -> None:
    results = map_jobs(own_pid, itertools.count(), workers=workers, ordered=False)
    pids = {next(results) for _ in range(20)}
    results.close()  # type: ignore[attr-defined]
    assert not any(is_running(pid) for pid in pids - {os.getpid()})
    assert workers == 1 or os.getpid() not in pids


def test_what_cannot_travel_is_one_clear_error() -> None:
    with pytest.raises(TengenError, match="top of a module"):
        list(map_jobs(lambda job: job, [1, 2], workers=2))
    with pytest.raises(Exception, match="unsendable"):
        list(map_jobs(unsendable, [1, 2], workers=2))


def test_no_jobs_and_no_workers() -> None:
    assert list(map_jobs(draw, [], workers=2)) == []
    with pytest.raises(TengenError, match="at least 1"):
        map_jobs(draw, [1], workers=0)


def test_seeds_differ_and_do_not_shift() -> None:
    seeds = spawn_seeds(0, 1000)
    assert len(set(seeds)) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert set(seeds).isdisjoint(spawn_seeds(1, 1000))


def test_ray_without_the_extra_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(TengenError, match="pip install"):
        list(map_jobs(draw, [1], ray="auto"))


class Listener:
    """A server on this machine that takes one visitor and answers what it is told."""

    def __init__(self, answer: bytes | None) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.answer = answer
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with self.socket, self.socket.accept()[0] as visitor:
            visitor.recv(100)
            if self.answer is None:
                visitor.recv(100)  # until the visitor has had enough
            else:
                visitor.sendall(self.answer)


def test_a_wrong_address_of_a_cluster_is_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []
    ray = types.SimpleNamespace(is_initialized=lambda: False, init=reached.append)
    monkeypatch.setitem(sys.modules, "ray", ray)
    silent = Listener(None).address
    nobody = socket.socket()  # has the port, so that no other test takes it, and does not listen
    nobody.bind(("127.0.0.1", 0))
    port = nobody.getsockname()[1]
    wrong = {
        f"127.0.0.1:{port}": "refused",
        f"ray://127.0.0.1:{port}": "refused",
        Listener(b"HTTP/1.1 400 Bad Request\r\n\r\n").address: "something else",
        Listener(b"").address: "something else",
        silent: "timed out",
        "no.such.host.invalid:6379": "no Ray cluster",
        "somewhere": "no address of a Ray cluster",
        "host:": "no address of a Ray cluster",
        "host:99999": "no address of a Ray cluster",
        "host:six": "no address of a Ray cluster",
    }
    for address, words in wrong.items():
        # Who answers may take its time on a busy machine.
        monkeypatch.setattr(cluster, "PATIENCE", 0.2 if address == silent else 60.0)
        with pytest.raises(TengenError, match=words) as caught:
            list(map_jobs(draw, [1], ray=address))
        assert address in str(caught.value)
    nobody.close()
    assert reached == []


def begin_parent(folder: Path, *words: str) -> tuple[subprocess.Popen[bytes], list[int]]:
    """Start a parent of two workers, and wait until both are there."""
    script = Path(__file__).parent / "functions_for_workers.py"
    words = (sys.executable, str(script), str(folder), *words)
    parent = subprocess.Popen(words, start_new_session=True)
    deadline = time.monotonic() + 240
    while len(list(folder.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    workers = [int(path.name) for path in folder.iterdir()]
    assert len(workers) == 2
    return parent, workers


def are_gone(workers: list[int]) -> bool:
    """Wait a minute for workers to end."""
    deadline = time.monotonic() + 60
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, workers))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no clock that ends a process")
@pytest.mark.parametrize("state", ["idle", "working"])
def test_workers_go_when_their_parent_is_killed_though_they_cannot_end(
    state: str, tmp_path: Path
) -> None:
    parent, workers = begin_parent(tmp_path, state)
    parent.kill()
    parent.wait()
    assert are_gone(workers)


@pytest.mark.parametrize(("sign", "status"), [(signal.SIGINT, 3), (signal.SIGKILL, -9)])
def test_workers_go_when_their_parent_is_interrupted_or_killed(
    sign: signal.Signals, status: int, tmp_path: Path
) -> None:
    parent, workers = begin_parent(tmp_path)
    # Ctrl-C reaches the whole group; a kill only the parent.
    if sign is signal.SIGINT:
        os.killpg(parent.pid, sign)
    else:
        parent.kill()
    assert parent.wait(60) == status
    assert are_gone(workers)


def test_workers_close_what_they_hold_when_all_is_done(tmp_path: Path) -> None:
    goodbyes = Path(f"{tmp_path}-goodbyes")
    goodbyes.mkdir()
    workers = set(map_jobs(say_goodbye, [str(tmp_path)] * 8, workers=2))
    assert {int(path.name) for path in goodbyes.iterdir()} == workers
