"""Find who gives an opinion on a board's next moves: predictor, deep network, learned opening."""

from __future__ import annotations

from dataclasses import dataclass, field

from tengen.contracts import Evaluator, Policy
from tengen.models import has_model, load_evaluator, load_policy
from tengen.models.defaults import network_for, predictor_for

_LEARNED = {(9, 9): "td-best-9x9", (13, 13): "evolved-minimax-13x13"}
"""Learned openings by the board's size."""


@dataclass
class Opinions:
    """Models by what they are asked as, and their names."""

    policies: dict[str, Policy] = field(default_factory=dict)
    evaluators: dict[str, Evaluator] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def opinions_on(rows: int, cols: int) -> Opinions:
    """Load the models that are there for boards of this size."""
    found = Opinions()
    asked_first = {"predictor": predictor_for(rows, cols), "network": network_for(rows, cols)}
    for asked, name in asked_first.items():
        if name and has_model(name):
            found.policies[asked] = load_policy(name, shared=True)
            found.names[asked] = name
    learned = _LEARNED.get((rows, cols), "")
    if learned and has_model(learned):
        found.evaluators["opening"] = load_evaluator(learned, shared=True)
        found.names["opening"] = learned
    return found
