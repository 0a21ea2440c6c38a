"""Breed weight vectors: the paper's self-adaptive mutation, CMA-ES, or a mean with mirrored pairs.

A `Breeder` lists the individuals to measure and breeds the next generation from their scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.extras import need

FIRST_SPREAD = 0.2
"""Standard deviation of the first weights; not in the paper, but Blondie24 drew from +-0.2."""
_FIRST_STEP = 0.05  # first step size of every weight, not in the paper either
_CMA_STEP = 0.1  # first step size of CMA-ES, half of the first spread
_MIRROR_STEP = 0.1  # standard deviation of the mirrored pairs around their mean
_MIRROR_RATE = 0.03  # largest move of the mean per generation and weight; it decreases, see `_move`
_NONE: IntArray = np.zeros(0, np.int64)
_MIRROR_MEMORY = 0.95  # decay per generation of the running average of means


def _normals(seed: int, generation: int, child: int, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the normals of one child, from its own stream: the order of work has no effect."""
    rng = np.random.default_rng([seed, generation, child])
    return rng.standard_normal(n), rng.standard_normal(n)


class Breeder:
    """A way of breeding; generation 0 is drawn as in the paper, and by default none survive."""

    def __init__(self, size: int, n_weights: int, seed: int) -> None:
        self.seed = seed
        draws = [_normals(seed, 0, i, n_weights)[0] * FIRST_SPREAD for i in range(size)]
        self.weights: FloatArray = np.stack(draws)
        """The individuals of this generation, one per row."""
        self.best: FloatArray = self.weights[0]  # the weights to play with

    def breed(self, fitness: FloatArray, generation: int) -> IntArray:
        """Make the next generation, numbered `generation`, from this one's fitness.

        Return the indices of the survivors, which become the first rows.
        """
        raise NotImplementedError

    def arrays(self) -> dict[str, FloatArray]:
        """Return everything that later generations depend on."""
        raise NotImplementedError

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Continue from `arrays()`."""
        for name in self.arrays():
            setattr(self, name, arrays[name])


class PaperStrategy(Breeder):
    """The paper's (mu + mu) strategy; every weight has a step size, the best survivor comes first.

    A child is sigma' = sigma * exp(tau * N(0, 1)) and w' = w + sigma' * N(0, 1), with fresh normals
    for every weight and use and tau = (2 sqrt(n))^-0.5.
    """

    def __init__(self, size: int, n_weights: int, seed: int) -> None:
        super().__init__(size, n_weights, seed)
        self.steps: FloatArray = np.full((size, n_weights), _FIRST_STEP)

    def breed(self, fitness: FloatArray, generation: int) -> IntArray:
        """Keep the better half, best first (equal ones in their order), and add a child of each."""
        order = np.argsort(-fitness, kind="stable")[: len(self.weights) // 2]
        parents, steps = self.weights[order], self.steps[order]
        n = parents.shape[1]
        tau = (2.0 * np.sqrt(n)) ** -0.5
        children, child_steps = np.empty_like(parents), np.empty_like(steps)
        for i in range(len(order)):
            first, second = _normals(self.seed, generation, i, n)
            child_steps[i] = steps[i] * np.exp(tau * first)
            children[i] = parents[i] + child_steps[i] * second
        self.weights = np.concatenate([parents, children])
        self.steps = np.concatenate([steps, child_steps])
        self.best = self.weights[0]
        return order

    def arrays(self) -> dict[str, FloatArray]:
        """Return weights and step sizes."""
        return {"weights": self.weights, "steps": self.steps}

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Continue from `arrays()`."""
        super().restore(arrays)
        self.best = self.weights[0]


