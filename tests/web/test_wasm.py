"""The kernels of the page, compiled to WebAssembly, in Node: the same answers as Python's."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.needs import need

from tengen.board import BLACK, PASS, WHITE, Board, index_of
from tengen.board import kernels as k
from tengen.board.counting import count_area, count_territory
from tengen.board.playouts import play_random
from tengen.board.rules import KO_NUMBERS, PRESETS
from tengen.library import load_network
from tengen.network import DESIGNS, DeepNetwork
from tengen.network.learner import untrained
from tengen.players.network_search import SearchPlayer
from tengen.players.simple import SamplePlayer
from tengen.players.tengen import find_level
from tengen.web.wasm.networks import as_in_page, page_network

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "web" / "public" / "tengen.wasm"
ENGINE = ROOT / "web" / "src" / "engine"
DRIVERS = Path(__file__).parent / "engine"


def bundled(driver: str, folder: Path) -> Path:
    """Bundle a driver with the page's engine, so that Node runs it."""
    esbuild = need("esbuild")
    out = folder / f"{driver}.mjs"
    subprocess.run(
        [esbuild, DRIVERS / f"{driver}.ts", "--bundle", "--format=esm", "--platform=node",
         f"--outfile={out}", "--log-level=warning"], check=True,
    )  # fmt: skip
    return out


@pytest.fixture
def folder_with_workers(tmp_path: Path) -> Path:
    """Write a page whose workers search, with all that it loads."""
    esbuild = need("esbuild")
    sources = [f"page={DRIVERS / 'page.ts'}", f"worker={ENGINE / 'worker.ts'}"]
    subprocess.run(
        [esbuild, *sources, "--bundle", "--format=esm", f"--outdir={tmp_path}",
         "--log-level=warning"], check=True,
    )  # fmt: skip
    shutil.copyfile(MODULE, tmp_path / "tengen.wasm")
    (tmp_path / "network").write_bytes(page_network(load_network("tengen-small")))
    page = (
        '<!doctype html><title>workers</title><body><script type="module" src="page.js"></script>'
    )
    (tmp_path / "index.html").write_text(page)
    return tmp_path


def hash_of(mask: np.ndarray[Any, Any]) -> int:
    """Return one number for a mask, as `hashOf` does in replay.ts."""
    weights = (np.arange(len(mask)) * 7919 + 13) % 65521
    return int(weights[mask].sum())


