"""Functions that worker processes of the tests import by name."""

from __future__ import annotations

import atexit
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tengen.errors import TengenError


def draw(seed: int) -> float:
    return float(np.random.default_rng(seed).random())


def fail_on_three(job: int) -> int:
    if job == 3:
        raise TengenError("three is wrong")
    return job


def die_once(job: tuple[int, str]) -> int:
    """Kill the own process at the first visit of every third job."""
    number, folder = job
    marker = Path(folder) / str(number)
    if number % 3 == 0 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def die_always(job: int) -> int:
    os._exit(9)


def echo_big(job: np.ndarray) -> np.ndarray:
    return job + 1


def own_pid(job: int) -> int:
    time.sleep(0.02)
    return os.getpid()


def unsendable(job: int) -> object:
    return lambda: job


def draw_slowly(seed: int) -> float:
    time.sleep(0.2)
    return draw(seed)


def note_pid_and_sleep(folder: str) -> None:
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)


class StuckAtTheEnd:
    """Something that an ending interpreter gets stuck on, when its threads run no more."""

    def __del__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        sleep(600)


held: list[StuckAtTheEnd] = []


def hold_what_sticks(folder: str) -> None:
    held.append(StuckAtTheEnd())
    (Path(folder) / str(os.getpid())).touch()
    while len(list(Path(folder).iterdir())) < 2:  # both workers are to have begun
        time.sleep(0.05)


def get_stuck_at_work(folder: str) -> None:
    hold_what_sticks(folder)
    StuckAtTheEnd()  # at once: whoever tells it to end here is not heard


def say_goodbye(folder: str) -> int:
    """Hold something that is to be closed when the worker ends."""
    atexit.register((Path(f"{folder}-goodbyes") / str(os.getpid())).touch)
    return os.getpid()


def main() -> None:
    """Be a parent whose workers sleep; the tests interrupt or kill it."""
    import sys

    from tengen.parallel import Team, map_jobs

    # A shell that starts the tests in the background leaves Ctrl-C ignored; here it must work.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.argv[2:]:
        function = {"idle": hold_what_sticks, "working": get_stuck_at_work}[sys.argv[2]]
        with Team(function, workers=2) as team:
            team.map([sys.argv[1]] * 4)
            time.sleep(600)  # with idle workers
    try:
        list(map_jobs(note_pid_and_sleep, [sys.argv[1]] * 4, workers=2))
    except KeyboardInterrupt:
        sys.exit(3)


if __name__ == "__main__":
    main()


def wait_for_word(folder: str) -> str:
    """Say that it has begun, and end when the word is given."""
    (Path(folder) / "begun").touch()
    while not (Path(folder) / "word").exists():
        time.sleep(0.05)
    return folder
