"""Load the right object for each model file, and name the shipped model for a board."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from tengen import extensions
from tengen.contracts import Evaluator, Policy, Scorer
from tengen.errors import ModelError
from tengen.extensions import ExtensionError
from tengen.models.store import Card, find_model, model_names, read_card

_SHARED = 12  # shared models that are kept; play, web and reviews use ten of the shipped ones

_Offer = TypeVar("_Offer")


@dataclass(frozen=True)
class ModelInfo:
    """A model in the list: its name, file, size, and its card or what is wrong with it."""

    name: str
    path: Path
    bytes: int
    card: Card | None
    error: str = ""


def has_model(path_or_name: str | os.PathLike[str]) -> bool:
    """Return whether a model with that path or name exists."""
    try:
        find_model(path_or_name)
    except ModelError:
        return False
    return True


def list_models() -> list[ModelInfo]:
    """List all models by name; damaged ones too, with the reason."""
    entries = []
    for name, path in sorted(model_names().items()):
        size = path.stat().st_size if path.exists() else 0  # a link may be broken
        try:
            entries.append(ModelInfo(name, path, size, read_card(path)))
        except ModelError as failure:
            entries.append(ModelInfo(name, path, size, None, str(failure)))
    return entries


def load_learner(path_or_name: str | os.PathLike[str], *, shared: bool = False) -> Any:
    """Load the object of a model file, by the kind on its card.

    With `shared`, all callers get the same object until the file changes (a network takes up to
    150 MB). They must not train it, nor use it from two threads unless its kind allows that.
    """
    path = find_model(path_or_name)
    if shared:
        now = path.stat()
        return load_shared(path.resolve(), now.st_mtime_ns, now.st_size)
    try:
        return model_class(read_card(path).kind).load(path)
    except ExtensionError as failure:
        raise ModelError(f"{path}: {failure}") from failure


def model_class(kind: str) -> type[Any]:
    """Return the class that reads models of a kind."""
    if kind not in extensions.entries(extensions.MODELS):
        raise ExtensionError(f"no reader is registered for models of kind {kind!r}")
    return extensions.load(extensions.MODELS, kind, type)


@lru_cache(maxsize=_SHARED)
def load_shared(path: Path, changed: int, size: int) -> Any:
    """Load a model once per process, and anew when its file has changed."""
    return load_learner(path)


def load_evaluator(path_or_name: str | os.PathLike[str], *, shared: bool = False) -> Evaluator:
    """Load a model that evaluates positions; `shared` as in `load_learner`."""
    return _offer(path_or_name, Evaluator, "judges positions (`values`)", shared)  # type: ignore[type-abstract]


def load_policy(path_or_name: str | os.PathLike[str], *, shared: bool = False) -> Policy:
    """Load a model that predicts moves; `shared` as in `load_learner`."""
    return _offer(path_or_name, Policy, "predicts moves (`priors`)", shared)  # type: ignore[type-abstract]


def load_scorer(path_or_name: str | os.PathLike[str] = "scorer", *, shared: bool = False) -> Scorer:
    """Load a model that judges which stones are dead; `shared` as in `load_learner`."""
    return _offer(path_or_name, Scorer, "scores games (`status`)", shared)  # type: ignore[type-abstract]


def _offer(
    path_or_name: str | os.PathLike[str], protocol: type[_Offer], what: str, shared: bool
) -> _Offer:
    """Load a model and refuse it unless it implements a protocol."""
    loaded = load_learner(path_or_name, shared=shared)
    if not isinstance(loaded, protocol):
        raise ModelError(f"{os.fspath(path_or_name)}: is not a model that {what}")
    return loaded


# ----- Which shipped model serves a purpose on a board of a given size -----

PREDICTOR = "predictor-paper"  # the maximum-entropy predictor of Araki et al., for 19x19
_NETWORK_SIZES = range(5, 26)  # rows and columns of the boards that the deep networks support
JUDGE = "tengen-judge"  # plays, analyses and reviews: the strongest at equal time on every board
DRAWN_FROM = "tengen-small"  # the network that the weaker levels sample their moves from
_PREDICTORS = {(9, 9): JUDGE, (13, 13): JUDGE}  # of people's moves; `tengen-large` elsewhere
_OPENINGS = {(9, 9): "td-best-9x9", (13, 13): "evolved-minimax-13x13"}


def network_for(rows: int, cols: int) -> str:
    """Return the name of the network that best predicts people's moves, or "" if none fits."""
    if rows not in _NETWORK_SIZES or cols not in _NETWORK_SIZES:
        return ""
    return _PREDICTORS.get((rows, cols), "tengen-large")


def policy_for(rows: int, cols: int) -> str:
    """Return `network_for` a board; raise `ModelError` where no shipped model fits."""
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
    network, opening = network_for(rows, cols), _OPENINGS.get((rows, cols), "")
    if network and has_model(network):
        found.policies["network"] = load_policy(network, shared=True)
        found.names["network"] = network
    if opening and has_model(opening):
        found.evaluators["opening"] = load_evaluator(opening, shared=True)
        found.names["opening"] = opening
    return found
