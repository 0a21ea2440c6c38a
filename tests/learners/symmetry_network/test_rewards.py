"""Tables I, III and IV of the paper in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tengen.learners.symmetry_network.rewards import (
    APPLIES,
    CLASSES,
    STATES,
    reward,
    target,
    target_table,
    to_rewards,
    to_targets,
    value_table,
)

CS = [Fraction(0), Fraction(1, 3), Fraction(2, 5), Fraction(1)]


@pytest.mark.parametrize("c", CS)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("final", CLASSES)
def test_tables_fit_each_other(state, final, c):
    r1, r0 = reward(state, final, c, 1), reward(state, final, c, 0)
    if r1 is None:
        return
    z, a, *more = (target(o, final, c) for o in APPLIES[state])
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
