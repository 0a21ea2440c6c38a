"""Compare a network with its teacher on games: first choices, lead and winning probability.

    tengen train network --shards-only kgs6d-dev.sgf --out shards/dev
    python benchmarks/judge_agreement.py TEACHER.bin.gz shards/dev --every 25 --rows teacher-kgs

Every position of every N-th game counts, evaluated once by the teacher and once by the network,
under the rules that `tengen train` read from the record. A game is a row, with sums.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

import tengen
from tengen.lab.evidence import record_of, write_evidence
from tengen.network.katago import Teacher
from tengen.network.labelling import Labeller
from tengen.network.shards import read_shards
from tengen.network.torch_network import network_of, plane_table, planes_of

COLUMNS = ("teachers_choice", "move_played", "winner_off", "lead_off")


def main() -> None:
    """Measure, and write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("shards", type=Path)
    parser.add_argument("--model", default="tengen-judge")
    parser.add_argument("--every", type=int, default=25)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    began, spent = time.perf_counter(), time.process_time()
    device = torch.device(options.device)
    loaded = tengen.load_network(options.model)
    network = network_of(loaded.weights_, loaded.design_).to(device).eval()
    table, pool = plane_table(device), ThreadPoolExecutor()
    labeller = Labeller(Teacher(options.teacher), device, pool)
    found: list[torch.Tensor] = []
    games: list[int] = []
    for shard in read_shards([options.shards]):
        part = shard.take(np.arange(0, len(shard), options.every))
        games += part.lengths().tolist()
        for batch in labeller.answers(part, 256):
            best = batch.policy.float().argmax(1)
            with torch.no_grad():
                said = network(planes_of(batch, table))
            first = said.moves if said.best is None else said.best
            figures = [
                (first.argmax(1) == best).float(),
                (said.moves.argmax(1) == batch.moves.long()).float(),
                (said.winner.sigmoid() - batch.winner).abs(),
                (said.score - batch.lead).abs(),
            ]
            found.append(torch.stack(figures, 1).cpu())
    starts = np.append(0, np.cumsum(games))[:-1]
    sums = np.add.reduceat(torch.cat(found).numpy().astype(np.float64), starts, axis=0)
    names = [options.teacher.name, options.shards.name]
    run = record_of(
        f"python benchmarks/judge_agreement.py {' '.join(names)} --every {options.every} "
        f"--model {options.model} --device {options.device}",
        [],
        {"model": options.model, "teacher": names[0], "games": names[1:], "every": options.every},
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - spent,
    )
    rows = (
        {"positions": count, **dict(zip(COLUMNS, row.tolist(), strict=True))}
        for count, row in zip(games, sums, strict=True)
    )
    write_evidence(options.rows, rows, run)


if __name__ == "__main__":
    main()
