"""Use every kernel of the symmetry network once, so that Numba compiles and caches it."""

from __future__ import annotations

from tengen.board import Board
from tengen.learners.symmetry_network.learner import SymmetryNetwork, play_match
from tengen.learners.symmetry_network.settings import SymmetrySettings


def warm_up() -> None:
    """Train, evaluate and play on a small board."""
    settings = SymmetrySettings(games=4, linear_games=2, batch=2, size=5)
    network = SymmetryNetwork(settings=settings).fit()
    network.values([Board(5)])
    network.move_values(Board(5))
    play_match(network, None, games=1, size=5)
