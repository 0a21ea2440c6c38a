"""The paper's classifiers as models: what they say of a position, before and after storing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.contract.test_learners import walls

from tengen.board import Board
from tengen.contracts import check_scorer
from tengen.models import load_learner
from tengen.papers.scoring_failure.classifier import ScoreClassifier
from tengen.papers.scoring_failure.games import paper_games
from tengen.papers.scoring_failure.settings import ClassifierSettings
from tengen.records.record import board_at


@pytest.mark.parametrize("version", ["rpnc", "program", "repaired"])
def test_a_position_gets_what_its_game_gets(version: str, tmp_path: Path) -> None:
    games = walls(4)
    settings = ClassifierSettings(classifier=version, steps=5, seed=1)
    classifier = ScoreClassifier(settings=settings).fit(games)
    check_scorer(classifier, boards=[Board(7), Board(5, moves="B C3 W B2 B A1")])
    boards = [board_at(games.record(number)) for number in range(len(games))]
    scores, dead = classifier.trained_.predict(paper_games(games))
    assert np.allclose(classifier.values(boards), -scores)
    told = [block.status == "dead" for board in boards for block in classifier.status(board).blocks]
    assert sum(told) == dead.sum()
    classifier.save(tmp_path / "half.safetensors", half=True)
    stored = load_learner(tmp_path / "half.safetensors")
    assert np.allclose(stored.values(boards), -scores, rtol=0.05, atol=1.0)
