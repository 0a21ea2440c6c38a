"""Tables I, III and IV of the paper in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tengen.papers.symmetry_network.network import CLASSES, target_table, targets, value_table

CS = [Fraction(0), Fraction(1, 3), Fraction(2, 5), Fraction(1)]
STATES = ("empty", "white", "black")
# Outputs that are trained and read in each state: (the Z, the As), places in network.OUTPUTS.
APPLIES: dict[str, tuple[int, ...]] = {"empty": (0, 3, 4), "white": (1, 5), "black": (2, 6)}

Number = Fraction | int


def reward(state: str, final: str, c: Number, s: Number) -> Fraction | None:
    """Return table I's reward, or None where the paper leaves a blank."""
    base: dict[str, Number] = dict(zip(CLASSES, (1, s, 0, -s, -1), strict=True))
    if state == "empty":
        return Fraction(base[final])
    if final == f"{state}_point":
        return None
    survives = final == f"{state}_stone"
    captured = 0 if survives else (-c if state == "white" else c)
    return Fraction(base[final]) + captured


def to_rewards(
    state: str, z: Number, a: Number, a2: Number, c: Number
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
    state: str, r1: Number, r0: Number, c: Number
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


@pytest.mark.parametrize("c", CS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("final", CLASSES)
def test_tables_fit_each_other(state, final, c):
    r1, r0 = reward(state, final, c, 1), reward(state, final, c, 0)
    if r1 is None:
        return
    column = CLASSES.index(final)
    z, a, *more = (targets(c)[o][column] for o in APPLIES[state])
    a2 = more[0] if more else Fraction(0)
    # Targets are the inverse of the rewards, and outputs at their targets give the rewards back.
    assert to_targets(state, r1, r0, c) == (z, a, a2)
    assert to_rewards(state, z, a, a2, c) == (r1, r0)
    for s in (Fraction(0), Fraction(2, 5), Fraction(1)):
        assert reward(state, final, c, s) == (1 - s) * r0 + s * r1


def test_blanks_of_table_one():
    assert reward("white", "white_point", Fraction(2, 5), 0) is None
    assert reward("black", "black_point", Fraction(2, 5), 0) is None
    assert reward("black", "white_point", Fraction(2, 5), 0) == Fraction(7, 5)
    assert reward("white", "black_stone", Fraction(2, 5), Fraction(2, 5)) == Fraction(-4, 5)


def test_numbers_of_table_four():
    table = target_table(0.4)
    assert table[1, 2] == pytest.approx(0.4167, abs=1e-4)
    assert table[2, 2] == pytest.approx(0.5833, abs=1e-4)
    assert table[5, 2] == table[6, 2] == pytest.approx(0.1667, abs=1e-4)


def test_value_is_linear_in_the_outputs():
    table = value_table(0.4, 0.4)
    outputs = np.array([0.7, 0.6, 0.2, 0.1, 0.3, 0.25, 0.15])
    values = table[:, :7] @ outputs + table[:, 8]
    assert values[0] == pytest.approx(0.4 * (2 * 0.7 - 1) + 0.6 * (0.1 - 0.3))
    assert values[1] == pytest.approx(1.2 * 0.2 - 0.4 + 0.6 * 0.15)
    assert values[2] == pytest.approx(1.2 * 0.6 - 0.8 - 0.6 * 0.25)
    assert not table[:, 7].any()
