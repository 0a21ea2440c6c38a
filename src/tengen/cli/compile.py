"""`tengen compile`: compile all kernels now, so that nothing waits later."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any

import typer

from tengen.cli.options import Quiet, option
from tengen.cli.printing import progress, remark

app = typer.Typer()

_INTERVAL = 0.2
"""Seconds between two looks at how far the workers are."""


@app.command("compile")
def compile_(
    quiet: Quiet = False,
    workers: int = option(min(os.cpu_count() or 1, 4), "Processes to work side by side.", min=1),
) -> None:
    """Compile all kernels and keep them on disk; takes a minute or two, once."""
    from tengen.compiling import cache_folder, import_kernels
    from tengen.jit import kernels
    from tengen.warming import STEPS, warm_up

    begin = time.perf_counter()
    import_kernels()
    missing = [name for name, compiled in kernels() if not compiled]
    remark(f"compiling {len(missing)} kernels into {cache_folder()}", quiet=quiet)
    context = multiprocessing.get_context("spawn")
    compiled: Any = context.SimpleQueue()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_report_to, initargs=(compiled,)
    )
    left = set(missing)
    first, *others = STEPS
    try:
        with progress("kernels", len(missing), quiet=quiet) as bar:

            def finish(steps: list[Future[None]]) -> None:
                """Show progress until the steps are done."""
                while wait(steps, timeout=_INTERVAL).not_done or not compiled.empty():
                    while not compiled.empty():
                        name = compiled.get()
                        bar.advance(name in left)
                        left.discard(name)
                for step in steps:
                    step.result()

            # The board first, because all others are compiled together with it.
            finish([pool.submit(warm_up, first)])
            finish([pool.submit(warm_up, package) for package in others])
    except KeyboardInterrupt:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    remark(f"ready after {time.perf_counter() - begin:.0f} s", quiet=quiet)


def _report_to(queue: Any) -> None:
    """Put the name of each kernel into the queue once it is compiled; runs in a worker."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, told: Any) -> None:
            """Wait for the end."""

        def on_end(self, told: Any) -> None:
            """Report it."""
            function = told.data["dispatcher"].py_func
            queue.put(f"{function.__module__}.{function.__name__}")

    event.register("numba:compile", Listener())
