"""The exhibits of the page without a server, where what every snapshot sees is computed before."""

from __future__ import annotations

import importlib.util
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tengen.web import exhibits

ROOT = Path(__file__).parents[2]
PAPER = "scoring"


def test_the_slider_of_an_exhibit_works_without_a_server(tmp_path: Path, open_page: Any) -> None:
    spec = importlib.util.spec_from_file_location("build_try", ROOT / "scripts" / "build_try.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.write(tmp_path, papers=False)
    shown = exhibits.described(PAPER)
    shown["sights"] = script.sights_of(shown)
    [listed] = [one for one in exhibits.listed() if one["id"] == PAPER]
    results: dict[str, Any] = {"claims": [], "answers": [], "learning": None, "runs": []}
    content = [{"listed": listed, "exhibit": shown, "results": results}]
    (tmp_path / "data" / "papers.json").write_text(json.dumps(content), encoding="utf-8")

    serve = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page(f"http://127.0.0.1:{server.server_port}/#/papers/{PAPER}")
        page.get_by_role("slider", name="Snapshot").focus()
        page.keyboard.press("Home")
        page.get_by_text("After 1 steps").wait_for()
        page.keyboard.press("End")
        page.get_by_text("The finished machine", exact=True).wait_for()
        # The scorer that came of it counts the position of the failure right.
        right = shown["failures"][0]["right"]
        page.get_by_role("button", name="Watch it learn on this position").click()
        page.locator(".learning .prefers", has_text=f"Expects {right}").wait_for()
        server.shutdown()
