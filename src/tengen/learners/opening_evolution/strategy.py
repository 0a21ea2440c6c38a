"""Breed weight vectors: self-adaptive mutation and truncation selection, as in the paper. Knows no
Go.

Every weight has a step size of its own. A child is sigma' = sigma * exp(tau * N(0, 1)) and w' = w +
sigma' * N(0, 1), fresh normals for every weight and use, tau = (2 sqrt(n))^-0.5. The better half of
the population survives unchanged, each survivor has one child: (mu + mu).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

FIRST_SPREAD = 0.2
"""Standard deviation of the first weights; the paper does not say, its model Blondie24 drew from
+-0.2.
"""
FIRST_STEP = 0.05
"""First step size of every weight, likewise."""


@dataclass
class Population:
    """Weight vectors with their step sizes; one row an individual."""

    weights: FloatArray
    steps: FloatArray

    @classmethod
    def first(cls, size: int, n_weights: int, seed: int) -> Population:
        """Draw generation 0."""
        weights = np.stack([_normals(seed, 0, i, n_weights)[0] * FIRST_SPREAD for i in range(size)])
        return cls(weights, np.full((size, n_weights), FIRST_STEP))

    def __len__(self) -> int:
        return len(self.weights)


def rate_of_change(n_weights: int) -> float:
    """Return tau, how fast step sizes change.

    >>> round(rate_of_change(9350), 4), round(rate_of_change(36063), 4)
    (0.0719, 0.0513)
    """
    return float((2.0 * np.sqrt(n_weights)) ** -0.5)


def _normals(seed: int, generation: int, child: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the normals of one child: a stream of its own, so that no order of work matters."""
    rng = np.random.default_rng([seed, generation, child])
    return rng.standard_normal(n), rng.standard_normal(n)


def next_generation(
    population: Population, fitness: FloatArray, generation: int, seed: int
) -> Population:
    """Keep the better half, best first, and add one mutated child of each.

    Among equal fitness the earlier row goes first. `generation` numbers the new generation.
    """
    order = np.argsort(-fitness, kind="stable")[: len(population) // 2]
    parents, steps = population.weights[order], population.steps[order]
    n = parents.shape[1]
    tau = rate_of_change(n)
    children, child_steps = np.empty_like(parents), np.empty_like(steps)
    for i in range(len(order)):
        first, second = _normals(seed, generation, i, n)
        child_steps[i] = steps[i] * np.exp(tau * first)
        children[i] = parents[i] + child_steps[i] * second
    return Population(np.concatenate([parents, children]), np.concatenate([steps, child_steps]))
