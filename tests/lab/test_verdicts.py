"""One function says how a figure compares with a paper's."""

from __future__ import annotations

import pytest

from tengen.lab.verdicts import (
    AGREES,
    BETTER,
    REFUTED,
    UNMEASURED,
    WORSE,
    Comparison,
    compare,
    show,
    verdict,
)


@pytest.mark.parametrize(
    ("arguments", "options", "word"),
    [
        ((0.75, 0.80, (0.70, 0.88)), {}, AGREES),
        ((0.75, 0.97, (0.95, 0.99)), {}, BETTER),
        ((0.75, 0.60, (0.55, 0.65)), {}, WORSE),
        ((0.75, 0.60, (0.55, 0.65)), {"full": False}, UNMEASURED),
        ((0.75, 0.97, (0.95, 0.99)), {"full": False}, BETTER),
        ((10.0, 5.0, (4.0, 6.0)), {"aim": -1}, BETTER),
        ((10.0, 5.0, (4.0, 6.0)), {"aim": 0}, REFUTED),
        ((10.0, 5.0, (4.0, 6.0)), {"aim": 0, "full": False}, UNMEASURED),
        # The gap of 0.05 is within the root of the squared arms, 0.04 and 0.04.
        ((0.75, 0.80, (0.76, 0.84)), {"paper_interval": (0.71, 0.79)}, AGREES),
        ((0.75, 0.80, (0.76, 0.84)), {}, BETTER),
        ((None, 0.5), {}, UNMEASURED),
        ((0.5, None), {}, UNMEASURED),
        ((None, None), {"holds": True}, AGREES),
        ((None, None), {"holds": False}, REFUTED),
        ((None, None), {"holds": False, "full": False}, UNMEASURED),
        ((714, 714), {"aim": 0}, AGREES),
    ],
)
def test_words(arguments: tuple[float, ...], options: dict[str, object], word: str) -> None:
    assert verdict(*arguments, **options) == word  # type: ignore[arg-type]


def test_rows_carry_both_figures_and_a_reason() -> None:
    row = compare("Table 1", "ADE", 0.56, 0.70, (0.65, 0.75), unit="%", why="because")
    assert row == Comparison(
        "Table 1", "ADE", paper="56.0 %", ours="70.0 % [65, 75]", verdict=BETTER, why="because"
    )


def test_narrow_intervals_keep_their_digits() -> None:
    assert show(0.45, (0.447, 0.453), "%") == "45.0 % [44.7, 45.3]"
