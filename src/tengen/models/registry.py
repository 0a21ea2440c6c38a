"""Make the right object of each model file, without importing learners up front.

`KINDS` says which class reads which kind of model; it is imported when first needed.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from tengen.contracts.protocols import Evaluator, Policy, Scorer
from tengen.errors import ModelError
from tengen.models.cards import Card
from tengen.models.places import find_model, model_names
from tengen.models.store import read_card

# Kind of model -> module:class with a classmethod `load(path)`.
KINDS: dict[str, str] = {
    "symmetry-network": "tengen.learners.symmetry_network:SymmetryNetwork",
    "move-prediction": "tengen.learners.move_prediction:MovePredictor",
    "scoring": "tengen.learners.scoring:BlockScorer",
    "life": "tengen.learners.scoring:LifeEvaluator",
    "deep-network": "tengen.learners.deep_network:DeepNetwork",
    "opening-td": "tengen.learners.opening_td:OpeningTD",
    "opening-evolution": "tengen.learners.opening_evolution:OpeningEvolution",
}

Offer = TypeVar("Offer")


@dataclass(frozen=True)
class ModelInfo:
    """A model in the list: its name, file, size, and its card or what is wrong with it."""

    name: str
    path: Path
    bytes: int
    card: Card | None
    error: str = ""


def register_kind(kind: str, target: str) -> None:
    """Say that models of `kind` are read by `target`, written `module:class`."""
    if target.count(":") != 1:
        raise ModelError(f"{target!r} does not say module:class")
    KINDS[kind] = target


def has_model(path_or_name: str | os.PathLike[str]) -> bool:
    """Tell whether a model of that path or name exists."""
    try:
        find_model(path_or_name)
    except ModelError:
        return False
    return True


def list_models() -> list[ModelInfo]:
    """List all models by name; damaged ones too, with the reason."""
    entries = []
    for name, path in sorted(model_names().items()):
        try:
            entries.append(ModelInfo(name, path, path.stat().st_size, read_card(path)))
        except ModelError as failure:
            entries.append(ModelInfo(name, path, path.stat().st_size, None, str(failure)))
    return entries


def load_learner(path_or_name: str | os.PathLike[str]) -> Any:
    """Make the object that a model file stands for, by the kind on its card.

    Raises
    ------
    ModelError
        If the file is bad or nobody reads its kind.
    """
    path = find_model(path_or_name)
    kind = read_card(path).kind
    if kind not in KINDS:
        raise ModelError(f"{path}: nobody here reads models of kind {kind!r}")
    module, _, name = KINDS[kind].partition(":")
    try:
        reader = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as failure:
        raise ModelError(
            f"{path}: models of kind {kind!r} need {KINDS[kind]} ({failure})"
        ) from None
    return reader.load(path)


def load_evaluator(path_or_name: str | os.PathLike[str]) -> Evaluator:
    """Load a model that judges positions."""
    return _offer(path_or_name, Evaluator, "judges positions (`values`)")  # type: ignore[type-abstract]


def load_policy(path_or_name: str | os.PathLike[str]) -> Policy:
    """Load a model that says how likely moves are."""
    return _offer(path_or_name, Policy, "predicts moves (`priors`)")  # type: ignore[type-abstract]


def load_scorer(path_or_name: str | os.PathLike[str] = "scorer") -> Scorer:
    """Load a model that says which stones are dead."""
    return _offer(path_or_name, Scorer, "scores games (`status`)")  # type: ignore[type-abstract]


def _offer(path_or_name: str | os.PathLike[str], protocol: type[Offer], what: str) -> Offer:
    """Load a model and refuse it unless it keeps a protocol."""
    loaded = load_learner(path_or_name)
    if not isinstance(loaded, protocol):
        raise ModelError(f"{os.fspath(path_or_name)}: is not a model that {what}")
    return loaded