class CmaStrategy(Breeder):
    """CMA-ES with a diagonal matrix, from the library `cma`; `best` is the current mean.

    The search begins at the best of generation 0. Its state is the fitness of all generations; to
    resume a run, the search is repeated, which takes milliseconds per generation.
    """

    def __init__(self, size: int, n_weights: int, seed: int) -> None:
        need("lab", "cma")
        super().__init__(size, n_weights, seed)
        self._search: Any = None
        self._told: list[FloatArray] = []

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Repeat the search."""
        for generation, fitness in enumerate(arrays["told"], 1):
            self.breed(fitness, generation)

    def breed(self, fitness: FloatArray, generation: int) -> IntArray:
        """Make the next generation; none survive."""
        import cma

        self._told.append(np.array(fitness))
        if self._search is None:
            rng = np.random.default_rng([self.seed, 11])
            options = {
                "popsize": len(self.weights),
                "CMA_diagonal": True,
                "verbose": -9,
                "seed": np.nan,  # the library leaves NumPy's global generator alone
                "randn": lambda *shape: rng.standard_normal(shape),
            }
            start = self.weights[int(np.argmax(fitness))]
            self._search = cma.CMAEvolutionStrategy(start, _CMA_STEP, options)
        else:
            self._search.tell(list(self.weights), (-fitness).tolist())
        self.weights = np.array(self._search.ask())
        self.best = np.array(self._search.mean, np.float64)
        return _NONE

    def arrays(self) -> dict[str, FloatArray]:
        """Return the fitness of every generation so far."""
        return {"told": np.array(self._told).reshape(-1, len(self.weights))}


class MirrorStrategy(Breeder):
    """Evolution as gradient ascent: pairs on both sides of a mean, which Adam moves.

    The mean begins at the best of generation 0; later generations are mean +- a normal step, and
    the steps, weighted by rank, move the mean. `best` is roughly the average of the last 20 means.
    """

    def __init__(self, size: int, n_weights: int, seed: int) -> None:
        super().__init__(size, n_weights, seed)
        self.mean: FloatArray = np.zeros(0)
        self.moments: FloatArray = np.zeros((2, n_weights))

    def breed(self, fitness: FloatArray, generation: int) -> IntArray:
        """Make the next generation; none survive."""
        if generation == 1:
            self.mean = self.best = self.weights[int(np.argmax(fitness))].copy()
        else:
            self._move(fitness, generation - 1)
            self.best = _MIRROR_MEMORY * self.best + (1 - _MIRROR_MEMORY) * self.mean
        half = len(self.weights) // 2
        n = len(self.mean)
        steps = np.stack([_normals(self.seed, generation, i, n)[0] for i in range(half)])
        steps *= _MIRROR_STEP
        self.weights = np.concatenate([self.mean + steps, self.mean - steps])
        return _NONE

    def _move(self, fitness: FloatArray, times: int) -> None:
        """Move the mean uphill by Adam's rule; `times` counts the moves from 1."""
        half = len(self.weights) // 2
        ranks = np.argsort(np.argsort(fitness, kind="stable"), kind="stable")
        shares = ranks / (len(ranks) - 1) - 0.5
        steps = self.weights[:half] - self.mean
        slope = (shares[:half] - shares[half:]) @ steps / (_MIRROR_STEP**2 * half)
        self.moments[0] += 0.1 * (slope - self.moments[0])
        self.moments[1] += 0.01 * (slope**2 - self.moments[1])
        first = self.moments[0] / (1 - 0.9**times)
        second = self.moments[1] / (1 - 0.99**times)
        # Halved after 90 generations: the remaining gain is small compared with the noise.
        rate = _MIRROR_RATE / np.sqrt(1 + times / 30)
        self.mean = self.mean + rate * first / (np.sqrt(second) + 1e-12)

    def arrays(self) -> dict[str, FloatArray]:
        """Return the individuals, their mean, the best, and Adam's two moments."""
        mean, best, moments = self.mean, self.best, self.moments
        return {"weights": self.weights, "mean": mean, "best": best, "moments": moments}


STRATEGIES: dict[str, type[Breeder]] = {
    "paper": PaperStrategy,
    "cma": CmaStrategy,
    "mirror": MirrorStrategy,
}
"""The ways of breeding by name."""
