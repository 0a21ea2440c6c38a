"""The papers' section: what its routes tell, and the page in a browser."""

from __future__ import annotations

import gzip
import re
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tengen.board import Board
from tengen.lab.decisions import VERDICTS
from tengen.lab.papers import papers
from tengen.lab.report import report_of
from tengen.lab.snapshots import snapshots_of

NAMES = sorted(papers())
LEARNING = [name for name in NAMES if len(snapshots_of(papers()[name])) > 1]


def test_every_registered_paper_has_an_exhibit(client: httpx.Client) -> None:
    told = {one["id"]: one for one in client.get("/api/papers").json()}
    assert sorted(told) == NAMES
    for name, paper in papers().items():
        found = client.get(f"/api/papers/{name}").json()
        assert found["story"] == paper.story and 60 <= len(paper.story.split()) <= 130
        assert paper.exhibit and found["machine"]["size"] == paper.exhibit.size
        assert found["machine"]["snapshots"] == list(snapshots_of(paper))


@pytest.mark.parametrize("name", LEARNING[:1])
def test_results_are_those_of_the_report(client: httpx.Client, name: str) -> None:
    paper = papers()[name]
    found = client.get(f"/api/papers/{name}/results").json()
    report = report_of(paper, paper.data)
    assert [(one["id"], one["verdict"]) for one in found["claims"]] == [
        (each.claim.id, each.verdict) for each in report.claims
    ]
    for one in found["claims"]:
        assert one["verdict"] in VERDICTS and one["figure"] == paper.claims[one["id"]].figure
        if one["interval"]:
            assert one["interval"][0] <= one["ours"] <= one["interval"][1]
    assert {run["name"] for run in found["runs"]} == {
        path.parent.name for path in paper.data.glob("*/run.json")
    }
    shown = found["learning"]["lines"][0]
    # The curve has a point for every snapshot.
    assert set(snapshots_of(paper)) <= set(shown["x"])


@pytest.mark.parametrize("name", LEARNING)
def test_snapshots_differ_in_what_they_say_and_play(client: httpx.Client, name: str) -> None:
    machine = client.get(f"/api/papers/{name}").json()["machine"]
    body = {"size": machine["size"], "moves": [["B", "C3"]]}
    views = []
    for number in (machine["snapshots"][0], machine["snapshots"][-1]):
        seen = client.post(f"/api/papers/{name}/see", params={"at": number}, json=body).json()
        views.append({key: seen.get(key) for key in ("policy", "value", "blocks")})
        asked = {**body, "player": f"machine@{number}"}
        played = client.post(f"/api/papers/{name}/move", json=asked)
        if machine["plays"]:
            board = Board(machine["size"], moves="B C3")
            board.play(played.json()["move"])
        else:
            assert played.status_code == 404
    assert views[0] != views[1]
    assert client.post(f"/api/papers/{name}/see", json=body).status_code == 200


def test_code_and_rows_of_a_paper_can_be_read(client: httpx.Client) -> None:
    place = "/api/papers/opening-td"
    told = client.get(place).json()
    assert "learner.py" in told["code"]
    code = client.get(f"{place}/files/learner.py")
    assert code.headers["content-type"].startswith("text/plain") and "class OpeningTD" in code.text
    [run, *_] = client.get(f"{place}/results").json()["runs"]
    rows = client.get(f"{place}/files/data/{run['name']}/rows.csv.gz")
    assert len(gzip.decompress(rows.content).splitlines()) == run["rows"] + 1
    for file in ("../__init__.py", "/etc/passwd", "data", "data/snapshots/000000000.safetensors"):
        assert client.get(f"{place}/files/{quote(file, safe='')}").status_code == 404, file


def test_what_does_not_exist_is_refused(client: httpx.Client) -> None:
    body: dict[str, Any] = {"size": 9}
    assert client.get("/api/papers/none").status_code == 404
    assert client.get("/api/papers/none/results").status_code == 404
    place = "/api/papers/opening-td"
    assert client.post(f"{place}/see", params={"at": 7}, json=body).status_code == 404
    for player in ("machine@7", "../etc", "person", "gtp:sh", "random,x=1"):
        answer = client.post(f"{place}/move", json={**body, "player": player})
        assert answer.status_code == 404, player
    wrong = client.post("/api/papers/opening-evolution/see", json=body)
    assert wrong.status_code == 422 and "13x13" in wrong.json()["detail"]


