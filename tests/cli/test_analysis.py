"""`tengen analysis`: queries as KaTrain sends them, mistakes of any kind, and a real process."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tengen.board import Board
from tengen.cli.servers import moves_of_rank
from tengen.contracts import Candidate, Player, SearchInfo
from tengen.errors import EngineError
from tengen.gtp.analysis import AnalysisServer
from tengen.network import DESIGNS
from tengen.network.learner import untrained
from tengen.players import make_player
from tengen.players.network_search import SearchPlayer

BASE: dict[str, Any] = {
    "id": "q",
    "rules": "japanese",
    "komi": 6.5,
    "boardXSize": 5,
    "boardYSize": 5,
    "moves": [["B", "C3"], ["W", "C2"]],
    "maxVisits": 20,
}


class Toy:
    """An analyser whose first candidate wins 0.7 by 3 points for the side to move."""

    name = "toy"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return 0

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        ownership = np.full(board.rows * board.cols, 0.5)
        first = Candidate(board.point("A1"), 3, 0.7, 3.0, pv=(board.point("A1"), board.point("B1")))
        candidates = (first, Candidate(0, 1, 0.2, -3.0))
        for visits in (2, 4):
            mine = SearchInfo(candidates, first.move, visits, 0.6, 2.0).seen_by(board.turn)
            yield replace(mine, ownership=ownership)


def ask(*lines: Any, player: Player | None = None, **options: Any) -> list[dict[str, Any]]:
    """Send lines (objects become JSON) and return the answers."""
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    out = io.BytesIO()
    server = AnalysisServer(lambda: player or Toy(), **options)
    server.run(io.BytesIO(text.encode()), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def query(**changes: Any) -> dict[str, Any]:
    return {**BASE, **changes}


@pytest.mark.parametrize(("rows", "cols"), [(9, 9), (3, 20), (2, 2)])
def test_limits_on_visits_hold_on_every_board(rows: int, cols: int) -> None:
    asked = query(moves=[], boardXSize=cols, boardYSize=rows, maxVisits=None)
    for spec, wanted, options, visits in (
        ("tengen", {"maxVisits": 1}, {"visits": 9}, 1),
        ("tengen:visits=9", {"maxVisits": 4}, {}, 4),
        ("tengen:visits=9", {}, {"visits": 4}, 4),
        ("tengen:visits=4", {}, {}, 4),
        ("mcts:playouts=4", {}, {}, 4),
    ):
        [answer] = ask(asked | wanted, player=make_player(spec), **options)
        assert answer["rootInfo"]["visits"] == visits
        assert sum(info["visits"] for info in answer["moveInfos"]) <= visits


def test_values_are_of_the_side_that_was_asked_for() -> None:
    white = (0.7, 3.0, -0.5)
    views = {"BLACK": (0.3, -3.0, 0.5), "WHITE": white, "SIDETOMOVE": white}
    for word, (winrate, score, owner) in views.items():
        wish = {"reportAnalysisWinratesAs": word}
        asked = query(moves=[["B", "C3"]], includeOwnership=True, overrideSettings=wish)
        [answer] = ask(asked)
        info = answer["moveInfos"][0]
        assert (info["winrate"], info["scoreLead"]) == (pytest.approx(winrate), score)
        assert answer["ownership"] == [owner] * 25
        assert answer["rootInfo"]["currentPlayer"] == "W"
        # The mean over visits, 3 of them for 0.7 and 1 for 0.2, as KataGo counts it.
        root = pytest.approx(0.425 if word == "BLACK" else 0.575)
        assert answer["rootInfo"]["winrate"] == root
        assert (info["move"], info["order"], info["pv"]) == ("A1", 0, ["A1", "B1"])


def test_a_katrain_query_is_answered_by_the_search() -> None:
    settings = {"reportAnalysisWinratesAs": "BLACK", "wideRootNoise": 0.04, "maxTime": 30.0}
    wishes = ("includeOwnership", "includeMovesOwnership", "includePolicy")
    [*warnings, answer] = ask(
        query(
            **dict.fromkeys(wishes, True),
            priority=2,
            analyzeTurns=[2],
            initialStones=[["W", "A5"]],
            initialPlayer="B",
            overrideSettings=settings,
            reportDuringSearchEvery=1,
        ),
        player=make_player("mcts:seconds=60"),
    )
    assert {w["field"] for w in warnings} == {"overrideSettings.wideRootNoise"}
    assert answer["id"] == "q" and answer["isDuringSearch"] is False
    assert answer["rootInfo"]["visits"] == 20
    assert sum(info["visits"] for info in answer["moveInfos"]) == 20
    assert len(answer["ownership"]) == 25 and len(answer["policy"]) == 26
    assert answer["policy"][0] == answer["policy"][12] == -1  # taken by A5 and C3
    assert sum(p for p in answer["policy"] if p > 0) == pytest.approx(1)


def test_a_network_tells_all_that_the_protocol_knows() -> None:
    wishes = ("Ownership", "OwnershipStdev", "MovesOwnership", "MovesOwnershipStdev", "PVVisits")
    [warning, answer] = ask(
        query(
            rules="stone_scoring",
            includePolicy=True,
            overrideSettings={"humanSLProfile": "rank_5k", "reportAnalysisWinratesAs": "BLACK"},
            **{f"include{wish}": True for wish in wishes},
        ),
        player=SearchPlayer(untrained(DESIGNS["tiny"])),
    )
    assert warning["field"] == "rules"
    best, root = answer["moveInfos"][0], answer["rootInfo"]
    assert root["visits"] == 20 and 0 < root["winrate"] < 1
    leads = [info["scoreLead"] for info in answer["moveInfos"]]
    assert min(leads) <= root["scoreLead"] <= max(leads)
    assert {"scoreStdev", "rawWinrate", "rawLead", "winrate", "utility"} <= set(root)
    assert {"scoreStdev", "prior", "humanPrior", "lcb", "utility"} <= set(best)
    assert len(best["pv"]) == len(best["pvVisits"]) and best["pvVisits"][0] == best["visits"]
    for part in (answer, best):
        assert len(part["ownership"]) == len(part["ownershipStdev"]) == 25
    assert len(answer["humanPolicy"]) == 26 and answer["humanPolicy"] == answer["policy"]


def test_loading_takes_nothing_from_the_time_of_the_first_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = untrained(DESIGNS["tiny"])
    evaluate, waits = network.evaluate, [0.6]

    def slow_at_first(boards: Sequence[Board]) -> Any:
        time.sleep(waits.pop() if waits else 0)
        return evaluate(boards)

    monkeypatch.setattr(network, "evaluate", slow_at_first)
    asked = query(maxVisits=500, overrideSettings={"maxTime": 0.5})
    [answer] = ask(asked, player=SearchPlayer(network))
    assert answer["rootInfo"]["visits"] > 1


def test_same_seed_same_answer() -> None:
    player = make_player("mcts:playouts=9")
    first, second = (ask(query(), player=player, seed=4) for _ in range(2))
    assert first == second
    assert first != ask(query(), player=player, seed=5)


def test_turns_are_answered_one_by_one() -> None:
    answers = ask(query(analyzeTurns=[0, 2, 1]))
    assert [a["turnNumber"] for a in answers] == [0, 2, 1]
    assert [a["rootInfo"]["currentPlayer"] for a in answers] == ["B", "B", "W"]


def test_reports_during_the_search() -> None:
    answers = ask(query(reportDuringSearchEvery=0.1))
    told = [(a["isDuringSearch"], a["rootInfo"]["visits"]) for a in answers]
    assert told == [(True, 2), (False, 4)]


def test_moves_to_avoid_and_to_allow() -> None:
    wish = [{"player": "B", "moves": ["A1"], "untilDepth": 1}]
    [answer] = ask(query(avoidMoves=wish))
    assert [(i["move"], i["order"]) for i in answer["moveInfos"]] == [("pass", 0)]
    assert [i["move"] for i in ask(query(allowMoves=wish))[0]["moveInfos"]] == ["A1"]


def test_alternatives_to_all_that_the_search_prefers() -> None:
    # KaTrain asks so for other moves than those it knows.
    known = [{"player": "B", "moves": ["C4", "pass"], "untilDepth": 1}]
    [answer] = ask(query(avoidMoves=known), player=make_player("mcts:playouts=9"))
    moves = {i["move"] for i in answer["moveInfos"]}
    assert moves and not {"C4", "pass", "C3", "C2"} & moves


class Gate(Toy):
    """A toy that waits before its second report until it is let on or stopped."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.seen: list[int] = []

    def analyse(
        self, board: Board, rng: np.random.Generator, **options: Any
    ) -> Iterator[SearchInfo]:
        self.seen.append(len(board.moves))
        self.begun.set()
        while not self.go.wait(0.01) and not options["stop"]():
            pass
        yield from super().analyse(board, rng)


