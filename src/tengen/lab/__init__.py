"""The papers' experiments beside the papers: steps that resume, and one report.

There is one module per paper with its experiments, tables and comparisons; `tournaments` has those
that belong to no paper. `papers` has the papers' claims by id, `verdicts` compares, `recorded/` has
the results of large runs. `steps` runs experiments and stores each `result.Findings`; `rendering`
shows it as text, Markdown and HTML. `experiments` lists everything in the order of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tengen.lab.steps import Experiment


def experiments() -> tuple[Experiment[Any], ...]:
    """Return all experiments in the order of the page."""
    from tengen.lab import (
        move_prediction,
        opening_evolution,
        opening_td,
        scoring,
        symmetry_network,
        tournaments,
    )

    return (
        *tournaments.EXPERIMENTS,
        *opening_td.EXPERIMENTS,
        *scoring.EXPERIMENTS,
        *symmetry_network.EXPERIMENTS,
        *move_prediction.EXPERIMENTS,
        *opening_evolution.EXPERIMENTS,
        *tournaments.LAST_EXPERIMENTS,
    )
