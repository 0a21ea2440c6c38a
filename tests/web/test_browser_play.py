"""Play in a real browser: a whole game, undo, hint, restarts, keyboard, phone, two tabs."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from typing import Any

import httpx
import numpy as np
import pytest

from tengen.board import Board, format_gtp
from tengen.players import make_player

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
Open = Callable[..., Any]
Click = Callable[..., None]
Check = Callable[[Any], None]


def game_of(page: Any, client: httpx.Client) -> dict[str, Any]:
    return client.get(f"/api/games/{page.url.rsplit('/', 1)[1]}").json()


def begin(page: Any, opponent: str = "Level 1", size: str = "9×9") -> None:
    page.get_by_role("radio", name=size).check()
    options = page.get_by_label("Opponent")
    options.locator("option", has_text=opponent).first.wait_for(state="attached")
    value = options.locator("option", has_text=opponent).first.get_attribute("value")
    options.select_option(value)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")
    page.get_by_role("status").wait_for()


def your_move(page: Any) -> None:
    page.get_by_text("Your move", exact=True).wait_for()


def answered(page: Any) -> None:
    """Wait until both have moved."""
    page.locator(".moves li").nth(1).wait_for(state="attached")
    your_move(page)


def test_a_whole_game_by_clicks_to_a_counted_end(
    server: Any, open_page: Open, client: httpx.Client, click: Click
) -> None:
    page = open_page(server.url)
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


def test_opponents_are_listed_with_their_rank(
    server: Any, open_page: Open, client: httpx.Client
) -> None:
    page = open_page(server.url)
    known = {one["id"]: one for one in client.get("/api/opponents").json()}
    rated = [one for one in known.values() if one["level"] and "9x9" in one["ratings"]]
    assert rated
    options = page.get_by_label("Opponent").locator("option")
    options.nth(len(rated) - 1).wait_for(state="attached")
    texts = options.all_inner_texts()
    for one in rated:
        text = f"{one['name']}, about {one['ranks']['9x9']}"
        assert text in texts, (text, texts)


def test_undo_and_hint(server: Any, open_page: Open, click: Click) -> None:
    page = open_page(server.url)
    begin(page)
    your_move(page)
    page.get_by_role("button", name="Hint").click()
    page.locator(".hints").wait_for()
    assert page.locator(".board .shudan-marker_label").count() >= 1
    click(page, "E5")
    answered(page)
    assert page.locator(".board .shudan-sign_1.shudan-vertex").count() == 1
    assert page.locator(".hints").count() == 0
    page.get_by_role("button", name="Take back").click()
    page.wait_for_function("() => !document.querySelector('.shudan-vertex.shudan-sign_1')")


def test_a_game_goes_on_after_the_server_was_killed(
    make_server: Callable[..., Any], open_page: Open, click: Click
) -> None:
    server = make_server()
    page = open_page(server.url)
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


def test_keyboard_only(server: Any, open_page: Open, client: httpx.Client) -> None:
    page = open_page(server.url)
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


def test_two_tabs_show_the_same_game(
    server: Any, open_page: Open, client: httpx.Client, click: Click
) -> None:
    one = open_page(server.url)
    begin(one)
    your_move(one)
    two = open_page(one.url)
    your_move(two)
    click(one, "E5")
    two.locator(".moves li").nth(1).wait_for(state="attached")
    your_move(two)
    assert one.locator(".as-text pre").text_content() == two.locator(".as-text pre").text_content()
    client.delete(f"/api/games/{one.url.rsplit('/', 1)[1]}").raise_for_status()
    for page in (one, two):
        page.get_by_text("This game was deleted.").wait_for()


def test_a_phone_confirms_moves_on_large_boards(server: Any, open_page: Open, click: Click) -> None:
    page = open_page(server.url, **PHONE)
    begin(page, size="13×13")
    your_move(page)
    box = page.locator(".board").bounding_box()
    assert box["width"] > 360 and box["x"] >= 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    click(page, "G7", 13)
    page.get_by_role("button", name="Play G7").click()
    page.locator(".moves li").nth(1).wait_for(state="attached")


def test_the_page_shows_itself_before_the_server_answers(server: Any, open_page: Open) -> None:
    page = open_page("about:blank")
    loaded: list[Any] = []
    page.on("response", lambda response: loaded.append(response))
    page.route("**/api/**", lambda route: None)  # asked, and never answered
    page.goto(server.url)
    page.get_by_role("heading", name="Play").wait_for()
    page.get_by_role("radio", name="9×9").wait_for()
    assert len(loaded) <= 5, [response.url for response in loaded]
    assert sum(len(gzip.compress(response.body())) for response in loaded) < 120_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    server: Any, open_page: Open, scheme: str, assert_accessible: Check
) -> None:
    page = open_page(server.url, color_scheme=scheme)
    page.get_by_role("button", name="Begin").wait_for()
    page.locator("summary").first.click()
    assert_accessible(page)
    begin(page)
    your_move(page)
    page.get_by_role("button", name="Hint").click()
    page.locator(".hints").wait_for()
    assert_accessible(page)
