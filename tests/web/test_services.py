"""The services of the web server and their worker processes, without HTTP and browsers."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from tengen.board import HANDICAP_KOMI, Board
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.web import games, workers
from tengen.web.artifacts import index_upload, listed
from tengen.web.games import NewGame, WebGame
from tengen.web.machines import list_opponents, next_rung
from tengen.web.positions import packed, to_board, to_value
from tengen.web.services import Services, ask, parts_of
from tengen.web.settings import Settings
from tengen.web.store import (
    PROBLEM,
    Store,
    UnknownItemError,
    default_database,
    keep_problems,
    list_problems,
    rate_answer,
    worst_lessons,
)
from tengen.web.workers import CancelledJob, Context, Job, Lane, OverloadedError, WorkerDiedError

Answer = TypeVar("Answer")
Processes = Callable[[], list[BaseProcess]]
CONTEXT = Context(tell=lambda part: None, stop=lambda: False)


def run(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run it on a thread of its own: a browser's tests may have left a loop on this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "web.sqlite", runs=tmp_path / "runs")


# ----- What is kept -----


def test_items_come_back_latest_first_and_go_with_their_parts(settings):
    store = Store(settings.database)
    store.put("game", "a", {"size": 9}, {"moves": []})
    store.put("game", "b", {"size": 13}, {"moves": ["E5"]})
    store.put("game", "a", {"size": 9}, {"moves": ["C3"]})
    for number in (10, 2):
        store.put_part("game", "a", number, {"number": number})
    assert [item["id"] for item in store.list("game")] == ["a", "b"]
    assert store.get("game", "a") == {"moves": ["C3"]} and not store.has("review", "a")
    assert [part["number"] for part in store.parts("game", "a")] == [2, 10]
    store.delete("game", "a")
    with pytest.raises(UnknownItemError, match="no such game"):
        store.delete("game", "a")
    assert store.parts("game", "a") == [] and len(store.list("game")) == 1
    store.close()


def test_other_databases_are_refused(settings):
    settings.database.write_text("no database")
    with pytest.raises(TengenError, match="not a database of games"):
        Store(settings.database)
    settings.database.unlink()
    Store(settings.database).close()
    with contextlib.closing(sqlite3.connect(settings.database)) as database:
        database.execute("PRAGMA user_version=99")
    with pytest.raises(TengenError, match="newer version"):
        Store(settings.database)


def test_games_are_kept_where_the_system_says(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_database() == tmp_path / "tengen" / "web.sqlite"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_database() == tmp_path / ".local" / "share" / "tengen" / "web.sqlite"


def test_a_tournament_that_went_is_not_listed(tmp_path):
    there, gone = tmp_path / "there.sqlite", tmp_path / "gone.sqlite"
    there.touch()
    given = Settings(tmp_path / "web.sqlite", arenas=(gone, there))
    names = [one.name for one in listed("arenas", given)]
    assert there.name in names and gone.name not in names


# ----- What is sent -----


def test_what_is_wrong_with_a_dropped_collection_names_no_folder(tmp_path):
    arguments = packed(b"no game", "mine.sgf")
    with pytest.raises(RecordError, match=r"^mine\.sgf: "):
        index_upload({**arguments, "folder": str(tmp_path)}, CONTEXT)


# ----- Waiting -----


class Instant(Lane):
    """A lane that does its work in a thread, at once, or as soon as the job is cancelled."""

    def __init__(self, *, waits: bool = False) -> None:
        self._waits = waits

    def submit(self, task: str, arguments: Any, on_part: Any = None, **options: float) -> Job:
        self.job = job = Job(task, arguments, on_part)

        def work() -> None:
            while self._waits and not job.is_cancelled:
                time.sleep(0.01)
            if on_part is not None:
                on_part(1)
                on_part(2)
            if job.is_cancelled:
                job.future.set_exception(CancelledJob())
            else:
                job.future.set_result("all")

        threading.Thread(target=work).start()
        return job


def test_parts_come_before_the_result():
    async def gather() -> list[Any]:
        return [part async for part in parts_of(Instant(), "count", {})]

    assert run(gather()) == [1, 2, "all"]


def test_a_job_ends_when_nobody_waits_for_it():
    async def gone() -> bool:
        return True

    lane, request = Instant(waits=True), SimpleNamespace(is_disconnected=gone)
    with pytest.raises(CancelledJob):
        run(ask(request, lane, "long"))  # type: ignore[arg-type]
    assert lane.job.is_cancelled


# ----- A game at the table -----


def game(**more: Any) -> WebGame:
    return WebGame.start(NewGame(**{"size": 5, "opponent": "random", **more}))


def test_a_stored_game_is_the_same_game():
    table = game(komi=0.5, minutes=1.0, increment=2.0)
    for move in ("C3", "pass", "pass"):
        table.play(move, 0.0)
    table.mark_dead({table.board.point("C3")})
    again = WebGame.from_body(table.body(0.0))
    assert again.body(0.0) == table.body(0.0) and again.count().result == "W+0.5"
    assert again.is_counting and again.clock.increment == 2.0


def test_a_handicap_leaves_white_half_a_point_by_default():
    assert game(size=9, handicap=2).board.komi == HANDICAP_KOMI == 0.5
    assert game(size=9, handicap=2, komi=3.5).board.komi == 3.5


def test_a_move_that_comes_too_late_loses_and_the_loss_is_stored(settings):
    async def play() -> None:
        services = Services(settings)
        room = services.games
        key = room.add(game(minutes=1.0))["id"]
        late = time.monotonic() + 61.0
        room.now = lambda: late
        with pytest.raises(IllegalMoveError, match="time is up"):
            room.change(key, None, lambda table, now: table.play("C3", now))
        assert room.state(key)["result"] == "W+T"
        [stored] = services.store.list("game")
        assert stored["result"] == "W+T" and stored["status"] == "over"
        services.close()

    run(play())


@pytest.mark.parametrize("jump", [400.0, -3600.0])
def test_a_change_of_the_systems_time_moves_no_clock(settings, monkeypatch, jump):
    jumped, right = [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: right() + jumped[0])

    async def play() -> None:
        services = Services(settings)
        key = services.games.add(game(minutes=1.0, opponent="person"))["id"]
        jumped[0] = jump
        services.games.change(key, None, lambda table, now: table.play("C3", now))
        told = services.games.state(key)
        assert not told["result"] and min(told["clock"]["black"], told["clock"]["white"]) > 0
        assert max(told["clock"]["black"], told["clock"]["white"]) <= 60.0
        services.close()

    run(play())


def test_a_machine_that_answers_too_late_loses(settings):
    async def play() -> None:
        lane = DyingLane()
        services = Services(settings, playing=lane)
        room, table = services.games, game(colour="white", minutes=1.0)
        room.add(table)
        late = time.monotonic() + 61.0
        room.now = lambda: late
        await answer(lane.job, {"move": "C3"})
        assert not table.trouble
        [stored] = services.store.list("game")
        assert stored["result"] == "W+T" and stored["moves"] == 0
        room.close()
        services.store.close()

    run(play())


async def answer(job: Job, found: Any) -> None:
    """Let a worker answer, and the event loop take it in."""
    job.future.set_result(found)
    await asyncio.sleep(0)


def test_the_ladder_knows_older_games_than_the_list(settings):
    services = Services(settings)
    won = {"size": 9, "ladder": True, "status": "over", "won": True}
    services.store.put("game", "first", won, {})
    services.store.put("game", "second", won, {})
    others = ({**won, "size": 13}, {**won, "ladder": False}, {**won, "status": "playing"})
    for number in range(510):
        services.store.put("game", f"other-{number}", others[number % 3], {})
    assert "first" not in {game["id"] for game in services.store.list("game")}
    climbed, fresh = (services.games.on_ladder(NewGame(size=size)) for size in (9, 11))
    assert (climbed.opponent, climbed.handicap) != (fresh.opponent, fresh.handicap)
    services.close()


class WaitingLane(Lane):
    """A lane whose processes do nothing."""

    def submit(self, task: str, arguments: Any, on_part: Any = None, **options: float) -> Job:
        self.job = Job(task, arguments, on_part)
        return self.job

    def close(self) -> None:
        pass


class DyingLane(WaitingLane):
    """A lane whose processes report and then die while it is closed."""

    def close(self) -> None:
        if self.job.on_part is not None:
            self.job.on_part({"number": 0, "move": None, "position": {}, "progress": None})
        self.job.future.set_exception(WorkerDiedError("it died"))


def test_engines_of_other_games_may_have_to_end_but_not_while_they_think(settings, monkeypatch):
    monkeypatch.setattr(games, "_MOST_ENGINES", 1)
    made: list[WaitingLane] = []

    def make() -> Lane:
        made.append(WaitingLane())
        return made[-1]

    async def play() -> None:
        services = Services(replace(settings, players=("random",)))
        room = services.games
        monkeypatch.setattr(games, "Lane", make)
        first, second = (game(colour="white", opponent="own-1") for _ in range(2))
        room.add(first)
        room.add(second)
        assert first.job is made[0].job and second.trouble and len(made) == 1
        await answer(made[0].job, {"move": "C3"})
        room.retry(second.id)
        assert len(made) == 2 and second.job is made[1].job and not second.trouble
        services.close()

    run(play())


def test_a_server_that_ends_takes_in_nothing_more(settings):
    async def end() -> list[str]:
        complaints: list[str] = []
        told = asyncio.get_running_loop()
        told.set_exception_handler(lambda _, context: complaints.append(str(context)))
        playing, studying = DyingLane(), DyingLane()
        services = Services(settings, playing=playing, studying=studying)
        key = services.games.add(game(colour="white"))["id"]
        services.reviews.add([{"sgf": "(;SZ[5];B[cc])", "headline": {}}])
        assert services.games.state(key)["moves"] == []
        services.close()
        await asyncio.sleep(0.1)
        return complaints

    assert run(end()) == []


def test_the_worst_mistakes_come_first_and_only_one_of_a_move():
    lost = ((1, 10.0), (1, 1.0), (2, 5.0), (3, 4.0), (4, 3.0))
    worst = worst_lessons([{"number": number, "points_lost": points} for number, points in lost])
    assert [one["points_lost"] for one in worst] == [10.0, 5.0, 4.0]


def test_a_solved_problem_comes_back_later_and_later(settings):
    store = Store(settings.database)
    lesson = {"number": 7, "move": "A1", "colour": "black", "best": "E5", "points_lost": 9.0}
    lesson |= {"board": to_value(Board(9))}
    keep_problems(store, "game", [lesson], 0.0)
    day, key = 86400.0, "game-7-A1"

    def rate(lost: float, move: str) -> tuple[bool, float]:
        answer = rate_answer(store, store.get(PROBLEM, key), lost, move, 0.0)
        return answer["solved"], answer["due"] / day

    [problem] = list_problems(store)
    assert problem["id"] == key and problem["due"] == day
    solved, gaps = zip(*(rate(0.0, "D4") for _ in range(3)), strict=True)
    assert all(solved) and list(gaps) == sorted(gaps) and 1 <= gaps[0] < gaps[-1]
    assert rate(6.0, "B2") == (False, 1.0) and rate(6.0, "E5")[0]
    keep_problems(store, "game", [lesson], 5 * day)  # kept once
    assert store.get(PROBLEM, key)["due"] < 5 * day
    store.close()


def test_every_level_has_a_rank_or_a_bound_on_the_usual_boards():
    for one in list_opponents().values():
        assert set(one.ranks) == set(one.intervals) <= set(one.ratings), one.id
        for size in ("9x9", "13x13", "19x19") if one.level else ():
            assert size in one.ranks or any(one.between[size]), (one.id, size)


# ----- Worker processes -----


@pytest.fixture
def lane() -> Iterator[Lane]:
    made = Lane()
    yield made
    made.close()


@pytest.fixture(scope="module")
def calm() -> Iterator[Lane]:
    """A lane of all tests that leave its process alive."""
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


def test_boards_survive_the_way():
    board = Board(9, 13, rules="japanese", komi=0.5)
    board.place_handicap(2)
    board.play("C3")
    board.play("pass")
    twin = to_board(to_value(board))
    assert twin == board and twin.turn == board.turn


def test_a_job_gives_its_result_and_the_same_one_again(calm):
    first = calm.submit("tasks.choose", choosing("random")).future.result(240)
    assert first == calm.submit("tasks.choose", choosing("random")).future.result(240)


def test_mistakes_come_back_as_such(calm):
    with pytest.raises(TengenError, match="no player"):
        calm.submit("tasks.choose", choosing("nobody")).future.result(240)
    with pytest.raises(RuntimeError):
        calm.submit("tasks.choose", {}).future.result(240)
    assert calm.submit("tasks.choose", choosing("random")).future.result(240)["move"]


def test_a_dead_process_is_replaced_and_the_job_done(lane, processes):
    lane.submit("tasks.choose", choosing("random")).future.result(240)
    [process] = processes()
    job = lane.submit("tasks.choose", choosing("mcts:seconds=5"))
    time.sleep(0.5)
    process.kill()
    assert job.future.result(240)["move"]
    assert processes() != [process]


def test_a_process_that_always_dies_is_reported(lane, processes, wait_for):
    job = lane.submit("tasks.choose", choosing("mcts:seconds=60"))
    killed: set[BaseProcess] = set()
    while len(killed) < 2:
        [process] = wait_for(lambda: [p for p in processes() if p not in killed])
        process.kill()
        killed.add(process)
    with pytest.raises(TengenError, match="died"):
        job.future.result(240)


def test_a_long_search_is_cancelled_at_once(calm):
    calm.submit("tasks.choose", choosing("random")).future.result(240)
    job = calm.submit("tasks.choose", choosing("mcts:seconds=100"))
    waiting = calm.submit("tasks.choose", choosing("random"))
    time.sleep(0.3)
    started = time.monotonic()
    job.cancel()
    with pytest.raises(CancelledJob):
        job.future.result(90)
    assert time.monotonic() - started < 50
    assert waiting.future.result(240)["move"]


def test_a_long_job_leaves_room_for_others(wait_for):
    lane = Lane(2)
    long = lane.submit("tasks.choose", choosing("mcts:seconds=1000"))
    wait_for(long.future.running)
    for _ in range(3):
        assert lane.submit("tasks.choose", choosing("random")).future.result(240)["move"]
    assert not long.future.done()
    lane.close()
    assert isinstance(long.future.exception(), CancelledJob)


def test_more_jobs_than_can_wait_are_refused(calm, monkeypatch):
    monkeypatch.setattr(workers, "_MOST_JOBS", 2)
    first, second = (calm.submit("tasks.choose", choosing("mcts:seconds=1000")) for _ in range(2))
    with pytest.raises(OverloadedError):
        calm.submit("tasks.choose", choosing("random"))
    for job in (second, first):
        job.cancel()
    assert calm.submit("tasks.choose", choosing("random")).future.result(240)["move"]


def test_an_analysis_tells_parts(calm):
    parts: list[Any] = []
    job = calm.submit("tasks.hint", choosing("mcts:seconds=1"), parts.append)
    done = job.future.result(240)
    assert parts and done["visits"] >= parts[0]["visits"]
    assert done["moves"][0]["line"]


def test_the_ladder_stays_between_its_ends():
    assert next_rung([False] * 50, 10) == (1, 4)
    assert next_rung([True] * 50, 10) == (10, 0)
    assert next_rung([None, None], 10) == next_rung([], 10) == (2, 0)
    assert next_rung([True, True, False], 10) == (3, 0)


def test_a_wide_step_of_the_ladder_has_a_handicap_half_way():
    ratings = {2: 1000.0, 3: 1400.0, 4: 1500.0}
    ways = [[True] * n for n in range(4)]
    large, small = ([next_rung(way, 10, ratings, n * n) for way in ways] for n in (19, 9))
    assert large == [(2, 0), (3, 2), (3, 0), (4, 0)] and small == [(2, 0), (3, 0), (4, 0), (5, 0)]


TWO_STEPS = """
import time

def compile(steps):
    steps[1] = 2
    for _ in range(2):
        time.sleep(0.5)
        steps[0] += 1
"""


def test_it_tells_what_is_compiled_until_that_is_done(settings, monkeypatch, tmp_path):
    (tmp_path / "two_steps.py").write_text(TWO_STEPS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(workers, "_compile", importlib.import_module("two_steps").compile)
    services = Services(settings)
    try:
        assert services.preparing() == {"move": False, "steps": None}
        services.will_compile = True
        assert services.preparing()["steps"] == (0, 0)
        services.compilation, services.will_compile = workers.Compilation(), False
        seen = set()
        while (steps := services.preparing()["steps"]) is not None:
            seen.add(steps)
            time.sleep(0.01)
        assert {(0, 2), (1, 2)} <= seen
    finally:
        services.close()
