"""Time the networks on one core beside ONNX Runtime, in one run, in batches as a search makes them.

    python benchmarks/network_inference.py

Needs onnx and onnxruntime. The shortest of several turns counts, since the machine has other work.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime

from tengen.board import Board
from tengen.board.playouts import play_random
from tengen.network import DeepNetwork, layers
from tengen.network.export import export_onnx


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Print one row per network and board."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["tengen-small", "tengen-large", "zero-9x9"])
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--turns", type=int, default=12)
    options = parser.parse_args()
    one_thread = onnxruntime.SessionOptions()
    one_thread.intra_op_num_threads = one_thread.inter_op_num_threads = 1
    for name in options.models:
        network = DeepNetwork.load(name)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "network.onnx"
            export_onnx(network, path)
            session = onnxruntime.InferenceSession(str(path), one_thread)
        for size in (19, 9):
            generators = map(np.random.default_rng, range(options.batch))
            boards = [play_random(Board(size), 5 * size, rng) for rng in generators]
            positions = layers.pack_boards(boards)
            planes = positions.planes()

            def ours(network: DeepNetwork = network, seen: layers.Positions = positions) -> object:
                return network.engine(seen)

            def theirs(session: object = session, planes: object = planes) -> object:
                return session.run(None, {"planes": planes})  # type: ignore[attr-defined]

            ours(), theirs()
            turns = [(seconds(ours), seconds(theirs)) for _ in range(options.turns)]
            here, there = (
                1000 * min(column) / options.batch for column in zip(*turns, strict=True)
            )
            row = {
                "model": name,
                "size": size,
                "milliseconds": round(here, 2),
                "onnxruntime": round(there, 2),
                "ratio": round(here / there, 3),
            }
            print(json.dumps(row))


if __name__ == "__main__":
    main()
