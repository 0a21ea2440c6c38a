"""What was learned, on disk: models with a card, checkpoints, training runs, settings.

`store` reads and writes models, `registry` finds them by name and makes the right object of each,
`runs` keeps a training in its folder on top of `checkpoints`, `settings` describes its settings,
`defaults` names the model for a board. No learner is imported until a model of its kind is loaded.
"""

from tengen.files import write_atomic
from tengen.models.checkpoints import (
    Checkpoint,
    Checkpoints,
    generator_state,
    restore_generator,
)
from tengen.models.learner import StoredLearner
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
    fingerprint,
    from_plain,
    from_recipe,
    setting,
    to_plain,
)
from tengen.models.store import Card, Measurement, find_model, load_model, read_card, save_model

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
    "StoredLearner",
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
