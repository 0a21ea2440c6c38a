"""Learn to judge positions with the board's symmetry inside every cell (Blair 2008).

What a cell is told and says: `features`, `rewards`. The mathematics: `representations`, `tying`,
`network`. Learning: `settings`, `training` (self-play), `imitation` (experts' games, by
`torch_network`), `evolution`. What is learned: `learner`, with `matches` and `pictures`. The same
network fast: `packing` and `wide` before the kernels.

Names are imported when first used, so that the mathematics can be had without the kernels.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen.learners.symmetry_network.features import OUTPUTS, Categories
    from tengen.learners.symmetry_network.learner import SymmetryNetwork
    from tengen.learners.symmetry_network.network import Architecture
    from tengen.learners.symmetry_network.settings import SymmetrySettings

_HOMES = {
    "OUTPUTS": "features",
    "Categories": "features",
    "SymmetryNetwork": "learner",
    "Architecture": "network",
    "SymmetrySettings": "settings",
}

__all__ = ["OUTPUTS", "Architecture", "Categories", "SymmetryNetwork", "SymmetrySettings"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
