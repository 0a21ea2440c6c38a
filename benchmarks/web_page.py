"""Time the page in a browser: its first paint, and how soon a clicked stone is on the board.

    python benchmarks/web_page.py

needs Playwright and Chromium. Loading the server's kernels counts in the first click.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from web_hour import begin, start

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


def main() -> None:
    """Print milliseconds."""
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
            begin(page, url)
            for x, y in POINTS:
                page.get_by_text("Your move", exact=True).wait_for()
                if page.locator(
                    f".shudan-vertex.shudan-sign_0[data-x='{x}'][data-y='{y}']"
                ).count():
                    print("click to stone:", page.evaluate(CLICK, [x, y]))
        finally:
            browser.close()
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
