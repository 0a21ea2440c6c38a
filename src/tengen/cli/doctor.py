"""`tengen doctor`: tell what is installed, what is missing, and how to get it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import typer

from tengen import __version__
from tengen.cli.options import Json
from tengen.cli.printing import emit, table

app = typer.Typer(add_completion=False)

_NEEDED = (
    "numpy",
    "numba",
    "scipy",
    "typer",
    "rich",
    "pydantic",
    "safetensors",
    "choix",
    "matplotlib",
    "jinja2",
    "markupsafe",
    "platformdirs",
    "pysgf",
    "cma",
)

# Package -> what it is good for and how to get it.
_EXTRAS = {
    "torch": ("training deep networks, self-play, a GPU", "pip install 'tengen[torch]'"),
    "ray": ("clusters of machines", "pip install 'tengen[ray]'"),
    "pyspiel": ("a peer to measure speed against", "pip install 'tengen[bench]'"),
    "sgfmill": ("a peer to measure speed against", "pip install 'tengen[bench]'"),
}

_PROGRAMS = {
    "gnugo": ("an opponent, an expert and a judge", "apt-get install gnugo"),
    "node": ("drives the engine with Sabaki's own GTP client in tests", "apt-get install nodejs"),
}


def _version(package: str) -> str | None:
    name = {"pyspiel": "open_spiel"}.get(package, package)
    if importlib.util.find_spec(package) is None:
        return None
    try:
        return version(name)
    except PackageNotFoundError:
        return "installed"


def _cache() -> str:
    """Tell where compiled kernels are kept, and how many of them are there already."""
    import pkgutil

    import tengen
    from tengen.compiling import cache_folder
    from tengen.jit import kernels

    for module in pkgutil.walk_packages(tengen.__path__, "tengen."):
        if module.name.endswith("kernels"):
            importlib.import_module(module.name)
    kept = [ready for _, ready in kernels()]
    state = "warm" if all(kept) else "partly warm" if any(kept) else "cold"
    return f"{state}: {sum(kept)} of {len(kept)} kernels compiled, in {cache_folder()}"


def examine() -> list[dict[str, Any]]:
    """Return one row a thing: name, found (version or path), good_for, get."""
    rows: list[dict[str, Any]] = [
        {"name": "tengen", "found": __version__, "good_for": "", "get": ""},
        {"name": "python", "found": platform.python_version(), "good_for": "", "get": ""},
    ]
    for package in _NEEDED:
        found = _version(package)
        rows.append({"name": package, "found": found, "good_for": "needed", "get": "make setup"})
    for package, (use, how) in _EXTRAS.items():
        rows.append({"name": package, "found": _version(package), "good_for": use, "get": how})
    search = os.environ.get("PATH", "") + os.pathsep + "/usr/games"
    for program, (use, how) in _PROGRAMS.items():
        found = shutil.which(program, path=search)
        rows.append({"name": program, "found": found, "good_for": use, "get": how})
    rows.append(
        {
            "name": "kernel cache",
            "found": _cache(),
            "good_for": "start without compiling; all at once: tengen warmup",
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
    missing = [r["name"] for r in rows if r["name"] in _NEEDED and not r["found"]]
    if missing:
        print(f"tengen: needed but missing: {', '.join(missing)}; run make setup", file=sys.stderr)
        raise typer.Exit(1)
