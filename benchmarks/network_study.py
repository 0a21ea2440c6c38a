"""What makes a network predict better: symmetry, depth, width, inputs, games; one row a training.

    tengen train network --shards-only GAMES.zip --out shards/games   (once per collection)
    python benchmarks/network_study.py shards/* --device cuda --out study.jsonl

Every training sees equally many positions, chosen by the same seed, and is measured on the same
positions of held-out games all along the way. A training that is in the file is not made again.
`scripts/write_tables.py` makes the tables of docs/results/network-study.md from the rows.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from tengen.board.coordinates import permutation
from tengen.errors import SpecError
from tengen.network.inputs_kernels import NOWHERE
from tengen.network.layers import POINT_PLANES, operations
from tengen.network.settings import DESIGNS, Design, NetworkSettings
from tengen.network.shards import Shard
from tengen.network.training import Batch, Sampler, Source, Trainer, gather, learn_one

MEASURED = 24_576
"""Positions of held-out games on which every training is measured."""
SMALL = DESIGNS["small"]
LIBERTIES = ("one liberty", "two liberties", "three liberties")
AFTER = ("may not be played", "one liberty after", "two liberties after", "takes stones", "ko")
LADDERS = ("lost in a ladder", "catches in a ladder")


@dataclass(frozen=True)
class Point:
    """One training of the study."""

    design: Design
    blind: tuple[str, ...] = ()
    """Planes that it is not shown."""
    history: bool = True
    """Whether it is shown the last moves."""
    turned: bool = False
    """Whether every position that it learns from is turned or mirrored by chance."""
    games: int | None = None
    """The first so many games, evenly of all collections; all if not said."""
    seed: int = 1
    longer: int = 1
    """How many times as many positions as the others it sees."""


def tied(fields: int, blocks: int) -> Design:
    """Return a network of the family of `small`."""
    return replace(SMALL, fields=fields, blocks=blocks, head_fields=2 * fields)


POINTS = {
    "tied": Point(SMALL),
    "untied, equal weights": Point(DESIGNS["plain-small"]),
    "untied, equal operations": Point(DESIGNS["plain-wide"]),
    "1000 games": Point(SMALL, games=1_000, longer=2),
    "10000 games": Point(SMALL, games=10_000, longer=2),
    "37000 games": Point(SMALL, games=37_000, longer=2),
    "all games": Point(SMALL, longer=2),
    "no ladders": Point(SMALL, LADDERS),
    "no last moves": Point(SMALL, history=False),
    "no liberties": Point(SMALL, LIBERTIES),
    "nothing about the move's effect": Point(SMALL, AFTER),
    "stones and last moves only": Point(SMALL, LIBERTIES + AFTER + LADDERS),
    "stones only": Point(SMALL, LIBERTIES + AFTER + LADDERS, history=False),
    "8 fields, 3 blocks": Point(tied(8, 3)),
    "8 fields, 6 blocks": Point(tied(8, 6)),
    "8 fields, 12 blocks": Point(tied(8, 12)),
    "12 fields, 9 blocks": Point(tied(12, 9)),
    "16 fields, 9 blocks": Point(tied(16, 9)),
    "tied, seed 2": Point(SMALL, seed=2),
    "untied, equal weights, seed 2": Point(DESIGNS["plain-small"], seed=2),
    "untied, equal operations, seed 2": Point(DESIGNS["plain-wide"], seed=2),
    "4 fields, 9 blocks": Point(tied(4, 9)),
    "untied, equal operations, turned": Point(DESIGNS["plain-wide"], turned=True),
    "untied, equal weights, turned": Point(DESIGNS["plain-small"], turned=True),
}
"""The study's trainings, in the order in which they are made."""


