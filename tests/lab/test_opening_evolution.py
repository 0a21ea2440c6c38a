"""Experiments of evolved openings: the paper's points and lines, the panel, the noise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.board import Board
from tengen.errors import TengenError
from tengen.lab import opening_evolution as lab
from tengen.lab import papers
from tengen.learners.opening_evolution import NetworkPlayer, Plan, Setting, evolve, measure_with
from tengen.models import Checkpoints
from tengen.players import make_player
from tengen.statistics import Rate, Trend


class Counter:
    """An expert that counts the board as it stands, and how often it was asked."""

    asked = 0

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> np.ndarray:
        self.asked += len(boards)
        return np.array([board.area_score() for board in boards])


PLAN = Plan(network="dense", rows=5, cols=5, population=4, generations=4, moves=4, snapshot_every=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    evolve(PLAN, measure_with([make_player("random")], Counter()), folder=tmp_path)
    store, rng = Checkpoints(tmp_path / "snapshots", keep=9), np.random.default_rng(1)
    assert store.steps() == [0, 2, 4]
    for generation in store.steps():  # so short a run may keep one best throughout
        store.save(generation, {"weights": rng.normal(0, 0.3, PLAN.shape().n_weights)}, {})
    return tmp_path


def test_the_papers_lines_are_as_flat_as_they_were() -> None:
    """SPEC 5.6: Table I slope 0.417 per 1,000, p = 0.34; Table II slope 2.04 per 10,000, 0.18."""
    for name, slope, r, p in (("dense", 0.417, 0.22, 0.34), ("spatial", 2.04, 0.57, 0.18)):
        points = papers.EVOLUTION_POINTS[name]
        trend = Trend.through(range(len(points)), points)
        found = (round(trend.slope, 3), round(trend.r, 2), round(trend.p, 2))
        assert found == (pytest.approx(slope, abs=0.005), r, p)


def test_points_are_the_papers() -> None:
    shape = PLAN.shape()
    rng = np.random.default_rng(1)
    entrants = {g: rng.normal(0, 0.3, shape.n_weights) for g in (0, 1, 2)}
    setting = Setting(5, 5, 4, komi=0.0, random_plies=2)
    points = lab.round_robin(shape, entrants, Counter(), setting, starts=3, seed=1)
    # Two games a pair: win and loss give +1 together, a draw +2.
    assert 6 <= sum(points.values()) <= 12
    alike = lab.round_robin(shape, {0: entrants[0], 1: entrants[0]}, Counter(), setting, 3, seed=1)
    assert alike[0] == alike[1]


def test_a_panel_is_asked_once(folder: Path) -> None:
    panel, expert = {"random": make_player("random")}, Counter()
    ask: dict[str, Any] = {"games": 10, "every": 2, "seed": 3}
    first = lab.judge_run(folder, PLAN, panel, expert, **ask)
    # Generations 0, 2, 4 against one of the panel, two of them against generation 0.
    assert expert.asked == 50 and [row["generation"] for row in first["rows"]] == [0, 2, 4]
    assert "generation 0" not in first["rows"][0]
    again = lab.judge_run(folder, PLAN, panel, expert, **ask)
    assert expert.asked == 50
    assert json.dumps(again) == json.dumps(first)
    lab.judge_run(folder, PLAN, panel, expert, **{**ask, "seed": 4})
    assert expert.asked == 100


def test_a_best_that_lasts_is_asked_once(folder: Path) -> None:
    store = Checkpoints(folder / "snapshots", keep=9)
    store.save(4, store.load(2).arrays, {})
    panel, expert = {"random": make_player("random")}, Counter()
    rows = lab.judge_run(folder, PLAN, panel, expert, games=10, every=2, seed=3)["rows"]
    assert expert.asked == 30 and rows[1]["random"] == rows[2]["random"]


def judged(rates: list[float], games: int = 400) -> dict[str, Any]:
    rows = [
        {"generation": 10 * i, "panel": {"games": games, "win_rate": rate}}
        for i, rate in enumerate(rates)
    ]
    points = {10 * i: 20 * rate for i, rate in enumerate(rates)}
    return {
        "rows": rows,
        "gain": vars(lab.Gain.of(rows)),
        "round_robin": {"points": points},
    }


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
    assert lab.Gain.of(judged([0.5, 0.6])["rows"]).z == pytest.approx(2.843, abs=0.001)


def test_what_a_fitness_tells() -> None:
    plan = replace(PLAN, colours="black")
    static, panel = make_player("static"), {"random": make_player("random")}
    found = lab.selection_noise(
        plan, static, panel, Counter(), individuals=12, games=40, starts=(1, 8)
    )
    assert found["individuals"] == 12 and found["panel_games"] == 40
    for name in ("as planned", "2 games", "16 games"):
        assert -1 <= found[name]["r"] <= 1
    # A mean of sixteen games scatters less than one game.
    assert found["16 games"]["spread"] < found["as planned"]["spread"]


def test_plans_are_the_papers_and_the_better_ones() -> None:
    spatial, dense = lab.paper_plan("spatial", 1, 100), lab.paper_plan("dense", 1, 100)
    assert (spatial.population, dense.population) == (20, 10)
    assert spatial.starts == 1 and spatial.colours == "black" and spatial.strategy == "paper"
    better = lab.better_plan("spatial", 1, 100)
    assert better.shape().n_weights == 158 and better.starts == 2 and not better.remember


def test_a_plan_is_found_without_checkpoints(folder: Path) -> None:
    for path in (folder / "checkpoints").iterdir():
        path.unlink()
    store = Checkpoints(folder / "snapshots", keep=9)
    store.save(4, store.load(4).arrays, {"plan": vars(PLAN)})
    assert lab.plan_of(folder) == PLAN


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="no run in there"):
        lab.plan_of(tmp_path)
    with pytest.raises(TengenError, match="no snapshots"):
        lab.snapshots(tmp_path)


def test_figures_have_the_points_and_their_line() -> None:
    points = {0: 1.0, 10: 3.0, 20: 2.0}
    trend = Trend.through(list(points), list(points.values()))
    figure = lab.figure("t", points, trend)
    assert figure.lines[0].y == [1.0, 3.0, 2.0]
    assert figure.lines[1].y == pytest.approx([1.5, 2.0, 2.5])


def test_draws_count_half() -> None:
    rate = Rate.of(np.array([3.0, 0.0, -2.0, 1.0]))
    assert (rate.games, rate.win_rate, rate.mean_score) == (4, 0.625, 0.5)
    shape = PLAN.shape()
    player = NetworkPlayer(shape, np.zeros(shape.n_weights))
    setting = Setting(5, 5, 4, 0.5, random_plies=2)
    same = lab.against(player, player, Counter(), setting, 20, seed=1)
    assert same.win_rate == 0.5  # each start with both colours
