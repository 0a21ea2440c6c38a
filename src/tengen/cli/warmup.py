"""`tengen warmup`: compile all kernels now, so that nothing waits later."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

import typer

from tengen.cli.options import Quiet, option
from tengen.cli.printing import remark

app = typer.Typer(add_completion=False)

# Whoever has kernels offers `warm_up()` here; after the board, the longest first.
STEPS: dict[str, str] = {
    "board": "tengen.board.warming",
    "symmetry network": "tengen.learners.symmetry_network.warming",
    "scoring": "tengen.learners.scoring.warming",
    "deep network": "tengen.learners.deep_network.warming",
    "openings by temporal differences": "tengen.learners.opening_td.warming",
    "move prediction": "tengen.learners.move_prediction.warming",
    "players": "tengen.players.warming",
    "records": "tengen.records.warming",
    "explorer": "tengen.explorer.warming",
    "openings by evolution": "tengen.learners.opening_evolution.warming",
}


def _warm(module: str) -> float:
    """Compile what one module has; return the seconds it took."""
    start = time.perf_counter()
    importlib.import_module(module).warm_up()
    return time.perf_counter() - start


@app.command()
def warmup(
    quiet: Quiet = False,
    workers: int = option(min(os.cpu_count() or 1, 4), "Processes to work side by side.", min=1),
) -> None:
    """Compile all kernels and keep them on disk; takes a minute or two, once."""
    from tengen.compiling import cache_folder

    begin = time.perf_counter()
    labels = {module: label for label, module in STEPS.items()}
    remark(f"compiling all kernels into {cache_folder()}", quiet=quiet)
    # The board first, for everything else is compiled together with it; then side by side.
    first, *others = labels
    remark(f"1/{len(labels)} {labels[first]}: {_warm(first):.1f} s", quiet=quiet)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context)
    try:
        steps = {pool.submit(_warm, module): labels[module] for module in others}
        for number, step in enumerate(as_completed(steps), 2):
            remark(f"{number}/{len(labels)} {steps[step]}: {step.result():.1f} s", quiet=quiet)
    except KeyboardInterrupt:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    remark(f"ready after {time.perf_counter() - begin:.1f} s", quiet=quiet)
