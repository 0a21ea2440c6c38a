"""The page without a server, in a subfolder of a web host: a whole game, count and review."""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.web.conftest import pages_of

from tengen.board import Board, format_gtp
from tengen.players import make_player

DESK = {"viewport": {"width": 1366, "height": 768}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
ROOT = Path(__file__).parents[2]


# Firefox does not tell Playwright of downloads.
KEEP_DOWNLOAD = """() => {
  const address = URL.createObjectURL;
  URL.createObjectURL = (file) => {
    globalThis.saved = file.text();
    return address.call(URL, file);
  };
}"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *about: Any) -> None:
        pass


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the site in a subfolder; return its address."""
    spec = importlib.util.spec_from_file_location("build_try", ROOT / "scripts" / "build_try.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    host = tmp_path_factory.mktemp("host")
    script.write(host / "some" / "folder", papers=False)
    serve = partial(Quiet, directory=str(host))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/some/folder/"
        server.shutdown()


def begin(page: Any, opponent: str = "Level 1", size: str = "9×9") -> None:
    page.get_by_role("radio", name=size).check()
    options = page.get_by_label("Opponent")
    value = options.locator("option", has_text=opponent).first.get_attribute("value")
    options.select_option(value)
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")
    page.get_by_role("status").first.wait_for()


def board_of(page: Any, size: int = 9) -> Board:
    """Return the board of the game that is shown."""
    board = Board(size)
    for text in page.locator(".moves li").all_text_contents():
        colour, move = text.split()
        board.play(move, {"B": 1, "W": 2}[colour])
    return board


def wait_for_moves(page: Any, count: int) -> None:
    page.wait_for_function("n => document.querySelectorAll('.moves li').length >= n", arg=count)


SLOW = pytest.mark.slow


@pytest.mark.parametrize("window", [pytest.param(DESK, marks=SLOW), PHONE], ids=["desk", "phone"])
def test_a_whole_game_is_played_counted_and_reviewed(
    site: str,
    open_page: Callable[..., Any],
    click: Callable[..., None],
    tmp_path: Path,
    window: dict[str, Any],
) -> None:
    play_count_and_review(open_page(f"{site}#/play", **window), click, tmp_path)


@pytest.mark.parametrize("window", [DESK, pytest.param(PHONE, marks=SLOW)], ids=["desk", "phone"])
def test_firefox_plays_counts_and_reviews(
    site: str, firefox: Any, click: Callable[..., None], tmp_path: Path, window: dict[str, Any]
) -> None:
    window = {name: value for name, value in window.items() if name != "is_mobile"}
    with pages_of(firefox) as open_page:
        play_count_and_review(open_page(f"{site}#/play", **window), click, tmp_path)


def play_count_and_review(page: Any, click: Callable[..., None], folder: Path) -> None:
    """Play a whole game against level 1, accept the count, and review the game's file."""
    page.get_by_role("button", name="Begin").wait_for()
    begin(page)
    if page.get_by_label("Confirm moves").is_checked():
        page.get_by_label("Confirm moves").uncheck()
    helper = make_player("static")
    for _ in range(150):
        page.locator(".status", has_text=re.compile("Your move|Counting: |win|lose")).wait_for()
        if page.get_by_text("Counting: ").count() or page.get_by_text("New game").count():
            break
        board = board_of(page)
        move = format_gtp(int(helper.choose(board, np.random.default_rng(1))), 9, 9)
        if move == "pass":
            page.get_by_label("Type a move").fill("pass")
            page.get_by_role("button", name="Play", exact=True).click()
            page.wait_for_function(
                "n => document.querySelectorAll('.moves li').length > n"
                " || document.querySelector('.question')",
                arg=len(board.moves),
            )
            if page.locator(".question").count():  # the page says that it loses points
                page.get_by_role("button", name="Yes, pass").click()
        else:
            click(page, move)
        wait_for_moves(page, len(board.moves) + 1)
    page.get_by_role("button", name="Accept the count").click()
    page.get_by_text(re.compile("you (win|lose)")).wait_for()
    page.evaluate(KEEP_DOWNLOAD)
    page.get_by_role("button", name="Download SGF").click()
    page.wait_for_function("'saved' in globalThis")
    record = folder / "game.sgf"
    record.write_text(page.evaluate("saved"))
    page.get_by_role("button", name="Review this game").click()
    page.wait_for_url("**/#/review/*")
    page.locator(".curve canvas").wait_for()
    page.get_by_text("Searching doubtful moves").or_(
        page.get_by_text("Both sides")
    ).first.wait_for()
    # A search of every doubt would take minutes: only look once at each position.
    page.evaluate("location.hash = '#/review'")
    page.locator("ul.games li").first.wait_for()
    if page.get_by_role("button", name="Cancel all").count():
        page.get_by_role("button", name="Cancel all").click()
        page.get_by_role("button", name="Yes, delete them").click()
    page.get_by_label("Quick, a few seconds").check()
    page.locator(".drop input").first.set_input_files(record)
    page.wait_for_url("**/#/review/*")
    page.get_by_text("Both sides").wait_for()
    page.get_by_role("link", name="Library").first.click()
    page.locator("ul.games li").nth(1).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_it_works_without_a_network_after_one_load(
    site: str, open_page: Callable[..., Any], click: Callable[..., None]
) -> None:
    page = open_page(f"{site}#/play", **DESK)
    page.locator(".preparing").wait_for(state="detached")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.context.set_offline(True)
    page.reload()
    begin(page)
    click(page, "E5")
    page.locator(".moves li").nth(1).wait_for(state="attached")
    page.context.set_offline(False)


def test_a_game_survives_a_killed_tab(
    site: str, open_page: Callable[..., Any], click: Callable[..., None]
) -> None:
    page = open_page(f"{site}#/play", **DESK)
    begin(page, "Two people")
    for n, move in enumerate(("E5", "D3", "C7"), 1):
        click(page, move)
        wait_for_moves(page, n)
    address = page.url
    other = page.context.new_page()
    page.close()
    other.goto(address)
    other.locator(".moves li").nth(2).wait_for(state="attached")


def test_new_zealand_rules_allow_suicide(
    site: str, open_page: Callable[..., Any], click: Callable[..., None]
) -> None:
    page = open_page(f"{site}#/play", **DESK)
    page.get_by_text("Handicap, komi, rules, clock").click()
    page.get_by_label("Rules").select_option("new_zealand")
    begin(page, "Two people")
    for n, move in enumerate(("B9", "C9", "J1", "A8", "J2", "B8", "A9"), 1):
        click(page, move)
        wait_for_moves(page, n)
    # The two stones in the corner took themselves off.
    assert page.locator(".board .shudan-vertex.shudan-sign_1").count() == 2


@pytest.mark.parametrize("size", ["25", "3"])
def test_levels_play_on_other_boards(site: str, open_page: Callable[..., Any], size: str) -> None:
    page = open_page(f"{site}#/play", **PHONE)
    page.get_by_role("combobox", name="Another size").select_option(size)
    page.get_by_role("radio", name="White").check()
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")
    wait_for_moves(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("content", ["\x00\x01 no game (", "", "(;SZ[99];B[aa])"])
def test_bad_input_gets_one_sentence(
    site: str, open_page: Callable[..., Any], tmp_path: Path, content: str
) -> None:
    page = open_page(f"{site}#/review", **DESK)
    damaged = tmp_path / "damaged.sgf"
    damaged.write_text(content)
    page.locator(".drop input").first.set_input_files(damaged)
    page.get_by_role("alert").get_by_text("damaged.sgf").first.wait_for()


def test_games_move_to_another_browser(
    site: str, open_page: Callable[..., Any], click: Callable[..., None], tmp_path: Path
) -> None:
    page = open_page(f"{site}#/play", **DESK)
    begin(page, "Two people")
    click(page, "E5")
    wait_for_moves(page, 1)
    page.get_by_role("link", name="Library").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export everything").click()
    file = tmp_path / "tengen.json"
    download.value.save_as(file)
    other = open_page(f"{site}#/library", **DESK)
    other.locator(".drop input").first.set_input_files(file)
    other.locator("ul.games li").first.wait_for()


def test_an_import_of_something_else_is_refused(
    site: str, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_page(f"{site}#/library", **DESK)
    file = tmp_path / "other.json"
    file.write_text("{}")
    page.locator(".drop input").first.set_input_files(file)
    page.get_by_role("alert").get_by_text("holds no games").first.wait_for()


def test_a_review_survives_a_killed_tab(
    site: str, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    page = open_page(f"{site}#/review", **DESK)
    page.get_by_label("Quick, a few seconds").check()
    record = tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[9]KM[7];B[ee];W[gc];B[cc];W[cg];B[gg];W[fd])")
    page.locator(".drop input").first.set_input_files(record)
    page.wait_for_url("**/#/review/*")
    address = page.url
    other = page.context.new_page()
    page.close()
    other.goto(address)
    other.get_by_text("Both sides").wait_for()


def test_a_browser_that_stores_nothing_says_so_and_plays(
    site: str, open_page: Callable[..., Any], click: Callable[..., None]
) -> None:
    page = open_page("about:blank", **DESK)
    page.add_init_script("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })")
    page.goto(f"{site}#/play")
    page.get_by_text("This browser stores nothing").wait_for()
    begin(page, "Two people")
    click(page, "E5")
    wait_for_moves(page, 1)


def test_a_full_storage_says_so_and_loses_nothing(
    site: str, open_page: Callable[..., Any], click: Callable[..., None]
) -> None:
    page = open_page(f"{site}#/play", **DESK)
    begin(page, "Two people")
    click(page, "E5")
    page.locator(".moves li").first.wait_for(state="attached")
    page.evaluate(
        "() => { IDBObjectStore.prototype.put ="
        " () => { throw new DOMException('', 'QuotaExceededError') } }"
    )
    click(page, "D3")
    page.get_by_text("storage is full").wait_for()
    page.reload()
    page.locator(".moves li").first.wait_for(state="attached")
    assert page.locator(".moves li").count() == 1


def test_a_browser_without_simd_says_so(site: str, open_page: Callable[..., Any]) -> None:
    page = open_page("about:blank", **DESK)
    page.add_init_script("WebAssembly.compile = () => Promise.reject(new Error('no SIMD'))")
    page.goto(site)
    page.get_by_text("WebAssembly with SIMD").wait_for()
