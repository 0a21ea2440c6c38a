"""Compare networks with their teacher on games: first choices, lead and winning probability.

    tengen train network --shards-only kgs6d-dev.sgf --out shards/dev
    python benchmarks/judge_agreement.py TEACHER.bin.gz shards/dev --every 25 --model tengen-judge

Every position of every N-th game counts, evaluated once by the teacher and once by each network,
under the rules that `tengen train` read from the record. Intervals resample whole games.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

import tengen
from tengen.network.katago import Teacher
from tengen.network.labelling import Labeller
from tengen.network.shards import read_shards
from tengen.network.torch_network import network_of, plane_table, planes_of

COLUMNS = ("teacher's first choice", "move played", "winning probability off", "lead off")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("teacher")
    parser.add_argument("shards", nargs="+")
    parser.add_argument("--model", nargs="+", default=["tengen-judge"])
    parser.add_argument("--every", type=int, default=25)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    device = torch.device(options.device)
    shards = list(read_shards(options.shards))
    loaded = [tengen.load_network(name) for name in options.model]
    networks = [network_of(one.weights_, one.design_).to(device).eval() for one in loaded]
    table, pool = plane_table(device), ThreadPoolExecutor()
    labeller = Labeller(Teacher(options.teacher), device, pool)
    found: list[list[torch.Tensor]] = [[] for _ in networks]
    games: list[int] = []
    for shard in shards:
        part = shard.take(np.arange(0, len(shard), options.every))
        games += part.lengths().tolist()
        for batch in labeller.answers(part, 256):
            best = batch.policy.float().argmax(1)
            for network, rows in zip(networks, found, strict=True):
                with torch.no_grad():
                    said = network(planes_of(batch, table))
                first = said.moves if said.best is None else said.best
                rows.append(
                    torch.stack(
                        [
                            (first.argmax(1) == best).float(),
                            (said.moves.argmax(1) == batch.moves.long()).float(),
                            (said.winner.sigmoid() - batch.winner).abs(),
                            (said.score - batch.lead).abs(),
                        ],
                        1,
                    ).cpu()
                )
    rng = np.random.default_rng(0)
    ends = np.append(0, np.cumsum(games))
    for name, rows in zip(options.model, found, strict=True):
        values = torch.cat(rows).numpy()
        sums = np.add.reduceat(values, ends[:-1], axis=0)
        drawn = rng.integers(0, len(games), (2000, len(games)))
        means = sums[drawn].sum(1) / np.array(games)[drawn].sum(1)[:, None]
        low, high = np.quantile(means, [0.025, 0.975], axis=0)
        print(f"{name}: {len(values):,} positions of {len(games)} games")
        for i, column in enumerate(COLUMNS):
            print(f"  {column}: {values[:, i].mean():.4f} [{low[i]:.4f}, {high[i]:.4f}]")


if __name__ == "__main__":
    main()
