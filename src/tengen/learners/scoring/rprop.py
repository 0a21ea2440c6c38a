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

# Riedmiller and Braun's: what a step is multiplied by where signs agree and where they flip, and
# how small it may become.
_STEP_UP, _STEP_DOWN, _LEAST_STEP = 1.2, 0.5, 1e-6
# What a rate is multiplied by when the error falls and when it rises beyond the tolerance, and the
# share of its speed that a number keeps.
_RATE_UP, _RATE_DOWN, _TOLERANCE, _KEPT = 1.05, 0.7, 1.04, 0.9


class Rprop:
    """iRprop-; every step begins as `first` and stays below `most`."""

    def __init__(self, *, first: float = 0.1, most: float = 50.0) -> None:
        self.first, self.most = first, most
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
            steps[agreement > 0] *= _STEP_UP
            steps[agreement < 0] *= _STEP_DOWN
            np.clip(steps, _LEAST_STEP, self.most, out=steps)
            kept = np.where(agreement < 0, 0.0, gradient)
            array -= np.sign(kept) * steps
            last[...] = kept


class Momentum:
    """Gradient descent with momentum and a rate that adapts, from `rate` on."""

    def __init__(self, *, rate: float) -> None:
        self.rate = rate
        self._speed: list[FloatArray] = []
        self._error = np.inf

    def step(
        self, arrays: Sequence[FloatArray], gradients: Sequence[FloatArray], error: float = 0.0
    ) -> None:
        """Change the arrays in place; `error` is the batch's, by which the rate adapts."""
        if not self._speed:
            self._speed = [np.zeros(a.shape) for a in arrays]
        if error > self._error * _TOLERANCE:
            self.rate *= _RATE_DOWN
            for speed in self._speed:
                speed[...] = 0.0
        elif error < self._error:
            self.rate *= _RATE_UP
        self._error = error
        for array, gradient, speed in zip(arrays, gradients, self._speed, strict=True):
            speed *= _KEPT
            speed -= self.rate * (1 - _KEPT) * gradient
            array += speed
