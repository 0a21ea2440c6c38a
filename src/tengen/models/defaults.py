"""Which shipped model serves a purpose on a board of a given size."""

from __future__ import annotations

from dataclasses import dataclass, field

from tengen.contracts import Evaluator, Policy
from tengen.errors import ModelError
from tengen.models.registry import has_model, load_evaluator, load_policy

PREDICTOR = "predictor-paper"
"""The maximum-entropy predictor of Araki et al., for 19x19."""
_NETWORK_SIZES = range(5, 26)
"""Rows and columns of the boards that the deep networks support."""


@dataclass(frozen=True)
class Networks:
    """The deep networks for boards of one size, by purpose."""

    plays: str
    """The strongest at equal time (docs/results/strength.md)."""
    judges: str
    """Estimates winner, score and points lost best (docs/results/analysis.md)."""
    predicts: str
    """Predicts people's moves best."""


BY_SIZE = {
    (9, 9): Networks(plays="zero-9x9", judges="tengen-judge", predicts="tengen-judge"),
    (13, 13): Networks(plays="tengen-judge", judges="tengen-judge", predicts="tengen-judge"),
    (19, 19): Networks(plays="tengen-large", judges="tengen-judge", predicts="tengen-large"),
}
"""Which network is used when."""
OTHER_SIZES = Networks(plays="tengen-small", judges="tengen-judge", predicts="tengen-large")
"""The same for all other boards of 5 to 25 lines."""
_OPENINGS = {(9, 9): "td-best-9x9", (13, 13): "evolved-minimax-13x13"}
"""Evaluators of openings by board size."""


def networks_for(rows: int, cols: int) -> Networks | None:
    """Return the networks for a board, or None where none fits."""
    if rows not in _NETWORK_SIZES or cols not in _NETWORK_SIZES:
        return None
    return BY_SIZE.get((rows, cols), OTHER_SIZES)


def network_for(rows: int, cols: int) -> str:
    """Return the name of the network that best predicts people's moves, or "" if none fits.

    >>> network_for(9, 9), network_for(9, 13), network_for(4, 4)
    ('tengen-judge', 'tengen-large', '')
    """
    networks = networks_for(rows, cols)
    return networks.predicts if networks else ""


def policy_for(rows: int, cols: int) -> str:
    """Return the name of the model that best predicts people's moves on a board.

    Raises
    ------
    ModelError
        If no shipped model supports the board.
    """
    name = network_for(rows, cols)
    if not name:
        raise ModelError(f"no shipped model predicts moves on {rows}x{cols}")
    return name


@dataclass
class Opinions:
    """Models that comment on the next move, by role (network, opening)."""

    policies: dict[str, Policy] = field(default_factory=dict)
    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def opinions_on(rows: int, cols: int) -> Opinions:
    """Load the installed models that comment on boards of this size."""
    found = Opinions()
    network = network_for(rows, cols)
    if network and has_model(network):
        found.policies["network"] = load_policy(network, shared=True)
        found.names["network"] = network
    opening = _OPENINGS.get((rows, cols), "")
    if opening and has_model(opening):
        found.evaluators["opening"] = load_evaluator(opening, shared=True)
        found.names["opening"] = opening
    return found
