"""Snapshots of a run are rated against each other and against anchors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.arena import Conditions, Entrant, Tournament
from tengen.arena.placing import SnapshotPlan, SnapshotRating, plan_snapshots, rate_snapshots
from tengen.errors import RunError


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        plan_snapshots(tmp_path)


def test_unknown_values_are_left_out() -> None:
    assert SnapshotRating("a", 1.0, 0.0, 2.0, 4, minutes=2.5).value() == {
        "name": "a", "elo": 1.0, "low": 0.0, "high": 2.0, "games_played": 4, "minutes": 2.5,
    }  # fmt: skip


def test_the_players_of_a_plan_are_rated(tmp_path: Path) -> None:
    entrants = (Entrant(name="new", spec="maxlib"), Entrant(name="old", spec="random", elo=0.0))
    tournament = Tournament(
        kind="pairs", games=2, conditions=Conditions(rows=3, cols=3), entrants=entrants,
        pairs=(("new", "old"),),
    )  # fmt: skip
    plan = SnapshotPlan(tournament, {"new": {"seconds": 90, "games": 12, "positions": 100}})
    found = {each.name: each for each in rate_snapshots(plan, tmp_path / "l.sqlite")}
    assert found["old"].elo == 0.0 and found["old"].minutes is None
    assert (found["new"].minutes, found["new"].games, found["new"].games_played) == (1.5, 12, 2)
