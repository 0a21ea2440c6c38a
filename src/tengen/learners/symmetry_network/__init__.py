"""Learn to evaluate positions with the board's symmetry inside every cell (Blair 2008)."""

from tengen.learners.symmetry_network.learner import SymmetryNetwork
from tengen.learners.symmetry_network.network import OUTPUTS, Architecture
from tengen.learners.symmetry_network.settings import SymmetrySettings

__all__ = ["OUTPUTS", "Architecture", "SymmetryNetwork", "SymmetrySettings"]
