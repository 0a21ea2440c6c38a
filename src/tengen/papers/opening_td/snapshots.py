"""States of the recorded training of Figure 4, from repeating it with its settings and seed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from math import isclose
from pathlib import Path

from tengen.errors import TengenError
from tengen.lab.evidence import find_evidence
from tengen.models.runs import Run
from tengen.models.settings import from_recipe
from tengen.papers.opening_td.experiments import ENCODINGS, CurveSize, encodings
from tengen.papers.opening_td.learner import OpeningTD
from tengen.papers.opening_td.training import Trained
from tengen.players import make_expert

EXPERIMENT, PLAYER = "opening-td", "ABCDE-binary"
AFTER = (0, 250, 500, 1000, 1500, 2000, 3000)
"""Openings after which there is a snapshot."""


def snapshots(data: Path, collection: Path | None = None) -> Iterator[tuple[int, OpeningTD]]:
    """Train the first recorded player again; yield its states by the number of openings."""
    recorded = find_evidence(data, EXPERIMENT)
    if recorded is None:
        raise TengenError(f"{data / EXPERIMENT}: no rows of a training to repeat")
    seed = recorded.run.seeds[0]
    # A player's seed follows from its place among both encodings, even if one alone has rows.
    size = replace(from_recipe(CurveSize, recorded.run.settings), encodings=ENCODINGS)
    with tempfile.TemporaryDirectory(prefix="tengen-") as place:
        trained = Trained.of(Path(place), encodings(size), [seed])
        job = trained.jobs[seed, PLAYER]
        expert, found = make_expert(job.settings.expert), {}
        with Run.open(job.folder, OpeningTD.kind, job.settings, resume=False) as run:
            learner = OpeningTD(settings=job.settings)

            def keep(openings: int) -> None:
                if openings in AFTER:
                    found[openings] = state_of(learner)

            first = OpeningTD(settings=job.settings).draw()
            found[0] = first
            learner.fit(expert, referee=make_expert(size.judged_by), run=run, on_game=keep)
        curve = replace(trained, jobs={(seed, PLAYER): job}).curves()
    rows = recorded.where(seed=seed, player=PLAYER)
    for point, scored in zip(curve, rows["mean_score"], strict=True):
        if not isclose(float(point["mean_score"]), float(scored), rel_tol=1e-9):
            told = f"after {point['openings']} openings the training differs from its rows"
            raise TengenError(f"{recorded.folder}: {told}")
    yield from sorted(found.items())


def state_of(learner: OpeningTD) -> OpeningTD:
    """Return a copy of a learner as it is now."""
    twin = OpeningTD(settings=learner.settings)
    twin.net_ = type(learner.net_)(*(array.copy() for array in learner.net_))
    twin.games_ = learner.games_
    return twin
