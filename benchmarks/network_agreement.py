"""Compare the networks with ONNX Runtime on positions of games, and two threads with one.

    python benchmarks/network_agreement.py kgs6d-dev.sgf --model tengen-judge
    python benchmarks/network_agreement.py kgs6d-dev.sgf --threads

Needs onnx and onnxruntime. Every seventh position of the file counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import onnxruntime
from scipy.special import expit, softmax

import tengen
from tengen.network import DeepNetwork, layers
from tengen.network.export import export_onnx


def compare(network: DeepNetwork, boards: list[tengen.Board]) -> None:
    """Print the largest differences of each output."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.onnx"
        export_onnx(network, path)
        session = onnxruntime.InferenceSession(str(path))
    names = [output.name for output in session.get_outputs()]
    worst = dict.fromkeys([*names, "other first choices"], 0.0)
    shown = {"moves": lambda x: softmax(x, -1), "best": lambda x: softmax(x, -1), "winner": expit}
    for i in range(0, len(boards), 32):
        seen = layers.pack_boards(boards[i : i + 32], ladders=network.design_.ladders)
        here = network.engine(seen)._asdict()
        there = dict(zip(names, session.run(None, {"planes": seen.planes()}), strict=True))
        for name in names:
            one, other = map(shown.get(name, np.asarray), (here[name], there[name]))
            worst[name] = max(worst[name], float(np.abs(one - other).max()))
        worst["other first choices"] += float(
            (here["moves"].argmax(-1) != there["moves"].argmax(-1)).sum()
        )
    print(len(boards), "positions:", {name: float(f"{most:.2g}") for name, most in worst.items()})


def threads(network: DeepNetwork, boards: list[tengen.Board], rounds: int = 12) -> None:
    """Print how much faster two threads evaluate batches of 8 than one, in nine turns."""
    seen = layers.pack_boards(boards[:8], ladders=network.design_.ladders)

    def work(count: int) -> float:
        began = time.perf_counter()
        for _ in range(count):
            network.engine(seen)
        return time.perf_counter() - began

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, [2, 2]))
        ratios = []
        for _ in range(9):
            alone, began = work(rounds), time.perf_counter()
            list(pool.map(work, [rounds] * 2))
            ratios.append(2 * alone / (time.perf_counter() - began))
    print("two threads:", np.round(np.sort(ratios), 2).tolist())


def main() -> None:
    """Print a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games")
    parser.add_argument("--model", default="tengen-judge")
    parser.add_argument("--positions", type=int, default=10_000)
    parser.add_argument("--threads", action="store_true", help="time two threads instead")
    options = parser.parse_args()
    games = tengen.read_games(options.games)
    size = next(iter(games)).board.rows
    found = (board.copy() for game in games for board, _ in islice(game.positions(), 0, None, 7))
    boards = list(islice((b for b in found if b.rows == b.cols == size), options.positions))
    (threads if options.threads else compare)(DeepNetwork.load(options.model), boards)


if __name__ == "__main__":
    main()
