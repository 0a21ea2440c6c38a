"""Exhibits: snapshots of recorded trainings, and positions where the machines fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tengen.errors import TengenError
from tengen.lab.evidence import read_evidence, record_of, write_evidence
from tengen.lab.exhibits import Failure
from tengen.lab.papers import Paper, papers
from tengen.lab.snapshots import make_snapshots, snapshots_of
from tengen.models import load_learner
from tengen.models.settings import to_plain
from tengen.models.store import load_model
from tengen.papers.opening_td.experiments import CurveSize, encodings
from tengen.papers.opening_td.training import Trained, train
from tengen.players import make_player
from tengen.scoring import BlockScorer

MOST_BYTES = 4_000_000
FAILURES = [
    pytest.param(paper, failure, id=f"{name}: {failure.title}")
    for name, paper in papers().items()
    if paper.exhibit
    for failure in paper.exhibit.failures
]


def test_snapshots_are_small_models_in_half_precision() -> None:
    files = [path for paper in papers().values() for path in snapshots_of(paper).values()]
    assert 0 < sum(path.stat().st_size for path in files) <= MOST_BYTES
    for path in files:
        tensors, card = load_model(path)
        assert {array.dtype for array in tensors.values() if array.dtype.kind == "f"} <= {
            np.dtype(np.float16)
        }
        assert card.remake.startswith("tengen lab snapshots ")
        load_learner(path)


@pytest.mark.parametrize(("paper", "failure"), FAILURES)
def test_a_machine_fails_where_its_exhibit_says_so(paper: Paper, failure: Failure) -> None:
    assert paper.exhibit is not None
    board = failure.board()
    if not paper.exhibit.player:
        judged = BlockScorer.load("scorer").score(board).score
        assert failure.right == f"{'B' if judged > 0 else 'W'}+{abs(judged):g}"
        *_, last = snapshots_of(paper).values()
        [counted] = load_learner(last).values([board])
        assert abs(counted - judged) > failure.loses
        return
    right = board.point(failure.right)
    assert board.is_legal(right)
    machine = make_player(paper.exhibit.player.replace("{}", paper.exhibit.model))
    played = machine.choose(board, np.random.default_rng(0))
    assert played != right
    # A strong player sees what is lost.
    judge, lost = load_learner("tengen-judge", shared=True), []
    for move in (right, played):
        after = board.copy()
        after.play(move)
        [view] = judge.evaluate([after])
        lost.append(view.score if board.turn == 1 else -view.score)
    assert lost[0] - lost[1] > failure.loses


@pytest.fixture
def small_paper(tmp_path: Path) -> Paper:
    """The paper on openings by temporal differences with a small recorded training."""
    size = CurveSize(
        games=250, trainings=1, expert="builtin:playouts=1", rows=5, curve_every=250,
        curve_games=2,
    )  # fmt: skip
    trained = Trained.of(tmp_path / "runs", encodings(size), [3])
    for job in trained.jobs.values():
        train(job)
    run = record_of("tengen lab opening-td", [3], to_plain(size), seconds=1, cpu_seconds=1)
    write_evidence(tmp_path / "data" / "opening-td", trained.curves(), run)
    return replace(papers()["opening-td"], folder=tmp_path)


def test_snapshots_follow_from_repeating_the_recorded_training(small_paper: Paper) -> None:
    files = list(make_snapshots("opening-td", small_paper))
    assert snapshots_of(small_paper) == dict(zip((0, 250), files, strict=True))
    before, after = (load_learner(path) for path in files)
    assert (before.games_, after.games_) == (0, 250)
    assert not np.array_equal(before.net_.w1, after.net_.w1)


def test_a_training_that_goes_another_way_makes_no_snapshots(small_paper: Paper) -> None:
    folder = small_paper.data / "opening-td"
    rows = read_evidence(folder)
    columns = [cells.tolist() for cells in rows.columns.values()]
    plain = [dict(zip(rows.columns, row, strict=True)) for row in zip(*columns, strict=True)]
    plain[-1]["mean_score"] += 1.0
    write_evidence(folder, plain, rows.run)
    with pytest.raises(TengenError, match="differs from its rows"):
        list(make_snapshots("opening-td", small_paper))
    assert snapshots_of(small_paper) == {}
