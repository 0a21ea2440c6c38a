"""What commands are made of: options, output, and the learners of `tengen train` and `evaluate`.

Papers use it, so no command of Tengen's own is here; those are in `cli`.
"""

from tengen.commands.learners import Learner
from tengen.commands.options import (
    Records,
    Resumable,
    RunFolder,
    RunOfModel,
    Seed,
    Workers,
    WorkOptions,
    argument,
    command,
    flag,
    option,
)
from tengen.commands.printing import Shown, table

__all__ = [
    "Learner",
    "Records",
    "Resumable",
    "RunFolder",
    "RunOfModel",
    "Seed",
    "Shown",
    "WorkOptions",
    "Workers",
    "argument",
    "command",
    "flag",
    "option",
    "table",
]
