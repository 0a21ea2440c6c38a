"""State what a vertex is worth by its outputs and what they must learn; know no network.

All from White's view. `c` is the reward per captured enemy stone, `s` per own stone left at the
end. A vertex is now empty, white or black (its state) and ends in one of five classes: white's
empty point, white stone, nobody's point (the paper's "atari"), black stone, black's point. The two
blanks of the paper's table IV are filled so that the way back to its rewards (tables I and III)
stays linear, which the tests check in exact fractions.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tengen.arrays import FloatArray

CLASSES = ("white_point", "white_stone", "nobody", "black_stone", "black_point")

_Number = Fraction | int


def target(output: int, final: str, c: _Number) -> Fraction:
    """Return table IV's target of an output for a final class."""
    column = CLASSES.index(final)
    c = Fraction(c)
    two = 2 + c
    rows: tuple[tuple[_Number, ...], ...] = (
        (1, 1, Fraction(1, 2), 0, 0),
        (1, 1, 1 / two, 0, 0),
        (1, 1, (1 + c) / two, 0, 0),
        (1, 0, 0, 0, 0),
        (0, 0, 0, 0, 1),
        (0, 0, c / two, 0, 1),
        (1, 0, c / two, 0, 0),
    )
    return Fraction(rows[output][column])


def value_table(c: float, s: float) -> FloatArray:
    """Return a vertex's value as a linear function of its outputs: (3 states, 9).

    Value = (1 - s) R0 + s R1, the rewards for s = 0 and s = 1, both linear in the outputs. States
    in the order of the board's colours: empty, black, white. Columns: the seven outputs, a zero,
    the constant.
    """
    out = np.zeros((3, 9))
    out[0, [0, 3, 4, 8]] = 2 * s, 1 - s, -(1 - s), -s
    out[1, [2, 6, 8]] = s * (2 + c) + (1 - s) * c, 1 - s, -s
    out[2, [1, 5, 8]] = s * (2 + c) + (1 - s) * c, -(1 - s), -s * (1 + c) - (1 - s) * c
    return out


def target_table(c: float) -> FloatArray:
    """Return table IV as an array (7 outputs, 5 classes)."""
    exact = Fraction(c).limit_denominator(10**6)
    return np.array([[float(target(o, name, exact)) for name in CLASSES] for o in range(7)])
