"""Every shipped model keeps the contracts of what it offers, and honours the scale of its card."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen import extensions
from tengen.board import Board
from tengen.contracts import (
    Evaluator,
    Policy,
    Scorer,
    check_evaluator,
    check_policy,
    check_scorer,
    sample_boards,
)
from tengen.models import list_models, load_learner, load_model, save_model
from tengen.players.mcts import MctsPlayer

MODELS = {info.name: info for info in list_models()}
OFFERS = {
    "symmetry-network": {Evaluator, Policy},
    "move-prediction": {Policy},
    "scoring": {Scorer},
    "scoring-classifier": {Scorer, Evaluator},
    "network": {Evaluator, Policy},
    "opening-td": {Evaluator, Policy},
    "opening-evolution": {Evaluator},
}
"""What models of a kind are for; they may offer more."""
CHECKS: dict[Any, Any] = {Evaluator: check_evaluator, Policy: check_policy, Scorer: check_scorer}


@cache
def load(name: str) -> Any:
    return load_learner(name)


def boards_for(name: str) -> list[Board]:
    card = MODELS[name].card
    assert card is not None
    return sample_boards(3, card.sizes[:1])


def test_every_kind_and_every_model_is_known() -> None:
    assert set(OFFERS) == set(extensions.entries(extensions.MODELS))
    for info in MODELS.values():
        assert info.card is not None, info.error
        assert info.card.kind in OFFERS and info.card.name == info.name


@pytest.mark.parametrize("name", MODELS)
def test_a_shipped_model_keeps_its_contracts(name: str) -> None:
    model, card = load(name), MODELS[name].card
    assert card is not None
    for offer in OFFERS[card.kind]:
        assert isinstance(model, offer), f"{name} does not offer {offer.__name__}"
    for offer, check in CHECKS.items():
        if isinstance(model, offer):
            # Single precision: a board in a batch may differ from one alone by a rounding.
            rough = {"tolerance": 1e-3} if (offer, card.kind) == (Evaluator, "network") else {}
            check(model, boards=boards_for(name), **rough)


WITH_SCALE = [name for name, info in MODELS.items() if info.card and info.card.scale]


@pytest.mark.parametrize("name", WITH_SCALE)
def test_the_scale_of_a_card_is_the_models(name: str, tmp_path: Path) -> None:
    tensors, card = load_model(name)
    assert load(name).scale == card.scale
    save_model(tmp_path / "bent.safetensors", tensors, card.model_copy(update={"scale": 3.25}))
    assert load_learner(tmp_path / "bent.safetensors").scale == 3.25


class Sure:
    """An evaluator that always sees Black ahead by 6 points."""

    scale = 3.0

    def values(self, boards: list[Board]) -> np.ndarray:
        return np.full(len(boards), 6.0)


def test_search_bends_values_over_the_models_scale() -> None:
    def chance(scale: float | None) -> float:
        """Return Black's chance after a search in which the evaluator has seen every leaf."""
        own = Sure()
        own.scale = scale
        player = MctsPlayer(evaluator=own, playouts=400)
        *_, info = player.analyse(Board(5), np.random.default_rng(1), limited=True)
        return info.winrate

    assert chance(3.0) > chance(None) == chance(8.0)
