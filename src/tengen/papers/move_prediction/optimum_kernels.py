"""The logistic loss and its slope over stored samples of binary features."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.arrays import FloatArray, Int32Array, UInt8Array
from tengen.jit import kernel


@kernel
def add_slope(
    features: Int32Array, labels: UInt8Array, first: int, last: int, weights: FloatArray,
    slope: FloatArray,
) -> float:  # fmt: skip
    """Add the slope of the loss over samples first to last; return their loss.

    Per feature it is what the model expects of it minus what the samples have.
    """
    total = 0.0
    for k in range(first, last):
        margin = 0.0
        for j in range(features.shape[1]):
            margin += weights[features[k, j]]
        small = np.exp(-abs(margin))
        chance = 1.0 / (1.0 + small) if margin >= 0 else small / (1.0 + small)
        total += np.log1p(small) + max(margin, 0.0)
        if labels[k]:
            total -= margin
            chance -= 1.0
        for j in range(features.shape[1]):
            slope[features[k, j]] += chance
    return total
