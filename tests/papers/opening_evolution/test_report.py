"""The report follows from the rows: another row, another figure."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tengen.lab.evidence import Evidence, read_evidence, record_of, write_evidence
from tengen.papers.opening_evolution import EvolutionSettings
from tengen.papers.opening_evolution import report as module
from tengen.papers.opening_evolution.learner import Breeding, measure_with, play_job
from tengen.parallel import Team
from tengen.players import make_expert, make_player
from tengen.statistics import Trend

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


def panel_of(gains: list[float], change: str | None = None) -> list[dict[str, int | float | str]]:
    """Return games in which each training wins half at first, and that much more at last."""
    return [
        {
            **({} if change is None else {"change": change}), "seed": seed,
            "generation": generation, "opponent": "random", "colour": "black", "start": start,
            "score": 1.0 if start < 50 + 100 * gain * (generation > 0) else -1.0,
        }
        for seed, gain in enumerate(gains)
        for generation in (0, 10)
        for start in range(100)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("gains", "word"),
    [([0.2, 0.25, 0.3], "yes"), ([-0.2, -0.25, -0.3], "no"), ([0.4, -0.2, 0.1], "undecided")],
)
def test_a_gain_is_tested_against_chance_over_trainings(
    gains: list[float], word: str, tmp_path: Path
) -> None:
    run = record_of("", [0, 1, 2], {"generations": 10}, seconds=0, cpu_seconds=0)
    write_evidence(tmp_path / "table-1-panel", panel_of(gains), run)
    write_evidence(tmp_path / "learning", panel_of(gains), run)
    found = module.report(tmp_path)
    assert [each.text.split()[0].strip(",:") for each in found.questions] == [word, word]
    assert all(each.ours and each.ours.units == 3 for each in found.questions)


def test_a_change_is_compared_with_none_by_seed(tmp_path: Path) -> None:
    run = record_of("", [0, 1, 2], {"generations": 10}, seconds=0, cpu_seconds=0)
    rows = panel_of([0.0, 0.1, 0.2], "none") + panel_of([0.1, 0.2, 0.3], "co-evolution")
    write_evidence(tmp_path / "changes", rows, run)
    [found] = module.report(tmp_path).questions
    assert found.id == "kendall.co-evolution" and found.text.startswith("yes")


def test_the_papers_claims_are_the_slopes_of_its_points() -> None:
    for table in module.PAPER.more["tables"]:
        points = module.PAPER.more["tables"][table]["points"]
        slope = Trend.through(range(len(points)), points).slope
        assert abs(module.PAPER.claims[f"kendall.points.{table}"].figure - slope) < 1e-3


def test_recorded_fitness_breeds_the_networks_of_the_tournament() -> None:
    training = read_evidence(DATA / "table-1-training").where(seed=1)
    names = [f"fitness_{i}" for i in range(10)]
    rows = np.stack([training[name] for name in names], axis=1)
    assert training["generation"].tolist() == list(range(1, 20_001)) and rows.shape[1] == 10
    settings = EvolutionSettings(seed=1, **read_evidence(DATA / "table-1-training").run.settings)
    breeding = Breeding(settings).replay(rows[:30])
    # The better half survives, so the best never gets worse, and its games can be played again.
    assert (np.diff(rows[:, :1].max(axis=1)) >= 0).mean() > 0.99
    play = partial(play_job, [make_player("static")], make_expert("static"))
    measure = measure_with(Team(play))
    fitness, certain = measure(breeding)
    assert np.array_equal(fitness[certain], rows[30][certain])
