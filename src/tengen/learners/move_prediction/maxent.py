"""Solve maximum entropy with inequality constraints exactly: L1-penalised logistic regression.

For two classes and binary features the dual of maximum entropy with widths W/N is: minimise sum_k
-log p(y_k | x_k) + W ||w||_1 over w, without intercept. `solve` finds the optimum by OWL-QN
(limited memory BFGS that stays in one orthant). For tens of millions of samples the recipe uses
FTRL-proximal instead (see `paper_kernels`), which needs no samples in memory and comes close.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.learners.move_prediction.maxent_kernels import logistic_loss


@dataclass(frozen=True)
class Solution:
    """The weights, the objective there, and how far from optimal they are."""

    weights: FloatArray
    objective: float
    iterations: int
    violation: float
    """The largest entry of the pseudo-gradient: 0 at the optimum."""


def pseudo_gradient(w: FloatArray, gradient: FloatArray, width: float) -> FloatArray:
    """Return the smallest subgradient of loss + width * ||w||_1."""
    right, left = gradient + width, gradient - width
    at_zero = np.where(right < 0, right, np.where(left > 0, left, 0.0))
    result: FloatArray = np.where(w > 0, right, np.where(w < 0, left, at_zero))
    return result


def solve(
    features: IntArray,
    labels: IntArray,
    count: int,
    width: float,
    *,
    tolerance: float = 1e-6,
    limit: int = 500,
    memory: int = 10,
) -> Solution:
    """Minimise the penalised loss over `count` weights, starting from zero.

    Stops when no entry of the pseudo-gradient exceeds `tolerance`, or after `limit` iterations.
    """
    w = np.zeros(count)
    gradient = np.zeros(count)
    value = float(logistic_loss(features, labels, w, gradient)) + width * float(np.abs(w).sum())
    steps: list[FloatArray] = []
    changes: list[FloatArray] = []
    iteration = 0
    slope = pseudo_gradient(w, gradient, width)
    for _ in range(limit):
        iteration += 1
        if float(np.abs(slope).max(initial=0.0)) <= tolerance:
            break
        direction = -_two_loop(slope, steps, changes)
        # Stay in the orthant of descent.
        direction[direction * slope >= 0] = 0.0
        orthant = np.where(w != 0, np.sign(w), -np.sign(slope))
        scale = 1.0 if steps else 1.0 / max(float(np.linalg.norm(slope)), 1e-12)
        moved = False
        for _halving in range(60):
            trial = w + scale * direction
            trial[trial * orthant < 0] = 0.0
            new_gradient = np.zeros(count)
            loss = float(logistic_loss(features, labels, trial, new_gradient))
            new_value = loss + width * float(np.abs(trial).sum())
            if new_value <= value + 1e-4 * float(slope @ (trial - w)):
                moved = True
                break
            scale *= 0.5
        if not moved:
            if not steps:
                break
            steps, changes = [], []  # a bad model of the curvature: forget it and try downhill
            continue
        step, change = trial - w, new_gradient - gradient
        if float(step @ change) > 1e-12:
            steps, changes = [*steps, step][-memory:], [*changes, change][-memory:]
        w, gradient, value = trial, new_gradient, new_value
        slope = pseudo_gradient(w, gradient, width)
    return Solution(w, value, iteration, float(np.abs(slope).max(initial=0.0)))


def _two_loop(slope: FloatArray, steps: list[FloatArray], changes: list[FloatArray]) -> FloatArray:
    """Multiply the slope by the approximate inverse Hessian."""
    q = slope.copy()
    pairs = list(zip(steps, changes, strict=True))
    factors: list[float] = []
    for step, change in reversed(pairs):
        factor = float(step @ q) / float(step @ change)
        factors.append(factor)
        q -= factor * change
    if pairs:
        step, change = pairs[-1]
        q *= float(step @ change) / float(change @ change)
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        q += (factor - float(change @ q) / float(step @ change)) * step
    return q
