"""The commands `doctor`, `compile` and `bench`."""

from __future__ import annotations

import multiprocessing
import os
import platform
import re
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import typer

from tengen import __version__
from tengen.cli.options import Json, Quiet, Shown, command, option
from tengen.cli.printing import remark, show
from tengen.progress import Progress

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


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cache() -> str:
    """Return where compiled kernels are stored, and how many there are."""
    from tengen.compiling import cache_folder, import_kernels
    from tengen.jit import kernels

    import_kernels()
    kept = [ready for _, ready in kernels()]
    state = "warm" if all(kept) else "partly warm" if any(kept) else "cold"
    return f"{state}: {sum(kept)} of {len(kept)} kernels compiled, in {cache_folder()}"


def examine() -> list[dict[str, Any]]:
    """Return one row per item: name, found (version or path), good_for, get."""
    from tengen.gtp.client import find_program

    rows: list[dict[str, Any]] = [
        {"name": "tengen", "found": __version__, "good_for": "", "get": ""},
        {"name": "python", "found": platform.python_version(), "good_for": "", "get": ""},
    ]
    for package, extra in _wanted():
        use = _EXTRAS[extra] if extra else _NEEDED
        get = f"pip install 'tengen[{extra}]'" if extra else "make setup"
        rows.append({"name": package, "found": _version(package), "good_for": use, "get": get})
    for program, (use, how) in _PROGRAMS.items():
        found = find_program(program)
        rows.append({"name": program, "found": found, "good_for": use, "get": how})
    rows.append(
        {
            "name": "kernel cache",
            "found": _cache(),
            "good_for": "start without compiling; all at once: tengen compile",
            "get": "",
        }
    )
    return rows


@app.command()
def doctor(json: Json = False) -> None:
    """Check what is installed, what is missing, and how to get it."""
    rows = examine()
    shown = [{**r, **({"get": ""} if r["found"] else {"found": "missing"})} for r in rows]
    columns = {"name": "what", "found": "found", "good_for": "good for", "get": "how to get it"}
    show(rows if json else shown, json=json, columns=columns)
    missing = [r["name"] for r in rows if r["good_for"] == _NEEDED and not r["found"]]
    if missing:
        print(f"tengen: needed but missing: {', '.join(missing)}; run make setup", file=sys.stderr)
        raise typer.Exit(1)


# ----- compile -----

_INTERVAL = 0.2
"""Seconds between two updates of the progress."""


@app.command("compile")
def compile_(
    quiet: Quiet = False,
    workers: int = option(min(os.cpu_count() or 1, 4), "Number of processes.", min=1),
) -> None:
    """Compile all kernels and store them; takes a minute or two, once."""
    from tengen.compiling import cache_folder, import_kernels, prune
    from tengen.jit import kernels
    from tengen.warming import STEPS, warm_up

    begin = time.perf_counter()
    prune()
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
        with Progress(quiet=quiet) as bar:

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
    remark(f"ready after {time.perf_counter() - begin:.0f} s", quiet=quiet)


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
    from tengen.errors import SpecError, unknown

    for name in only or ():
        if name not in CONTESTS:
            raise SpecError(unknown("benchmark", name, CONTESTS))
    rows = []
    for row in compare(only or CONTESTS, collection):
        rows.append(row)
        remark(f"{row.name}: {row.ours:,.0f} {row.unit}", quiet=shown.quiet)
    columns = {"name": "what", "ours": "ours", "peer": "peer", "unit": "", "peer_name": "by"}
    show(
        [asdict(row) for row in rows],
        json=shown.json,
        title="One core, best of three rounds each",
        columns={**columns, "ratio": "ratio"},
    )
