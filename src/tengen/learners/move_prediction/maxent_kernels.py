"""Compute the logistic loss of sparse binary samples and its gradient; know nothing of Go."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.jit import kernel


@kernel
def logistic_loss(features, labels, w, gradient):
    """Return the sum of -log p over all samples and write its gradient.

    `features` is (samples, active features per sample); `labels` are 0 or 1.
    """
    loss = 0.0
    gradient[:] = 0
    for k in range(features.shape[0]):
        t = 0.0
        for j in range(features.shape[1]):
            t += w[features[k, j]]
        y = labels[k]
        # log(1 + exp(t)) - y t without overflow.
        loss += max(t, 0.0) + np.log1p(np.exp(-abs(t))) - y * t
        g = 1.0 / (1.0 + np.exp(-t)) - y
        for j in range(features.shape[1]):
            gradient[features[k, j]] += g
    return loss