def ask_a_gate(gate: Gate, first: Any, *others: Any, opens: bool) -> list[dict[str, Any]]:
    """Send a query, the others when it is under way, and open the gate at last if wanted."""

    class Source(io.RawIOBase):
        values = iter([first, *others])

        def readline(self, size: int | None = -1, /) -> bytes:
            value = next(self.values, None)
            if value is not first:
                assert gate.begun.wait(120)
            if value is None and opens:
                gate.go.set()
            return b"" if value is None else json.dumps(value).encode() + b"\n"

    out = io.BytesIO()
    AnalysisServer(lambda: gate).run(Source(), out)  # type: ignore[arg-type]
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_priority_and_termination() -> None:
    gate = Gate()
    answers = ask_a_gate(
        gate,
        query(id="running", analyzeTurns=[0]),
        query(id="low", analyzeTurns=[1]),
        query(id="high", analyzeTurns=[2], priority=5),
        query(id="dropped", analyzeTurns=[1, 2]),
        {"id": "t", "action": "terminate", "terminateId": "dropped", "turnNumbers": [2]},
        {"id": "u", "action": "terminate", "terminateId": "dropped"},
        opens=True,
    )
    assert gate.seen == [0, 0, 2, 1]  # with a first look, before any clock runs
    ids = [(a["id"], a.get("noResults", False)) for a in answers]
    assert ids[:4] == [("t", False), ("dropped", True), ("u", False), ("dropped", True)]
    assert ids[4:] == [("running", False), ("high", False), ("low", False)]
    assert answers[1]["turnNumber"] == 2 and answers[3]["turnNumber"] == 1


