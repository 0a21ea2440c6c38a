"""Measure the page without a server in Chromium, beside native.

    python benchmarks/page_engine.py [ROW ...] [--positions N] [--seed S]

Rows: `evaluations` (processor milliseconds per evaluation on one thread, native and in both modules
of kernels by turns), `visits` (of searches in as many workers as memory allows), `review` (a first
pass over a 19x19 game of 250 moves, with memory), `load` (sizes and seconds until the page is
usable) and `levels` (on how many positions a level chooses the same move as natively, with the same
visits and seed; in Node). The positions come from games that a network plays against itself.

Needs Chromium, Playwright, psutil and the packages of web/.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from tengen.board import PASS, RESIGN, Board, index_of
from tengen.game.session import choose_move
from tengen.library import load_network
from tengen.models.registry import DRAWN_FROM, JUDGE
from tengen.network import DeepNetwork
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.players.simple import SamplePlayer
from tengen.players.tengen import LEVELS, TengenPlayer
from tengen.records.from_board import sgf_of_board
from tengen.statistics import wilson
from tengen.web.wasm.build import MODULE, RELAXED
from tengen.web.wasm.networks import page_network

ROOT = Path(__file__).parents[1]
_TURNS = 5
_SIZES = (9, 13, 19)
_PLAIN, _RELAXED = f"static/{MODULE.name}", f"static/{RELAXED.name}"
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]


def bundled(driver: str, out: Path, platform: str = "node") -> Path:
    """Bundle a driver of the tests with the page's engine."""
    source = ROOT / "tests" / "web" / "engine" / f"{driver}.ts"
    esbuild = ROOT / "web" / "node_modules" / ".bin" / "esbuild"
    how = ["--bundle", "--format=esm", f"--platform={platform}", "--log-level=warning"]
    subprocess.run([str(esbuild), str(source), f"--outfile={out}", *how], check=True)
    return out


def indices(board: Board) -> list[int]:
    """Return the moves of a game as the page numbers them."""
    return [-1 if p == PASS else index_of(p, board.rows, board.cols) for _, p in board.moves]


def told(row: str, **figures: Any) -> None:
    """Print a row."""
    rounded = {k: round(v, 2) if isinstance(v, float) else v for k, v in figures.items()}
    print(json.dumps({"row": row, **rounded}), flush=True)