def random_game(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """Play a game of random legal moves; return it with what it should look like."""
    square = rng.random() < 0.7
    rows = int(rng.integers(2, 20))
    cols = rows if square else int(rng.integers(2, 20))
    rules = list(PRESETS)[number % len(PRESETS)]
    stones = np.zeros(rows * cols, np.int8)
    turn = BLACK
    if rng.random() < 0.3 and rows * cols > 8:
        chosen = rng.choice(rows * cols, 3, replace=False)
        stones[chosen] = rng.integers(1, 3, 3)
        turn = WHITE
    start = stones.reshape(rows, cols)
    try:
        board = Board.from_grid(start, rules=rules, to_play=turn)
    except ValueError:  # a stone without liberties
        stones[:] = 0
        board = Board(rows, cols, rules=rules, to_play=turn)
    moves, masks = [], []
    for _ in range(int(rng.integers(1, 3 * rows * cols))):
        side = board.turn if rng.random() < 0.97 else 3 - board.turn
        mask = board.legal_mask(side)
        masks.append(hash_of(mask))
        points = np.flatnonzero(mask[:-1])
        passes = not len(points) or rng.random() < 0.01
        move = -1 if passes else int(rng.choice(points))
        board.push(PASS if passes else k.point_at(move, cols), side)
        moves.append((side, move))
        if board.is_over and rng.random() < 0.5:
            break
    dead = np.zeros(rows * cols, np.bool_)
    for block in board.blocks():
        if rng.random() < 0.2:
            dead[[index_of(stone, rows, cols) for stone in block.stones]] = True
    grid = board.grid()
    careful = count_territory(grid, dead.reshape(rows, cols)).kinds
    plain = count_area(grid, dead.reshape(rows, cols)).kinds
    ko = KO_NUMBERS[board.rules.ko]
    refused = [int(k.verdict(board.state, board.history, ko, k.point_at(i, cols), board.turn))
               for i in range(rows * cols)]  # fmt: skip
    game = {
        "rows": rows, "cols": cols, "rules": rules, "stones": stones.tolist(), "turn": turn,
        "moves": moves, "masks": masks, "refused": refused, "grid": grid.ravel().tolist(),
        "prisoners": board.prisoners, "area": int(k.area_score(board.state)),
        "dead": dead.astype(int).tolist(), "careful": careful.ravel().tolist(),
        "plain": plain.ravel().tolist(),
    }  # fmt: skip
    for _ in range(min(3, len(moves))):
        board.undo()
    return game | {"undone": hash_of(board.legal_mask())}


def replay(games: list[dict[str, Any]], folder: Path) -> str:
    """Replay games in Node; return what it printed."""
    file = folder / "games.jsonl"
    file.write_text("\n".join(map(json.dumps, games)))
    command = ["node", bundled("replay", folder), MODULE, file]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip()


def test_games_are_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    assert replay([random_game(rng, i) for i in range(60)], tmp_path) == "60"


def test_differences_are_found(tmp_path: Path) -> None:
    game = random_game(np.random.default_rng(2), 0)
    game["prisoners"] = (999, 0)
    assert replay([game], tmp_path).startswith("game 1: prisoners")


@pytest.mark.slow
def test_many_games_are_equal(tmp_path: Path) -> None:
    for part in range(20):
        rng = np.random.default_rng(100 + part)
        assert replay([random_game(rng, i) for i in range(500)], tmp_path) == "500"


def rounded(network: DeepNetwork) -> DeepNetwork:
    """Round a network's weights as its file for the page does."""
    halves = as_in_page(network.weights_)
    network.weights_ = {name: weights.astype(np.float32) for name, weights in halves.items()}
    return network


def ask_network(
    driver: str, network: DeepNetwork, groups: list[list[Board]], folder: Path, number: int
) -> list[Any]:
    """Let a driver work in Node on groups of boards; `number` is its last argument."""
    (folder / "network").write_bytes(page_network(network))
    games = [
        {"size": boards[0].rows, "rules": boards[0].rules.name, "komi": boards[0].komi,
         "moves": [[-1 if p == PASS else index_of(p, b.rows, b.cols) for _, p in b.moves]
                   for b in boards]}
        for boards in groups
    ]  # fmt: skip
    (folder / "games.json").write_text(json.dumps(games))
    script = bundled(driver, folder)
    command = ["node", script, MODULE, folder / "network", folder / "games.json", str(number)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def test_the_network_says_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    groups = [
        [play_random(Board(size, rules=rules), int(rng.integers(0, size * size)), rng)
         for _ in range(count)]
        for size, rules, count in ((9, "chinese", 10), (19, "japanese", 1), (5, "aga", 3))
    ]  # fmt: skip
    for network in (load_network("tengen-small"), untrained(DESIGNS["tiny-judge"])):
        rounded(network)
        for boards, found in zip(
            groups, ask_network("evaluate", network, groups, tmp_path, 0), strict=True
        ):
            for said, wanted in zip(found["answers"], network.evaluate(boards), strict=True):
                best = wanted.priors if wanted.best is None else wanted.best
                assert np.abs(said["priors"] - wanted.priors).max() < 1e-4
                assert np.abs(said["best"] - best).max() < 1e-4
                assert np.abs(said["ownership"] - wanted.ownership).max() < 1e-4
                assert said["winProbability"] == pytest.approx(wanted.win_probability, abs=1e-4)
                assert said["score"] == pytest.approx(wanted.score, abs=1e-4, rel=1e-4)
                assert said["spread"] == pytest.approx(wanted.spread, rel=1e-4)


def searched(network: DeepNetwork, board: Board, visits: int) -> list[list[Any]]:
    """Search in Python; return the visited moves as search.ts prints them."""
    tree = SearchPlayer(network, visits=visits).grow(board, visits).tree
    found: list[list[Any]] = []
    for child in tree.children().tolist():
        point = int(tree.move[child])
        move = -1 if point == PASS else k.index_of(point, board.cols)
        found.append([move, int(tree.visits[child]), tree.means(child)[2]])
    return found


def test_searches_are_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    network = rounded(load_network("tengen-small"))
    boards = [play_random(Board(9, rules="japanese"), plies, rng) for plies in (0, 3, 20, 60)]
    boards.append(play_random(Board(9, rules="japanese"), 70, rng))
    boards[-1].play("pass")
    groups = [boards, [play_random(Board(7, rules="chinese"), 30, rng)]]
    found = ask_network("search", network, groups, tmp_path, 60)
    every = [board for group in groups for board in group]
    for board, answer in zip(every, found, strict=True):
        wanted = searched(network, board, 60)
        assert [line[:2] for line in answer] == [line[:2] for line in wanted]
        scores = [line[2] for line in answer], [line[2] for line in wanted]
        assert np.abs(np.subtract(*scores)).max() < 1e-3


def test_levels_draw_with_the_same_chances(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    network = rounded(load_network("tengen-small"))
    boards = [play_random(Board(9), plies, rng) for plies in (0, 40, 78)]
    boards += [play_random(Board(9), 200, rng)]
    for level in (1, 5, 6):
        player = SamplePlayer(model=network, temperature=find_level(level).temperature)
        found = ask_network("level", network, [boards], tmp_path, level)
        for board, chances in zip(boards, found, strict=True):
            assert np.abs(np.array(chances) - player.shares(board)).max() < 1e-4


def test_workers_search_in_a_browser(
    folder_with_workers: Path, open_page: Callable[..., Any]
) -> None:
    serve = partial(SimpleHTTPRequestHandler, directory=folder_with_workers)
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = open_page(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_function("'found' in globalThis")
        found = page.evaluate("found")
        server.shutdown()
    board = Board(9, rules="chinese", moves="B E5 W G7")
    network = rounded(load_network("tengen-small"))
    wanted = [line[:2] for line in searched(network, board, 30)]
    assert found == {"both": [wanted] * 2, "refused": "move 2 is not legal", "stopped": True}


@pytest.mark.slow
def test_searches_choose_the_same_moves(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    network = rounded(load_network("tengen-judge"))
    boards = [play_random(Board(9), int(rng.integers(0, 80)), rng) for _ in range(500)]
    found = ask_network("search", network, [boards], tmp_path, 50)
    wanted = [searched(network, board, 50) for board in boards]
    same = [one[0][0] == other[0][0] for one, other in zip(found, wanted, strict=True)]
    assert np.mean(same) >= 0.99
