"""Snapshots of a run are rated against each other and against anchors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.arena import Conditions, Entrant, Tournament
from tengen.arena.placing import SnapshotPlan, plan_snapshots, rate_snapshots
from tengen.errors import RunError


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        plan_snapshots(tmp_path)


def test_the_players_of_a_plan_are_rated(tmp_path: Path) -> None:
    entrants = (Entrant(name="new", spec="maxlib"), Entrant(name="old", spec="random", elo=0.0))
    tournament = Tournament(
        kind="pairs", games=2, conditions=Conditions(rows=3, cols=3), entrants=entrants,
        pairs=(("new", "old"),),
    )  # fmt: skip
    plan = SnapshotPlan(tournament, {"new": {"seconds": 90, "games": 12, "positions": 100}})
    new, old = rate_snapshots(plan, tmp_path / "l.sqlite")
    assert old == {"name": "old", "elo": 0.0, "low": 0.0, "high": 0.0, "games_played": 2}
    assert (new["name"], new["minutes"], new["games"], new["games_played"]) == ("new", 1.5, 12, 2)
