"""The solver of the maximum-entropy model: the optimum, its memory in files, resuming."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from prediction_games import tasteful_games

from tengen.models import Run
from tengen.papers.move_prediction import optimum
from tengen.papers.move_prediction.model import feature_count
from tengen.papers.move_prediction.settings import PredictionSettings
from tengen.papers.move_prediction.training import halves, learn_frequencies, train

EXACT = {"tolerance": 0.0, "limit": 2000}


def problem(seed: int) -> tuple[optimum.Samples, int]:
    rng = np.random.default_rng(seed)
    features = np.array([rng.choice(60, 6, replace=False) for _ in range(400)])
    truth = rng.standard_normal(60) * (rng.random(60) < 0.4)
    chance = 1 / (1 + np.exp(-truth[features].sum(axis=1)))
    labels = rng.random(400) < chance
    return optimum.Samples(features.astype(np.int32), labels.astype(np.uint8)), 60


@pytest.mark.parametrize("width", [0.3, 0.9, 3.0])
def test_it_finds_liblinears_optimum(width: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    samples, count = problem(1)
    dense = np.zeros((len(samples), count))
    np.put_along_axis(dense, samples.features.astype(np.int64), 1.0, axis=1)
    peer = linear_model.LogisticRegression(
        l1_ratio=1.0, C=1 / width, fit_intercept=False, solver="liblinear", tol=1e-10,
        max_iter=20_000,
    ).fit(dense, samples.labels)  # fmt: skip
    found = optimum.fit(samples, count, width, **EXACT)
    assert found.violation < 1e-3
    assert np.allclose(found.weights, peer.coef_[0], atol=2e-3)


def test_a_weight_is_zero_exactly_within_the_width() -> None:
    samples, count = problem(2)
    weights = optimum.fit(samples, count, 2.0, **EXACT).weights
    error = 1 / (1 + np.exp(-weights[samples.features].sum(axis=1))) - samples.labels
    active = samples.features.shape[1]
    gradient = np.bincount(samples.features.ravel(), np.repeat(error, active), count)
    zero = weights == 0
    assert zero.any() and not zero.all()
    assert np.all(np.abs(gradient[zero]) <= 2.0 + 1e-3)
    assert np.allclose(np.abs(gradient[~zero]), 2.0, atol=1e-3)
    # A wide enough constraint leaves nothing.
    assert not optimum.fit(samples, count, 500.0).weights.any()


def test_without_a_penalty_the_loss_falls_to_the_limit() -> None:
    samples, count = problem(3)
    values: list[float] = []
    found = optimum.fit(
        samples, count, 0.0, limit=40, tolerance=0.0,
        on_step=lambda step, at, state: values.append(at.objective),
    )  # fmt: skip
    assert found.iterations <= 40 and values == sorted(values, reverse=True)


def test_threads_do_not_change_the_result() -> None:
    samples, count = problem(4)
    one, two = (optimum.fit(samples, count, 0.9, workers=n).weights for n in (1, 2))
    assert np.array_equal(one, two)


def test_it_continues_exactly_from_a_state() -> None:
    samples, count = problem(5)
    states = {}

    def keep(step: int, at: optimum.Optimum, state) -> None:
        states[step] = {name: array.copy() for name, array in state().items()}

    whole = optimum.fit(samples, count, 0.5, limit=20, tolerance=0.0, on_step=keep)
    told: list[int] = []
    again = optimum.fit(
        samples, count, 0.5, limit=20, tolerance=0.0, start=states[9],
        on_step=lambda step, at, state: told.append(step),
    )  # fmt: skip
    assert np.array_equal(whole.weights, again.weights) and again.iterations == whole.iterations
    assert told == list(range(10, whole.iterations + 1))


def test_samples_of_games_are_the_candidates_and_the_move() -> None:
    games = tasteful_games(40)
    settings = PredictionSettings(top=8, passes=30, alpha=0.5)
    part_a, part_b = halves(games, settings)
    plain = learn_frequencies(games, part_a, settings)
    samples = optimum.gather(games, part_b, plain, settings.top)
    assert samples.labels.sum() == games.lengths()[part_b].sum()
    two = optimum.gather(games, part_b, plain, settings.top, workers=2)
    assert np.array_equal(samples.features, two.features)
    few = optimum.gather(games, part_b, plain, settings.top, history=False)
    assert np.array_equal(few.features, samples.features[:, :2])

    def objective(weights: np.ndarray) -> float:
        margin = weights[samples.features].sum(axis=1)
        loss = np.logaddexp(0, margin).sum() - margin[samples.labels == 1].sum()
        return float(loss + settings.width * np.abs(weights).sum())

    # The streaming solver comes close to the optimum.
    exact = optimum.fit(samples, feature_count(len(plain.frequency)), settings.width)
    assert exact.objective == pytest.approx(objective(exact.weights))
    assert exact.objective <= objective(train(games, settings).weights) < 1.05 * exact.objective


def test_a_stopped_training_goes_on_to_the_same_optimum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tengen.papers.move_prediction.training.SAVED_EVERY", 0.0)
    games = tasteful_games(12)
    settings = PredictionSettings(top=3, solver="optimum", iterations=12)
    whole = train(games, settings)

    class Stopped(Exception):
        pass

    with pytest.raises(Stopped), Run.open(tmp_path, "paper", settings) as run:
        save = run.save

        def stop(step: int, arrays, state=None) -> None:
            save(step, arrays, state)
            if step == 5:
                raise Stopped

        monkeypatch.setattr(run, "save", stop)
        train(games, settings, run=run)
    with Run.open(tmp_path, "paper", settings, resume=True) as run:
        resumed = train(games, settings, run=run)
        assert [row["step"] for row in run.rows()] == list(range(len(run.rows())))
    assert np.array_equal(whole.weights, resumed.weights) and resumed.top == 3
    assert np.array_equal(whole.frequency, resumed.frequency)
