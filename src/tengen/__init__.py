"""A laboratory for machines that learn Go: five classical papers on one fast board.

Importing the package loads nothing heavy; names are resolved when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from tengen.board import BatchBoard, Board, Point, Rules
    from tengen.records import Corpus, GameRecord

# Public name -> module that defines it; loaded on first use so that `import tengen` stays fast.
_HOMES = {
    "Board": "tengen.board",
    "BatchBoard": "tengen.board",
    "Point": "tengen.board",
    "Rules": "tengen.board",
    "Corpus": "tengen.records",
    "GameRecord": "tengen.records",
}

__all__ = ["BatchBoard", "Board", "Corpus", "GameRecord", "Point", "Rules", "__version__"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tengen' has no attribute {name!r}")
