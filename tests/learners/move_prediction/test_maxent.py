"""The exact solver against liblinear and against the conditions of its optimum."""

from __future__ import annotations

import numpy as np
import pytest
from tests.needs import need

from tengen.learners.move_prediction.maxent import pseudo_gradient, solve
from tengen.learners.move_prediction.maxent_kernels import logistic_loss


def problem(seed: int, samples: int = 400, count: int = 60, active: int = 6):
    rng = np.random.default_rng(seed)
    features = np.array([rng.choice(count, active, replace=False) for _ in range(samples)])
    truth = rng.standard_normal(count) * (rng.random(count) < 0.4)
    chance = 1 / (1 + np.exp(-truth[features].sum(axis=1)))
    return features.astype(np.int64), (rng.random(samples) < chance).astype(np.int64), count


@pytest.mark.parametrize("width", [0.3, 0.9, 3.0])
def test_the_optimum_is_liblinears(width: float) -> None:
    linear_model = need("sklearn.linear_model")
    features, labels, count = problem(1)
    dense = np.zeros((len(features), count))
    np.put_along_axis(dense, features, 1.0, axis=1)
    peer = linear_model.LogisticRegression(
        l1_ratio=1.0, C=1 / width, fit_intercept=False, solver="liblinear", tol=1e-10,
        max_iter=20_000,
    ).fit(dense, labels)  # fmt: skip
    ours = solve(features, labels, count, width)
    theirs = peer.coef_[0]
    objective = (
        logistic_loss(features, labels, theirs, np.zeros(count)) + width * np.abs(theirs).sum()
    )
    assert ours.objective == pytest.approx(objective, rel=1e-6)
    assert np.allclose(ours.weights, theirs, atol=2e-3)
    assert np.array_equal(ours.weights == 0, np.abs(theirs) < 1e-9)


def test_a_weight_is_zero_exactly_within_the_width() -> None:
    features, labels, count = problem(2)
    width = 2.0
    solution = solve(features, labels, count, width)
    gradient = np.zeros(count)
    logistic_loss(features, labels, solution.weights, gradient)
    zero = solution.weights == 0
    assert zero.any() and not zero.all()
    assert np.all(np.abs(gradient[zero]) <= width + 1e-5)
    assert np.allclose(np.abs(gradient[~zero]), width, atol=1e-5)


def test_the_gradient_is_the_slope_of_the_loss() -> None:
    features, labels, count = problem(3, samples=50)
    w = np.random.default_rng(0).standard_normal(count)
    gradient = np.zeros(count)
    logistic_loss(features, labels, w, gradient)
    scratch = np.zeros(count)
    for i in range(0, count, 7):
        step = np.zeros(count)
        step[i] = 1e-6
        rise = logistic_loss(features, labels, w + step, scratch)
        fall = logistic_loss(features, labels, w - step, scratch)
        assert (rise - fall) / 2e-6 == pytest.approx(gradient[i], abs=1e-5)


def test_the_pseudo_gradient_is_zero_where_a_zero_weight_should_stay() -> None:
    w = np.array([0.0, 0.0, 0.0, 1.0, -1.0])
    gradient = np.array([0.5, -2.0, 2.0, 0.25, 0.25])
    assert pseudo_gradient(w, gradient, 1.0).tolist() == [0.0, -1.0, 1.0, 1.25, -0.75]
