"""Learn to evaluate positions with the board's symmetry inside every cell (Blair 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

if TYPE_CHECKING:
    from tengen.papers.symmetry_network.learner import SymmetryNetwork
    from tengen.papers.symmetry_network.network import OUTPUTS, Architecture
    from tengen.papers.symmetry_network.settings import SymmetrySettings

__all__ = ["OUTPUTS", "Architecture", "SymmetryNetwork", "SymmetrySettings"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.papers.symmetry_network.learner": ["SymmetryNetwork"],
        "tengen.papers.symmetry_network.network": ["OUTPUTS", "Architecture"],
        "tengen.papers.symmetry_network.settings": ["SymmetrySettings"],
    },
)
