"""The papers' experiments, compared with the papers: resumable steps and one report.

There is one module per paper with its experiments, tables and comparisons; `tournaments` has those
that belong to no paper. `papers` has the papers' claims by id, `verdicts` compares, `recorded/` has
the results of large runs. `steps` runs experiments and stores each `result.Findings`; `rendering`
shows it as text, Markdown and HTML.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.lab.steps import Experiment

_PAPERS = ("opening_td", "scoring", "symmetry_network", "move_prediction", "opening_evolution")


def experiments() -> tuple[Experiment[Any], ...]:
    """Return all experiments in the order of the page."""
    *first, last = import_module("tengen.lab.tournaments").EXPERIMENTS
    papers = (import_module(f"tengen.lab.{name}").EXPERIMENTS for name in _PAPERS)
    return (*first, *(each for paper in papers for each in paper), last)
