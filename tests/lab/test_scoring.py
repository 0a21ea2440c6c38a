"""The paper's scoring network on a few games, and the tables of what parts of the scorer add."""

from __future__ import annotations

from pathlib import Path

import pytest

from tengen.lab import papers
from tengen.lab.scoring import (
    FAULTS,
    Size,
    failure,
    make_games,
    paper_games,
    train_versions,
)
from tengen.lab.steps import LabContext
from tengen.learners.scoring.training import label
from tengen.records.arrays import GameArrays, from_records


@pytest.fixture(scope="module")
def games() -> GameArrays:
    return from_records(make_games(10, 5, seed=2))


def test_every_version_is_trained_and_told(games: GameArrays) -> None:
    told: list[str] = []
    runs = train_versions(games, counts=(4,), steps=3, say=told.append)
    assert len(runs) == len(told) == 9
    assert {run["energy"] for run in runs} == {"step", "linear", "soft score"}
    assert {run["games"] for run in runs} == {4}
    assert paper_games(games).x.shape[1] == 46


def test_the_failure_is_shown_with_its_reasons(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(b"\n".join(game.sgf() for game in make_games(6, 5, seed=2)))
    size = Size(made=0, train=str(path), counts=(4,), steps=3)
    result = failure(LabContext(tmp_path, 0, 1), size)
    assert result.points == FAULTS and result.data["faults"] == list(FAULTS)
    assert result.data["paper"]["exact"] == papers.SCORING_EXACT
    assert len(result.tables[0].rows) == len(result.data["runs"]) == 9


def test_games_repeat_themselves_and_have_their_true_score() -> None:
    steps: list[tuple[int, int]] = []
    games = make_games(3, 5, seed=2, report=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert games and [g.sgf() for g in games] == [g.sgf() for g in make_games(3, 5, seed=2)]
    [labelled] = label(games)
    assert labelled.table.exact(labelled.alive).all()
