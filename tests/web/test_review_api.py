"""Reviews, single positions and files over HTTP."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

from tengen.records import loads
from tengen.web import tasks
from tengen.web.artifacts import metrics
from tengen.web.problems import shipped
from tengen.web.workers import Context

Wait = Callable[..., Any]
SGF = {"content-type": "application/x-go-sgf"}
EVIL = "<script>alert(1)</script>"
SHORT = (
    f"(;SZ[9]KM[6.5]PB[{EVIL}]PW[Ines]RE[W+R]C[first {EVIL}]"
    ";B[ee];W[cg];B[gc]C[a good move];W[cc];B[gg];W[ef];B[ff];W[eg];B[df];W[de])"
)


def add(client: httpx.Client, data: str | bytes, **query: Any) -> list[dict[str, Any]]:
    content = data.encode() if isinstance(data, str) else data
    query = {"again": True, **query}
    answer = client.post("/api/reviews", params=query, content=content, headers=SGF)
    assert answer.status_code == 201, answer.text
    return answer.json()["reviews"]


def finished(client: httpx.Client, wait_for: Wait, key: str) -> dict[str, Any]:
    def done() -> dict[str, Any] | None:
        found = client.get(f"/api/reviews/{key}").json()
        return found if found["status"] != "waiting" else None

    return wait_for(done, 300)


def test_a_review_tells_what_is_new_and_ends_as_sgf_and_table(client, wait_for):
    [made] = add(client, SHORT, name="a.sgf", visits=4)
    assert made["black"] == EVIL and made["moves"] == 10
    told: dict[int, dict[str, Any]] = {}
    stages: set[str] = set()
    found = {"changes": 0, "status": "waiting"}
    while found["status"] == "waiting":
        time.sleep(0.02)
        query = {"known": found["changes"]}
        found = client.get(f"/api/reviews/{made['id']}", params=query).json()
        # A position comes again when it is searched.
        told |= {part["number"]: part for part in found["parts"]}
        stages |= {found["progress"]["stage"]} if found["progress"] else set()
    found = finished(client, wait_for, made["id"])
    assert found["status"] == "done" and len(found["parts"]) == 11
    assert [told[number] for number in range(11)] == found["parts"]
    assert found["progress"] is None and "search" in stages
    assert any(part["position"]["visits"] > 1 for part in found["parts"])
    assert found["game"]["comments"] == {"0": f"first {EVIL}", "3": "a good move"}
    assert found["game"]["line"][0] == ["B", "E5"]
    assert all(len(p["position"]["ownership"]) == 81 for p in found["parts"])
    assert found["summary"]["black"]["moves"] == 5

    [record] = loads(client.get(f"/api/reviews/{made['id']}/sgf").content)
    assert len(record.moves) == 10 and "Reviewed by tengen" in record.properties["C"][0]
    rows = list(csv.DictReader(io.StringIO(client.get(f"/api/reviews/{made['id']}/csv").text)))
    assert [row["move"] for row in rows][:2] == ["E5", "C3"]
    for row, part in zip(rows, found["parts"][1:], strict=True):
        assert abs(float(row["points_lost"]) - part["move"]["points_lost"]) < 1e-3


def test_an_interrupted_review_equals_one_that_never_stopped(make_server, wait_for):
    server = make_server()
    with server.client() as client:
        [whole] = add(client, SHORT, visits=3)
        expected = finished(client, wait_for, whole["id"])["parts"]
        [broken] = add(client, SHORT, visits=3)
        wait_for(lambda: len(client.get(f"/api/reviews/{broken['id']}").json()["parts"]) >= 3)
        server.kill()
        server.start()
        found = finished(client, wait_for, broken["id"])
    assert found["status"] == "done" and found["parts"] == expected


def test_a_review_continues_with_its_searched_positions_to_the_same_end():
    query, ends = {"sgf": SHORT, "visits": 20, "quick": False, "known": []}, []
    for _ in range(2):
        told: list[dict[str, Any]] = []
        tasks.review(query, Context(told.append, bool))
        ends.append({one["number"]: (one["position"], one["move"]) for one in told})
        query["known"] = [(n, at) for n, (at, _) in ends[-1].items() if at["visits"] > 1]
    assert query["known"] and ends[0] == ends[1]


def test_reviews_do_not_block_play(client, wait_for):
    made = add(client, "(;SZ[19];B[dd];W[pp];B[pd];W[dp])" * 20)
    assert len(made) == 20
    game = client.post("/api/games", json={"size": 9, "opponent": "random"}).json()
    place = f"/api/games/{game['id']}"
    client.post(f"{place}/moves", json={"move": "E5"}).raise_for_status()
    wait_for(lambda: len(client.get(place).json()["moves"]) == 2)
    times = []
    for _ in range(5):
        started = time.monotonic()
        client.post(f"{place}/undo", json={}).raise_for_status()
        times.append(time.monotonic() - started)
        client.post(f"{place}/moves", json={"move": "E5"}).raise_for_status()
        wait_for(lambda: len(client.get(place).json()["moves"]) == 2)
    assert sorted(times)[2] < 5.0  # on a machine that others use too; twenty reviews take longer
    assert client.post(f"{place}/hint").json()["moves"]
    entries = {entry["id"]: entry for entry in client.get("/api/reviews").json()}
    assert any(entries[one["id"]]["status"] == "waiting" for one in made)
    for one in made:
        assert client.delete(f"/api/reviews/{one['id']}").status_code == 204


def test_all_waiting_reviews_are_cancelled_at_once(client):
    assert len(add(client, "(;SZ[9];B[ee];W[cc];B[gg])" * 5)) == 5
    assert client.delete("/api/reviews").json()["cancelled"] >= 1
    left = client.get("/api/reviews").json()
    assert not [one for one in left if one["status"] == "waiting"]


def test_reviews_that_cannot_be(client, wait_for):
    assert client.get("/api/reviews/none").status_code == 404
    assert client.get("/api/reviews/none/sgf").status_code == 404
    answer = client.post("/api/reviews?visits=99999", content=SHORT.encode(), headers=SGF)
    assert answer.status_code == 422
    [made] = add(client, "(;SZ[4];B[bb])", quick=True)
    found = finished(client, wait_for, made["id"])
    assert found["status"] == "failed" and "4x4" in found["trouble"]
    place = f"/api/reviews/{made['id']}"
    assert client.get(f"{place}/sgf").status_code == 422
    assert client.post(f"{place}/retry").status_code == 200
    assert finished(client, wait_for, made["id"])["status"] == "failed"


def test_a_game_is_reviewed_up_to_an_illegal_move(client, wait_for):
    [made] = add(client, "(;SZ[9];B[ee];W[ee];B[cc])", visits=4)
    found = finished(client, wait_for, made["id"])
    assert found["status"] == "done" and "taken" in found["game"]["remark"]
    assert len(found["game"]["positions"]) == len(found["parts"]) == 2


def test_mistakes_of_a_review_become_problems(client, wait_for):
    [made] = add(client, "(;SZ[9];B[ee];W[aa];B[gc];W[ii];B[cg];W[cc])", quick=True)
    found = finished(client, wait_for, made["id"])
    moves = [part["move"] for part in found["parts"][1:]]
    wrong = [m for m in moves if m["verdict"] == "mistake" and m["colour"] == "white"]
    worst = max(wrong, key=lambda move: move["points_lost"])
    place = f"/api/reviews/{made['id']}/problems"
    for _ in range(2):  # the second time they are there already
        keys = client.post(place, params={"colour": "white"}).json()
        assert len(keys) == len(wrong)
    problem = client.get(f"/api/problems/{keys[0]}").json()
    assert (problem["move"], problem["you"]) == (worst["move"], "white")
    answer = client.post(f"/api/problems/{keys[0]}/answer", json={"move": worst["best"]}).json()
    assert answer["solved"]
    assert client.post("/api/reviews/none/problems").status_code == 404


def test_the_worst_positions_of_a_player_over_all_games(client, wait_for):
    name = "Ann/1 & <b>"
    bad = ";B[aa];W[ee];B[ia];W[cc];B[ai];W[gg];B[ii];W[gc];B[ea];W[cg]"
    for day in (2, 1):
        [made] = add(client, f"(;SZ[9]PB[{name}]PW[Bea]DT[2026-01-0{day}]{bad})", quick=True)
        finished(client, wait_for, made["id"])
    found = client.get("/api/player", params={"name": name}).json()
    assert {one["title"][-10:] for one in found["worst"]} == {"2026-01-01", "2026-01-02"}
    worst = found["worst"]
    lost = [one["move"]["points_lost"] for one in worst]
    assert len(worst) >= 2 and lost == sorted(lost, reverse=True) and found["ranks"] == []
    for one in worst:
        assert one["move"]["colour"] == one["position"]["turn"] == "black"
        assert (
            sum(row.count("X") for row in one["position"]["stones"]) == one["move"]["number"] // 2
        )
    problems = client.get("/api/player/sgf", params={"name": name})
    assert [len(record.moves) > 0 for record in loads(problems.content)] == [True] * len(worst)
    kept = client.post("/api/player/problems", params={"name": name}).json()
    assert {one["id"] for one in client.get("/api/problems").json()} >= set(kept) != set()
    assert client.get("/api/player", params={"name": "nobody of this name"}).status_code == 404


def test_a_game_played_here_can_be_reviewed(client, wait_for):
    game = client.post("/api/games", json={"size": 9, "opponent": "random"}).json()
    client.post(f"/api/games/{game['id']}/moves", json={"move": "resign"}).raise_for_status()
    [made] = client.post(f"/api/games/{game['id']}/review").json()["reviews"]
    found = finished(client, wait_for, made["id"])
    assert found["game"]["result"] == "W+R" and found["you"] == "black"
    assert client.post(f"/api/games/{game['id']}/review").json()["known"][0]["id"] == made["id"]


def test_an_archive_names_its_files_and_is_not_queued_twice(client):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        for name, text in (
            ("club/one.sgf", "(;SZ[9];B[ee])"),
            ("club/two.sgf", "(;SZ[9];B[cc];W[gg])"),
            ("broken.sgf", "(;SZ[99];B[ee])"),
            ("photo.sgf", "no game"),
        ):
            made.writestr(name, text)

    def send(**query: Any) -> dict[str, Any]:
        query = {"name": "few.zip", "quick": True, **query}
        content = archive.getvalue()
        return client.post("/api/reviews", params=query, content=content, headers=SGF).json()

    first = send()
    files = ["few.zip/club/one.sgf", "few.zip/club/two.sgf"]
    assert [one["file"] for one in first["reviews"]] == files and first["known"] == []
    assert len(first["unread"]) == 2
    assert all(name in " ".join(first["unread"]) for name in ("broken.sgf", "photo.sgf"))
    second = send()
    assert second["reviews"] == [] and second["unread"] == first["unread"]
    assert [one["id"] for one in second["known"]] == [one["id"] for one in first["reviews"]]
    assert len(send(again=True)["reviews"]) == 2
    assert len(send(visits=7)["reviews"]) == 2  # other settings, another review


# ----- Positions -----


def test_positions_follow_the_rules(client):
    moves = [["B", "E5"], ["W", "E4"]]
    found = client.post("/api/position", json={"size": 9, "moves": moves}).json()
    assert found["turn"] == "black" and found["last"] == "E4" and found["stones"][5][4] == "O"
    for wrong in (
        {"size": 9, "moves": [["B", "E5"], ["W", "E5"]]},
        {"stones": ["..", "..."]},
        {"stones": ["ab", "cd"]},
        {"size": 9, "rules": "chess"},
        {"size": 99},
        {"stones": ["XO", "OX"]},
    ):
        answer = client.post("/api/position", json=wrong)
        assert answer.status_code == 422 and answer.json()["detail"]


def test_prediction_score_and_analysis(client):
    found = client.post("/api/predict", json={"size": 9, "moves": [["B", "E5"]]}).json()
    chances = [move["probability"] for move in found["moves"]]
    assert len(chances) == 10 and chances == sorted(chances, reverse=True)

    wall = ["." * 9] * 3 + ["O" * 9, "X" * 9] + ["." * 9] * 4
    found = client.post("/api/score", json={"stones": wall, "komi": 7.5}).json()
    assert found["area"]["result"] == found["territory"]["result"] == "B+1.5"
    turned = client.post("/api/score", json={"stones": wall, "dead": ["A6"], "alive": []}).json()
    assert len(turned["dead"]) == 9 and turned["area"]["result"] != "B+1.5"
    assert client.post("/api/score", json={"stones": wall, "dead": ["E1"]}).status_code == 422
    both = client.post("/api/score", json={"stones": wall, "dead": ["A6"], "alive": ["J6"]})
    assert both.status_code == 422 and "J6 is called dead and alive" in both.text
    many = client.post("/api/score", json={"stones": wall, "captures": [10**400, 0]})
    assert many.status_code == 422
    wrong = client.post("/api/score", json={"stones": wall, "komy": 7.5})
    assert wrong.status_code == 422 and "komy" in wrong.text

    values = []
    with client.stream("POST", "/api/analyse?visits=25", json={"size": 9}) as answer:
        values = [json.loads(line) for line in answer.iter_lines()]
    assert values[-1]["visits"] >= 25 and values[-1]["moves"][0]["line"]


def test_every_machine_says_what_it_sees(client):
    known = {machine["id"]: machine for machine in client.get("/api/machines").json()}
    moves = [["B", "E5"], ["W", "C3"]]
    for name, offered in (
        ("symmetry-network", {"maps", "wishes", "value"}),
        ("opening-td", {"wishes", "value"}),
        ("scoring", {"blocks", "ownership", "safe"}),
    ):
        assert known[name]["about"] and known[name]["paper"]
        found = client.post(f"/api/see/{name}", json={"size": 9, "moves": moves})
        assert found.status_code == 200, found.text
        assert offered <= set(found.json()), name
        if "wishes" in offered:
            taken = {"E5", "C3"}
            assert not taken & {wish["move"] for wish in found.json()["wishes"]}
    found = client.post("/api/see/move-prediction", json={"size": 19, "moves": moves})
    assert len(found.json()["wishes"]) == 8
    maps = client.post("/api/see/symmetry-network", json={"size": 9, "moves": moves}).json()["maps"]
    assert len(maps) == 7 and all(len(values) == 81 for values in maps.values())
    found = client.post("/api/see/opening-evolution", json={"size": 13}).json()
    assert found["wishes"]
    assert client.post("/api/see/opening-evolution", json={"size": 9}).status_code == 422
    assert client.post("/api/see/nobody", json={"size": 9}).status_code == 422


def test_every_machine_leads_to_a_page_about_it(client):
    links = {machine["id"]: machine["link"] for machine in client.get("/api/machines").json()}
    assert links["opening-td"] == "#/papers/opening-td" != links["tengen-judge"]
    for link in links.values():
        place = link.replace("#/papers", "/api/papers")
        assert client.get(place).status_code == 200, link


def test_files_are_shown_without_being_kept(client):
    answer = client.post("/api/records?name=../../x.sgf", content=SHORT.encode(), headers=SGF)
    found = answer.json()
    assert found["file"] == "x.sgf" and len(found["positions"]) == 11 and found["games"] == 1
    assert (
        client.post("/api/records?game=2", content=SHORT.encode(), headers=SGF).status_code == 422
    )


def test_the_api_is_described(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    for path in ("/api/score", "/api/predict", "/api/reviews", "/api/games", "/api/analyse"):
        assert paths[path]["post"]["description"]


# ----- Arena and laboratory -----


def test_ladders_are_shown_and_their_games_replayed(client):
    arenas = {entry["name"]: entry["id"] for entry in client.get("/api/arenas").json()}
    key = arenas["ladder 9x9"]
    found = client.get(f"/api/arenas/{key}").json()
    ratings = [one["elo"] for one in found["standings"]]
    assert ratings == sorted(ratings, reverse=True) and found["games"] > 100
    assert len(found["cross"]) == len(found["standings"])
    latest = found["latest"][0]
    game = client.get(f"/api/arenas/{key}/games/{latest['number']}").json()
    assert len(game["positions"]) == latest["plies"] + 1
    assert client.get(f"/api/arenas/{key}/games/999999").status_code == 404
    for path in ("arenas/x", "trainings/x", "reports/x", "arenas/..%2F..%2Fx"):
        assert client.get(f"/api/{path}").status_code == 404


def test_metrics_are_read_while_they_are_written(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text(
        '{"step": 1, "loss": 2.5, "name": "x"}\n{"step": 2, "loss": NaN}\n{"step": 3, "lo'
    )
    found = metrics(path)
    assert found["over"] == "step" and found["rows"] == 2
    assert found["columns"] == {"step": [1.0, 2.0], "loss": [2.5, None]}


COLLECTION = """(;SZ[9]GN[First]AB[ba][bb][ab]AW[ca][cb][cc][bc][ac]PL[W]
(;W[aa]C[wrong])(;W[dd];B[ee]C[RIGHT]))
(;SZ[9]AB[cc]AW[gg];B[ee])
(;SZ[9];B[ee];W[cc])"""


def test_a_collection_of_problems_is_judged_by_its_solutions(client):
    post = partial(client.post, headers=SGF)
    for _ in range(2):  # the second time adds nothing
        found = post("/api/problems/upload", content=COLLECTION).json()
        assert len(found["ids"]) == 2 and found["others"] == 1
    entries = [one for one in client.get("/api/problems").json() if one["id"] in found["ids"]]
    assert len(entries) == 2 and all(one["due"] <= time.time() for one in entries)
    first = next(one["id"] for one in entries if one["title"] == "First")
    place = f"/api/problems/{first}"
    assert client.get(place).json()["you"] == "white"
    wrong = client.post(f"{place}/answer", json={"move": "E5"}).json()
    assert not wrong["solved"] and wrong["best"] == "D6"
    pauses = []
    for _ in range(3):
        answer = client.post(f"{place}/answer", json={"move": "d6"}).json()
        assert answer["solved"]
        pauses.append(answer["due"] - time.time())
    assert pauses == sorted(pauses) and pauses[2] > 2 * pauses[0]
    none = post("/api/problems/upload?name=game.sgf", content="(;SZ[9];B[ee])")
    assert none.status_code == 422 and "game.sgf" in none.json()["detail"]


def test_the_first_problems_can_be_solved(client):
    ids = client.post("/api/problems/start").json()
    assert len(ids) >= 10 and ids == client.post("/api/problems/start").json()
    assert {one["id"] for one in client.get("/api/problems").json()} >= set(ids)
    for key, body in zip(ids, shipped(), strict=True):
        shown = client.get(f"/api/problems/{key}").json()
        assert shown["you"] == body["colour"] and body["best"] not in shown["illegal"]
    worst = client.post(f"/api/problems/{ids[0]}/answer", json={"move": "pass"}).json()
    assert not worst["solved"]
    best = client.post(f"/api/problems/{ids[0]}/answer", json={"move": worst["best"]}).json()
    assert best["solved"]
