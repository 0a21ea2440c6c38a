"""`tengen warmup`: compile all kernels now, so that nothing waits later."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor

import typer

from tengen.cli.common import Quiet, remark

app = typer.Typer(add_completion=False)

# Whoever has kernels offers `warm_up()` here.
STEPS: dict[str, str] = {
    "board": "tengen.board.warming",
    "records": "tengen.records.warming",
    "players": "tengen.players.warming",
    "move prediction": "tengen.learners.move_prediction.warming",
    "scoring": "tengen.learners.scoring.warming",
    "symmetry network": "tengen.learners.symmetry_network.warming",
    "openings by temporal differences": "tengen.learners.opening_td.warming",
    "openings by evolution": "tengen.learners.opening_evolution.warming",
}


def _present(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _warm(module: str) -> float:
    """Compile what one module has; return the seconds it took."""
    start = time.perf_counter()
    warm_up = getattr(importlib.import_module(module), "warm_up", None)
    if warm_up is not None:
        warm_up()
    return time.perf_counter() - start


@app.command()
def warmup(quiet: Quiet = False) -> None:
    """Compile all kernels and keep them on disk; takes a minute or two, once."""
    begin = time.perf_counter()
    labels = {module: label for label, module in STEPS.items() if _present(module)}
    # The board first, for everything else is compiled together with it; then side by side.
    first, *others = labels
    remark(f"{labels[first]}: {_warm(first):.1f} s", quiet=quiet)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(os.cpu_count() or 1, 4), mp_context=context) as pool:
        for module, seconds in zip(others, pool.map(_warm, others), strict=True):
            remark(f"{labels[module]}: {seconds:.1f} s", quiet=quiet)
    remark(f"ready after {time.perf_counter() - begin:.1f} s", quiet=quiet)
