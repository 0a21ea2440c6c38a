"""Review, score and looking in a real browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tengen.board import Board, random_point
from tengen.cli import run
from tengen.players import make_player
from tengen.records.from_board import sgf_of_board

EVIL = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
POINTS = ("cc", "cb", "bb", "dc", "bc", "dd", "cd", "bd", "db", "ca", "de", "ed")


def drop(page: Any, name: str, data: str) -> None:
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": data.encode()}
    page.locator(".drop input").first.set_input_files(file)


@pytest.fixture(scope="module")
def long_game() -> str:
    """A game of 200 moves, with script wherever text can stand."""
    board, player, rng = Board(13), make_player("static"), np.random.default_rng(3)
    for _ in range(20):
        board.play(random_point(board, rng))
    while len(board.moves) < 200:
        move = player.choose(board, rng)
        board.play(move if move > 0 else random_point(board, rng))
    text = sgf_of_board(board)
    return text.replace("(;", f"(;PB[{EVIL}]PW[{EVIL}]EV[{EVIL}]C[{EVIL}]", 1)


def test_a_review_of_a_long_game_with_scrubbing(
    server, client, open_page, long_game, assert_accessible
):
    query = {"name": "long.sgf", "quick": True}
    headers = {"content-type": "application/x-go-sgf"}
    answer = client.post("/api/reviews", params=query, content=long_game.encode(), headers=headers)
    [made] = answer.json()["reviews"]
    page = open_page(f"{server.url}/#/review/{made['id']}")
    page.locator(".title", has_text="onerror").wait_for()
    assert page.title() == "Review · Tengen"
    done = page.get_by_role("button", name="Annotated SGF")
    # How far it is; on a busy machine it may be done before the page is there.
    page.get_by_text("of 201").or_(done).first.wait_for()
    done.wait_for()
    # It begins before the worst mistake.
    page.get_by_text(re.compile("^Mistake 1 of")).wait_for()
    page.keyboard.press("Home")
    page.locator(".comment", has_text="onerror").wait_for()
    assert page.locator("img").count() == 0

    box = page.locator(".curve .u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 40, steps=5)
    page.mouse.up()
    at = int(page.locator(".scrubber output").text_content())
    assert 45 <= at <= 55
    page.locator(".board").focus()
    page.keyboard.press("ArrowRight")
    assert int(page.locator(".scrubber output").text_content()) == at + 1
    page.keyboard.press("End")
    assert page.locator(".scrubber output").text_content() == "200"

    page.locator(".worst li").first.get_by_role("button").click()
    page.get_by_role("button", name="Show the better line").click()
    page.get_by_role("heading", name="Variation from move").wait_for()
    page.locator(".hints").wait_for()
    page.locator(".discs text", has_text="A").wait_for()
    page.get_by_role("button", name="Back to the game").click()
    page.get_by_role("checkbox", name="Ownership").check()
    page.locator(".board .shudan-paint").first.wait_for()
    page.get_by_role("checkbox", name="Predicted moves").check()
    page.locator(".board .shudan-heat").first.wait_for()
    assert_accessible(page)


def test_mistakes_are_shown_before_they_are_played(server, open_page, client, wait_for, click):
    headers = {"content-type": "application/x-go-sgf"}
    sgf = "(;SZ[9]PB[Ann]PW[Bob];B[ee];W[aa];B[gc];W[ii];B[cg];W[cc];B[ia];W[gg])"
    answer = client.post("/api/reviews?visits=20", content=sgf.encode(), headers=headers)
    [made] = answer.json()["reviews"]
    place = f"/api/reviews/{made['id']}"
    wait_for(lambda: client.get(place).json()["status"] == "done")
    moves = [part["move"] for part in client.get(place).json()["parts"][1:]]
    worst = max((m for m in moves if m["verdict"] == "mistake"), key=lambda m: m["points_lost"])

    page = open_page(f"{server.url}/#/review/{made['id']}", viewport={"width": 1366, "height": 768})
    page.get_by_role("heading", name=f"Move {worst['number']}:").wait_for()
    number = page.locator(".scrubber output")
    assert number.text_content() == str(worst["number"] - 1)
    played = page.locator(f'.discs [data-vertex="{worst["move"]}"].played text')
    assert float(played.text_content().replace("−", "-")) < -1
    best = page.locator(f'.discs [data-vertex="{worst["best"]}"]')
    assert best.text_content() == "0" and "tone-0" in best.get_attribute("class")
    page.mouse.wheel(0, 500)
    assert page.locator(".board").bounding_box()["y"] >= 0  # it stays in sight

    for count in (1, 2):
        page.keyboard.press("b")
        labels = page.locator(".board .shudan-marker_label .shudan-marker").all_text_contents()
        assert len(labels) == min(count, len(worst["line"]))
    page.locator(".discs text", has_text="A").wait_for()  # the letters of the table
    page.keyboard.press("Escape")

    page.get_by_role("radio", name="White").first.click()
    page.keyboard.press("n")
    mistakes = [m["number"] for m in moves if m["verdict"] and m["colour"] == "white"]
    assert int(number.text_content()) + 1 in mistakes
    page.reload()  # the side that was chosen is the visitor's from now on
    page.get_by_text(f"Mistake 1 of {len(mistakes)}").wait_for()

    page.get_by_role("button", name="Practise these mistakes").click()
    page.get_by_role("heading", name="Find the better move").wait_for()
    asked = client.get(f"/api/problems/{page.url.rsplit('/', 1)[1]}").json()
    click(page, next(m["best"] for m in moves if m["number"] == asked["number"]))
    page.get_by_text("Solved with").wait_for()
    page.goto(f"{server.url}/#/review/{made['id']}")
    page.get_by_role("link", name="Bob").click()
    page.get_by_role("heading", name="Bob").wait_for()


def test_mistakes_are_filtered_by_kind_and_leave_the_page_on_paper_and_as_a_file(
    server, open_page, client, wait_for, tmp_path, assert_accessible
):
    headers = {"content-type": "application/x-go-sgf"}
    sgf = "(;SZ[9]PB[Ann]PW[Bob];B[ee];W[aa];B[gc];W[ii];B[cg];W[cc];B[ai];W[gg])"
    answer = client.post("/api/reviews?quick=true", content=sgf.encode(), headers=headers)
    [made] = answer.json()["reviews"]
    place = f"/api/reviews/{made['id']}"
    wait_for(lambda: client.get(place).json()["status"] == "done")
    moves = [part["move"] for part in client.get(place).json()["parts"][1:]]
    mistakes = [m for m in moves if m["verdict"]]
    assert mistakes and all(m["phase"] == "opening" and m["cause"] for m in mistakes)

    page = open_page(f"{server.url}/#/review/{made['id']}")
    rows = page.locator(".mistakes .worst li")
    rows.first.wait_for()
    assert rows.count() == len(mistakes)
    kind = page.get_by_label("Kind of mistake")
    for cause in {m["cause"] for m in mistakes}:
        kind.select_option(cause)
        assert rows.count() == sum(m["cause"] == cause for m in mistakes)
    kind.select_option("endgame")
    page.get_by_text("No mistake of this kind.").wait_for()
    kind.select_option("all")
    assert_accessible(page)
    page.emulate_media(media="print")
    assert page.locator(".printed figure").count() == min(len(mistakes), 12)
    assert page.locator(".printed").is_visible() and not page.locator(".scrubber").is_visible()
    page.emulate_media(media="screen")

    kept = tmp_path / "review.html"
    kept.write_bytes(client.get(f"{place}/html").content)
    alone = open_page(kept.as_uri())
    alone.get_by_role("heading", name="Ann – Bob").wait_for()
    assert alone.locator(".mistakes .worst li").count() == len(mistakes)


def test_dropping_a_file_reviews_it_and_bad_ones_are_reported(server, open_page):
    page = open_page(f"{server.url}/#/review")
    drop(page, "bad.sgf", "no game at all")
    page.get_by_role("alert").get_by_text("bad.sgf").wait_for()
    page.get_by_role("button", name="Dismiss").click()
    good = "(;SZ[9]PB[Ann]PW[Bob];B[ee];W[cc])"
    for _ in range(2):  # the second time it is there already
        drop(page, "good.sgf", good)
        page.wait_for_url("**/#/review/*")
        page.get_by_role("heading", name="Ann – Bob").wait_for()
        page.goto(f"{server.url}/#/review")
    drop(page, "two.sgf", f"{good}(;SZ[19];B[dd];W[pp];B[pd])")
    page.get_by_role("alert").get_by_text("In the list already: 1").wait_for()
    page.get_by_role("link", name="two.sgf, 2").wait_for()
    waiting = page.get_by_role("link", name="two.sgf, 2")
    page.get_by_role("button", name="Cancel all").click()
    page.get_by_role("button", name="No", exact=True).click()
    assert waiting.count() == 1
    page.get_by_role("button", name="Cancel all").click()
    page.get_by_role("button", name="Yes, delete them").click()
    waiting.wait_for(state="detached")


def test_a_failed_review_is_tried_again(server, open_page):
    for place in ("", "list"):
        page = open_page(f"{server.url}/#/review")
        page.get_by_role("checkbox", name="Quick, a few seconds").check()
        drop(page, "small.sgf", "(;SZ[4];B[bb])")  # too small for the network
        page.wait_for_url("**/#/review/*")
        again = page.get_by_role("button", name="Try again").first
        again.wait_for()
        if place == "list":
            page.goto(f"{server.url}/#/review")
        with page.expect_response("**/retry") as answer:
            again.click()
        assert answer.value.ok


def test_scoring_with_a_corrected_block(server, open_page, click, assert_accessible):
    page = open_page(f"{server.url}/#/score")
    sgf = (
        "(;SZ[5]KM[0.5]RU[Chinese]RE[B+R]AB[ba][bb][bc][bd][be]AW[da][db][dc][dd][de]"
        ";B[ca];W[cb];B[cc];W[cd];B[ce])"
    )
    drop(page, "end.sgf", sgf)
    page.locator(".big").wait_for()
    before = page.locator(".big").text_content()
    click(page, "D3", 5)
    page.wait_for_function("was => document.querySelector('.big')?.textContent !== was", arg=before)
    assert page.locator(".board .shudan-dimmed").count() >= 5
    click(page, "D3", 5)
    page.wait_for_function("was => document.querySelector('.big')?.textContent === was", arg=before)
    page.get_by_role("radio", name="White").check()
    page.get_by_role("radio", name="9×9").check()
    click(page, "E5", 9)
    assert page.locator(".board .shudan-vertex.shudan-sign_1").count() == 1
    assert_accessible(page)


def test_looking_through_the_machines(server, open_page, click, assert_accessible):
    page = open_page(f"{server.url}/#/see")
    click(page, "E5", 9)
    click(page, "C3", 9)
    cards = page.locator(".sight")
    page.locator(".sight figure").first.wait_for()
    shown = cards.count()
    assert shown >= 5
    network = page.get_by_role("region", name="Symmetry network")
    network.locator("figure").nth(8).wait_for()
    network.get_by_role("button", name="White's territory").click()
    page.locator(".board .shudan-heat").first.wait_for()
    deep = page.get_by_role("region", name="Deep network")
    deep.get_by_text("give or take").wait_for()
    assert deep.locator("figure").count() == 2
    page.get_by_role("checkbox", name="Scorer").uncheck()
    assert cards.count() == shown - 1
    page.get_by_role("checkbox", name="Search").check()
    search = page.get_by_role("region", name="Search")
    search.locator(".hints caption", has_text="positions").wait_for()
    search.get_by_text("deep network").wait_for()
    page.get_by_role("radio", name="13×13").check()
    page.get_by_role("region", name="Evolved opening").locator("figure").first.wait_for()
    assert_accessible(page)


def test_looking_goes_on_from_a_larger_board_to_a_smaller_one(server, open_page, click):
    page = open_page(f"{server.url}/#/see")
    points = page.locator(".see-board .shudan-vertex")
    page.get_by_role("radio", name="13×13").check()
    deep = page.get_by_role("region", name="Deep network")
    click(page, "D4", 13)
    page.locator(".see-board .shudan-vertex.shudan-sign_1").wait_for()
    deep.get_by_role("button", name="suggested moves").click()
    page.locator(".see-board .shudan-heat").first.wait_for()

    page.route("**/api/position", lambda route: None)  # asked, and never answered
    page.get_by_role("radio", name="9×9").check()
    page.wait_for_function(
        "() => document.querySelectorAll('.see-board .shudan-vertex').length === 81"
    )
    with page.expect_request("**/api/position"):
        click(page, "E5", 9)
    page.locator(".scrubber output", has_text="1").wait_for()
    assert points.count() == 81


def test_a_search_that_cannot_be_asked_for_is_reported_in_words(server, open_page):
    page = open_page(f"{server.url}/#/see")
    page.route("**/api/analyse*", lambda route: route.abort())
    page.get_by_role("checkbox", name="Search").check()
    page.get_by_role("alert").get_by_text("does not answer").wait_for()


def test_tournaments_trainings_and_the_api_page(
    make_server, open_page, tmp_path, assert_accessible
):
    run = tmp_path / "first"
    run.mkdir()
    (run / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "loss": 1.5}\n')
    (run / "report.html").write_text("<title>R</title><script>document.title = 'ran'</script>")
    server = make_server("--runs", str(tmp_path))
    page = open_page(f"{server.url}/#/arena")
    page.get_by_role("region", name="Standings").wait_for()
    assert_accessible(page)
    page.locator(".games a").first.click()
    page.locator(".scrubber").wait_for()
    page.locator(".board").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator(".board .shudan-vertex:not(.shudan-sign_0)").count() == 3

    page.goto(f"{server.url}/#/laboratory")
    page.get_by_role("link", name="first").nth(1).click()
    page.locator(".plot canvas").wait_for()
    # The next question fails; the one after it is asked all the same.
    page.route("**/api/trainings/*", lambda route: route.abort(), times=1)
    page.get_by_role("alert").get_by_text("does not answer").wait_for()
    with (run / "metrics.jsonl").open("a") as stream:
        stream.write('{"step": 3, "loss": 1.25}\n')
    page.get_by_text("loss 1.25").wait_for()
    assert_accessible(page)
    link = page.get_by_role("link", name="first").first.get_attribute("href")
    report = open_page(server.url + link)
    assert report.title() == "ran"
    assert report.evaluate("origin") == "null"

    page.goto(f"{server.url}/#/api")
    page.get_by_text("/api/games/{key}/moves").wait_for()
    assert_accessible(page)


def test_the_page_of_tengen_review_needs_no_server(open_page, tmp_path):
    game = tmp_path / "game.sgf"
    game.write_text("(;SZ[5]" + "".join(f";{'BW'[n % 2]}[{p}]" for n, p in enumerate(POINTS)) + ")")
    assert run(["review", str(game), "--visits", "4", "--quiet"]) == 0
    page = open_page((tmp_path / "game.review.html").as_uri() + "#3")
    number = page.locator(".scrubber output")
    assert number.text_content() == "3" and "game.sgf" in page.locator(".meta").first.text_content()
    page.locator(".board").focus()
    for key, expected in (("Home", 0), ("ArrowRight", 1), ("PageDown", 11), ("ArrowLeft", 10)):
        page.keyboard.press(key)
        assert number.text_content() == str(expected)
    page.get_by_role("button", name="Last position").click()
    assert number.text_content() == "12"
    page.get_by_role("radio", name="Points").click()
    page.keyboard.press("ArrowLeft")  # a click on a choice leaves the keys to the game
    assert number.text_content() == "11"
    page.locator(".worst button").first.click()
    page.keyboard.press("b")
    page.get_by_text("Variation from move").wait_for()
    page.get_by_role("button", name="Back to the game").click()
    assert page.get_by_text("Variation from move").count() == 0
    assert page.get_by_role("link").count() == 0  # there is nowhere to go without a server


def test_the_start_page_asks_what_to_do_and_six_entries_lead_everywhere(
    server, open_page, client, assert_accessible
):
    width = 390
    made = client.post("/api/games", json={"opponent": "person"}).json()
    client.post(f"/api/games/{made['id']}/moves", json={"move": "E5"}).raise_for_status()
    page = open_page(server.url, viewport={"width": width, "height": 800})
    tasks = page.locator(".task-link")
    tasks.first.wait_for()
    places = [tasks.nth(n).get_attribute("href") for n in range(tasks.count())]
    assert places == ["#/play", "#/review", "#/problems", "#/papers"]
    page.get_by_text("New to Go?").click()
    page.get_by_role("button", name="Play a first game with a teacher").wait_for()
    assert_accessible(page)
    entries = page.get_by_role("navigation", name="Pages").get_by_role("link")
    assert entries.count() <= 6
    for n in range(entries.count()):
        entries.nth(n).click()
        page.get_by_role("heading", level=1).wait_for()
        assert entries.nth(n).get_attribute("aria-current") == "page"
        box = entries.nth(n).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Study").click()
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Score").click()
    page.get_by_role("heading", name="Score").wait_for()
    page.get_by_role("link", name="Tengen").click()
    page.locator(f'.waiting a[href="#/play/{made["id"]}"]').click()
    page.get_by_text("White to move").wait_for()


def test_the_library_finds_games_by_words(server, open_page, client, assert_accessible):
    headers = {"content-type": "application/x-go-sgf"}
    sgf = "(;SZ[9]PB[Xerxes]PW[Ypsilon]EV[Night Cup];B[ee])"
    answer = client.post("/api/reviews?quick=true", content=sgf.encode(), headers=headers)
    [made] = answer.json()["reviews"]
    page = open_page(f"{server.url}/#/library")
    row = page.locator(f'.games a[href="#/review/{made["id"]}"]')
    row.wait_for()
    search = page.get_by_role("searchbox")
    search.fill("cup xerx")
    assert page.locator(".games li").count() == 1
    page.get_by_role("radio", name="Played").check()
    assert row.count() == 0
    page.get_by_role("radio", name="All").check()
    search.fill("nobody of this name")
    assert row.count() == 0
    assert_accessible(page)


def test_settings_are_kept_in_the_browser(server, open_page, assert_accessible):
    page = open_page(f"{server.url}/#/study")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("checkbox", name="Animations").uncheck()
    page.get_by_role("checkbox", name="Sound").uncheck()
    page.get_by_label("Colours").select_option("dark")
    page.get_by_role("dialog").get_by_label("Board").select_option("slate")
    assert_accessible(page)
    page.get_by_role("button", name="Close").click()
    page.reload()
    page.get_by_role("button", name="Settings").wait_for()
    kept = page.evaluate("({...document.documentElement.dataset})")
    assert kept["theme"] == "dark" and kept["moving"] == "off" and kept["board"] == "slate"
    page.get_by_role("button", name="Settings").click()
    assert not page.get_by_role("checkbox", name="Sound").is_checked()
    with page.expect_navigation():
        page.get_by_label("Language").select_option("de")
    page.get_by_role("heading", name="Studieren").wait_for()


def test_problems_of_a_collection_and_the_first_ones_are_solved(
    make_server, open_page, click, assert_accessible
):
    server = make_server()
    page = open_page(f"{server.url}/#/problems")
    page.get_by_text("None yet.").wait_for()
    assert_accessible(page)
    drop(page, "two.sgf", "(;SZ[9]GN[Corner]AB[ba][bb]AW[ca][cb]PL[W];W[dd])(;SZ[9];B[ee])")
    page.get_by_role("link", name="Corner").click()
    page.get_by_role("heading", name="Find the better move").wait_for()
    click(page, "J1")
    page.get_by_text("J1 is not the solution").wait_for()
    page.get_by_role("button", name="Try again").click()
    click(page, "D6")
    page.get_by_text("Solved with D6").wait_for()
    page.get_by_role("link", name="All problems").click()
    page.get_by_role("button", name="Add the first problems").click()
    page.get_by_role("link", name=re.compile("^Solve .* now")).click()
    page.get_by_role("heading", name="Find the better move").wait_for()
    page.locator(".shudan-marker_cross").wait_for()


def test_tags_and_progress_in_the_library(make_server, open_page, wait_for, assert_accessible):
    server = make_server()
    with server.client(headers={"content-type": "application/x-go-sgf"}) as client:
        for day, corner in enumerate(("aa", "cc", "gc"), 1):
            sgf = f"(;SZ[9]PB[Eve]PW[Opponent {day}]DT[2026-01-0{day}];B[{corner}];W[ee])"
            client.post("/api/reviews?quick=true", content=sgf).raise_for_status()

        def done() -> Any:
            found = client.get("/api/reviews").json()
            return found if all(one["status"] == "done" for one in found) else None

        reviews = wait_for(done)
        lost = {one["date"]: one["lost"]["black"] for one in reviews}
        page = open_page(f"{server.url}/#/library")
        page.get_by_role("button", name="Tags of Eve – Opponent 2").click()
        page.get_by_label("Tags, separated").fill("ladder, to study")
        page.get_by_role("button", name="Save").click()
        page.locator(".games .badge", has_text="to study").wait_for()
        page.get_by_role("searchbox").fill("study")
        assert page.locator(".games > li").count() == 1
        assert_accessible(page)
        page.get_by_role("link", name="Progress").click()
        progress = page.get_by_role("region", name="Progress")
        first = (lost["2026-01-01"] + lost["2026-01-02"]) / 2
        progress.get_by_text(f"{first:.2f} points lost per move").wait_for()
        progress.get_by_text(f"{lost['2026-01-03']:.2f} in the second").wait_for()
        progress.locator("canvas").wait_for()
        assert page.get_by_label("Player").input_value() == "Eve"
        page.get_by_text("A rank takes 10").wait_for()
        assert_accessible(page)
        json = {"content-type": "application/json"}
        unknown = client.put("/api/tags/none", json={"tags": ["x"]}, headers=json)
        assert unknown.status_code == 404


def test_a_problem_that_is_gone_leads_to_the_others(server, open_page):
    page = open_page(f"{server.url}/#/problems/gone", viewport={"width": 390, "height": 844})
    page.get_by_role("link", name="All problems").wait_for()
    told = page.locator(".trouble")
    told.wait_for()
    box, entries = told.bounding_box(), page.locator(".sections").bounding_box()
    assert box["y"] + box["height"] <= entries["y"]  # the message hides no entry
