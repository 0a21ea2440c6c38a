"""Measure the kernels of the symmetry network: training games and evaluations per second.

    python benchmarks/symmetry_network.py [--model isn-9x9] [--games 960] [--batch 32] [--workers 2]

Prints one JSON value. CPU time counts the work of this process only, so it means more than the
clock on a busy machine; the best of five pieces is given beside the mean.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from tengen.board import Board
from tengen.board.coordinates import point_at
from tengen.papers.symmetry_network import SymmetryNetwork


def training(network: SymmetryNetwork, games: int, batch: int, workers: int) -> dict[str, float]:
    settings = replace(network.settings, batch=batch, linear_games=0)
    trainer = SymmetryNetwork(settings=settings, workers=workers)
    trainer.free_, trainer.games_ = network.free_.copy(), 0
    rates, cpu = [], []
    with ThreadPoolExecutor(workers) as pool:
        trainer.advance(pool)
        for _ in range(5):
            begin, used, first = time.perf_counter(), time.process_time(), trainer.games_
            while trainer.games_ - first < games / 5:
                trainer.advance(pool)
            played = trainer.games_ - first
            rates.append(played / (time.perf_counter() - begin))
            cpu.append(played / (time.process_time() - used))
    return {
        "workers": workers,
        "games_per_second": float(np.mean(rates)),
        "best_piece": max(rates),
        "games_per_cpu_second": float(np.mean(cpu)),
        "best_piece_cpu": max(cpu),
    }


def evaluation(network: SymmetryNetwork, size: int) -> dict[str, float]:
    board = Board(size)
    rng = np.random.default_rng(0)
    for _ in range(size * size // 2):
        moves = np.flatnonzero(board.legal_mask()[:-1])
        board.push(point_at(int(rng.choice(moves)), board.rows, board.cols))
    network.values([board])
    network.move_values(board)
    used = time.process_time()
    network.values([board] * 300)
    values = 300 / (time.process_time() - used)
    used = time.process_time()
    for _ in range(100):
        network.move_values(board)
    candidates = 100 * int(board.legal_mask().sum()) / (time.process_time() - used)
    return {"size": size, "values_per_cpu_second": values, "candidates_per_cpu_second": candidates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="isn-9x9")
    parser.add_argument("--games", type=int, default=960)
    parser.add_argument("--batch", type=int, default=32, help="games on the same weights")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    network = SymmetryNetwork.load(args.model)
    rows = [training(network, args.games, args.batch, w) for w in sorted({1, args.workers})]
    boards = [evaluation(network, n) for n in (9, 19)]
    print(json.dumps({"training": rows, "evaluation": boards}, indent=1))


if __name__ == "__main__":
    main()
