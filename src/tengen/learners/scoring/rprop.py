"""Move numbers downhill in full batches: iRprop-, and descent with momentum; know no network.

Both take the gradient of the whole batch and change the arrays in place. RPROP looks at signs
only: each number has a step of its own that grows while the gradient keeps its sign and shrinks
when it flips. iRprop- (Igel and Husken) forgets a flipped gradient instead of taking the step
back. `Momentum` is the "GDXNC" the scoring paper promised: gradient descent with momentum and a
rate that grows while the error falls.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tengen.arrays import FloatArray


class Rprop:
    """iRprop- with the factors and bounds of Riedmiller and Braun."""

    def __init__(
        self,
        *,
        up: float = 1.2,
        down: float = 0.5,
        first: float = 0.1,
        least: float = 1e-6,
        most: float = 50.0,
    ) -> None:
        self.up, self.down, self.first, self.least, self.most = up, down, first, least, most
        self._steps: list[FloatArray] = []
        self._last: list[FloatArray] = []

    def step(
        self, arrays: Sequence[FloatArray], gradients: Sequence[FloatArray], error: float = 0.0
    ) -> None:
        """Change the arrays in place by one batch's gradients; `error` is not looked at."""
        if not self._steps:
            self._steps = [np.full(a.shape, self.first) for a in arrays]
            self._last = [np.zeros(a.shape) for a in arrays]
        for array, gradient, steps, last in zip(
            arrays, gradients, self._steps, self._last, strict=True
        ):
            agreement = gradient * last
            steps[agreement > 0] *= self.up
            steps[agreement < 0] *= self.down
            np.clip(steps, self.least, self.most, out=steps)
            kept = np.where(agreement < 0, 0.0, gradient)
            array -= np.sign(kept) * steps
            last[...] = kept


class Momentum:
    """Gradient descent with momentum and an adaptive rate."""

    def __init__(
        self,
        *,
        rate: float = 0.01,
        momentum: float = 0.9,
        up: float = 1.05,
        down: float = 0.7,
        tolerance: float = 1.04,
    ) -> None:
        self.rate, self.momentum = rate, momentum
        self.up, self.down, self.tolerance = up, down, tolerance
        self._speed: list[FloatArray] = []
        self._error = np.inf

    def step(
        self, arrays: Sequence[FloatArray], gradients: Sequence[FloatArray], error: float = 0.0
    ) -> None:
        """Change the arrays in place; `error` is the batch's, by which the rate adapts."""
        if not self._speed:
            self._speed = [np.zeros(a.shape) for a in arrays]
        if error > self._error * self.tolerance:
            self.rate *= self.down
            for speed in self._speed:
                speed[...] = 0.0
        elif error < self._error:
            self.rate *= self.up
        self._error = error
        for array, gradient, speed in zip(arrays, gradients, self._speed, strict=True):
            speed *= self.momentum
            speed -= self.rate * (1 - self.momentum) * gradient
            array += speed
