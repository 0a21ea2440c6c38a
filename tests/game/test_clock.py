"""Clocks: nobody loses on time, and nobody hurries without a limit."""

from __future__ import annotations

import pytest

from tengen.game.clock import Clock


def test_without_limits_there_is_no_budget() -> None:
    assert Clock().budget(1, 81, 0) is None
    # GTP: a period with no stones means no limit.
    assert Clock.settings(0, 1, 0).budget(1, 81, 0) is None


@pytest.mark.parametrize(
    ("main", "period", "stones"),
    [(300, 0, 0), (10, 0, 0), (60, 30, 5), (0, 30, 5), (60, 5, 1), (0, 5, 1), (1, 0, 0)],
)
@pytest.mark.parametrize("points", [81, 361])
def test_a_player_that_uses_its_budget_never_loses_on_time(
    main: float, period: float, stones: int, points: int
) -> None:
    clock = Clock.settings(main, period, stones)
    side = clock.sides[1]
    for ply in range(0, 2 * points, 2):
        budget = clock.budget(1, points, ply)
        assert budget is not None and budget > 0
        side = clock.sides[1]
        available = side.left + (period if side.stones == 0 and stones else 0.0)
        # Only the shortest time of all may exceed what is left: absolute time runs out some day.
        assert budget <= max(available, 0.0101)
        clock.spend(1, budget)
    if not stones:
        assert side.left >= 0


def test_no_clock_makes_a_move_last_for_ever() -> None:
    clock = Clock.settings(1e20, 0, 0)
    assert clock.budget(1, 361, 0) == 600
    clock.set_left(1, 1e20, 1)
    assert clock.budget(1, 361, 0) == 600


def test_a_program_knows_better_than_our_count() -> None:
    clock = Clock.settings(600, 0, 0)
    before = clock.budget(2, 361, 0)
    clock.set_left(2, 10.0, 0)
    after = clock.budget(2, 361, 0)
    assert before is not None and after is not None and after < before / 10
    clock.set_left(2, 25.0, 5)
    assert clock.budget(2, 361, 0) == pytest.approx(4.6)
    clock.restart()
    assert clock.budget(2, 361, 0) == before


def test_fischers_clock_gives_time_back() -> None:
    clock = Clock.fischer(30, 5)
    for ply in range(0, 400, 2):
        budget = clock.budget(1, 361, ply)
        assert budget is not None and 0 < budget < clock.sides[1].left
        clock.spend(1, budget)
    assert clock.sides[1].left >= 5
    assert budget > 3  # the increment is used, not hoarded
