"""Compare the page's engine, run by Node, with the native one: speed, and the moves of all levels.

    python benchmarks/page_engine.py [--positions N] [--seed S] [--sizes 9 13 19]

Prints processor milliseconds per evaluation on one thread, native and in WebAssembly by turns, and
on how many positions a level chooses the same move, given the same visits and the same seed. The
positions come from games that level 5 plays against itself. Needs Node and the packages of web/.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from tengen.board import PASS, RESIGN, Board, index_of
from tengen.game.session import choose_move
from tengen.library import load_network
from tengen.models.registry import DRAWN_FROM, JUDGE
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.players.simple import SamplePlayer
from tengen.players.tengen import LEVELS, TengenPlayer
from tengen.statistics import wilson
from tengen.web.wasm.build import MODULE, RELAXED
from tengen.web.wasm.networks import page_network

ROOT = Path(__file__).parents[1]
_TURNS = 7
_FLAG = "--experimental-wasm-relaxed-simd"  # Node 20 needs it, browsers do not


def bundled(driver: str, folder: Path) -> Path:
    """Bundle a driver of the tests with the page's engine."""
    out = folder / f"{driver}.mjs"
    source = ROOT / "tests" / "web" / "engine" / f"{driver}.ts"
    esbuild = ROOT / "web" / "node_modules" / ".bin" / "esbuild"
    how = ["--bundle", "--format=esm", "--platform=node", "--log-level=warning"]
    subprocess.run([str(esbuild), str(source), f"--outfile={out}", *how], check=True)
    return out


def node(*arguments: object) -> Any:
    """Run a driver and return what it prints."""
    done = subprocess.run(["node", *map(str, arguments)], check=True, capture_output=True)
    return json.loads(done.stdout)


def indices(board: Board) -> list[int]:
    """Return the moves of a game as the page numbers them."""
    return [-1 if p == PASS else index_of(p, board.rows, board.cols) for _, p in board.moves]


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


def speed(folder: Path, sizes: list[int], rng: np.random.Generator) -> None:
    """Print the time of an evaluation, native and in WebAssembly."""
    script = bundled("evaluate", folder)
    for name in (JUDGE, DRAWN_FROM):
        network = load_network(name)
        (folder / name).write_bytes(page_network(network))
        for size in sizes:
            boards = positions(8, size, rng)
            game = {
                "size": size,
                "rules": "cgos",
                "komi": 7.5,
                "moves": [indices(b) for b in boards],
            }
            (folder / "games.json").write_text(json.dumps([game]))
            times = []
            for _ in range(_TURNS):
                began = time.process_time()
                network.evaluate(boards)
                native = 1000 * (time.process_time() - began) / len(boards)
                pages = [
                    node(*how, script, module, folder / name, folder / "games.json", 3)[0]
                    for how, module in (((), MODULE), ((_FLAG,), RELAXED))
                ]
                times.append((native, *(page["milliseconds"] for page in pages)))
            native, page, relaxed = (min(column) for column in zip(*times[1:], strict=True))
            print(json.dumps({
                "network": name, "size": size, "native_ms": round(native, 2),
                "page_ms": round(page, 2), "ratio": round(page / native, 2),
                "relaxed_ms": round(relaxed, 2), "relaxed_ratio": round(relaxed / native, 2),
            }))  # fmt: skip


def levels(folder: Path, count: int, size: int, rng: np.random.Generator, seed: int) -> None:
    """Print how often a level chooses the same move in the page."""
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
    script = bundled("choose", folder)
    found = node(script, MODULE, folder / JUDGE, folder / DRAWN_FROM, folder / "asked.json")
    same = [one == other for one, other in zip(found, wanted, strict=True)]
    low, high = wilson(sum(same), count)
    row = {"size": size, "positions": count, "same": sum(same) / count, "interval": [low, high]}
    print(json.dumps(row))
    for one, other, question, good in zip(found, wanted, asked, same, strict=True):
        if not good:
            told = {"level": question["level"], "ply": len(question["moves"])}
            print(json.dumps({**told, "page": one, "native": other}))


def main() -> None:
    """Print one row per network and size, then one for the levels of each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=[9, 13, 19])
    parser.add_argument("--levels-on", type=int, nargs="*", default=[9])
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        speed(Path(folder), options.sizes, rng)
        for size in options.levels_on:
            levels(Path(folder), options.positions, size, rng, options.seed)


if __name__ == "__main__":
    main()
