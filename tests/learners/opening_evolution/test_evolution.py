"""The evolution strategy: as specified, the same however it is run, and able to learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board
from tengen.errors import ModelError, TengenError
from tengen.learners.opening_evolution import (
    Evolution,
    NetworkPlayer,
    OpeningEvolution,
    Plan,
    Population,
    Setting,
    evolve,
    fitness,
    match,
    measure_with,
    next_generation,
)


class Corner:
    """An opponent that takes the first legal point."""

    name = "corner"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return next(iter(board.legal_moves))


class Counter:
    """An expert that counts the board as it stands."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> np.ndarray:
        return np.array([board.area_score() for board in boards])


PLAN = Plan(network="dense", rows=5, cols=5, population=6, generations=6, moves=4, snapshot_every=2)


def weights_after(generations: int, workers: int = 1, **changes: object) -> np.ndarray:
    plan = replace(PLAN, generations=generations, **changes)  # type: ignore[arg-type]
    run = evolve(plan, measure_with([Corner() for _ in range(workers)], Counter()))
    return run.weights


def test_selection_keeps_the_better_half_and_mutates_it() -> None:
    population = Population.first(4, 1000, seed=1)
    after = next_generation(population, np.array([1.0, 4.0, 2.0, 3.0]), 1, seed=1)
    assert (after.weights[:2] == population.weights[[1, 3]]).all()
    assert (after.steps[:2] == population.steps[[1, 3]]).all()
    change = after.weights[2] - population.weights[1]
    # Step sizes start at 0.05 and change by a factor of exp(tau N).
    assert np.std(change) == pytest.approx(0.05, rel=0.15)
    tau = (2 * np.sqrt(1000)) ** -0.5
    assert np.std(np.log(after.steps[2] / 0.05)) == pytest.approx(tau, rel=0.15)


def test_threads_do_not_matter_and_seeds_do() -> None:
    one = weights_after(5)
    assert (one == weights_after(5, workers=3)).all()
    assert not (one == weights_after(5, seed=1)).all()


def test_resuming_gives_the_same_as_never_stopping(tmp_path: Path) -> None:
    measure = measure_with([Corner()], Counter())
    evolve(replace(PLAN, generations=3), measure, folder=tmp_path)
    resumed = evolve(PLAN, measure, folder=tmp_path, resume=True)
    assert resumed.generation == 6
    assert (resumed.weights == weights_after(6)).all()
    assert sorted(p.name for p in (tmp_path / "snapshots").iterdir()) == [
        f"{g:09d}.safetensors" for g in (0, 2, 4, 6)
    ]
    with pytest.raises(TengenError, match="differs in moves"):
        evolve(replace(PLAN, moves=3), measure, folder=tmp_path, resume=True)


def test_it_learns_to_beat_a_simple_opponent() -> None:
    # The counter likes whoever has more stones and surrounded points: easy to improve on.
    plan = replace(PLAN, generations=40, population=10)
    run = Evolution.begin(plan)
    measure = measure_with([Corner()], Counter())
    first = measure(run).max()
    while run.generation < plan.generations:
        run.step(measure)
    assert run.fitness.max() >= first + 2


def test_fitness_is_the_mean_over_colours() -> None:
    shape, setting = PLAN.shape(), PLAN.setting(0)
    weights = np.random.default_rng(0).normal(0, 0.3, shape.n_weights)
    parts = [
        fitness(shape, weights, Corner(), Counter(), setting, colours, [3])
        for colours in ("black", "white", "both")
    ]
    assert parts[2] == pytest.approx((parts[0] + parts[1]) / 2)


def test_matches_swap_colours_on_the_same_start() -> None:
    shape = PLAN.shape()
    weights = np.random.default_rng(0).normal(0, 0.3, shape.n_weights)
    me = NetworkPlayer(shape, weights)
    setting = Setting(5, 5, 3, komi=0.0, random_plies=2)
    scores = match(me, me, Counter(), setting, [1, 2, 3])
    # Against itself the two games of a start are one game seen from both sides.
    assert (scores[::2] == -scores[1::2]).all() and len(set(scores[::2])) > 1


def test_falling_handicap() -> None:
    plan = replace(PLAN, rows=9, cols=9, handicap=3, handicap_falls_every=10)
    assert [plan.setting(g).handicap for g in (0, 9, 10, 25, 99)] == [3, 3, 2, 1, 0]


def test_models_come_back_and_refuse_other_boards(tmp_path: Path) -> None:
    model = OpeningEvolution(plan=replace(PLAN, generations=1)).fit(
        measure_with([Corner()], Counter())
    )
    model.save(tmp_path / "m.safetensors")
    again = OpeningEvolution.load(tmp_path / "m.safetensors")
    board, rng = Board(5), np.random.default_rng(0)
    assert (again.weights_ == model.weights_).all() and again.plan == model.plan
    assert again.choose(board, rng) == model.choose(board, rng)
    assert again.values([board]).shape == (1,)
    with pytest.raises(ModelError, match="plays on 5x5, not on 9x9"):
        again.choose(Board(9), rng)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": "deep"}, "network 'deep' is none of"),
        ({"population": 5}, "has no half"),
        ({"colours": "red"}, "colours 'red'"),
    ],
)
def test_senseless_plans_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(TengenError, match=message):
        replace(PLAN, **changes)  # type: ignore[arg-type]
