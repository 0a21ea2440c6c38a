"""States of a recorded training of Figure 1, from repeating it with its settings and seed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from math import isclose
from pathlib import Path

from tengen.errors import TengenError
from tengen.lab.evidence import find_evidence
from tengen.models.runs import Run
from tengen.models.settings import from_recipe
from tengen.papers.symmetry_network.experiments import TrainingSize
from tengen.papers.symmetry_network.learner import SymmetryNetwork, load_snapshots

EXPERIMENT = "symmetry-training"


def snapshots(data: Path, collection: Path | None = None) -> Iterator[tuple[int, SymmetryNetwork]]:
    """Train the first recorded network again; yield its states by the number of games."""
    recorded = find_evidence(data, EXPERIMENT)
    if recorded is None:
        raise TengenError(f"{data / EXPERIMENT}: no rows of a training to repeat")
    seed = recorded.run.seeds[0]
    settings = from_recipe(TrainingSize, recorded.run.settings).settings(seed)
    rows = recorded.where(seed=seed)
    with tempfile.TemporaryDirectory(prefix="tengen-") as place:
        with Run.open(place, SymmetryNetwork.kind, settings, resume=False) as run:
            SymmetryNetwork(settings=settings).fit(run=run)
            notes = run.rows()
        for note, games, error in zip(notes, rows["games"], rows["error"], strict=True):
            if note["step"] != games or not isclose(note["error"], error, rel_tol=1e-8):
                told = f"after {games} games the training differs from its rows"
                raise TengenError(f"{recorded.folder}: {told}")
        for network in load_snapshots(place):
            yield network.games_, network
