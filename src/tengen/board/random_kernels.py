"""Draw random numbers inside kernels; know nothing of Go.

A generator is an array of one uint64 word, advanced by splitmix64. A stream is named by (seed,
index), so that work item `index` draws the same numbers whichever worker runs it.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from tengen.jit import hot_kernel, inner_kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@hot_kernel
def mix(z):
    """Scramble a 64-bit word so that neighbouring words become unrelated."""
    z = np.uint64(z)
    z = (z ^ (z >> np.uint64(30))) * _MIX1
    z = (z ^ (z >> np.uint64(27))) * _MIX2
    return z ^ (z >> np.uint64(31))


@hot_kernel
def seed_stream(rng, seed, index):
    """Put the generator at the start of stream `index` of `seed`."""
    rng[0] = mix(np.uint64(seed) + _GOLDEN) ^ mix(mix(np.uint64(index)) + _GOLDEN)


@inner_kernel
def _next_word(rng):
    """Return 64 random bits."""
    rng[0] += _GOLDEN
    return mix(rng[0])


@inner_kernel
def below(rng, n):
    """Return a random integer from 0 to n - 1 (n < 2**31)."""
    return np.int64(((_next_word(rng) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@inner_kernel
def uniform(rng):
    """Return a random float in [0, 1)."""
    return np.float64(_next_word(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
