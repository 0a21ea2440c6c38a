"""Time the page in a browser: first paint, click to stone, and a hint while a review runs.

    python benchmarks/web_page.py

needs Playwright and Chromium. Loading the server's models counts in the first hint.
"""

from __future__ import annotations

import gzip
import shutil
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import sync_playwright

from web_hour import start

POINTS = (4, 4), (2, 2), (6, 6), (2, 6), (6, 2)
PAINTS = "() => performance.getEntriesByType('paint').map(e => Math.round(e.startTime))"
CLICK = """([x, y]) => new Promise(done => {
  const at = () => document.querySelector(`.board .shudan-vertex[data-x="${x}"][data-y="${y}"]`);
  const began = performance.now();
  at().click();
  const look = () => at().classList.contains("shudan-sign_1")
    ? done(Math.round(performance.now() - began)) : requestAnimationFrame(look);
  look();
})"""


def size() -> int:
    """Return the bytes of the built page, compressed."""
    from tengen.web.tasks import STATIC

    built = [path for path in STATIC.iterdir() if path.suffix in (".js", ".css", ".html")]
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in built)


def hint(url: str) -> None:
    """Time hints in a game, alone and while a game of 100 moves is reviewed."""
    with httpx.Client(base_url=f"{url}/api", timeout=120) as server:
        game = server.post("/games", json={"size": 9, "opponent": "person"}).json()["id"]
        points = [(x, y) for x in "abcdefghi" for y in "abcdefghi" if (ord(x) + ord(y)) % 3]
        moves = "".join(f";{'BW'[n % 2]}[{x}{y}]" for n, (x, y) in enumerate(points))
        for when in ("loading", "alone", "alone", "review", "review", "review"):
            if when == "review" and not server.get("/reviews").json():
                headers = {"content-type": "application/x-go-sgf"}
                server.post("/reviews", content=f"(;SZ[9]{moves})", headers=headers)
                time.sleep(8)  # it has begun to search
            began = time.perf_counter()
            server.post(f"/games/{game}/hint").raise_for_status()
            print(f"hint ({when}): {time.perf_counter() - began:.2f} s")
        print("reviews that wait or run:", server.delete("/reviews").json()["cancelled"])


def main() -> None:
    """Print the built size, milliseconds of the page, seconds of hints."""
    print(f"built page: {size() / 1000:.1f} kB compressed")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server, url = start(Path(folder))
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        try:
            for _ in range(3):
                page = browser.new_context().new_page()
                page.goto(url)
                page.get_by_label("Opponent").wait_for()
                print("first paint, with content:", page.evaluate(PAINTS))
            page.get_by_role("radio", name="9×9").check()
            page.get_by_role("button", name="Begin").click()
            page.wait_for_url("**/#/play/*")
            for x, y in POINTS:
                page.get_by_text("Your move", exact=True).wait_for()
                if page.locator(
                    f".shudan-vertex.shudan-sign_0[data-x='{x}'][data-y='{y}']"
                ).count():
                    print("click to stone:", page.evaluate(CLICK, [x, y]))
            hint(url)
        finally:
            browser.close()
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
