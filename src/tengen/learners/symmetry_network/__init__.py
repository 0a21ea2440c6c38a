"""Learn to evaluate positions with the board's symmetry inside every cell (Blair 2008).

`network` defines the network on top of `tying`; `kernels` and `game_kernels` compute the same fast;
`training` is self-play and `learner` the estimator. Names are imported when first used, so that the
definition is available without compiling kernels.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tengen.learners.symmetry_network.learner import SymmetryNetwork
    from tengen.learners.symmetry_network.network import OUTPUTS, Architecture
    from tengen.learners.symmetry_network.settings import SymmetrySettings

_HOMES = {
    "OUTPUTS": "network",
    "SymmetryNetwork": "learner",
    "Architecture": "network",
    "SymmetrySettings": "settings",
}

__all__ = ["OUTPUTS", "Architecture", "SymmetryNetwork", "SymmetrySettings"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
