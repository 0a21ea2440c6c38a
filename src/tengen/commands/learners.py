"""The learners of `tengen train` and `tengen evaluate`, as entry points register them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen import extensions


@dataclass(frozen=True)
class Learner:
    """The commands of a learner, their lines in the help, and what `tengen compile` runs.

    The options of a command follow from the parameters of its function; see `options.command`.
    """

    train: Callable[..., Any]
    evaluate: Callable[..., Any]
    train_help: str
    evaluate_help: str
    warm: Callable[[], list[Any]] | None = None
    """Runs the learner's kernels once on small inputs; returns the same without compiling."""


def learner(name: str) -> Learner:
    """Return a registered learner."""
    return extensions.load(extensions.LEARNERS, name, Learner)
