"""Load and save what was learned: weights with a card, checkpoints, and the list of names.

`files` writes atomically, `cards` describes a model, `store` keeps one model per safetensors file,
`checkpoints` lets a training go on exactly where it was stopped, `registry` finds models by name
and makes the right object of each. No learner is imported here until a model of its kind is
asked for.
"""

from tengen.models.cards import Card, Measurement
from tengen.models.checkpoints import (
    Checkpoint,
    Checkpoints,
    generator_state,
    restore_generator,
)
from tengen.models.files import write_atomic
from tengen.models.places import find_model
from tengen.models.registry import (
    KINDS,
    ModelInfo,
    has_model,
    list_models,
    load_evaluator,
    load_learner,
    load_policy,
    load_scorer,
    register_kind,
)
from tengen.models.store import load_model, read_card, save_model

__all__ = [
    "KINDS",
    "Card",
    "Checkpoint",
    "Checkpoints",
    "Measurement",
    "ModelInfo",
    "find_model",
    "generator_state",
    "has_model",
    "list_models",
    "load_evaluator",
    "load_learner",
    "load_model",
    "load_policy",
    "load_scorer",
    "read_card",
    "register_kind",
    "restore_generator",
    "save_model",
    "write_atomic",
]