class Shown(Sampler):
    """Batches of which something is hidden, or which are turned."""

    def __init__(
        self, sources: Sequence[Source], *, history: bool = True, turned: bool = False
    ) -> None:
        super().__init__(sources)
        self.history, self.turned = history, turned

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Draw a batch by chance."""
        batch = self.hide(super().draw(size, generator))
        if not self.turned:
            return batch
        device = batch.codes.device
        return turn(batch, torch.randint(8, (size,), generator=generator, device=device))

    def hide(self, batch: Batch) -> Batch:
        """Hide the last moves, if they are not to be seen."""
        if self.history:
            return batch
        return batch._replace(history=torch.full_like(batch.history, NOWHERE))


def turn(batch: Batch, elements: torch.Tensor) -> Batch:
    """Turn and mirror square boards, each by its own element of the group."""
    points = batch.rows * batch.cols
    going = np.stack([permutation(batch.rows, batch.cols, element) for element in range(8)])
    # A pass stays one, and so does what is nowhere: it comes last, where -1 points to.
    nowhere = np.full((8, 1), NOWHERE)
    goes = torch.tensor(np.hstack([going, nowhere]), device=elements.device)[elements]
    comes = torch.tensor(np.argsort(going[:, :points]), device=elements.device)[elements]
    return batch._replace(
        codes=batch.codes.gather(1, comes),
        history=goes.gather(1, batch.history.long() % (points + 2)).to(batch.history.dtype),
        moves=goes.gather(1, batch.moves[:, None])[:, 0],
        owner=batch.owner.gather(1, comes),
    )


def first_games(source: Source, count: int) -> Source:
    """Return a source of which only the first games are learned from."""
    return replace(source, train=source.train[source.game[source.train] < count])


def make(
    name: str, point: Point, sources: list[Source], held: Batch, options: argparse.Namespace
) -> dict[str, object]:
    """Make one training; return what it is and what it reached on the way."""
    settings = NetworkSettings(
        steps=options.steps * point.longer, batch=options.batch, rate=options.rate, seed=point.seed
    )
    torch._dynamo.reset()  # else the ninth shape would no longer be compiled
    gc.collect()  # the training before holds itself, and gigabytes of a GPU
    trainer = Trainer(point.design, settings, torch.device(options.device))
    for plane in point.blind:
        trainer.table[:, POINT_PLANES.index(plane)] = 0
    share = 1.0
    if point.games is not None:
        every = sum(int(source.game[-1]) + 1 for source in sources)
        share = min(1.0, point.games / every)
        sources = [first_games(s, round(share * (int(s.game[-1]) + 1))) for s in sources]
    shown = Shown(sources, history=point.history, turned=point.turned)
    curve, every_steps = [], max(1, settings.steps // options.measures)
    began = time.perf_counter()
    while trainer.step < settings.steps:
        for _ in range(min(every_steps, settings.steps - trainer.step)):
            learn_one(trainer, shown)
        trainer.check()
        found = trainer.measure(shown.hide(held))
        curve.append({"positions": trainer.step * settings.batch, **_rounded(found)})
    return {
        "name": name,
        "weights": sum(weight.numel() for weight in trainer.network.parameters()),
        "operations": operations(point.design, 19),
        "games": round(share * sum(int(source.game[-1]) + 1 for source in sources)),
        "seed": point.seed,
        "measured_on": len(held.codes),
        "seconds": round(time.perf_counter() - began, 1),
        "curve": curve,
    }


def _rounded(found: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 5) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("shards", nargs="*", type=Path, help="folders of shards of 19x19 games")
    parser.add_argument("--out", type=Path, required=True, help="rows of results, JSON lines")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rate", type=float, default=1e-2)
    parser.add_argument("--measures", type=int, default=5, help="measurements of a training")
    parser.add_argument("--only", nargs="*", help="names of trainings; all without")
    options = parser.parse_args()
    sources = [
        gather([Shard.load(p) for p in sorted(folder.glob("*.safetensors"))],
               device=torch.device(options.device))
        for folder in options.shards
    ]  # fmt: skip
    held = Sampler(sources).held_out(MEASURED)
    done = set()
    if options.out.exists():
        done = {json.loads(line)["name"] for line in options.out.read_text().splitlines()}
    for name in options.only or POINTS:
        if name in done:
            continue
        try:
            row = make(name, POINTS[name], sources, held, options)
        except SpecError as failure:  # a training that came apart is a result too
            row = {"name": name, "failed": str(failure)}
        with options.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
