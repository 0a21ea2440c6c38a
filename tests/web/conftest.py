"""A real server in a process of its own, and a real browser where one is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.needs import REASON, need

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
START = 300.0


@dataclass
class Server:
    """A running `tengen web`; `kill` and `start` again keep address and database."""

    database: Path
    options: list[str] = field(default_factory=list)
    port: int = 0
    url: str = ""
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", "from tengen.cli import main; main()", "web"]
        command += ["--port", str(self.port), "--no-browser", "--database", str(self.database)]
        log = self.database.with_suffix(".log")
        with log.open("w") as stream:
            self.process = subprocess.Popen(command + self.options, stderr=stream, text=True)
        end = time.monotonic() + START
        while time.monotonic() < end:
            told = [line for line in log.read_text().splitlines() if "the board is at" in line]
            if told:
                self.url = told[0].split()[4].rstrip("/")
                self.port = httpx.URL(self.url).port or 0
                return
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(60)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=300, **options)


@pytest.fixture(scope="session")
def make_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    made: list[Server] = []

    def make(*options: str) -> Server:
        server = Server(tmp_path_factory.mktemp("web") / "games.sqlite", list(options))
        server.start()
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()


@pytest.fixture(scope="session")
def server(make_server: Callable[..., Server]) -> Server:
    return make_server()


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="session")
def playwright() -> Iterator[Any]:
    with need("playwright.sync_api").sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Any) -> Iterator[Any]:
    launched = playwright.chromium.launch(executable_path=need("chromium"), args=FLAGS)
    yield launched
    launched.close()


@pytest.fixture(scope="session")
def firefox(playwright: Any) -> Iterator[Any]:
    """Start the Firefox of this machine, which few versions of Playwright drive."""
    try:
        found = need("firefox")
        launched = playwright.firefox.launch(channel="moz-firefox", executable_path=found)
        launched.new_context().close()
    except need("playwright.sync_api").Error:
        pytest.skip(f"{REASON}a Firefox that this Playwright drives")
    yield launched
    launched.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    with pages_of(browser) as open_:
        yield open_


@contextmanager
def pages_of(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open pages; any error of a script or of the content policy fails the test."""
    contexts: list[Any] = []
    problems: list[str] = []

    def open_(url: str, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(240_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda m: problems.append(m.text) if _is_problem(m.text) else None)
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert problems == []


def _is_problem(text: str) -> bool:
    return "Content Security Policy" in text or "Uncaught" in text


@pytest.fixture(scope="session")
def wait_for() -> Callable[..., Any]:
    """Ask until something true comes back."""

    def wait(check: Callable[[], Any], seconds: float = 240.0) -> Any:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = check()
            if found:
                return found
            time.sleep(0.03)
        raise AssertionError("waited in vain")

    return wait


@pytest.fixture(scope="session")
def assert_accessible() -> Callable[[Any], None]:
    """Let axe look at a page; nothing serious may be found."""
    source = need("axe-core").read_text(encoding="utf-8")

    def check(page: Any) -> None:
        page.evaluate(source)
        found = page.evaluate("axe.run()")["violations"]
        serious = [
            f"{v['id']}: {v['help']}: {[n['html'][:120] for n in v['nodes'][:3]]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]
        assert serious == []

    return check


@pytest.fixture(scope="session")
def click() -> Callable[..., None]:
    """Click a point of the board by its vertex."""

    def click_(page: Any, vertex: str, rows: int = 9) -> None:
        x, y = "ABCDEFGHJKLMNOPQRSTUVWXYZ".index(vertex[0]), rows - int(vertex[1:])
        page.locator(f'.board .shudan-vertex[data-x="{x}"][data-y="{y}"]').click()

    return click_


os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
