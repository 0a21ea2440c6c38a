"""Know where model files lie and find them by name; read none of them.

A name is looked for in the folder `$TENGEN_MODELS`, if that is set, and then among the shipped
models.
"""

from __future__ import annotations

import os
from pathlib import Path

from tengen.errors import ModelError

_SUFFIX = ".safetensors"
SHIPPED = Path(__file__).parent / "shipped"


def _folders() -> list[Path]:
    """List the folders that are searched for names, first the user's."""
    own = os.environ.get("TENGEN_MODELS")
    return [*([Path(own)] if own else []), SHIPPED]


def find_model(path_or_name: str | os.PathLike[str]) -> Path:
    """Return the file of a model given by path or by name.

    Raises
    ------
    ModelError
        If there is none; the message lists the names there are.
    """
    text = os.fspath(path_or_name)
    path = Path(text)
    if path.suffix == _SUFFIX or path.parent != Path(".") or path.is_file():
        if not path.is_file():
            raise ModelError(f"{path}: no such model file")
        return path
    for folder in _folders():
        candidate = folder / f"{text}{_SUFFIX}"
        if text and candidate.is_file():
            return candidate
    names = ", ".join(sorted(model_names())) or "none"
    raise ModelError(f"no model called {text!r}; there are: {names}")


def model_names() -> dict[str, Path]:
    """Map names to files; the user's folder hides shipped models of the same name."""
    found: dict[str, Path] = {}
    for folder in reversed(_folders()):
        if folder.is_dir():
            found.update({path.stem: path for path in folder.glob(f"*{_SUFFIX}")})
    return found
