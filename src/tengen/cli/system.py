"""The commands `doctor`, `compile` and `bench`."""

from __future__ import annotations

import multiprocessing
import os
import platform
import re
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import typer

from tengen import __version__
from tengen.cli.options import Quiet, command, option
from tengen.cli.printing import Shown
from tengen.errors import SpecError, unknown

app = typer.Typer()

# ----- doctor -----

_NEEDED = "needed"
# Extra -> what its packages are good for.
_EXTRAS = {
    "torch": "training networks, self-play, GPUs",
    "ray": "clusters of machines",
    "gym": "Gymnasium and PettingZoo environments",
    "onnx": "export of networks for other programs",
    "bench": "libraries to compare speed with",
}

_PROGRAMS = {
    "gnugo": ("an opponent, an expert and a judge", "apt-get install gnugo"),
    "node": ("drives the engine with Sabaki's own GTP client in tests", "apt-get install nodejs"),
}


def _wanted() -> list[tuple[str, str]]:
    """Return the packages that tengen requires, each with its extra."""
    try:
        lines = requires("tengen") or []
    except PackageNotFoundError:  # run from its sources
        return []
    wanted = []
    for line in lines:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([\w-]+)", line)
        if extra is None or extra[1] in _EXTRAS:
            wanted.append((name, extra[1] if extra else ""))
    return wanted


def _cache() -> str:
    from tengen.compiling import cache_folder, import_kernels
    from tengen.jit import kernels

    import_kernels()
    kept = [ready for _, ready in kernels()]
    state = "warm" if all(kept) else "partly warm" if any(kept) else "cold"
    return f"{state}: {sum(kept)} of {len(kept)} kernels compiled, in {cache_folder()}"


def examine() -> list[dict[str, Any]]:
    """Return one row per item: name, found (version or path), good_for, get."""
    from tengen.gtp.client import find_program

    rows: list[tuple[str, str | None, str, str]] = [
        ("tengen", __version__, "", ""),
        ("python", platform.python_version(), "", ""),
    ]
    for package, extra in _wanted():
        found: str | None = None
        with suppress(PackageNotFoundError):
            found = version(package)
        use = _EXTRAS[extra] if extra else _NEEDED
        get = f"pip install 'tengen[{extra}]'" if extra else "make setup"
        rows.append((package, found, use, get))
    for program, (use, how) in _PROGRAMS.items():
        rows.append((program, find_program(program), use, how))
    use = "start without compiling; all at once: tengen compile"
    rows.append(("kernel cache", _cache(), use, ""))
    return [dict(zip(("name", "found", "good_for", "get"), row, strict=True)) for row in rows]


@command(app)
def doctor(shown: Shown) -> None:
    """Check what is installed, what is missing, and how to get it."""
    rows = examine()
    if not shown.json:
        rows = [{**r, **({"get": ""} if r["found"] else {"found": "missing"})} for r in rows]
    columns = {"name": "what", "found": "found", "good_for": "good for", "get": "how to get it"}
    shown.result(rows, columns=columns)
    missing = [
        r["name"] for r in rows if r["good_for"] == _NEEDED and r["found"] in (None, "missing")
    ]
    if missing:
        print(f"tengen: needed but missing: {', '.join(missing)}; run make setup", file=sys.stderr)
        raise typer.Exit(1)


# ----- compile -----

_INTERVAL = 0.2  # seconds between two updates of the progress


@app.command("compile")
def compile_(
    quiet: Quiet = False,
    workers: int = option(min(os.cpu_count() or 1, 4), "Number of processes.", min=1),
) -> None:
    """Compile all kernels and store them; takes a minute or two, once."""
    from tengen.compiling import cache_folder, import_kernels, prune
    from tengen.jit import kernels
    from tengen.warming import STEPS, warm_up

    shown = Shown(quiet=quiet)
    begin = time.perf_counter()
    prune()
    import_kernels()
    missing = [name for name, compiled in kernels() if not compiled]
    shown.remark(f"compiling {len(missing)} kernels into {cache_folder()}")
    context = multiprocessing.get_context("spawn")
    compiled: Any = context.SimpleQueue()
    pool = ProcessPoolExecutor(
        workers, mp_context=context, initializer=_report_to, initargs=(compiled,)
    )
    left = set(missing)
    first, *others = STEPS
    try:
        with shown.progress() as bar:

            def finish(steps: list[Future[None]]) -> None:
                """Show progress until the steps are done."""
                while wait(steps, timeout=_INTERVAL).not_done or not compiled.empty():
                    while not compiled.empty():
                        name = compiled.get()
                        bar.advance("kernels", name in left, len(missing))
                        left.discard(name)
                for step in steps:
                    step.result()

            # The board first, because the others contain its kernels.
            finish([pool.submit(warm_up, first)])
            finish([pool.submit(warm_up, package) for package in others])
    except KeyboardInterrupt:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    shown.remark(f"ready after {time.perf_counter() - begin:.0f} s")


def _report_to(queue: Any) -> None:
    """Put the name of each kernel into the queue once it is compiled; runs in a worker."""
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]
        def on_start(self, told: Any) -> None:
            """Do nothing."""

        def on_end(self, told: Any) -> None:
            """Report it."""
            function = told.data["dispatcher"].py_func
            queue.put(f"{function.__module__}.{function.__name__}")

    event.register("numba:compile", Listener())


# ----- bench -----


@command(app)
def bench(
    collection: Path | None = option(None, "An SGF file to read and replay, one game per line."),
    only: list[str] | None = option(None, "Measure only this one; repeatable."),
    *,
    shown: Shown,
) -> None:
    """Measure speed on one core, side by side with other libraries where installed."""
    from tengen.bench import CONTESTS, compare

    for name in only or ():
        if name not in CONTESTS:
            raise SpecError(unknown("benchmark", name, CONTESTS))
    rows = []
    for row in compare(only or CONTESTS, collection):
        rows.append(row)
        shown.remark(f"{row.name}: {row.ours:,.0f} {row.unit}")
    columns = {"name": "what", "ours": "ours", "peer": "peer", "unit": "", "peer_name": "by"}
    title = "One core, best of three rounds each"
    shown.result([asdict(row) for row in rows], title, {**columns, "ratio": "ratio"})
