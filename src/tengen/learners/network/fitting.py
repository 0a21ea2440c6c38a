"""Carry a training from shards to weights, with states on the way; the only door to PyTorch."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.errors import SpecError
from tengen.learners.network.settings import DESIGNS, Design, DistillationSettings, NetworkSettings
from tengen.learners.network.shards import Shard
from tengen.models.runs import Run

if TYPE_CHECKING:
    from tengen.learners.network.batches import Sampler
    from tengen.learners.network.training import Trainer

REPORT_EVERY = 100
"""Batches between two reports."""
_MEASURE_EVERY = 1000
"""Batches between two looks at held-out games."""
_HELD_OUT_POSITIONS = 24_576
SAVE_SECONDS = 45.0
"""A killed training loses no more than this, and the batches of one report."""


def fit(
    sources: Sequence[Sequence[Shard]],
    settings: NetworkSettings,
    *,
    device: str = "cpu",
    start: Mapping[str, NDArray[Any]] | None = None,
    run: Run[NetworkSettings] | None = None,
    on_report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, NDArray[Any]]:
    """Train a network and return its weights, by name."""
    torch = torch_or_refuse()
    from tengen.learners.network.batches import Sampler, gather
    from tengen.learners.network.torch_network import network_arrays
    from tengen.learners.network.training import Trainer

    place = torch.device(chosen_device(device))
    design = DESIGNS[settings.design]
    sampler = Sampler(
        [
            gather(same, device=place, ladders=design.ladders)
            for source in sources
            for same in _by_board(source)
        ]
    )
    trainer = Trainer(design, settings, place)
    if run is not None and run.start is not None:
        trainer.restore(run.start.arrays, run.start.step)
    elif start is not None:
        trainer.load_weights(dict(start))
    held_out = sampler.held_out(_HELD_OUT_POSITIONS)

    def measure() -> dict[str, Any]:
        last = trainer.step == settings.steps
        # Of a few games none may be held out.
        if not len(held_out.codes) or (trainer.step % _MEASURE_EVERY and not last):
            return {}
        found = trainer.measure(held_out)
        return {"held_out": {name: round(value, 6) for name, value in found.items()}}

    train_steps(
        trainer, lambda: learn_one(trainer, sampler, settings), settings.steps, settings.batch,
        run=run, measure=measure, on_report=on_report,
    )  # fmt: skip
    trainer.calibrate(sampler)  # not in the states: who goes on learns without it
    return {name: np.ascontiguousarray(a) for name, a in network_arrays(trainer.network).items()}


def train_steps(
    trainer: Trainer,
    learn: Callable[[], None],
    steps: int,
    batch: int,
    *,
    run: Run[Any] | None,
    measure: Callable[[], dict[str, Any]] = dict,
    on_report: Callable[[dict[str, Any]], None],
) -> None:
    """Call `learn` until the last step; report, note and save on the way."""
    began, first = time.perf_counter(), trainer.step
    while trainer.step < steps:
        learn()
        last = trainer.step == steps
        report = last or trainer.step % REPORT_EVERY == 0
        save = run is not None and (last or run.due(SAVE_SECONDS))
        if report or save:
            trainer.check()
        if report:
            row = {**trainer.report(), **measure()}
            rate = (trainer.step - first) * batch / (time.perf_counter() - began)
            left = (steps - trainer.step) * batch / rate
            on_report({"step": trainer.step, **row, "positions_per_second": rate, "left": left})
            if run is not None:
                run.note(trainer.step, **row)
        if run is not None and save:
            run.save(trainer.step, trainer.arrays())


def learn_one(trainer: Trainer, sampler: Sampler, settings: NetworkSettings) -> None:
    """Learn from the batch that follows from the seed and its number."""
    generator = sampler.generator
    generator.manual_seed(settings.seed * 1_000_003 + trainer.step)
    batch = sampler.draw(settings.batch, generator)
    # One set of statistics serves all boards when playing, so other boards learn with it.
    main = (batch.rows, batch.cols) == sampler.main
    trainer.learn(batch, trainer.step / settings.steps, statistics=main)


def _by_board(shards: Sequence[Shard]) -> list[list[Shard]]:
    """Sort a source's shards by their board."""
    found: dict[tuple[int, int], list[Shard]] = {}
    for shard in shards:
        found.setdefault((shard.rows, shard.cols), []).append(shard)
    return list(found.values())


def check_design(settings: NetworkSettings | DistillationSettings, start: Design | None) -> None:
    """Raise `SpecError` for a design that cannot learn so, or not from weights of `start`."""
    wanted, same = DESIGNS[settings.design], start
    if isinstance(settings, DistillationSettings):
        heads, moves = wanted.head_fields, wanted.move_outputs
        if moves < 2:
            fit = ", ".join(name for name, design in DESIGNS.items() if design.move_outputs > 1)
            raise SpecError(f"design {settings.design} has no output for the best move: {fit} have")
        if same and same.head_fields <= heads and same.move_outputs <= moves:
            same = replace(same, head_fields=heads, move_outputs=moves)  # the rest is added
    if same and replace(same, ladders=wanted.ladders) != wanted:
        raise SpecError(f"the first weights are of another shape than design {settings.design}")


def torch_or_refuse() -> Any:
    """Import PyTorch, or say how to get it."""
    try:
        import torch
    except ImportError:
        raise SpecError("training needs PyTorch: pip install tengen[torch]") from None
    return torch


def chosen_device(device: str) -> str:
    """Check the name of a device; `auto` is a GPU where there is one."""
    torch = torch_or_refuse()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise SpecError(f"device {device}: PyTorch finds no GPU here; use cpu")
    if device.split(":")[0] not in ("cpu", "cuda"):
        raise SpecError(f"device {device}: there are cpu, cuda and auto")
    return device
