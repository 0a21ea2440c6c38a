"""The extras of the distribution: what each is for, and the command that installs it."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tengen.errors import SpecError

DISTRIBUTION = "tengen-go"
"""The name on the package index; `tengen` there is another program."""

EXTRAS = {
    "lab": "the papers: plots, statistics, evolution by CMA-ES, the report",
    "torch": "training networks, self-play, GPUs",
    "ray": "clusters of machines",
    "gym": "Gymnasium and PettingZoo environments",
    "onnx": "export of networks for other programs",
    "pandas": "results as data frames, Parquet files",
    "tensorboard": "curves of trainings in TensorBoard",
    "bench": "libraries to compare speed with",
}


def how_to_get(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def is_there(module: str) -> bool:
    """Return whether a module is installed; import nothing."""
    return sys.modules.get(module) is not None or find_spec(module) is not None


def need(extra: str, *modules: str) -> None:
    """Raise `SpecError` with the command if a module of an extra is missing; import nothing."""
    for module in modules:
        if not is_there(module):
            raise SpecError(f"this needs {module}: {how_to_get(extra)}")


def import_extra(module: str, extra: str) -> Any:
    """Import a module of an extra; raise `SpecError` with the command if it is missing."""
    need(extra, module.partition(".")[0])
    return import_module(module)