# ----- The site in Chromium -----


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *about: Any) -> None:
        pass


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """Write and serve the site and a page that measures; return the address."""
    spec = importlib.util.spec_from_file_location("build_try", ROOT / "scripts" / "build_try.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.write(folder, papers=False)
    bundled("measure", folder / "measure.js", "browser")
    page = '<!doctype html><script type="module" src="measure.js"></script>'
    (folder / "measure.html").write_text(page, encoding="utf-8")
    serve = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Tab:
    """A tab, with the processes behind it."""

    def __init__(self, browser: Browser, url: str) -> None:
        self._devtools = browser.new_browser_cdp_session()
        self.page: Page = browser.new_context().new_page()
        self.page.set_default_timeout(0)
        self.page.goto(url)

    def _processes(self) -> list[dict[str, Any]]:
        found = self._devtools.send("SystemInfo.getProcessInfo")["processInfo"]
        return [one for one in found if one["type"] == "renderer"]

    def processor(self) -> float:
        """Return the processor seconds so far."""
        return float(sum(one["cpuTime"] for one in self._processes()))

    def megabytes(self) -> float:
        """Return the memory that no other process shares."""
        pids = [one["id"] for one in self._processes()]
        return float(max(psutil.Process(pid).memory_full_info().uss for pid in pids) / 1e6)


def _games(size: int, count: int, rng: np.random.Generator) -> tuple[list[Board], dict[str, Any]]:
    boards = positions(count, size, rng)
    return boards, {"size": size, "komi": 7.5, "moves": [indices(b) for b in boards]}


def _file_of(tab: Tab, network: str) -> str:
    facts = tab.page.evaluate("fetch('data/facts.json').then(answer => answer.json())")
    return f"data/{facts['networks'][network]['file']}"


def _natively(network: DeepNetwork, boards: list[Board], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        network.evaluate(boards)
    return time.process_time() - began


def _in_page(tab: Tab, module: str, times: int) -> float:
    began = tab.processor()
    tab.page.evaluate("given => measured.evaluate(...given)", [module, times])
    return tab.processor() - began


def evaluations(browser: Browser, url: str, rng: np.random.Generator) -> None:
    """Time evaluations of eight positions at once, and of one."""
    tab = Tab(browser, f"{url}measure.html")
    tab.page.wait_for_function("'measured' in globalThis")
    for network, model in (("best", JUDGE), ("people", DRAWN_FROM)):
        native, file = load_network(model), _file_of(tab, network)
        for size in _SIZES:
            for count in (8, 1):
                boards, games = _games(size, count, rng)
                repeats = max(1, 2592 // (count * size * size))
                for module in (_PLAIN, _RELAXED):
                    tab.page.evaluate("given => measured.prepare(...given)", [module, file, games])
                turns = [
                    (
                        _natively(native, boards, repeats),
                        _in_page(tab, _PLAIN, repeats),
                        _in_page(tab, _RELAXED, repeats),
                    )
                    for _ in range(_TURNS + 1)
                ]
                each = 1000 * np.array(turns[1:]) / repeats / count
                ratios = np.median(each[:, 1:] / each[:, :1], axis=0)
                least = each.min(axis=0)
                told("evaluations", network=model, size=size, at_once=count,
                     native_ms=float(least[0]), plain_ms=float(least[1]),
                     relaxed_ms=float(least[2]), plain_ratio=float(ratios[0]),
                     relaxed_ratio=float(ratios[1]))  # fmt: skip


def visits(browser: Browser, url: str, rng: np.random.Generator) -> None:
    """Count the visits of searches in several workers."""
    tab = Tab(browser, f"{url}measure.html")
    tab.page.wait_for_function("'measured' in globalThis")
    file = _file_of(tab, "best")
    for size, asked in ((9, 400), (19, 100)):
        _, games = _games(size, 4, rng)
        began = tab.processor()
        given = [_RELAXED, file, games, asked]
        count, seconds = tab.page.evaluate("given => measured.search(...given)", given)
        told("visits", size=size, per_second=count / seconds,
             per_processor_second=count / (tab.processor() - began),
             cores=psutil.cpu_count())  # fmt: skip


def review(browser: Browser, url: str, folder: Path, rng: np.random.Generator) -> None:
    """Time a first pass over a game, and the memory it takes."""
    player = SamplePlayer(model=load_network(DRAWN_FROM))
    board = Board(19)
    while len(board.moves) < 250:
        board.play(player.draw(board, rng))
    record = folder / "long.sgf"
    record.write_text(sgf_of_board(board), encoding="utf-8")
    tab = Tab(browser, f"{url}#/review")
    page = tab.page
    page.locator(".preparing").wait_for(state="detached")
    page.get_by_label("First pass only").check()
    idle, used, began = tab.megabytes(), tab.processor(), time.monotonic()
    page.locator(".drop input").first.set_input_files(record)
    page.locator(".curve canvas").wait_for()
    first, most = time.monotonic() - began, idle
    while not page.get_by_text("Both sides").count():  # seldom asked: that takes memory too
        for _ in range(10):
            time.sleep(0.5)
            most = max(most, tab.megabytes())
    told("review", moves=len(board.moves), first_graph_s=first, seconds=time.monotonic() - began,
         processor_s=tab.processor() - used, idle_megabytes=idle, most_megabytes=most,
         cores=psutil.cpu_count())  # fmt: skip


def load(browser: Browser, url: str, folder: Path) -> None:
    """Print what is loaded first, compressed, and when the page is usable."""
    facts = json.loads((folder / "data" / "facts.json").read_text(encoding="utf-8"))
    page = ["index.html", "static/alone.js", "static/app.css", _RELAXED, "data/facts.json"]
    rest = ["static/worker.js", *(f"data/{one['file']}" for one in facts["networks"].values())]
    kilobytes = [
        sum(len(gzip.compress((folder / name).read_bytes(), 9)) for name in names) / 1000
        for names in (page, rest)
    ]
    seconds = []
    for _ in range(5):
        began = time.monotonic()
        tab = Tab(browser, f"{url}#/play")
        tab.page.get_by_role("button", name="Begin").wait_for()
        seconds.append(time.monotonic() - began)
        tab.page.context.close()
    told("load", page_kilobytes=kilobytes[0], networks_kilobytes=kilobytes[1],
         usable_s=min(seconds), usable_s_most=max(seconds))  # fmt: skip


def positions(count: int, size: int, rng: np.random.Generator) -> list[Board]:
    """Return positions from games of one network against itself, every eighth one."""
    player = SamplePlayer(model=load_network(DRAWN_FROM))
    found: list[Board] = []
    while len(found) < count:
        board = Board(size)
        for ply in range(size * size):
            if ply % 8 == 7:
                found.append(board.copy())
            board.play(player.draw(board, rng))
            if board.is_over:
                break
    chosen = rng.permutation(len(found))[:count]
    return [found[i] for i in chosen.tolist()]


# ----- Moves of levels -----


def levels(folder: Path, count: int, size: int, rng: np.random.Generator, seed: int) -> None:
    """Compare the moves that levels choose in the page with those of `tengen`."""
    for name in (JUDGE, DRAWN_FROM):
        (folder / name).write_bytes(page_network(load_network(name)))
    numbers = list(LEVELS)
    asked: list[dict[str, Any]] = []
    wanted: list[int | str] = []
    for i, board in enumerate(positions(count, size, rng)):
        level = numbers[i % len(numbers)]
        move = choose_move(TengenPlayer(level=level), board, SEARCHING_JUDGE, seed=seed)
        ends: dict[int, int | str] = {PASS: -1, RESIGN: "resign"}
        wanted.append(ends[move] if move in ends else index_of(move, size, size))
        rules, komi = board.rules.name, board.komi
        asked.append({"size": size, "rules": rules, "komi": komi, "moves": indices(board),
                      "level": str(level), "seed": seed})  # fmt: skip
    (folder / "asked.json").write_text(json.dumps(asked))
    script = bundled("choose", folder / "choose.mjs")
    given = [script, MODULE, folder / JUDGE, folder / DRAWN_FROM, folder / "asked.json"]
    done = subprocess.run(["node", *map(str, given)], check=True, capture_output=True)
    found = json.loads(done.stdout)
    same = [one == other for one, other in zip(found, wanted, strict=True)]
    low, high = wilson(sum(same), count)
    told("levels", size=size, positions=count, same=sum(same), interval=[low, high])


def main() -> None:
    """Print the rows that are asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = ["evaluations", "visits", "review", "load", "levels"]
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(known))
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = options.rows or known
    if unknown := set(rows) - set(known):
        parser.error(f"no row {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as name, site(Path(name) / "try") as url:
        folder = Path(name)
        if "levels" in rows:
            levels(folder, options.positions, 9, rng, options.seed)
        with sync_playwright() as playwright:
            for row in rows:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=_FLAGS
                )
                if row == "evaluations":
                    evaluations(browser, url, rng)
                elif row == "visits":
                    visits(browser, url, rng)
                elif row == "review":
                    review(browser, url, folder, rng)
                elif row == "load":
                    load(browser, url, folder / "try")
                browser.close()


if __name__ == "__main__":
    main()