def test_terminating_what_runs_answers_with_what_there_is() -> None:
    stop = {"id": "t", "action": "terminate_all"}
    answers = ask_a_gate(Gate(), query(), stop, opens=False)
    assert [a["id"] for a in answers] == ["t", "q"]
    assert answers[1]["isDuringSearch"] is False and answers[1]["moveInfos"]


MANY = 10**400
PROFILES = ["rank_30k", "rank_10d", "rank_5k_5k_5k", "beginner", "proyear_20", 5, ["rank_5k"]]
TWICE = [["B", "C3"], ["W", "C3"]]
WRONG: dict[str, list[Any]] = {
    "rules": ["chess", {"ko": "NONE"}, 3],
    "komi": [6.3, "6.5", MANY],
    "boardXSize": [26],
    "boardYSize": [1],
    "moves": ["B C3", [["B"]], [["B", "Z9"]], [["red", "C3"]], TWICE, [["B", "pass"]] * 5001],
    "initialStones": [TWICE],
    "initialPlayer": [1],
    "analyzeTurns": [[3], 1, [0] * 1001],
    "maxVisits": [0, True, MANY],
    "priority": ["high", -MANY],
    "priorities": [[1, 2]],
    "includePolicy": [1],
    "reportDuringSearchEvery": [-1],
    "avoidMoves": [[{"player": "B", "moves": ["A9"]}]],
    "overrideSettings": [[]],
    "overrideSettings.reportAnalysisWinratesAs": ["RED"],
    "overrideSettings.humanSLProfile": PROFILES,
    "overrideSettings.maxTime": [MANY],
}


@pytest.mark.parametrize(
    ("field", "wrong"),
    [(field, wrong) for field, values in WRONG.items() for wrong in values],
    ids=lambda value: str(value)[:30],
)
def test_a_wrong_field_is_named_and_the_session_goes_on(field: str, wrong: Any) -> None:
    name, _, setting = field.partition(".")
    changes = {name: {setting: wrong} if setting else wrong}
    error, answer = ask(query(id="wrong", **changes), query(id="right"))
    assert (error["id"], error["field"]) == ("wrong", field) and error["error"]
    assert answer["id"] == "right" and answer["moveInfos"]


def test_an_illegal_move_is_reported_in_the_words_that_katrain_looks_for() -> None:
    [error] = ask(query(moves=[["B", "C3"], ["W", "C3"]]))
    assert "Illegal move" in error["error"]


def test_a_missing_field_is_named() -> None:
    for name in ("rules", "boardXSize", "boardYSize", "moves"):
        assert ask({key: value for key, value in BASE.items() if key != name})[0]["field"] == name


def test_only_a_fault_of_the_query_names_a_field() -> None:
    class Broken:
        name = "broken"

        def supports(self, rows: int, cols: int) -> bool:
            return rows == cols == 5

        def choose(self, board: Board, rng: np.random.Generator) -> int:
            raise EngineError("the engine is gone")

    assert ask(query(), player=Broken()) == [{"error": "the engine is gone", "id": "q"}]
    assert ask(query(boardXSize=7), player=Broken())[0]["field"] == "boardXSize"


