"""Measure what a network knows of score and owners half way through games; other positions not.

    tengen train network --shards-only kgs6d-scored-dev.sgf --out shards/scored
    tengen train network --shards-only kgs6d-train.sgf --out shards/kgs
    python benchmarks/half_way.py shards/scored --learned shards/kgs --model tengen-large

Games whose count the scorer confirms, the position after half of the moves. With `--learned` the
games that are in those shards too (the same first moves) are told apart from the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

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
        yield game, 100 * float(right.mean()), error


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards", type=Path)
    parser.add_argument("--learned", type=Path, nargs="*", default=[])
    parser.add_argument("--model", default="tengen-large")
    options = parser.parse_args()
    network = DeepNetwork.load(options.model)
    known = {game for shard in read_shards(options.learned) for game in beginnings(shard)}
    rows = []
    for shard in read_shards([options.shards]):
        names = beginnings(shard)
        rows += [(names[game] in known, *found) for game, *found in measured(network, shard)]
    table = np.array(rows, np.float64)
    parts = {"all": table}
    if options.learned:
        parts |= {"learned from": table[table[:, 0] == 1], "others": table[table[:, 0] == 0]}
    for name, part in parts.items():
        off = 1.96 * part.std(0) / max(len(part), 1) ** 0.5
        owners, score = part.mean(0)[1:]
        print(
            f"{name}: {len(part)} games, owners {owners:.2f} ± {off[1]:.2f} %, "
            f"score {score:.2f} ± {off[2]:.2f} points"
        )


if __name__ == "__main__":
    main()
