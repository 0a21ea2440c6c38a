"""Play game after game through the page in a browser, and show that memory does not grow.

    python benchmarks/web_hour.py --minutes 60

needs Playwright and Chromium; prints games, moves, the resident memory of the server with its
workers, and the script heap of the page, every tenth of the time.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from playwright.sync_api import sync_playwright

from tengen.board import Board, format_gtp
from tengen.players import make_player

READY = re.compile("Your move|Counting: |you win|you lose")
LONGEST = 200
"""Moves after which a game is left for a new one."""


def main() -> None:
    """Play, and tell how memory went."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds before every click")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, url = start(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.set_default_timeout(180_000)
        try:
            play_on(page, url, psutil.Process(server.pid), options)
        finally:
            browser.close()
            server.terminate()
            server.wait(30)


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a server of its own and return where it is."""
    log = folder / "log"
    command = [sys.executable, "-m", "tengen", "web", "--port", "0", "--no-browser"]
    with log.open("w") as stream:
        games = ["--database", str(folder / "games.sqlite")]
        server = subprocess.Popen([*command, *games], stderr=stream, text=True)
    while not (told := re.search(r"the board is at (\S+)", log.read_text())):
        time.sleep(0.1)
    return server, told.group(1).rstrip("/")


def play_on(page: Any, url: str, server: psutil.Process, options: argparse.Namespace) -> None:
    """Play until the time is up."""
    helper, rng = make_player("static"), np.random.default_rng(1)
    began = time.monotonic()
    reports, games, moves, seen = 0, 0, 0, []
    while (passed := time.monotonic() - began) < 60 * options.minutes:
        begin(page, url)
        games += 1
        for _ in range(LONGEST):
            page.locator(".status", has_text=READY).wait_for()
            number = page.url.rsplit("/", 1)[1]
            state = httpx.get(f"{url}/api/games/{number}", timeout=60).json()
            if state["status"] != "playing":
                break
            time.sleep(options.pause)
            move_by_click(page, state, helper, rng)
            moves += 1
            passed = time.monotonic() - began
            if passed >= 6 * options.minutes * (reports + 1):
                reports += 1
                seen.append(memory(server))
                heap = page.evaluate("() => performance.memory.usedJSHeapSize") / 2**20
                line = f"{passed / 60:.0f} min, {games} games, {moves} moves"
                print(f"{line}: server {seen[-1]:.0f} MB, page {heap:.1f} MB", flush=True)
    if len(seen) > 3:
        print(f"server grown by {seen[-1] - seen[2]:+.0f} MB since the third line")


def begin(page: Any, url: str) -> None:
    """Begin a game on 9x9 against the weakest opponent."""
    page.goto("about:blank")
    page.goto(url)
    page.get_by_role("radio", name="9×9").check()
    opponents = page.get_by_label("Opponent")
    weakest = opponents.locator("option", has_text="Level 1").first
    weakest.wait_for(state="attached")
    opponents.select_option(weakest.get_attribute("value"))
    page.get_by_role("button", name="Begin").click()
    page.wait_for_url("**/#/play/*")


def move_by_click(page: Any, state: dict[str, Any], helper: Any, rng: np.random.Generator) -> None:
    """Click the helper's move and wait until it is on the page."""
    board = Board(9)
    for colour, move in state["moves"]:
        board.play(move, {"B": 1, "W": 2}[colour])
    move = format_gtp(int(helper.choose(board, rng)), 9, 9)
    if move == "pass":
        page.get_by_role("button", name="Pass").click()
    else:
        column, row = "ABCDEFGHJ".index(move[0]), 9 - int(move[1:])
        page.locator(f".shudan-vertex[data-x='{column}'][data-y='{row}']").click()
    count = "n => document.querySelectorAll('.moves li').length > n"
    page.wait_for_function(count, arg=len(state["moves"]))


def memory(server: psutil.Process) -> float:
    """Return the resident memory of a server and all its processes, in MB."""
    every = [server, *server.children(recursive=True)]
    return float(sum(one.memory_info().rss for one in every)) / 2**20


if __name__ == "__main__":
    main()
