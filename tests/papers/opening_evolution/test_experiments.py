"""Experiments of evolved openings: the paper's points and lines, the panel, the noise."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.errors import TengenError
from tengen.files import write_atomic
from tengen.lab.steps import LabContext
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.opening_evolution import experiments as lab
from tengen.papers.opening_evolution.experiments import paper_trend

PLAN = EvolutionSettings(
    network="dense", rows=5, population=4, generations=4, moves=4, snapshot_every=2,
    opponent="random",
)  # fmt: skip
HOW = lab.BreedingSize(every=2, games=6, starts=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a run whose three snapshots are different networks."""
    lab.train(tmp_path, PLAN)
    rng = np.random.default_rng(1)
    assert list(lab.snapshots(tmp_path)) == [0, 2, 4]
    for path in lab.snapshots(tmp_path).values():  # so short a run may keep one best throughout
        model = OpeningEvolution(settings=PLAN)
        model.weights_ = rng.normal(0, 0.3, PLAN.shape().n_weights)
        model.save(path)
    return tmp_path


def test_the_papers_lines_are_as_flat_as_they_were() -> None:
    """Table I: slope 0.417 per 1,000, p = 0.34; Table II: slope 2.04 per 10,000, p = 0.18."""
    for name, slope, r, p in (("dense", 0.417, 0.22, 0.34), ("spatial", 2.04, 0.57, 0.18)):
        trend = paper_trend(name)
        found = (round(trend.slope, 3), round(trend.r, 2), round(trend.p, 2))
        assert found == (pytest.approx(slope, abs=0.005), r, p)


def test_points_are_the_papers() -> None:
    # A win and a loss give +2 and -1, a draw +1 to both.
    scores = {(0, 1): np.array([3.0, 1.0]), (0, 2): np.array([3.0, -1.0]), (1, 2): np.zeros(2)}
    assert lab.round_robin([0, 1, 2], scores) == {0: 5.0, 1: 0.0, 2: 3.0}
    assert lab.round_robin([0, 1], {(0, 1): np.array([2.0, -2.0] * 9)}) == {0: 1.0, 1: 1.0}


def played(folder: Path) -> int:
    return len((folder / "duels.jsonl").read_text().splitlines())


def test_a_panel_is_asked_once(folder: Path) -> None:
    first = lab.judge_run(folder, HOW, seed=3)
    # Generations 0, 2, 4 against three of the panel, two of them against generation 0, three pairs.
    assert played(folder) == 9 + 2 + 3
    assert [row["generation"] for row in first["rows"]] == [0, 2, 4]
    assert lab.FIRST not in first["rows"][0] and first["rows"][1][lab.FIRST]["games"] == 6
    assert first["rows"][0]["panel"]["games"] == 18
    assert list(first["round_robin"]["points"]) == ["0", "2", "4"]
    again = lab.judge_run(folder, HOW, seed=3)
    assert played(folder) == 14 and json.dumps(again) == json.dumps(first)
    lab.judge_run(folder, HOW, seed=4)
    assert played(folder) == 28


def test_a_best_that_lasts_is_asked_once(folder: Path) -> None:
    files = lab.snapshots(folder)
    write_atomic(files[4], files[2].read_bytes())
    rows = lab.judge_run(folder, HOW, seed=3)["rows"]
    assert played(folder) == 6 + 1 + 3 and rows[1]["random"] == rows[2]["random"]


def judged(rates: list[float], games: int = 400) -> dict[str, Any]:
    rows = [
        {"generation": 10 * i, "panel": {"games": games, "win_rate": rate}}
        for i, rate in enumerate(rates)
    ]
    points = {str(10 * i): 20 * rate for i, rate in enumerate(rates)}
    return {"rows": rows, "gain": lab.gain_of(rows), "round_robin": {"points": points}}


def test_learning_is_seen_and_its_absence_too() -> None:
    risen = lab.over_seeds([judged([0.5, 0.6, 0.7]), judged([0.4, 0.55, 0.7])])
    assert risen["p"] < 1e-6 and risen["p_seeds"] < 0.1 and risen["trend"]["p"] < 0.05
    assert risen["trend"]["slope"] == pytest.approx(0.0125)
    assert risen["points"]["slope"] == pytest.approx(0.25)
    assert risen["points"]["p"] == pytest.approx(risen["trend"]["p"])
    alone = lab.over_seeds([judged([0.5])])
    assert alone["trend"] == {"slope": 0.0, "r": 0.0, "p": 1.0} and alone["p_seeds"] is None
    flat = lab.over_seeds([judged([0.5, 0.6, 0.5]), judged([0.5, 0.45, 0.49])])
    assert flat["p"] > 0.2 and flat["trend"]["p"] > 0.2
    # By hand: 200 and 240 of 400 have z = 2.84.
    gain = judged([0.5, 0.6])["gain"]
    assert (gain["z"], gain["p"]) == pytest.approx((2.843, 0.00223), abs=0.001)


def test_methods_are_the_papers_and_the_better_ones() -> None:
    spatial, dense = (lab.BreedingSize(network=name).settings(1) for name in ("spatial", "dense"))
    assert (spatial.individuals, dense.individuals) == (20, 10)
    assert spatial.starts == 1 and spatial.colours == "black" and spatial.strategy == "paper"
    better = lab.BreedingSize(network="spatial", method="better").settings(1)
    assert better.shape().n_weights == 158 and better.starts == 2 and not better.remember
    champion = lab.BreedingSize(network="dense", method="champion").settings(1)
    assert champion.network == "tiled" and champion.hall_every == 60


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="no run of opening-evolution"):
        lab.breeding(LabContext(tmp_path, 0, 1), lab.BreedingSize(runs=(str(tmp_path),)))
    with pytest.raises(TengenError, match="no snapshots"):
        lab.snapshots(tmp_path)


def test_figures_have_the_points_and_their_line() -> None:
    robin = {"points": {"0": 1.0, "10": 3.0, "20": 2.0}, "trend": {"slope": 0.05, "p": 0.6}}
    figure = lab.points_plot({"folder": "t", "round_robin": robin})
    assert figure.lines[0].y == [1.0, 3.0, 2.0]
    assert figure.lines[1].y == pytest.approx([1.5, 2.0, 2.5])


def test_each_start_is_played_with_both_colours(folder: Path) -> None:
    model = str(lab.snapshots(folder)[0])
    duel = lab.Duel(model, model, "static", games=20, seed=1)
    scores = lab.play_duel(duel)["scores"]
    assert [scores[i] for i in range(0, 20, 2)] == [-scores[i] for i in range(1, 20, 2)]
    # Any player may take the network's place.
    other = lab.play_duel(replace(duel, player="random"))["scores"]
    assert len(other) == 20 and other != scores
