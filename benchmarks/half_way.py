"""Measure what a network knows of score and owners half way through games; other positions not.

    tengen train network --shards-only kgs6d-scored-dev.sgf --out shards/scored
    tengen train network --shards-only kgs6d-dev.sgf --out shards/dev
    python benchmarks/half_way.py shards/scored --held-out shards/dev --rows large-scored

Games whose count the scorer confirms, the position after half of the moves. Games that are in the
shards of `--held-out` too (the same first moves) are marked. Every game is a row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tengen.lab.evidence import record_of, write_evidence
from tengen.network import DeepNetwork, Shard, read_shards
from tengen.network.evaluation import HALF

FIRST = 120
"""Moves by which a game is known again."""


def beginnings(shard: Shard) -> list[bytes]:
    """Return what tells each game of a shard from others."""
    games = np.split(shard.moves, shard.offsets[1:-1])
    return [game[:FIRST].tobytes() for game in games]


def measured(network: DeepNetwork, shard: Shard) -> Iterator[tuple[int, float, float]]:
    """Yield number, share of owners right and error of the score of each confirmed game."""
    with ThreadPoolExecutor(1) as pool:
        positions = shard.encoded(ladders=network.design_.ladders, pool=pool)
    for game in np.flatnonzero(shard.labelled).tolist():
        length = int(shard.lengths()[game])
        half = int(shard.offsets[game]) + min(int(length * HALF), length - 1)
        said = network.engine(positions.part(slice(half, half + 1)))
        sign = 1.0 if shard.colours[half] == 1 else -1.0
        truth = shard.ownership[game]
        decided = truth != 0
        right = (sign * said.ownership[0][decided] > 0) == (truth[decided] > 0)
        error = abs(sign * float(said.score[0]) - float(shard.score[game]))
        yield game, float(right.mean()), error


def main() -> None:
    """Measure, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards", type=Path)
    parser.add_argument("--held-out", type=Path, nargs="*", default=[])
    parser.add_argument("--model", default="tengen-large")
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    began, spent = time.perf_counter(), time.process_time()
    network = DeepNetwork.load(options.model)
    unseen = {game for shard in read_shards(options.held_out) for game in beginnings(shard)}
    rows = []
    for shard in read_shards([options.shards]):
        names = beginnings(shard)
        for game, owners, error in measured(network, shard):
            held_out = int(names[game] in unseen)
            rows.append({"held_out": held_out, "ownership": owners, "score_error": error})
    folders = [options.shards.name, *(folder.name for folder in options.held_out)]
    run = record_of(
        f"python benchmarks/half_way.py {folders[0]} --held-out {' '.join(folders[1:])} "
        f"--model {options.model}",
        [],
        {"model": options.model, "games": folders},
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - spent,
    )
    write_evidence(options.rows, rows, run)


if __name__ == "__main__":
    main()
