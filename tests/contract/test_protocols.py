"""Shipped models and players are what they are asked for as: the protocols tell them apart."""

from __future__ import annotations

import pytest

from tengen.contracts import Expert, JudgingPlayer, NarrowablePlayer, OwnershipEvaluator
from tengen.contracts.protocols import Learner, ScoreEstimator
from tengen.errors import SpecError
from tengen.learners.opening_td import OpeningTD
from tengen.learners.scoring import BlockScorer
from tengen.models import load_learner
from tengen.players import make_expert, make_player
from tengen.players.evaluators import make_network


def test_who_says_who_will_own_what() -> None:
    assert isinstance(load_learner("tengen-small"), OwnershipEvaluator)
    assert isinstance(load_learner("scorer"), OwnershipEvaluator)
    assert not isinstance(load_learner("predictor-paper"), OwnershipEvaluator)


def test_who_counts() -> None:
    assert isinstance(load_learner("scorer"), ScoreEstimator)
    assert not isinstance(load_learner("tengen-small"), ScoreEstimator)


def test_who_learns() -> None:
    for learner in (BlockScorer(), OpeningTD()):
        assert isinstance(learner, Learner)
    assert not isinstance(make_player("random"), Learner)


def test_whose_moves_can_be_narrowed() -> None:
    assert isinstance(make_player("mcts:playouts=10"), NarrowablePlayer)
    assert not isinstance(make_player("random"), NarrowablePlayer)


def test_who_has_another_mind_for_opinions() -> None:
    assert isinstance(make_player("tengen"), JudgingPlayer)
    assert not isinstance(make_player("mcts:playouts=10"), JudgingPlayer)


def test_who_finishes_games() -> None:
    assert isinstance(make_expert("static"), Expert)
    assert not isinstance(make_player("random"), Expert)


def test_only_a_network_is_a_network() -> None:
    assert make_network("tengen-small").supports(9, 9)
    with pytest.raises(SpecError, match="is not a network with moves, winner and score"):
        make_network("scorer")
    with pytest.raises(SpecError):
        make_network("no-such-network")
