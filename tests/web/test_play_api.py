"""Games over HTTP: moves, undo, counting, clocks, the ladder, files, crashes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx

Wait = Callable[..., Any]


def begin(client: httpx.Client, **options: Any) -> dict[str, Any]:
    answer = client.post("/api/games", json={"size": 9, "opponent": "random", **options})
    assert answer.status_code == 201, answer.text
    return answer.json()


def show(client: httpx.Client, game: dict[str, Any]) -> dict[str, Any]:
    return client.get(f"/api/games/{game['id']}").json()


def act(client: httpx.Client, game: dict[str, Any], action: str, **body: Any) -> httpx.Response:
    return client.post(f"/api/games/{game['id']}/{action}", json=body)


def settled(client: httpx.Client, wait_for: Wait, game: dict[str, Any]) -> dict[str, Any]:
    """Wait until the machine has moved."""

    def done() -> dict[str, Any] | None:
        state = show(client, game)
        idle = not state["thinking"] and (
            state["status"] != "counting" or state["dead"] is not None
        )
        return state if idle else None

    return wait_for(done)


def test_the_machine_answers_and_undo_takes_both_moves_back(client, wait_for):
    game = begin(client)
    assert game["turn"] == "black" and not game["thinking"]
    act(client, game, "moves", move="E5").raise_for_status()
    state = settled(client, wait_for, game)
    assert [colour for colour, _ in state["moves"]] == ["B", "W"]
    assert state["moves"][0] == ["B", "E5"] and state["stones"][4][4] == "X"
    state = act(client, game, "undo").json()
    assert state["moves"] == [] and state["turn"] == "black"
    assert act(client, game, "undo").status_code == 422


def test_illegal_moves_and_nonsense_are_reported_in_words(client, wait_for):
    game = begin(client)
    act(client, game, "moves", move="E5").raise_for_status()
    settled(client, wait_for, game)
    for move, word in (("E5", "taken"), ("Z99", "no vertex"), ("", "no vertex")):
        answer = act(client, game, "moves", move=move)
        assert answer.status_code == 422 and word in answer.json()["detail"]
    assert act(client, game, "dead", vertex="E5").status_code == 422
    assert client.get("/api/games/nobody").status_code == 404
    assert client.get("/api/games/..%2F..%2Fetc%2Fpasswd").status_code == 404
    for wrong in (
        {"size": 1},
        {"size": 26},
        {"rules": "chess"},
        {"komi": "x"},
        {"opponent": "gtp:sh -c true"},
        {"size": 9, "opponent": "predictor"},
        {"size": 5, "handicap": 9},
    ):
        answer = client.post("/api/games", json=wrong)
        assert answer.status_code == 422 and answer.json()["detail"], wrong
    assert client.get("/api/ladder", params={"size": 99}).status_code == 422


def test_a_stale_page_cannot_move(client, wait_for):
    game = begin(client)
    act(client, game, "moves", move="E5", version=game["version"]).raise_for_status()
    settled(client, wait_for, game)
    answer = act(client, game, "moves", move="C3", version=game["version"])
    assert answer.status_code == 409


def test_counting_with_a_toggled_block(client, wait_for):
    # Black has the whole board but for a lone white stone.
    sgf = (
        "(;SZ[9]KM[0.5]RU[Chinese];B[ec];W[bb];B[ed];W[tt];B[ee];W[tt];B[ef];W[tt];B[eb];W[tt];B[ea]"
        ";W[tt];B[eg];W[tt];B[eh];W[tt];B[ei];W[tt];B[tt])"
    )
    answer = client.post(
        "/api/games/upload",
        params={"colour": "white", "opponent": "random"},
        content=sgf.encode(),
        headers={"content-type": "application/x-go-sgf"},
    )
    assert answer.status_code == 201, answer.text
    game = answer.json()
    state = settled(client, wait_for, game)
    assert len(state["moves"]) == 19
    assert state["status"] == "counting" and state["dead"] is not None
    was = "B8" in state["dead"]
    before = state["count"]["score"]
    state = act(client, game, "dead", vertex="B8").json()
    assert ("B8" in state["dead"]) != was and state["count"]["score"] != before
    state = act(client, game, "dead", vertex="B8").json()
    assert state["count"]["score"] == before
    state = act(client, game, "accept").json()
    assert state["status"] == "over" and state["result"] == state["count"]["result"]
    data = client.get(f"/api/games/{game['id']}/sgf")
    assert f"RE[{state['result']}]" in data.text
    assert data.headers["content-disposition"].startswith("attachment")


def test_resigning_while_the_machine_thinks(client):
    game = begin(client, opponent="level-10", size=19)
    act(client, game, "moves", move="Q16").raise_for_status()
    state = act(client, game, "moves", move="resign").json()
    assert state["status"] == "over" and state["result"] == "W+R" and state["won"] is False


def test_taking_back_stops_the_thinking_and_the_next_move_is_answered(client, wait_for):
    game = begin(client, opponent="level-10", size=19)
    act(client, game, "moves", move="Q16").raise_for_status()
    time.sleep(0.3)
    state = act(client, game, "undo").json()
    assert state["moves"] == [] and not state["thinking"]
    other = begin(client)
    act(client, other, "moves", move="E5").raise_for_status()
    started = time.monotonic()
    settled(client, wait_for, other)
    assert time.monotonic() - started < 120
    assert show(client, game)["moves"] == []


def test_a_clock_runs_out(client, wait_for):
    game = begin(client, minutes=0.02, increment=0)
    state = wait_for(lambda: (s := show(client, game))["status"] == "over" and s)
    assert state["result"] == "W+T" and state["clock"]["black"] == 0


def test_games_on_every_board(client, wait_for):
    for size in (2, 4, 25):
        game = begin(client, size=size, colour="white")
        assert len(settled(client, wait_for, game)["moves"]) == 1
        friends = begin(client, size=size, opponent="person")
        state = act(client, friends, "moves", move="A1").json()
        assert [len(row) for row in state["stones"]] == [size] * size
        act(client, friends, "count").raise_for_status()
        assert settled(client, wait_for, friends)["count"] is not None


def test_the_smallest_boards_have_no_handicap(client):
    game = begin(client, ladder=True, size=5, opponent="level-1")
    for _ in range(3):  # below level 1 there is nothing
        act(client, game, "moves", move="resign").raise_for_status()
        game = begin(client, ladder=True, size=5, opponent="level-1")
        assert (game["opponent"], game["handicap"]) == ("level-1", 0)
    query = {"you": "20 kyu", "other": "9 dan", "size": 5}
    assert client.get("/api/fair-game", params=query).json()["handicap"] == 0


def test_the_ladder_follows_results(client):
    first = client.get("/api/ladder", params={"size": 13}).json()
    game = begin(client, ladder=True, size=13)
    assert game["opponent"] == first["opponent"] == "level-2"
    act(client, game, "moves", move="resign").raise_for_status()
    assert client.get("/api/ladder", params={"size": 13}).json()["opponent"] == "level-1"


def test_a_page_gets_what_changed_since_its_version(client, wait_for):
    game = begin(client)
    place = f"/api/games/{game['id']}"
    assert game["id"] in [entry["id"] for entry in client.get("/api/games").json()]
    assert client.get(place, params={"version": game["version"]}).status_code == 204
    act(client, game, "moves", move="E5").raise_for_status()
    settled(client, wait_for, game)
    news = client.get(place, params={"version": game["version"]}).json()
    assert news == show(client, game) and len(news["moves"]) == 2
    assert client.get(place, params={"version": news["version"]}).status_code == 204
    assert client.delete(place).status_code == 204
    assert client.get(place, params={"version": news["version"]}).status_code == 404
    assert client.delete(place).status_code == 404


def test_a_hint_has_lines_and_win_rates(client):
    game = begin(client)
    found = act(client, game, "hint").json()
    best = found["moves"][0]
    assert 0 <= best["winrate"] <= 1 and best["line"][0] == best["move"]
    assert len(found["ownership"]) == 81


def test_a_broken_engine_is_reported_and_loses_no_game(make_server, wait_for):
    server = make_server("--player", "gtp:false")
    with server.client() as client:
        game = begin(client, opponent="own-1")
        act(client, game, "moves", move="E5").raise_for_status()
        state = wait_for(lambda: (s := show(client, game))["trouble"] and s)
        assert state["status"] == "playing" and state["moves"] == [["B", "E5"]]
        act(client, game, "retry").raise_for_status()
        wait_for(lambda: show(client, game)["trouble"])
        assert act(client, game, "undo").json()["moves"] == []


def test_a_pass_that_loses_points_is_asked_about_and_does_not_end_the_game(client, wait_for):
    game = begin(client, opponent="level-1")
    act(client, game, "moves", move="E5").raise_for_status()
    settled(client, wait_for, game)
    asked = act(client, game, "moves", move="pass").json()
    assert asked["question"] == "pass" and len(asked["moves"]) == 2
    act(client, game, "moves", move="pass", sure=True).raise_for_status()
    state = settled(client, wait_for, game)
    assert state["status"] == "playing" and state["moves"][-1][1] != "pass"
    # The person may count it all the same, and take that back.
    act(client, game, "count").raise_for_status()
    state = settled(client, wait_for, game)
    assert state["status"] == "counting" and state["open"] and state["dead"] == []
    state = act(client, game, "undo").json()
    assert state["status"] == "playing" and len(state["moves"]) == 4 and not state["open"]


def test_a_teacher_stops_the_game_and_mistakes_become_problems(client, wait_for):
    game = begin(client, teach=2)

    def stopped() -> dict[str, Any] | None:
        state = show(client, game)
        return state if state["lesson"] and not state["thinking"] else None

    act(client, game, "moves", move="A1").raise_for_status()
    lesson = wait_for(stopped)["lesson"]
    assert lesson["asks"] and lesson["move"] == "A1" and lesson["points_lost"] >= 2
    assert len(show(client, game)["moves"]) == 1  # the machine waits for the person
    state = act(client, game, "undo").json()
    assert state["moves"] == [] and state["lesson"] is None
    act(client, game, "moves", move="A1").raise_for_status()
    wait_for(stopped)
    act(client, game, "go-on").raise_for_status()
    assert len(settled(client, wait_for, game)["moves"]) == 2
    state = act(client, game, "moves", move="resign").json()
    [worst] = state["worst"]
    assert worst["move"] == "A1" and worst["best"] == lesson["best"]

    key = f"{game['id']}-1-A1"
    assert key in [one["id"] for one in client.get("/api/problems").json()]
    problem = client.get(f"/api/problems/{key}").json()
    assert problem["you"] == "black" and "best" not in problem
    path = f"/api/problems/{key}/answer"
    wrong = client.post(path, json={"move": "A1"}).json()
    assert not wrong["solved"] and wrong["points_lost"] >= 2
    right = client.post(path, json={"move": lesson["best"]}).json()
    assert right["solved"] and right["due"] > time.time()
    assert client.delete(f"/api/problems/{key}").status_code == 204
    assert client.get(f"/api/problems/{key}").status_code == 404


def test_two_people_take_turns_and_take_back_one_move(client):
    game = begin(client, opponent="person")
    assert game["you"] == "both"
    for move in ("E5", "C3", "G7"):
        state = act(client, game, "moves", move=move).json()
        assert not state["thinking"]
    assert state["moves"] == [["B", "E5"], ["W", "C3"], ["B", "G7"]]
    assert act(client, game, "undo").json()["turn"] == "black"
    state = act(client, game, "moves", move="resign").json()
    assert state["result"] == "W+R" and state["won"] is None


def test_an_estimate_has_ownership_and_names_its_source(client):
    stones = ["....XO..."] * 9
    found = client.post("/api/estimate", json={"size": 9, "stones": stones, "komi": 0.5}).json()
    assert len(found["ownership"]) == 81 and found["by"] and found["spread"] > 0
    assert found["ownership"][0] > "P" and found["ownership"][8] < "F"


def test_friends_play_with_byo_yomi(client):
    two = {"opponent": "person", "black": "Ann", "white": "Bob", "minutes": 1}
    japanese = begin(client, **two, clock="japanese", period=20, periods=3)
    canadian = begin(client, **{**two, "minutes": 0}, clock="canadian", period=60, stones=5)
    assert japanese["clock"]["stages"] == {"black": [0, 3], "white": [0, 3]}
    assert canadian["clock"]["stages"] == {"black": [5, 1], "white": [5, 1]}
    act(client, canadian, "moves", move="E5").raise_for_status()
    assert show(client, canadian)["clock"]["stages"]["black"] == [4, 1]
    assert "PB[Ann]PW[Bob]" in client.get(f"/api/games/{japanese['id']}/sgf").text
    answer = client.post("/api/games", json={"clock": "fischer"})
    assert answer.status_code == 422 and "main time" in answer.json()["detail"]


def test_a_rank_leads_to_an_even_game(client):
    def fair(**query: Any) -> dict[str, Any]:
        return client.get("/api/fair-game", params=query).json()

    levels = {o["id"]: o["ratings"] for o in client.get("/api/opponents").json() if o["level"]}
    found = fair(you="8 kyu", size=19)
    nearest = min(levels, key=lambda key: abs(levels[key]["19x19"] - 1900))
    assert found["opponent"] == nearest and found["handicap"] <= 2
    assert fair(you="30k", size=9)["handicap"] >= 2  # weaker than the weakest level
    strong = fair(you="9 dan", size=19, opponent="level-1")
    assert strong["colour"] == "white" and strong["handicap"] == 9
    friends = fair(you="5 kyu", other="1 kyu", size=19)
    assert friends == {"opponent": "person", "colour": "black", "handicap": 4, "komi": 0.5}
    assert fair(you="1d", other="1k", size=19)["handicap"] == 0
    answer = client.get("/api/fair-game", params={"you": "strong"})
    assert answer.status_code == 422 and "strong" in answer.json()["detail"]
