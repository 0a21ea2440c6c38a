"""Make the pictures of the board's pages in the docs: light, dark and on a phone, side by side.

    python benchmarks/web_pictures.py

needs Playwright, Chromium and Pillow. The pictures show a server with one game of each kind.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import sync_playwright

from web_hour import start

OUT = Path(__file__).parents[1] / "docs" / "pictures"
DESK = {"viewport": {"width": 1200, "height": 780}}
PHONE = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
LOOKS = (({**DESK, "color_scheme": "light"}), ({**DESK, "color_scheme": "dark"}), PHONE)
HEIGHT, GAP = 420, 12
GAME = "eegccgccggdgchdhfbfcgbhbebfdedfefffgefhe"
"""Points of a game, two letters each."""
STUDY = "(;SZ[9];B[ee];W[gc](;B[cg];W[cc])(;B[cc]C[Takes the corner];W[cg](;B[gg])(;B[dh];W[ch])))"


def prepare(url: str) -> dict[str, str]:
    """Play, teach and review a little; return the address of each page."""
    with httpx.Client(base_url=f"{url}/api", timeout=300) as server:
        game = server.post("/games", json={"size": 9, "teach": 2, "opponent": "level-1"}).json()
        for move in ("E5", "A1"):
            state = server.post(f"/games/{game['id']}/moves", json={"move": move}).json()
            while state["turn"] == "white" and not (state["lesson"] and state["lesson"]["asks"]):
                state = server.get(f"/games/{game['id']}").json()
        lost = server.post("/games", json={"size": 9, "teach": 2, "opponent": "random"}).json()
        state = server.post(f"/games/{lost['id']}/moves", json={"move": "B1"}).json()
        while not state["lesson"]:
            state = server.get(f"/games/{lost['id']}").json()
        server.post(f"/games/{lost['id']}/moves", json={"move": "resign"})
        [problem] = server.get("/problems").json()
        points = re.findall("..", GAME)
        moves = "".join(f";{'BW'[n % 2]}[{point}]" for n, point in enumerate(points))
        headers = {"content-type": "application/x-go-sgf"}
        text = f"(;SZ[9]PB[Ann]PW[Bob]{moves})"
        [review] = server.post("/reviews?visits=8", content=text, headers=headers).json()
        while server.get(f"/reviews/{review['id']}").json()["status"] == "waiting":
            pass
    return {
        "first": "play",
        "teacher": f"play/{game['id']}",
        "problem": f"problems/{problem['id']}",
        "review": f"review/{review['id']}",
        "study": "study",
        "score": "score",
        "see": "see",
        "arena": "arena",
    }


def shoot(browser: Any, url: str, page_name: str, address: str) -> Image.Image:
    """Return one page in all its looks, side by side."""
    shots = []
    for look in LOOKS:
        page = browser.new_context(**look).new_page()
        page.add_init_script(f"localStorage.study ??= {STUDY!r}")
        page.add_init_script("localStorage.estimate = 'on'")
        page.goto(f"{url}/#/{address}")
        page.wait_for_load_state("networkidle") if page_name == "arena" else None
        page.wait_for_timeout(6000)
        if page_name in ("study", "review"):
            for _ in range(6 if page_name == "review" else 4):
                page.keyboard.press("ArrowRight")
        if page_name == "teacher":
            page.get_by_role("button", name="Show the better move").click()
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_timeout(1500)
        picture = Image.open(io.BytesIO(page.screenshot()))
        width = round(picture.width * HEIGHT / picture.height)
        shots.append(picture.resize((width, HEIGHT), Image.Resampling.LANCZOS))
        page.context.close()
    whole = Image.new("RGB", (sum(s.width + GAP for s in shots) - GAP, HEIGHT), "#888")
    left = 0
    for shot in shots:
        whole.paste(shot.convert("RGB"), (left, 0))
        left += shot.width + GAP
    return whole


def main() -> None:
    """Write `docs/pictures/board-PAGE.webp`."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, url = start(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        try:
            for name, address in prepare(url).items():
                shoot(browser, url, name, address).save(OUT / f"board-{name}.webp", quality=80)
        finally:
            browser.close()
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
