"""`tengen doctor`: tell what is installed, what is missing, and how to get it."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

import typer

from tengen import __version__
from tengen.cli.options import Json
from tengen.cli.printing import emit, table

app = typer.Typer()

_NEEDED = "needed"
# Extra -> what its packages are good for.
_EXTRAS = {
    "torch": "training deep networks, self-play, a GPU",
    "ray": "clusters of machines",
    "gym": "the board as an environment of PettingZoo or Gymnasium",
    "onnx": "networks in a form for other programs",
    "bench": "a peer to measure speed against",
}

_PROGRAMS = {
    "gnugo": ("an opponent, an expert and a judge", "apt-get install gnugo"),
    "node": ("drives the engine with Sabaki's own GTP client in tests", "apt-get install nodejs"),
}


def _wanted() -> list[tuple[str, str]]:
    """Return the packages that the package says it needs, each with the extra it belongs to."""
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
    """Tell where compiled kernels are kept, and how many of them are there already."""
    from tengen.compiling import cache_folder, import_kernels
    from tengen.jit import kernels

    import_kernels()
    kept = [ready for _, ready in kernels()]
    state = "warm" if all(kept) else "partly warm" if any(kept) else "cold"
    return f"{state}: {sum(kept)} of {len(kept)} kernels compiled, in {cache_folder()}"


def examine() -> list[dict[str, Any]]:
    """Return one row a thing: name, found (version or path), good_for, get."""
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
    """Tell what is installed, what is missing, and how to get it."""
    rows = examine()
    if json:
        emit(rows, json=True)
    else:
        table(
            "",
            ("what", "found", "good for", "how to get it"),
            (
                (r["name"], r["found"] or "missing", r["good_for"], "" if r["found"] else r["get"])
                for r in rows
            ),
        )
    missing = [r["name"] for r in rows if r["good_for"] == _NEEDED and not r["found"]]
    if missing:
        print(f"tengen: needed but missing: {', '.join(missing)}; run make setup", file=sys.stderr)
        raise typer.Exit(1)