def test_the_slider_changes_what_the_machine_prefers(
    server: Any, open_page: Any, assert_accessible: Any
) -> None:
    page = open_page(f"{server.url}/#/papers", viewport={"width": 390, "height": 844})
    page.get_by_role("link", name="Openings by evolution").click()
    page.get_by_role("heading", name="Openings by evolution").wait_for()
    page.locator(".claims .interval").first.wait_for()
    prefers = page.locator(".learning .prefers", has_text="It prefers")
    prefers.wait_for()
    last = prefers.text_content()
    slider = page.get_by_role("slider", name="Snapshot")
    slider.focus()
    page.keyboard.press("Home")
    page.get_by_text(re.compile("^After 0 generations")).wait_for()
    page.wait_for_function(
        "told => document.querySelector('.learning .prefers').textContent !== told", arg=last
    )
    page.locator(".learning-curve circle.here").wait_for()
    first = page.locator(".learning-curve line.here").get_attribute("x1")
    page.keyboard.press("ArrowRight")
    page.get_by_text(re.compile("^After 1,000 generations")).wait_for()
    assert page.locator(".learning-curve line.here").get_attribute("x1") != first
    page.locator(".learning").get_by_role("button", name="Play", exact=True).click()
    page.get_by_text(re.compile("^After 3,000 generations")).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert_accessible(page)


def test_every_slider_goes_from_the_beginner_to_the_finished_machine(
    server: Any, open_page: Any
) -> None:
    page = open_page(f"{server.url}/#/papers")
    told = "document.querySelector('.learning .prefers').textContent"
    for name in LEARNING:
        page.goto(f"{server.url}/#/papers/{name}")
        page.get_by_role("heading", name=papers()[name].title).wait_for()
        page.get_by_role("slider", name="Snapshot").focus()
        seen = []
        for key, now in (("Home", "After "), ("End", "The finished machine")):
            page.keyboard.press(key)
            page.locator(".now", has_text=now).wait_for()
            page.wait_for_function(
                f"known => !/Thinking/.test({told}) && !known.includes({told})", arg=seen
            )
            seen.append(page.evaluate(told))


def test_a_position_where_it_fails_is_one_to_watch(server: Any, open_page: Any) -> None:
    page = open_page(f"{server.url}/#/papers/symmetry-network")
    page.get_by_role("button", name="Watch it learn on this position").last.click()
    exhibit = papers()["symmetry-network"].exhibit
    assert exhibit
    failure = exhibit.failures[-1]
    shown = page.locator(".learning select option:checked")
    shown.get_by_text(failure.title).wait_for(state="attached")
    count = "document.querySelectorAll('.learning .shudan-vertex:not(.shudan-sign_0)').length"
    page.wait_for_function(f"n => {count} === n", arg=len(failure.board().moves))


def test_two_machines_play_each_other_and_a_visitor_plays_one(
    server: Any, open_page: Any, click: Any
) -> None:
    page = open_page(f"{server.url}/#/papers/symmetry-network")
    duel = page.locator(".duel")
    duel.get_by_label("Black").select_option("random")
    for number in (1, 2, 3):
        duel.get_by_role("button", name="One move").click()
        duel.get_by_text(f"moves: {number}", exact=True).wait_for()
    duel.get_by_role("button", name="Clear the board").click()
    duel.get_by_label("Black").select_option("you")
    duel.locator('.shudan-vertex[data-x="4"][data-y="4"]').click()
    duel.get_by_text("moves: 2", exact=True).wait_for()
    page.locator(".failure .shudan-sign_-1").first.wait_for()
    # Nothing of the boards lies below the page.
    end = "document.querySelector('main').getBoundingClientRect().bottom + scrollY"
    assert page.evaluate(
        f"document.documentElement.scrollHeight <= Math.max(innerHeight, {end} + 200)"
    )
    duel.get_by_role("button", name="Take back").click()
    duel.get_by_text("moves: 0", exact=True).wait_for()
