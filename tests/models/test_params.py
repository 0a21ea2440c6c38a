"""Learners have parameters in scikit-learn's way."""

from __future__ import annotations

import inspect

import pytest

from tengen.errors import SpecError
from tengen.extensions import MODELS, entries
from tengen.models import StoredLearner
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.symmetry_network.learner import SymmetryNetwork

LEARNERS = {name: entry.load() for name, entry in entries(MODELS).items()}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_made_again_from_its_parameters(name: str) -> None:
    first: StoredLearner = LEARNERS[name]()
    again = LEARNERS[name](**first.get_params(deep=False))
    assert again.get_params() == first.get_params() and repr(again) == repr(first)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_fit_takes_a_device(name: str) -> None:
    assert inspect.signature(LEARNERS[name].fit).parameters["device"].default == "auto"


def test_a_learner_without_that_device_says_so() -> None:
    with pytest.raises(SpecError, match="'cuda'"):
        SymmetryNetwork().fit(games=1, device="cuda")


def test_parameters_change_and_settings_within_them() -> None:
    learner = SymmetryNetwork(workers=2)
    assert learner.set_params(workers=3, settings__seed=7) is learner
    assert (learner.workers, learner.settings.seed) == (3, 7)
    assert learner.get_params()["settings__seed"] == 7
    with pytest.raises(SpecError, match=r"'worker'.*workers"):
        learner.set_params(worker=1)
    assert learner.workers == 3


def test_repr_shows_what_differs_from_the_defaults() -> None:
    assert repr(OpeningEvolution()) == "OpeningEvolution()"
    changed = OpeningEvolution(settings=EvolutionSettings(generations=3, network="spatial"))
    expected = "EvolutionSettings(network='spatial', generations=3)"
    assert repr(changed) == f"OpeningEvolution(settings={expected})"
