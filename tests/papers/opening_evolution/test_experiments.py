"""Experiments return rows, play what is missing, and repeat the paper's settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.errors import TengenError
from tengen.lab.steps import Journal, LabContext
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.opening_evolution import experiments as lab
from tengen.papers.opening_evolution.recording import (
    PANEL,
    Games,
    panel_rows,
    snapshots,
    tournament_rows,
    train,
    training_rows,
)

PLAN = EvolutionSettings(
    network="dense", rows=5, population=4, generations=4, moves=4, snapshot_every=2,
    opponent="random",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a run whose three snapshots are different networks."""
    train(tmp_path / "run", PLAN)
    rng = np.random.default_rng(1)
    for path in snapshots(tmp_path / "run").values():  # so short a run may keep one best throughout
        model = OpeningEvolution(settings=PLAN)
        model.weights_ = rng.normal(0, 0.3, PLAN.shape().n_weights)
        model.save(path)
    return tmp_path / "run"


def test_all_pairs_meet_with_both_colours_and_are_played_once(folder: Path) -> None:
    journal = Journal(folder / "games.jsonl")
    rows = tournament_rows({7: folder}, 2, Games(journal))
    pairs = {(row["black"], row["white"]) for row in rows}
    assert pairs == {(a, b) for a in (0, 2, 4) for b in (0, 2, 4) if a != b} and len(rows) == 6
    assert len(journal.rows()) == 3 and all(row["seed"] == 7 for row in rows)
    again = tournament_rows({7: folder}, 2, Games(journal, on_step=lambda *told: pytest.fail()))
    assert again == rows


def test_all_networks_meet_the_panel_from_the_same_starts(folder: Path, tmp_path: Path) -> None:
    networks = [({"generation": g}, path) for g, path in snapshots(folder, 4).items()]
    rows = panel_rows(networks, 2, Games(Journal(tmp_path / "a.jsonl")))
    assert len(rows) == 2 * len(PANEL) * 2 * 2
    assert {(r["start"], r["colour"]) for r in rows} == {
        (start, colour) for start in (0, 1) for colour in ("black", "white")
    }
    assert rows == panel_rows(networks, 2, Games(Journal(tmp_path / "b.jsonl"), workers=2))


def test_a_training_has_a_row_per_generation(folder: Path) -> None:
    rows = list(training_rows({0: folder}))
    assert [row["generation"] for row in rows] == [1, 2, 3, 4]
    assert sum(name.startswith("fitness_") for name in rows[0]) == 4


def test_the_paper_is_repeated_with_its_own_settings() -> None:
    assert (lab.DENSE.generations, lab.DENSE.every) == (20_000, 1_000)
    assert (lab.SPATIAL.generations, lab.SPATIAL.every) == (60_000, 10_000)
    spatial, dense = (
        EvolutionSettings(network=name, **lab.PAPER_METHOD) for name in ("spatial", "dense")
    )
    assert (spatial.individuals, dense.individuals) == (20, 10)
    assert spatial.starts == 1 and spatial.colours == "black" and spatial.strategy == "paper"
    assert spatial.scoring == "territory" and dense.shape().plies == 2


def test_every_change_is_a_training_of_its_own(tmp_path: Path) -> None:
    size = lab.LearningSize(generations=1, seeds=2, starts=1, changes=("none", "one-opponent"))
    [made] = lab.learning(LabContext(tmp_path, 3, 1), size)
    rows = list(made.rows)
    assert made.name == "changes" and made.seeds == [3, 4]
    assert len(rows) == 2 * 2 * 2 * len(PANEL) * 2
    assert {(r["change"], r["seed"]) for r in rows} == {
        (change, seed) for change in size.changes for seed in (3, 4)
    }


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="no snapshots"):
        snapshots(tmp_path)
