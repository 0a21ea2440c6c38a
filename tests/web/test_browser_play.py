"""Play and study in a real browser: desk and phone, keyboard, teaching, offline, languages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from tengen.board import Board, format_gtp
from tengen.players import make_player

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SMALL = {**PHONE, "viewport": {"width": 320, "height": 640}}
TEXTS = Path(__file__).parents[2] / "web" / "src" / "texts"
PASTE = """text => {
  const data = new DataTransfer();
  data.setData("text", text);
  const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true });
  document.body.dispatchEvent(event);
}"""


def black_stones(page: Any) -> int:
    return int(page.locator(".board .shudan-vertex.shudan-sign_1").count())


def game_of(page: Any, client: httpx.Client) -> dict[str, Any]:
    return client.get(f"/api/games/{page.url.rsplit('/', 1)[1]}").json()


def begin(page: Any, opponent: str = "Level 1", size: str = "9×9") -> str:
    """Begin a game and return its id."""
    page.get_by_role("radio", name=size).check()
    options = page.get_by_label("Opponent")
    options.locator("option", has_text=opponent).first.wait_for(state="attached")
    value = options.locator("option", has_text=opponent).first.get_attribute("value")
    options.select_option(value)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")
    page.get_by_role("status").wait_for()
    return str(page.url.rsplit("/", 1)[1])


def your_move(page: Any) -> None:
    page.get_by_text("Your move", exact=True).wait_for()


def answered(page: Any) -> None:
    """Wait until both have moved."""
    page.locator(".moves li").nth(1).wait_for(state="attached")
    your_move(page)


def test_a_whole_game_by_clicks_to_a_counted_end(server, open_page, client, click):
    page = open_page(f"{server.url}/#/play")
    begin(page)
    helper = make_player("static")
    for _ in range(130):
        page.locator(".status", has_text=re.compile("Your move|Counting: |win")).wait_for()
        state = game_of(page, client)
        if state["status"] != "playing":
            break
        board = Board(9)
        for colour, move in state["moves"]:
            board.play(move, {"B": 1, "W": 2}[colour])
        move = format_gtp(int(helper.choose(board, np.random.default_rng(1))), 9, 9)
        if move == "pass":
            page.get_by_role("button", name="Pass").click()
        else:
            click(page, move)
        page.wait_for_function(
            "n => document.querySelectorAll('.moves li').length > n", arg=len(state["moves"])
        )
    if game_of(page, client)["status"] == "counting":
        page.get_by_role("button", name="Accept the count").click()
    page.locator(".status", has_text=re.compile("you win|you lose")).wait_for()
    state = game_of(page, client)
    assert state["result"][:2] in ("B+", "W+") and len(state["moves"]) > 20


def test_opponents_are_listed_with_their_rank(server, open_page, client):
    page = open_page(f"{server.url}/#/play")
    known = {one["id"]: one for one in client.get("/api/opponents").json()}
    rated = [one for one in known.values() if one["level"] and "9x9" in one["ratings"]]
    assert rated
    options = page.get_by_label("Opponent").locator("option")
    options.nth(len(rated) - 1).wait_for(state="attached")
    texts = options.all_inner_texts()
    for one in rated:
        text = f"{one['name']}, about {one['ranks']['9x9']}"
        assert text in texts, (text, texts)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_undo_and_hint(server, open_page, click, scheme, assert_accessible):
    page = open_page(f"{server.url}/#/play", color_scheme=scheme)
    page.get_by_role("button", name="Begin").wait_for()
    page.locator("summary").first.click()
    assert_accessible(page)
    begin(page)
    your_move(page)
    page.get_by_role("button", name="Hint").click()
    page.locator(".hints").wait_for()
    assert page.locator(".discs g").count() >= 1
    assert_accessible(page)
    click(page, "E5")
    answered(page)
    assert black_stones(page) == 1
    assert page.locator(".hints").count() == 0
    page.get_by_role("button", name="Take back").click()
    page.wait_for_function("() => !document.querySelector('.shudan-vertex.shudan-sign_1')")


def test_a_game_goes_on_after_the_server_was_killed(make_server, open_page, click):
    server = make_server()
    page = open_page(f"{server.url}/#/play")
    begin(page)
    your_move(page)
    click(page, "E5")
    answered(page)
    before = page.locator(".as-text pre").text_content()
    server.kill()
    click(page, "C3")
    page.get_by_text("does not answer").wait_for()
    server.start()
    page.reload()
    your_move(page)
    assert page.locator(".as-text pre").text_content() == before
    click(page, "C3") if "C3" not in before else None
    page.goto(f"{server.url}/#/play")
    page.locator(".games li").first.wait_for()


def test_keyboard_only(server, open_page, client):
    page = open_page(f"{server.url}/#/play")
    page.get_by_role("button", name="Begin").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Begin").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/play/*")
    your_move(page)
    page.locator(".board").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "Enter"):
        page.keyboard.press(key)
    answered(page)
    assert game_of(page, client)["moves"][0] == ["B", "D6"]
    page.keyboard.press("u")
    page.wait_for_function("() => !document.querySelector('.shudan-vertex.shudan-sign_1')")
    page.get_by_label("Type a move").fill("c4")
    page.keyboard.press("Enter")
    page.locator(".moves li").nth(1).wait_for(state="attached")
    assert game_of(page, client)["moves"][0] == ["B", "C4"]


def test_two_tabs_show_the_same_game(server, open_page, client, click):
    one = open_page(f"{server.url}/#/play")
    begin(one)
    your_move(one)
    two = open_page(one.url)
    your_move(two)
    click(one, "E5")
    for page in (one, two):
        answered(page)
    assert one.locator(".as-text pre").text_content() == two.locator(".as-text pre").text_content()
    client.delete(f"/api/games/{one.url.rsplit('/', 1)[1]}").raise_for_status()
    for page in (one, two):
        page.get_by_text("This game was deleted.").wait_for()


def test_eight_tabs_play_at_once(server, open_page, client, click):
    first = open_page(f"{server.url}/#/play")
    tabs = [first, *(first.context.new_page() for _ in range(7))]
    for tab in tabs:  # all load before any is played in
        tab.goto(f"{server.url}/#/play")
        begin(tab)
        your_move(tab)
    for tab in tabs:
        tab.bring_to_front()
        click(tab, "E5")
        answered(tab)
        assert game_of(tab, client)["moves"][0] == ["B", "E5"]


def test_a_phone_confirms_moves_on_large_boards(server, open_page, click):
    page = open_page(f"{server.url}/#/play", **PHONE)
    begin(page, size="13×13")
    your_move(page)
    box = page.locator(".board").bounding_box()
    assert box["width"] > 360 and box["x"] >= 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    click(page, "G7", 13)
    page.get_by_role("button", name="Play G7").click()
    page.locator(".moves li").nth(1).wait_for(state="attached")


def test_the_page_shows_itself_before_the_server_answers(server, open_page):
    page = open_page("about:blank")
    loaded: list[Any] = []
    page.on("response", lambda response: loaded.append(response))
    page.route("**/api/**", lambda route: None)  # asked, and never answered
    page.goto(f"{server.url}/#/play")
    page.get_by_role("heading", name="Play").wait_for()
    page.get_by_role("radio", name="9×9").wait_for()
    assert len(loaded) <= 5, [response.url for response in loaded]


def test_a_game_with_a_teacher_up_to_a_solved_problem(server, open_page, client, click):
    page = open_page(f"{server.url}/#/play", **PHONE)
    page.get_by_role("checkbox", name="Teach me").check()
    page.get_by_label("Stop me when").select_option("2")
    key = begin(page)
    page.get_by_role("checkbox", name="Estimate").check()
    page.locator(".estimate").wait_for()
    page.locator(".board .shudan-paint").first.wait_for()
    click(page, "A1")
    lesson = page.get_by_role("region", name="Teacher")
    lesson.get_by_text("A1 lost about").wait_for()
    lesson.get_by_role("button", name="Show the better move").click()
    page.locator(".discs g").first.wait_for()
    lesson.get_by_role("button", name="Take back").click()
    page.get_by_text("Your move", exact=True).wait_for()
    assert black_stones(page) == 0
    click(page, "A1")
    lesson.get_by_role("button", name="Go on").click()
    page.locator(".moves li").nth(1).wait_for(state="attached")
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Yes, resign").click()
    page.get_by_role("region", name="Your most expensive moves").get_by_role("link").click()

    [worst] = client.get(f"/api/games/{key}").json()["worst"]
    page.get_by_role("heading", name="Find the better move").wait_for()
    click(page, "A1")
    page.get_by_text("loses about").wait_for()
    page.get_by_role("button", name="Try again").click()
    click(page, worst["best"])
    page.get_by_text("Solved with").wait_for()


def test_two_people_step_through_their_game(server, open_page, click):
    page = open_page(f"{server.url}/#/play")
    begin(page, "Two people")
    for count, vertex in enumerate(("E5", "C3", "G7", "C7"), 1):
        click(page, vertex)
        page.locator(".moves li").nth(count - 1).wait_for(state="attached")
    number = page.locator(".scrubber output")
    for key, expected in (("ArrowLeft", 3), ("Home", 0), ("ArrowRight", 1), ("End", 4)):
        page.keyboard.press(key)  # without a click on anything first
        assert number.text_content() == str(expected)
        assert black_stones(page) == (expected + 1) // 2
    page.get_by_role("checkbox", name="Move numbers").check()
    labels = page.locator(".board .shudan-marker_label .shudan-marker").all_text_contents()
    assert sorted(label.strip() for label in labels) == ["1", "2", "3", "4"]
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Back to the game").click()
    page.get_by_text("Black to move").wait_for()


def test_suicide_is_played_stepped_through_and_studied(server, open_page, client, click):
    rules = {"size": 13, "opponent": "person", "rules": "new_zealand"}
    key = client.post("/api/games", json=rules).json()["id"]
    for move in ("A2", "A4", "A3", "B2", "E5", "B3", "E6", "B1"):
        client.post(f"/api/games/{key}/moves", json={"move": move}).raise_for_status()
    page = open_page(f"{server.url}/#/play/{key}")
    page.get_by_role("checkbox", name="Confirm moves").check()
    click(page, "A1", 13)  # the last liberty of three black stones
    page.get_by_role("button", name="Play A1").click()
    page.locator(".moves li").nth(8).wait_for(state="attached")
    assert black_stones(page) == 2
    page.get_by_role("checkbox", name="Estimate").check()
    page.locator(".estimate").wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator(".scrubber output", has_text="8").wait_for()
    assert black_stones(page) == 4
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Open in Study").click()
    page.locator(".tree g").first.wait_for()
    page.get_by_role("button", name="Last position").click()
    assert black_stones(page) == 2
    assert page.get_by_role("alert").inner_text() == ""


def test_an_address_of_no_page_shows_one_that_is(server, open_page):
    page = open_page(server.url)
    for name in ("toString", "constructor", "play/%", "play/..%2Fladder", "review/%"):
        page.goto("about:blank")
        page.goto(f"{server.url}/#/{name}")
        page.get_by_role("heading", level=1).wait_for()


def test_variations_are_edited_commented_pasted_and_saved(
    server, open_page, click, assert_accessible, tmp_path
):
    page = open_page(f"{server.url}/#/study")
    page.get_by_role("button", name="Save as SGF").wait_for()
    page.evaluate(PASTE, "(;SZ[9];B[ee];W[cc])")
    page.locator(".tree g").nth(2).wait_for()
    page.keyboard.press("ArrowRight")
    click(page, "G7")  # another answer to E5
    page.get_by_label("Comment").fill("also [good]")
    assert page.locator(".tree g").count() == 4
    assert_accessible(page)
    page.reload()
    page.locator(".tree g").nth(3).wait_for()
    assert page.locator(".tree g").count() == 4
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as SGF").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert re.search(r";B\[ee\]\(;W\[cc\]\)\(;W\[gc\]C\[also \[good\\\]\]\)\)", text)
    page.get_by_role("button", name="Last position").click()
    page.get_by_role("button", name="Delete from here").click()
    assert page.locator(".tree g").count() == 3


def test_a_double_tap_neither_passes_nor_resigns(server, open_page, client):
    page = open_page(f"{server.url}/#/play", **PHONE)
    key = begin(page, "Two people")
    for name, yes in (("Pass", "Yes, pass"), ("Resign", "Yes, resign")):
        button = page.get_by_role("button", name=name, exact=True)
        box = button.bounding_box()
        place = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.touchscreen.tap(*place)
        page.get_by_role("button", name=yes).wait_for()
        page.touchscreen.tap(*place)
        page.get_by_role("button", name=yes).wait_for(state="hidden")
        game = client.get(f"/api/games/{key}").json()
        assert game["moves"] == [] and game["status"] == "playing"
    page.get_by_role("button", name="Pass", exact=True).tap()
    page.get_by_role("button", name="Yes, pass").tap()
    page.locator(".moves li").first.wait_for(state="attached")


def test_nothing_overflows_a_small_phone(server, open_page):
    page = open_page(server.url, **SMALL)
    views = "play", "problems", "review", "study", "score", "papers", "explore", "library"
    for view in ("", *views):
        page.goto("about:blank")
        page.goto(f"{server.url}/#/{view}")
        page.get_by_role("heading").first.wait_for()
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, view


def test_the_page_can_be_installed_and_opens_without_the_server(
    make_server, open_page, client, click
):
    manifest = client.get("/static/manifest.webmanifest").json()
    assert manifest["start_url"] == "../" and manifest["display"] == "standalone"
    for icon in manifest["icons"]:
        assert client.get(f"/static/{icon['src']}").status_code == 200
    assert {"192x192", "512x512"} <= {icon["sizes"] for icon in manifest["icons"]}

    server = make_server()
    page = open_page(f"{server.url}/#/study")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.wait_for_function("caches.match('/').then(found => !!found)")
    server.kill()
    page.reload()
    page.get_by_role("heading", name="Study").wait_for()
    click(page, "E5", 19)
    assert black_stones(page) == 1


@pytest.mark.parametrize(("locale", "word"), [("de", "Spielen"), ("zh-CN", "对局")])
def test_the_browser_chooses_the_language(server, open_page, locale, word):
    page = open_page(f"{server.url}/#/play", locale=locale)
    page.get_by_role("heading", name=word, exact=True).wait_for()
    assert page.evaluate("document.documentElement.lang") == locale[:2]


def test_every_language_has_every_text_with_its_values():
    def texts(source: str) -> dict[str, set[str]]:
        found = re.findall(r'^  (\w+):\s+"((?:[^"\\]|\\.)*)",$', source, re.M)
        return {key: set(re.findall(r"\{(\w+)\}", value)) for key, value in found}

    languages = {path.stem: path.read_text("utf-8") for path in TEXTS.glob("??.ts")}
    papers = re.split(r"^const (\w+)", (TEXTS / "papers.ts").read_text("utf-8"), flags=re.M)
    exhibits = dict(zip(papers[1::2], papers[2::2], strict=True))
    assert len(texts(languages["en"])) > 200
    for tables in (languages, exhibits):
        assert set(tables) == {"en", "de", "ja", "ko", "zh"}
        for name, source in tables.items():
            assert texts(source) == texts(tables["en"]), name


def test_a_rank_chooses_the_opponent_and_friends_play_with_byo_yomi(
    server, open_page, client, click, assert_accessible
):
    page = open_page(f"{server.url}/#/play")
    page.get_by_role("radio", name="19×19").check()
    with page.expect_response("**/fair-game*") as answer:
        page.get_by_label("Your rank").select_option("8 kyu")
    fair = answer.value.json()
    page.wait_for_function(
        "id => [...document.querySelectorAll('select')].some(one => one.value === id)",
        arg=fair["opponent"],
    )
    page.get_by_role("radio", name="9×9").check()
    page.get_by_label("Opponent").select_option("person")
    page.get_by_label("Rank of one player").select_option("10 kyu")
    page.get_by_label("Rank of the other player").select_option("1 dan")
    page.get_by_text("Even game:").wait_for()
    page.get_by_label("Black's name").fill("Ann")
    page.get_by_label("White's name").fill("Bob " * 15)
    page.locator("summary").first.click()
    page.get_by_label("Handicap").select_option("0")
    page.get_by_label("Clock").select_option("japanese")
    page.get_by_label("Main time").fill("0")
    page.get_by_label("Periods").fill("3")
    assert_accessible(page)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")
    timers = page.get_by_role("timer")
    timers.nth(1).wait_for()
    assert all("×3" in timers.nth(n).text_content() for n in range(2))
    click(page, "E5")
    page.locator(".moves li").first.wait_for(state="attached")
    page.get_by_text("Ann", exact=True).wait_for()
    assert game_of(page, client)["clock"]["stages"]["black"] == [1, 3]


def saved(page: Any, button: str) -> bytes:
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return Path(download.value.path()).read_bytes()


def test_the_largest_board_is_played_and_studied(server, open_page, click):
    page = open_page(f"{server.url}/#/play")
    page.get_by_role("combobox", name="Another size").select_option("25")
    page.get_by_label("Opponent").select_option("level-10")
    page.get_by_text("The levels were rated on").wait_for()
    page.get_by_label("Opponent").select_option("person")
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")
    click(page, "Z25", 25)
    page.locator(".moves li", has_text="Z25").wait_for(state="attached")
    page.get_by_text("Open in Study").click()
    page.wait_for_url("**/#/study*")
    page.get_by_role("heading", name="Study").wait_for()
    page.get_by_role("button", name="Last position").click()
    stone = page.locator('.board .shudan-vertex[data-x="24"][data-y="0"].shudan-sign_1')
    stone.wait_for()
    page.get_by_role("combobox", name="Another size").select_option("5")
    stone.wait_for(state="detached")
    assert page.locator(".board .shudan-vertex").count() == 25


def test_marks_information_and_all_games_of_a_collection_are_studied(
    server, open_page, click, assert_accessible
):
    page = open_page(f"{server.url}/#/study")
    page.get_by_role("button", name="Save as SGF").wait_for()
    games = "(;SZ[9]PB[Ann]PW[Bob];B[ee](;W[cc])(;W[gg]))\n(;SZ[5]PB[Eve];B[cc])"
    page.evaluate(PASTE, games)
    page.locator(".tree g").nth(3).wait_for()
    for name, vertex in (("Letter", "C3"), ("Triangle", "E5"), ("Circle", "G7"), ("Square", "A1")):
        page.get_by_role("radio", name=name, exact=True).check()
        click(page, vertex)
    page.get_by_role("radio", name="Cross", exact=True).check()
    click(page, "A1")  # takes the place of the square
    page.get_by_role("radio", name=re.compile("^Arrow")).check()
    click(page, "A9")
    click(page, "C7")
    for kind in ("label", "triangle", "circle", "cross"):
        page.locator(f".board .shudan-marker_{kind}").first.wait_for()
    page.locator(".board .shudan-arrow").wait_for(state="attached")
    page.get_by_text("About the game").click()
    page.get_by_label("Event").fill("Night Cup")
    assert_accessible(page)
    page.reload()
    text = saved(page, "Save as SGF").decode()
    for part in ("LB[cg:A]", "TR[ee]", "CR[gc]", "MA[ai]", "AR[aa:cc]", "EV[Night Cup]"):
        assert part in text
    assert "SQ[" not in text and text.count("SZ[") == 2

    page.get_by_label("Game of 2").select_option(label="2. Eve")
    assert page.locator(".board .shudan-vertex").count() == 25
    click(page, "A1", 5)
    assert page.locator(".tree g").count() == 3
    page.get_by_role("button", name="Undo the change").click()
    assert page.locator(".tree g").count() == 2


def test_a_position_is_pasted_and_shared_as_a_link_and_a_picture(server, open_page, click):
    page = open_page(f"{server.url}/#/study")
    page.get_by_role("button", name="Save as SGF").wait_for()
    page.evaluate(
        PASTE, "  A B C D E\n5 . . . . . 5\n4 . X O . . 4\n3 . X . . .\n2 . . . . .\n1 O . . . ."
    )
    page.wait_for_function(
        "() => document.querySelectorAll('.shudan-vertex.shudan-sign_1').length === 2"
    )
    assert page.locator(".board .shudan-vertex.shudan-sign_-1").count() == 2
    assert saved(page, "Picture (PNG)").startswith(b"\x89PNG")
    page.get_by_role("button", name="Link to this position").click()
    address = page.get_by_label("Whoever opens this address").input_value()
    other = open_page(address)
    other.wait_for_function("() => document.querySelectorAll('.shudan-vertex').length === 25")
    assert black_stones(other) == 2
    broken = open_page(f"{server.url}/#/study/nonsense")
    broken.get_by_role("alert").get_by_text("SGF").wait_for()
