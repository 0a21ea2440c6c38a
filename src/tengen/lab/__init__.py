"""The papers' experiments and what their rows say: resumable steps, raw data, verdicts, a report.

Nothing here names a paper: `papers` reads the registered ones, their claims and experiments.
`steps` runs experiments, `evidence` stores and reads their rows, `decisions` has the rule of the
verdicts, `report` computes what the rows say, `rendering` writes it as a page.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tengen.extensions import ExtensionError

if TYPE_CHECKING:
    from tengen.lab.steps import Experiment


def experiments() -> tuple[Experiment[Any], ...]:
    """Return all papers' experiments in the report's order; warn of papers that do not load."""
    from tengen.lab.papers import papers

    found: list[Experiment[Any]] = []
    for paper in papers().values():
        try:
            found += paper.experiments()
        except ExtensionError as failure:
            warnings.warn(str(failure), stacklevel=2)
    return tuple(found)
