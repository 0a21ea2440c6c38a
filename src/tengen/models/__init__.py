"""Models on disk with their cards, training runs with checkpoints, settings.

No kind of model is defined here: the registry finds their classes by entry points.
"""

from tengen.models.registry import (
    has_model,
    list_models,
    load_evaluator,
    load_learner,
    load_policy,
    load_scorer,
    model_class,
)
from tengen.models.runs import Run, read_metrics, read_run, resumed_settings
from tengen.models.settings import CheckedSettings, fingerprint, from_plain, setting, to_plain
from tengen.models.store import (
    Card,
    Measurement,
    StoredLearner,
    View,
    check_shapes,
    find_model,
    load_model,
    read_card,
    save_model,
)

__all__ = [
    "Card",
    "CheckedSettings",
    "Measurement",
    "Run",
    "StoredLearner",
    "View",
    "check_shapes",
    "find_model",
    "fingerprint",
    "from_plain",
    "has_model",
    "list_models",
    "load_evaluator",
    "load_learner",
    "load_model",
    "load_policy",
    "load_scorer",
    "model_class",
    "read_card",
    "read_metrics",
    "read_run",
    "resumed_settings",
    "save_model",
    "setting",
    "to_plain",
]
