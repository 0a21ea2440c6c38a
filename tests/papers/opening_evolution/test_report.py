"""The report follows from the rows: another row, another figure."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from tengen.lab.evidence import Evidence, read_evidence, write_evidence
from tengen.models import Run
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.opening_evolution import report as module
from tengen.papers.opening_evolution.learner import Breeding, measure_with
from tengen.papers.opening_evolution.recording import panel_rows, tournament_rows, training_rows
from tengen.players import make_expert, make_player

DATA = Path(module.__file__).with_name("data")


def rows_of(evidence: Evidence) -> list[dict[str, int | float | str]]:
    cells = zip(*(column.tolist() for column in evidence.columns.values()), strict=True)
    return [dict(zip(evidence.columns, row, strict=True)) for row in cells]


def test_points_of_a_tournament_add_up() -> None:
    games = read_evidence(DATA / "table-1-tournament")
    for seed, points in module.points_of(games).items():
        rows = games.where(seed=seed)
        draws = int((rows["score"] == 0).sum())
        # A decided game is worth 2 - 1 points, a drawn one 1 + 1.
        assert sum(points.values()) == len(rows) + draws == 420 + draws


def test_another_row_gives_another_figure(tmp_path: Path) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    before = module.report(tmp_path / "data").claims[0]
    games = read_evidence(DATA / "table-1-tournament")
    rows = rows_of(games)
    for row in rows:
        if row["black"] == 20_000:
            row["score"] = 50.0
    write_evidence(tmp_path / "data" / "table-1-tournament", rows, games.run)
    after = module.report(tmp_path / "data").claims[0]
    assert after.ours.mean > before.ours.mean and before.rows == after.rows == 2100
    assert module.report(tmp_path).claims == []


def test_recorded_fitness_breeds_the_networks_of_the_tournament() -> None:
    training = read_evidence(DATA / "table-1-training").where(seed=1)
    names = [f"fitness_{i}" for i in range(10)]
    rows = np.stack([training[name] for name in names], axis=1)
    assert training["generation"].tolist() == list(range(1, 20_001)) and rows.shape[1] == 10
    settings = EvolutionSettings(seed=1, **read_evidence(DATA / "table-1-training").run.settings)
    breeding = Breeding(settings).replay(rows[:30])
    # The better half survives, so the best never gets worse, and its games can be played again.
    assert (np.diff(rows[:, :1].max(axis=1)) >= 0).mean() > 0.99
    measure = measure_with([[make_player("static")]], make_expert("static"))
    fitness, certain = measure(breeding)
    assert np.array_equal(fitness[certain], rows[30][certain])


def test_a_small_run_is_recorded_like_a_large_one(tmp_path: Path) -> None:
    settings = EvolutionSettings(rows=5, moves=3, population=4, generations=4, snapshot_every=2)
    runs = {}
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        own = replace(settings, seed=seed)
        measure = measure_with([[make_player("static")]], make_expert("static"))
        with Run.open(folder, OpeningEvolution.kind, own) as run:
            OpeningEvolution(settings=own).fit(measure, run=run)
        runs[seed] = folder
    assert len(list(training_rows(runs[1], 1))) == 4
    games = list(tournament_rows(runs, 2))
    assert len(games) == 2 * 3 * 2 and {(g["black"], g["white"]) for g in games} == {
        (a, b) for a in (0, 2, 4) for b in (0, 2, 4) if a != b
    }
    panel = list(panel_rows(runs, 2, starts=2))
    assert len(panel) == 2 * 3 * 3 * 2 * 2
    assert panel == list(panel_rows(runs, 2, starts=2, workers=2))
