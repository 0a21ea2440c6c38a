"""`tengen warmup`: compile all kernels now, so that nothing waits later."""

from __future__ import annotations

import importlib
import importlib.util
import time

import typer

from tengen.cli.common import Quiet, remark

app = typer.Typer(add_completion=False)

# Whoever has kernels offers `warm_up()` here.
STEPS: dict[str, str] = {
    "board": "tengen.board.warming",
    "counting": "tengen.board.counting",
    "safe knowledge": "tengen.board.safety",
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


@app.command()
def warmup(quiet: Quiet = False) -> None:
    """Compile all kernels and keep them on disk; takes a minute or two, once."""
    begin = time.perf_counter()
    for label, module in STEPS.items():
        if not _present(module):
            continue
        start = time.perf_counter()
        warm_up = getattr(importlib.import_module(module), "warm_up", None)
        if warm_up is not None:
            warm_up()
            remark(f"{label}: {time.perf_counter() - start:.1f} s", quiet=quiet)
    remark(f"ready after {time.perf_counter() - begin:.1f} s", quiet=quiet)
