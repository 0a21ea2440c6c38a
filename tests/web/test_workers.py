"""Worker processes: results, parts, cancelling, crashes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from typing import Any

import pytest

from tengen.board import Board
from tengen.errors import TengenError
from tengen.web.machines import next_rung
from tengen.web.positions import to_board, to_value
from tengen.web.workers import CancelledJob, Lane

Wait = Callable[..., Any]
Processes = Callable[[], list[BaseProcess]]


@pytest.fixture
def lane() -> Iterator[Lane]:
    made = Lane()
    yield made
    made.close()


@pytest.fixture
def processes() -> Processes:
    """Tell the processes that were started in this test and live."""
    before = set(multiprocessing.active_children())
    return lambda: [p for p in multiprocessing.active_children() if p not in before]


def choosing(player: str, size: int = 9) -> dict[str, Any]:
    return {"board": to_value(Board(size)), "player": player, "seed": 1}


def test_boards_survive_the_way() -> None:
    board = Board(9, 13, rules="japanese", komi=0.5)
    board.place_handicap(2)
    board.play("C3")
    board.play("pass")
    twin = to_board(to_value(board))
    assert twin == board and twin.turn == board.turn


def test_a_job_gives_its_result_and_the_same_one_again(lane: Lane) -> None:
    first = lane.submit("tasks.choose", choosing("random")).future.result(240)
    assert first == lane.submit("tasks.choose", choosing("random")).future.result(240)


def test_mistakes_come_back_as_such(lane: Lane) -> None:
    with pytest.raises(TengenError, match="no player"):
        lane.submit("tasks.choose", choosing("nobody")).future.result(240)
    with pytest.raises(RuntimeError):
        lane.submit("tasks.choose", {}).future.result(240)
    assert lane.submit("tasks.choose", choosing("random")).future.result(240)["move"]


def test_a_dead_process_is_replaced_and_the_job_done(lane: Lane, processes: Processes) -> None:
    lane.submit("tasks.choose", choosing("random")).future.result(240)
    [process] = processes()
    job = lane.submit("tasks.choose", choosing("mcts:seconds=5"))
    time.sleep(0.5)
    process.kill()
    assert job.future.result(240)["move"]
    assert processes() != [process]


def test_a_process_that_always_dies_is_told(
    lane: Lane, processes: Processes, wait_for: Wait
) -> None:
    job = lane.submit("tasks.choose", choosing("mcts:seconds=60"))
    killed: set[BaseProcess] = set()
    while len(killed) < 2:
        [process] = wait_for(lambda: [p for p in processes() if p not in killed])
        process.kill()
        killed.add(process)
    with pytest.raises(TengenError, match="died"):
        job.future.result(240)


def test_a_long_search_is_cancelled_at_once(lane: Lane) -> None:
    lane.submit("tasks.choose", choosing("random")).future.result(240)
    job = lane.submit("tasks.choose", choosing("mcts:seconds=100"))
    waiting = lane.submit("tasks.choose", choosing("random"))
    time.sleep(0.3)
    started = time.monotonic()
    job.cancel()
    with pytest.raises(CancelledJob):
        job.future.result(90)
    assert time.monotonic() - started < 50
    assert waiting.future.result(240)["move"]


def test_an_analysis_tells_parts(lane: Lane) -> None:
    parts: list[Any] = []
    job = lane.submit("tasks.hint", choosing("mcts:seconds=1"), parts.append)
    done = job.future.result(240)
    assert parts and done["visits"] >= parts[0]["visits"]
    assert done["moves"][0]["line"]


def test_the_ladder_stays_between_its_ends() -> None:
    low = next_rung([False] * 50, 10)
    assert (low.level, low.handicap) == (1, 4)
    high = next_rung([True] * 50, 10)
    assert (high.level, high.handicap) == (10, 0)
    assert next_rung([None, None], 10) == next_rung([], 10)


def test_a_wide_step_of_the_ladder_has_a_handicap_half_way() -> None:
    ratings = {2: 1000.0, 3: 1400.0, 4: 1500.0}
    ways = [[True] * n for n in range(4)]
    large = [next_rung(way, 10, ratings, 19 * 19) for way in ways]
    assert [(rung.level, rung.handicap) for rung in large] == [(2, 0), (3, 2), (3, 0), (4, 0)]
    small = [next_rung(way, 10, ratings, 9 * 9) for way in ways]
    assert [(rung.level, rung.handicap) for rung in small] == [(2, 0), (3, 0), (4, 0), (5, 0)]
