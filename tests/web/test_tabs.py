"""Several tabs on one server, with faults in between: every answer fits the rules and the truth."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    multiple,
    rule,
    run_state_machine_as_test,
)
from tests.web.conftest import Server

from tengen.board import Board
from tengen.web.positions import NAMES, rows_of

State = dict[str, Any]
HUNG, ENGINE = "own-1", "own-2"
TOY = Path(__file__).parents[1] / "arena" / "toy_engine.py"
NUMBERS = st.integers(0, 10_000)


@dataclass
class Tab:
    """A page that shows a game as it was when it asked last."""

    key: str
    state: State


class Tabs(RuleBasedStateMachine):
    """Tabs that play, look and leave; nothing they do may harm another tab or lose a move."""

    server: Server
    seen: dict[str, State]  # the last state of every game that was not deleted

    tabs = Bundle("tabs")

    def __init__(self) -> None:
        super().__init__()
        self.client = self.server.client()
        self.mine: set[str] = set()
        self.gone: set[str] = set()

    # ----- Asking -----

    def ask(self, method: str, path: str, *expected: int, **options: Any) -> httpx.Response:
        answer = self.client.request(method, path, **options)
        assert answer.status_code in expected, (method, path, options, answer.text)
        return answer

    def note(self, tab: Tab, state: State) -> None:
        """Check a state against the rules, and show it in a tab."""
        board = Board(state["size"][0], rules=state["rules"], komi=state["komi"])
        for colour, move in state["moves"]:
            board.play(move, "-BW".index(colour))
        assert rows_of(board) == state["stones"] and NAMES[board.turn] == state["turn"]
        assert tuple(state["captures"].values()) == tuple(board.prisoners)
        if state["id"] in self.seen and self.seen[state["id"]]["version"] == state["version"]:
            assert self.seen[state["id"]]["moves"] == state["moves"]
        tab.state = self.seen[state["id"]] = state

    def change(self, tab: Tab, action: str, **body: Any) -> State | None:
        """Act on what a tab shows; return the next state, or None if that was refused."""
        way, version = f"/api/games/{tab.key}", tab.state["version"]
        if tab.key in self.gone:
            self.ask("POST", f"{way}/{action}", 404, json=body)
            return None
        body["version"] = version
        answer = self.ask("POST", f"{way}/{action}", 200, 409, 422, json=body)
        if answer.status_code == 409:
            assert self.ask("GET", way, 200).json()["version"] > version
        if answer.status_code != 200:
            return None
        state = {**answer.json(), "rules": tab.state["rules"]}
        assert state["version"] == version + 1
        self.note(tab, state)
        return state

    # ----- What people do -----

    @rule(
        target=tabs,
        opponent=st.sampled_from(["person", "person", "random", "random", ENGINE, HUNG]),
        colour=st.sampled_from(["black", "white"]),
        rules=st.sampled_from(["cgos", "new_zealand", "japanese"]),
        minutes=st.sampled_from([0, 0, 600]),
    )
    def begin(self, opponent: str, colour: str, rules: str, minutes: int) -> Any:
        wanted = {"opponent": opponent, "colour": colour, "rules": rules, "minutes": minutes}
        state = self.ask("POST", "/api/games", 201, json={"size": 5, **wanted}).json()
        tab = Tab(state["id"], state)
        self.mine.add(tab.key)
        self.note(tab, {**state, "rules": rules})
        return multiple(tab, Tab(tab.key, tab.state))

    @rule(tab=tabs)
    def look(self, tab: Tab) -> None:
        """Ask for news as a page does."""
        query = {"version": tab.state["version"]}
        expected = (404,) if tab.key in self.gone else (200, 204)
        answer = self.ask("GET", f"/api/games/{tab.key}", *expected, params=query)
        if answer.status_code == 200:
            state = {**answer.json(), "rules": tab.state["rules"]}
            assert state["version"] > tab.state["version"] or state["trouble"]
            self.note(tab, state)
        elif answer.status_code == 204:
            assert self.seen[tab.key]["version"] <= tab.state["version"]

    @rule(tab=tabs, numbers=st.lists(NUMBERS, min_size=1, max_size=5))
    def play(self, tab: Tab, numbers: list[int]) -> None:
        for number in numbers:
            before, vertex = tab.state["moves"], a_legal_point(tab.state, number)
            state = self.change(tab, "moves", move=vertex, sure=True)
            if state is not None:
                assert state["moves"] == [*before, ["BW"[len(before) % 2], vertex]]
            if number % 2:
                self.look(tab)

    @rule(tab=tabs, action=st.sampled_from(["undo", "undo", "count", "accept", "go-on", "delete"]))
    def act(self, tab: Tab, action: str) -> None:
        if action == "delete":
            self.ask("DELETE", f"/api/games/{tab.key}", 404 if tab.key in self.gone else 204)
            self.gone.add(tab.key)
            self.seen.pop(tab.key, None)
            return
        before = tab.state["moves"]
        state = self.change(tab, action)
        if state is not None:
            assert state["moves"] == before[: len(state["moves"])]

    @rule(tab=tabs, number=st.integers(0, 49))
    def end(self, tab: Tab, number: int) -> None:
        """Mark a point as dead where the game is being counted, else now and then resign."""
        if tab.state["status"] == "counting":
            self.change(tab, "dead", vertex="ABCDE"[number % 5] + str(number // 5 % 5 + 1))
        elif number > 30:
            state = self.change(tab, "moves", move="resign")
            assert state is None or state["status"] == "over"

    # ----- Faults -----

    @rule(fault=st.sampled_from(["unknown", "unknown", "search", "worker"]), number=NUMBERS)
    def fail(self, fault: str, number: int) -> None:
        if fault == "unknown":
            actions = ["moves", "undo", "hint", "retry", "review", "sgf"]
            self.ask_for_what_never_was(actions[number % len(actions)])
        elif fault == "search":
            self.leave_a_search(number % 4 == 0)
        else:
            self.kill_a_worker(number)

    def ask_for_what_never_was(self, action: str) -> None:
        method = "GET" if action == "sgf" else "POST"
        body = {"move": "A1"} if action == "moves" else {}
        self.ask(method, f"/api/games/nobody/{action}", 404, json=body)

    @rule(tab=tabs, number=NUMBERS, share=st.sampled_from([0.3, 0.9, 1.0]))
    def hang_up(self, tab: Tab, number: int, share: float) -> None:
        """Send a move, or only a part of it, and leave; it is played once or not at all."""
        move = {"move": a_legal_point(tab.state, number), "version": tab.state["version"]}
        body = json.dumps(move | {"sure": True})
        request = (
            f"POST /api/games/{tab.key}/moves HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )
        with socket.create_connection(("127.0.0.1", self.server.port)) as connection:
            connection.sendall(request[: int(share * len(request))].encode())

    def leave_a_search(self, searching: bool) -> None:
        path = "/api/analyse?visits=2500"
        with self.client.stream("POST", path, json={"size": 5}) as answer:
            assert answer.status_code == 200
            if searching:
                next(answer.iter_lines())

    def kill_a_worker(self, number: int) -> None:
        assert self.server.process is not None
        children = psutil.Process(self.server.process.pid).children()
        with contextlib.suppress(psutil.NoSuchProcess):  # one that ends just now
            workers = [one for one in children if "spawn_main" in " ".join(one.cmdline())]
            if workers:
                workers[number % len(workers)].kill()

    def teardown(self) -> None:
        """Every machine that does not hang answers, whatever happened to the others."""
        for key in self.mine - self.gone:
            end = time.monotonic() + 240
            while True:
                state = self.ask("GET", f"/api/games/{key}", 200).json()
                if state["opponent"] == HUNG:
                    self.ask("POST", f"/api/games/{key}/moves", 200, 422, json={"move": "resign"})
                    state = self.ask("GET", f"/api/games/{key}", 200).json()
                    break
                if not state["thinking"] and not state["trouble"]:
                    break
                assert time.monotonic() < end, state
                if state["trouble"]:
                    self.ask("POST", f"/api/games/{key}/retry", 200)
                time.sleep(0.02)
            self.seen[key] = state
        self.client.close()


def a_legal_point(state: State, number: int) -> str:
    """Choose a point, or now and then a pass."""
    rows = len(state["stones"])
    empty = [
        f"{'ABCDE'[x]}{rows - y}"
        for y, row in enumerate(state["stones"])
        for x, stone in enumerate(row)
        if stone == "."
    ]
    legal = [vertex for vertex in empty if vertex not in state["illegal"]] + ["pass"]
    return legal[number % len(legal)]


def test_tabs_and_faults_harm_no_other_game(make_server):
    command = f"gtp:{sys.executable} {TOY}"
    server = make_server(
        "--player", f"{command} --hang-at 1", "--player", f"{command} --crash-at 3"
    )

    class Run(Tabs):
        pass

    Run.server, Run.seen = server, {}
    how = settings(
        max_examples=3,
        stateful_step_count=30,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),  # what a server did once cannot be shrunk
    )
    run_state_machine_as_test(Run, settings=how)
    server.kill()
    server.start()
    with server.client() as client:
        for key, state in Run.seen.items():
            found = client.get(f"/api/games/{key}").json()
            if found["version"] == state["version"]:
                assert found["moves"] == state["moves"]
            else:
                assert found["version"] > state["version"]
