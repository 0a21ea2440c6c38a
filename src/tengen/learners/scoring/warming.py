"""Compile this learner's kernels now, by scoring a tiny board."""

from __future__ import annotations

import numpy as np


def warm_up() -> None:
    """Describe and judge one position; no model is needed for that."""
    from tengen.learners.scoring.features import describe
    from tengen.learners.scoring.judgement import judge

    grid = np.array([[0, 1, 2], [1, 1, 2], [0, 1, 2]], np.int8)
    described = describe(grid)
    judge(described, np.zeros(len(described.colour)))
