"""State what a vertex is worth, what outputs must learn, and the way between, in exact fractions.

All from White's view. `c` is the reward per captured enemy stone, `s` per own stone left at the
end. A vertex is now empty, white or black (its state) and ends in one of five classes: white's
empty point, white stone, nobody's point (the paper's "atari"), black stone, black's point. The
functions at the top are the paper's tables I, III and IV; the two blanks of its table IV are filled
so that the inverse stays linear.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tengen.arrays import FloatArray

STATES = ("empty", "white", "black")
CLASSES = ("white_point", "white_stone", "nobody", "black_stone", "black_point")

# Outputs that are trained and read in each state: (the Z, the As), places in features.OUTPUTS.
APPLIES: dict[str, tuple[int, ...]] = {"empty": (0, 3, 4), "white": (1, 5), "black": (2, 6)}

_Number = Fraction | int


def reward(state: str, final: str, c: _Number, s: _Number) -> Fraction | None:
    """Return table I's reward, or None where the paper leaves a blank."""
    base: dict[str, _Number] = dict(zip(CLASSES, (1, s, 0, -s, -1), strict=True))
    if state == "empty":
        return Fraction(base[final])
    if final == f"{state}_point":
        return None
    survives = final == f"{state}_stone"
    captured = 0 if survives else (-c if state == "white" else c)
    return Fraction(base[final]) + captured


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


def to_rewards(
    state: str, z: _Number, a: _Number, a2: _Number, c: _Number
) -> tuple[Fraction, Fraction]:
    """Return (R1, R0), the rewards for s = 1 and s = 0, from a vertex's outputs (table III).

    `a2` is the second eye likelihood of an empty vertex and ignored elsewhere.
    """
    z, a, c = Fraction(z), Fraction(a), Fraction(c)
    if state == "empty":
        return 2 * z - 1, a - Fraction(a2)
    if state == "white":
        return (2 + c) * z - (1 + c), -c * (1 - z) - a
    return (2 + c) * z - 1, c * z + a


def to_targets(
    state: str, r1: _Number, r0: _Number, c: _Number
) -> tuple[Fraction, Fraction, Fraction]:
    """Return (Z, A, A2) from a final vertex's rewards: table III the other way round."""
    r1, r0, c = Fraction(r1), Fraction(r0), Fraction(c)
    if state == "empty":
        return (1 + r1) / 2, max(r0, Fraction(0)), max(-r0, Fraction(0))
    if state == "white":
        z = (r1 + 1 + c) / (2 + c)
        return z, -r0 - c * (1 - z), Fraction(0)
    z = (r1 + 1) / (2 + c)
    return z, r0 - c * z, Fraction(0)


def value_table(c: float, s: float) -> FloatArray:
    """Return a vertex's value as a linear function of its outputs: (3 states, 9).

    Value = (1 - s) R0 + s R1, both linear in the outputs. States in the order of the board's
    colours: empty, black, white. Columns: the seven outputs, a zero, the constant.
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
