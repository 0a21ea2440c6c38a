"""Time the deep networks through PyTorch beside one core, and tell how far the two are apart.

python benchmarks/network_gpu.py --device cuda
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tengen.board import Board
from tengen.board.playouts import play_random
from tengen.network import DeepNetwork, layers
from tengen.network.engine import GpuEngine

BATCHES, TURNS = (1, 8, 32, 64), 5


def main() -> None:
    """Print one row a network and batch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    for name, size in (("tengen-small", 19), ("tengen-large", 19), ("zero-9x9", 9)):
        network, rng = DeepNetwork.load(name), np.random.default_rng(1)
        boards = [play_random(Board(size), 20 + i % 40, rng) for i in range(max(BATCHES))]
        positions = layers.pack_boards(boards, ladders=network.design_.ladders)
        there = GpuEngine(network.weights_, network.design_, options.device)
        said: Any = zip(network.engine(positions), there(positions), strict=True)
        found = [float(np.abs(a - b).max()) for a, b in said if a is not None]
        print(name, "differences", [round(difference, 4) for difference in found])
        for batch in BATCHES:
            part = positions.part(slice(batch))
            here, gpu = (milliseconds(ask, part) for ask in (network.engine, there))
            print(f"{name} {batch}: processor {here:.3f} ms a position, GPU {gpu:.3f}")


def milliseconds(ask: Callable[[layers.Positions], object], positions: layers.Positions) -> float:
    """Return the time a position takes, the first asking not counted."""
    ask(positions)
    began = time.perf_counter()
    for _ in range(TURNS):
        ask(positions)
    return (time.perf_counter() - began) / TURNS / len(positions) * 1e3


if __name__ == "__main__":
    main()
