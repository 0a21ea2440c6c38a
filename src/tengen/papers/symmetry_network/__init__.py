"""Learn to evaluate positions with the board's symmetry inside every cell (Blair 2008)."""

from tengen.papers.symmetry_network.learner import SymmetryNetwork
from tengen.papers.symmetry_network.network import OUTPUTS, Architecture
from tengen.papers.symmetry_network.settings import SymmetrySettings

__all__ = ["OUTPUTS", "Architecture", "SymmetryNetwork", "SymmetrySettings"]
