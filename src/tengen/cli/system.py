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
from tengen.commands.options import Quiet, command, option
from tengen.commands.printing import Shown
from tengen.errors import SpecError, unknown
from tengen.extras import DISTRIBUTION, EXTRAS, how_to_get

app = typer.Typer()

_NEEDED = "needed"

_PROGRAMS = {
    "gnugo": ("an opponent, an expert and a judge", "apt-get install gnugo"),
    "node": ("drives the engine with Sabaki's own GTP client in tests", "apt-get install nodejs"),
}


def _wanted() -> list[tuple[str, str]]:
    """Return the packages that tengen requires, each with its extra."""
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:  # run from its sources
        return []
    wanted = []
    for line in lines:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"]([\w-]+)", line)
        if extra is None or extra[1] in EXTRAS:
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

    rows: list[tuple[str, str | None, str, str]] = [("tengen", __version__, "", "")]
    rows.append(("python", platform.python_version(), "", ""))
    for package, extra in _wanted():
        found: str | None = None
        with suppress(PackageNotFoundError):
            found = version(package)
        use = EXTRAS[extra] if extra else _NEEDED
        get = how_to_get(extra) if extra else f"pip install {DISTRIBUTION}"
        rows.append((package, found, use, get))
    rows += [(name, find_program(name), *about) for name, about in _PROGRAMS.items()]
    use = "start without compiling; all at once: tengen compile"
    rows.append(("kernel cache", _cache(), use, ""))
    return [dict(zip(("name", "found", "good_for", "get"), row, strict=True)) for row in rows]


@command(app)
def doctor(shown: Shown) -> None:
    """Check what is installed, what is missing, and how to get it."""
    rows = examine()
    missing = [row["name"] for row in rows if row["good_for"] == _NEEDED and not row["found"]]
    if not shown.json:
        rows = [{**r, **({"get": ""} if r["found"] else {"found": "missing"})} for r in rows]
    columns = {"name": "what", "found": "found", "good_for": "good for", "get": "how to get it"}
    shown.result(rows, columns=columns)
    if missing:
        get = f"pip install {DISTRIBUTION}"
        print(f"tengen: needed but missing: {', '.join(missing)}; run {get}", file=sys.stderr)
        raise typer.Exit(1)


_INTERVAL = 0.5  # seconds between two updates of the progress


@app.command("compile")
def compile_(
    quiet: Quiet = False,
    workers: int = option(min(os.cpu_count() or 1, 4), "Number of processes.", min=1),
) -> None:
    """Compile all kernels and store them; takes a minute or two, once."""
    from tengen.compiling import cache_folder, import_kernels, prune
    from tengen.jit import kernels
    from tengen.warming import steps

    shown = Shown(quiet=quiet)
    begin = time.perf_counter()
    prune()
    import_kernels()
    missing = sum(not compiled for _, compiled in kernels())
    shown.remark(f"compiling {missing} kernels into {cache_folder()}")
    before = _stored(cache_folder())
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    first, *others = steps().values()
    try:
        with shown.progress() as bar:

            def finish(begun: list[Future[Any]]) -> None:
                """Show progress until these steps are done."""
                while wait(begun, timeout=_INTERVAL).not_done:
                    bar("kernels", min(_stored(cache_folder()) - before, missing), missing)
                for step in begun:
                    step.result()

            # The board first, because the others contain its kernels.
            finish([pool.submit(first)])
            finish([pool.submit(step) for step in others])
    except KeyboardInterrupt:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    shown.remark(f"ready after {time.perf_counter() - begin:.0f} s")


def _stored(folder: Path) -> int:
    """Count the kernels in the cache; each has one index."""
    return sum(1 for _ in folder.glob("*/*.nbi"))


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
