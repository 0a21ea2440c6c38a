"""Load and save what was learned: weights with a card, checkpoints, and the list of names.

`cards` describes a model, `store` keeps one model per safetensors file, `settings` describes a
training's settings, `runs` keeps a training in its folder and lets it go on exactly where it was
stopped, on top of `checkpoints`; `places` knows where models lie, `registry` finds them by name and
makes the right object of each; `write_atomic` is that of `tengen.files`. No learner is imported
here until a model of its kind is asked for.
"""

from tengen.files import write_atomic
from tengen.models.cards import Card, Measurement
from tengen.models.checkpoints import (
    Checkpoint,
    Checkpoints,
    generator_state,
    restore_generator,
)
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
from tengen.models.runs import Run, RunInfo, read_metrics, read_run, resumed_settings
from tengen.models.settings import (
    CheckedSettings,
    check_settings,
    fingerprint,
    from_plain,
    from_recipe,
    setting,
    to_plain,
)
from tengen.models.store import load_model, read_card, save_model

__all__ = [
    "KINDS",
    "Card",
    "CheckedSettings",
    "Checkpoint",
    "Checkpoints",
    "Measurement",
    "ModelInfo",
    "Run",
    "RunInfo",
    "check_settings",
    "find_model",
    "fingerprint",
    "from_plain",
    "from_recipe",
    "generator_state",
    "has_model",
    "list_models",
    "load_evaluator",
    "load_learner",
    "load_model",
    "load_policy",
    "load_scorer",
    "read_card",
    "read_metrics",
    "read_run",
    "register_kind",
    "restore_generator",
    "resumed_settings",
    "save_model",
    "setting",
    "to_plain",
    "write_atomic",
]
