"""The papers' experiments, compared with the papers: resumable steps and one report.

Nothing here names a paper. `papers` reads the registered ones, their claims and experiments;
`tournaments` has the experiments that belong to none. `verdicts` compares, `recorded/` has results
of large runs. `steps` runs experiments and stores each `result.Findings`; `rendering` shows it as
text, Markdown and HTML.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tengen.extensions import ExtensionError

if TYPE_CHECKING:
    from tengen.lab.steps import Experiment


def experiments() -> tuple[Experiment[Any], ...]:
    """Return all experiments in the order of the page; warn of papers that cannot be loaded."""
    from tengen.lab.papers import papers

    *first, last = import_module("tengen.lab.tournaments").EXPERIMENTS
    found: list[Experiment[Any]] = []
    for paper in papers().values():
        try:
            found += paper.experiments()
        except ExtensionError as failure:
            warnings.warn(str(failure), stacklevel=2)
    return (*first, *found, last)
