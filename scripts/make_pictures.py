"""Make every picture of the README and the site anew from this version, in `docs/pictures`.

    python scripts/make_pictures.py            # all
    python scripts/make_pictures.py review     # those whose names begin so

The screenshots, each in light and in dark, need Playwright, Chromium and Pillow. The pictures of
openings need the collection `tygem9d-train.zip` in `$TENGEN_GAMES`; without it they stay.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

import draw_diagrams

OUT = Path(__file__).parents[1] / "docs" / "pictures"
VIEW = {"width": 1100, "height": 900}
SHARPNESS = 1.5  # pixels of a picture for one of the page
COLLECTION = "tygem9d-train.zip"
STUDY = "(;SZ[9];B[ee];W[gc](;B[cg];W[cc])(;B[cc]C[Takes the corner];W[cg](;B[gg])(;B[dh];W[ch])))"
GAME = "(;SZ[9]KM[7.5];B[ee];W[fc];B[dc];W[fg];B[ge];W[cf];B[df];W[dg];B[eg])"


def tengen(*arguments: str, folder: Path | None = None) -> None:
    """Run a command of this version."""
    command = [sys.executable, "-m", "tengen", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL)


def game(folder: Path) -> Path:
    """Let two levels play on 13x13; return the record, without the times of its moves."""
    both = ["tengen:level=6", "tengen:level=5"]
    rules = ["--size", "13", "--games", "2", "--openings", "none", "--seed", "4"]
    tengen("arena", "match", *both, *rules, "--out", "games.sqlite", folder=folder)
    tengen("arena", "export", "games.sqlite", "--out", "games.sgf", folder=folder)
    record = folder / "games.sgf"
    text = re.sub(r"(?<![A-Z])C\[(?:\\.|[^\\\]])*\]", "", record.read_text(encoding="utf-8"))
    record.write_text(text.replace("tengen:level=", "Level "), encoding="utf-8")
    return record


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Start the board and return its address."""
    log = folder / "log"
    command = [sys.executable, "-m", "tengen", "web", "--port", "0", "--no-browser"]
    command += ["--database", str(folder / "web.sqlite")]
    with log.open("w") as stream:
        process = subprocess.Popen(command, stderr=stream, text=True)
    try:
        while not (told := re.search(r"the board is at (\S+)", log.read_text())):
            time.sleep(0.2)
        yield told[1].rstrip("/")
    finally:
        process.terminate()
        process.wait(60)


def shoot(name: str, address: str, prepare: Callable[[Any], None]) -> None:
    """Write one page in light and in dark."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for look in ("light", "dark"):
            context = browser.new_context(
                viewport=VIEW, device_scale_factor=SHARPNESS, color_scheme=look
            )
            page = context.new_page()
            page.set_default_timeout(120_000)
            page.add_init_script(f"localStorage.study ??= {STUDY!r}")
            page.goto(address)
            prepare(page)
            page.wait_for_timeout(1500)
            picture = Image.open(io.BytesIO(page.screenshot()))
            picture.save(OUT / f"{name}-{look}.webp", quality=82, method=6)
        browser.close()


def review() -> None:
    """The page of a reviewed game, which opens before the largest mistake."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "review.html"
        tengen("review", str(game(Path(name))), "--game", "1", "--out", str(page))

        shoot("review", page.as_uri(), lambda page: page.wait_for_timeout(2000))


def teacher(url: str) -> None:
    """A game that the teacher stopped, with the better move shown."""
    with httpx.Client(base_url=f"{url}/api", timeout=300) as client:
        made = client.post("/games", json={"size": 9, "teach": 2, "opponent": "level-1"}).json()
        for move in ("E5", "G7", "C3", "A1"):
            state = client.post(f"/games/{made['id']}/moves", json={"move": move}).json()
            while not ((state["lesson"] or {}).get("asks") or state["turn"] == "black"):
                time.sleep(0.3)
                state = client.get(f"/games/{made['id']}").json()
            if (state["lesson"] or {}).get("asks"):
                break

    def better(page: Any) -> None:
        page.get_by_role("button", name="Show the better move").click()

    shoot("teacher", f"{url}/#/play/{made['id']}", better)


def study(url: str) -> None:
    """A tree of variations."""

    def step(page: Any) -> None:
        page.wait_for_timeout(2000)
        for _ in range(4):
            page.keyboard.press("ArrowRight")

    shoot("study", f"{url}/#/study", step)


def learning(url: str) -> None:
    """A machine in the middle of its training, on a position where it fails in the end."""

    def watch(page: Any) -> None:
        page.get_by_role("button", name="Watch it learn on this position").first.click()
        page.get_by_role("slider", name="Snapshot").fill("2")
        page.locator(".learning-curve").wait_for()
        page.locator(".learning .prefers", has_text="prefers").wait_for(timeout=400_000)
        page.wait_for_timeout(8000)
        page.locator(".learning").evaluate("part => part.scrollIntoView()")

    shoot("learning", f"{url}/#/papers/opening-td", watch)


def see(url: str) -> None:
    """One position, and what each model says about it."""

    def look(page: Any) -> None:
        page.locator("input[type=file]").set_input_files(
            {"name": "a.sgf", "mimeType": "application/x-go-sgf", "buffer": GAME.encode()}
        )
        page.wait_for_timeout(1000)
        page.keyboard.press("End")
        page.locator("button.picture").nth(5).wait_for(timeout=400_000)
        page.locator(".placeholder").last.wait_for(state="detached", timeout=400_000)
        page.wait_for_timeout(2000)
        page.locator(".sight h2").first.evaluate("title => title.scrollIntoView()")

    shoot("see", f"{url}/#/see", look)


def survival() -> None:
    """Each group's chance of survival, in a game of two weak searches."""
    with tempfile.TemporaryDirectory() as name:
        player = ["--player", "mcts:playouts=60", "--seed", "2", "--out", "game.sgf"]
        tengen("play", "--size", "9", "--colour", "none", *player, folder=Path(name))
        drawn = ["--ownership", "--out", str(OUT / "survival.svg")]
        tengen("predict", "game.sgf", "--move", "50", *drawn, folder=Path(name))


def openings(corner: bool) -> None:
    """What a collection played next, on the whole board and in a corner."""
    file = Path(os.environ.get("TENGEN_GAMES", "")) / COLLECTION
    if not file.exists():
        print(f"no {COLLECTION} in $TENGEN_GAMES: the pictures of openings stay as they are")
        return
    moves, name = ("Q16 O17", "explore-corner") if corner else ("Q16 D4 Q3 D17", "explore")
    options = ["--moves", moves, "--out", str(OUT / f"{name}.svg"), "--quiet"]
    tengen("explore", str(file), *options, *(["--corner"] if corner else []))


def with_server(*pages: Callable[[str], None]) -> None:
    """Show pages of one server."""
    if pages:
        with tempfile.TemporaryDirectory() as name, server(Path(name)) as url:
            for page in pages:
                page(url)


def main() -> None:
    """Make the pictures whose names begin as an argument does, all by default."""

    def wanted(name: str) -> bool:
        return any(name.startswith(start) for start in sys.argv[1:] or [""])

    if wanted("how"):
        draw_diagrams.main()
    if wanted("review"):
        review()
    if wanted("survival"):
        survival()
    for name in ("explore", "explore-corner"):
        if wanted(name):
            openings(name == "explore-corner")
    with_server(*(page for page in (teacher, study, learning, see) if wanted(page.__name__)))


if __name__ == "__main__":
    main()