def test_superko_of_a_game_under_other_rules_is_let_pass() -> None:
    stones = [["B", "A1"], ["B", "B2"], ["W", "B1"], ["W", "C2"], ["W", "D1"]]
    moves = [["B", "C1"], ["W", "pass"], ["B", "pass"], ["W", "B1"]]
    board = Board(5, rules="tromp_taylor")
    board.set_stones(black=["A1", "B2"], white=["B1", "C2", "D1"])
    for colour, vertex in moves[:3]:
        board.play(vertex, "-BW".index(colour))
    assert not board.is_legal("B1")
    [answer] = ask(query(initialStones=stones, moves=moves, rules="tromp-taylor"))
    assert answer["turnNumber"] == 4
    [error] = ask(query(initialStones=stones, moves=[moves[0], moves[3]], rules="tromp-taylor"))
    assert "Illegal move" in error["error"]


@pytest.mark.parametrize(
    "line",
    ["no json", "[1]", "3", '{"id": 3}', "{", "[" * 2000, '"\\ud800"', '{"id": "a", "\\ud800": 1}'],
)
def test_lines_that_are_no_queries(line: str) -> None:
    error, answer = ask(line + "\n", "\n", query())
    assert error["error"] and answer["id"] == "q"


def test_actions() -> None:
    actions = ("query_version", "clear_cache", "query_models", "dance")
    version, cache, models, unknown = ask(*({"id": "2", "action": name} for name in actions))
    assert version["version"].startswith("tengen") and version["action"] == "query_version"
    assert cache == {"id": "2", "action": "clear_cache"}
    assert models["models"] == []
    assert unknown["field"] == "action"


def test_a_player_that_cannot_analyse_names_its_move() -> None:
    [answer] = ask(query(), player=make_player("random"))
    assert len(answer["moveInfos"]) == 1


def test_the_command_in_a_process() -> None:
    command = [sys.executable, "-m", "tengen", "analysis", "--visits", "8", "--quiet"]
    value = query(includePolicy=True)
    del value["maxVisits"]
    asked = json.dumps(value) + "\n"
    done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    root = json.loads(done.stdout)["rootInfo"]
    assert (root["visits"], root["currentPlayer"]) == (8, "B")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot poll")
def test_nothing_is_computed_for_a_client_that_is_gone() -> None:
    begun = threading.Event()

    class Endless(Toy):
        def analyse(
            self, board: Board, rng: np.random.Generator, **how: Any
        ) -> Iterator[SearchInfo]:
            begun.set()
            while not how["stop"]():
                time.sleep(0.01)
            yield from super().analyse(board, rng)

    reader, writer = os.pipe()
    with os.fdopen(writer, "wb", 0) as target:
        served = threading.Thread(
            target=AnalysisServer(Endless).run,
            args=[io.BytesIO(json.dumps(query()).encode()), target],
            daemon=True,
        )
        served.start()
        assert begun.wait(60)
        os.close(reader)
        served.join(60)
        assert not served.is_alive()


def test_a_bug_in_reading_a_query_does_not_end_the_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tengen.gtp import analysis as analysis_server

    real = analysis_server.parse_query
    monkeypatch.setattr(
        analysis_server, "parse_query", lambda value: 1 // 0 if value["id"] == "q" else real(value)
    )
    broken, answered = ask(query(), query(id="next"))
    assert broken["error"].startswith("internal error: ZeroDivisionError") and broken["id"] == "q"
    assert answered["id"] == "next"
    assert "Traceback" in capsys.readouterr().err


def test_a_profile_is_the_level_of_its_rank() -> None:
    def policy(profile: str, moves: int = 2) -> np.ndarray:
        asked = query(
            boardXSize=9,
            boardYSize=9,
            moves=[["B", "C3"], ["W", "C4"]][:moves],
            maxVisits=2,
            overrideSettings={"humanSLProfile": profile},
        )
        [answer] = ask(asked, people=moves_of_rank)
        shown = {info["move"]: info["humanPrior"] for info in answer["moveInfos"]}
        found = np.array(answer["humanPolicy"])
        assert found[found > 0].sum() == pytest.approx(1, abs=1e-4)
        assert all(0 <= prior <= found.max() for prior in shown.values())
        return found

    weak, strong = policy("rank_18k"), policy("preaz_5k")
    assert weak.max() < strong.max()
    # Black's rank, then White's: only that of the side to move counts.
    assert (policy("rank_18k_5k") == weak).all()
    assert (policy("rank_18k_5k", 1) == policy("rank_1d_5k", 1)).all()
    assert (policy("rank_9d") == policy("proyear_1990")).all()
