"""Rows of the tables of move prediction: what they share, what they keep, and their figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board, play_random
from tengen.errors import TengenError
from tengen.lab.steps import LabContext
from tengen.papers.move_prediction import MovePredictor, PredictionSettings
from tengen.papers.move_prediction import experiments as lab
from tengen.papers.move_prediction.model import TOPS
from tengen.papers.move_prediction.training import train
from tengen.records import GameRecord
from tengen.records.arrays import GameArrays, from_records

SETTINGS = PredictionSettings(games=12, top=5, seed=3)


@pytest.fixture(scope="module")
def games() -> tuple[GameArrays, GameArrays]:
    return lab.hold_out(lab.sample_games(18, 7, seed=1), 4, seed=3)


def test_games_are_held_out_by_the_seed(games: tuple[GameArrays, GameArrays]) -> None:
    rest, test = games
    assert (len(rest), len(test)) == (14, 4)
    again = lab.hold_out(lab.sample_games(18, 7, seed=1), 4, seed=3)[1]
    assert np.array_equal(again.moves, test.moves)
    with pytest.raises(TengenError, match="18 games: too few to hold out 17"):
        lab.hold_out(lab.sample_games(18, 7, seed=1), 17, seed=3)


def test_rows_that_share_frequencies_are_those_of_a_training_each(
    games: tuple[GameArrays, GameArrays],
) -> None:
    tables = lab.TableRows(*games, SETTINGS)
    alone = lab.measure(train(games[0], SETTINGS), games[1])
    assert tables.reranked(5) == {
        **alone, "top": 5, "beyond": tables.reranked(5)["beyond"], "paper": None,
    }  # fmt: skip
    assert tables.width(0.9)["top1"] == alone["top1"]
    # A row does not change what another one finds.
    first = tables.width(0.9)
    tables.width(5.0)
    assert tables.width(0.9) == first and first["paper"] == 0.2824
    assert tables.reranked(0)["beyond"] is None


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    rng = np.random.default_rng(seed)
    features = np.array([rng.choice(60, 6, replace=False) for _ in range(400)])
    truth = rng.standard_normal(60) * (rng.random(60) < 0.4)
    chance = 1 / (1 + np.exp(-truth[features].sum(axis=1)))
    return features.astype(np.int64), (rng.random(400) < chance).astype(np.int64), 60


@pytest.mark.parametrize("width", [0.3, 0.9, 3.0])
def test_the_exact_solver_finds_liblinears_optimum(width: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    features, labels, count = problem(1)
    dense = np.zeros((len(features), count))
    np.put_along_axis(dense, features, 1.0, axis=1)
    peer = linear_model.LogisticRegression(
        l1_ratio=1.0, C=1 / width, fit_intercept=False, solver="liblinear", tol=1e-10,
        max_iter=20_000,
    ).fit(dense, labels)  # fmt: skip
    weights, violation = lab.fit_exactly(features, labels, count, width)
    assert violation < 1e-3
    assert np.allclose(weights, peer.coef_[0], atol=2e-3)


def test_a_weight_is_zero_exactly_within_the_width() -> None:
    features, labels, count = problem(2)
    weights, _ = lab.fit_exactly(features, labels, count, 2.0)
    error = 1 / (1 + np.exp(-weights[features].sum(axis=1))) - labels
    gradient = np.bincount(features.ravel(), np.repeat(error, features.shape[1]), count)
    zero = weights == 0
    assert zero.any() and not zero.all()
    assert np.all(np.abs(gradient[zero]) <= 2.0 + 1e-3)
    assert np.allclose(np.abs(gradient[~zero]), 2.0, atol=1e-3)
    # A wide enough constraint leaves nothing.
    assert not lab.fit_exactly(features, labels, count, 500.0)[0].any()


def test_a_row_can_be_fitted_exactly(games: tuple[GameArrays, GameArrays]) -> None:
    row = lab.TableRows(*games, SETTINGS).width(0.5, exact=True)
    assert row["violation"] <= 0.1 and row["features"] > 0


def test_a_row_is_measured_once_for_the_same_games_and_settings(
    games: tuple[GameArrays, GameArrays], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = lab.PredictionTables(widths=(0.9,), reranked=(0, 5), sizes=(6, 12))
    context = LabContext(tmp_path, 3, 1)
    found = lab.measure_tables(context, size, *games, SETTINGS)
    assert [row["games"] for row in found["sizes"]] == [6, 12]
    (kept,) = (tmp_path / "move-prediction").glob("paper-12-*.safetensors")
    rates = MovePredictor.load(kept).evaluate(games[1])
    assert rates.rate(1) == pytest.approx(found["sizes"][1]["top1"], abs=0.01)
    monkeypatch.setattr("tengen.papers.move_prediction.experiments.measure", None)
    assert lab.measure_tables(context, size, *games, SETTINGS) == found
    with pytest.raises(TypeError):  # other games
        lab.measure_tables(context, size, games[1], games[0], SETTINGS)
    assert [sheet.title.split(":")[0] for sheet in lab.result_tables(found)] == [
        "Table I", "Table II", "Tables III and IV",
    ]  # fmt: skip
    assert lab.growth(found["sizes"]).lines[0].name == "first choice"
    assert {row.where for row in lab.trends(found)} == {"Table I", "Table II", "Table III"}
    assert len(lab.rule(found["reranked"])) == 1 and lab.rule(found["reranked"][:1]) == []
    assert [row.claim for row in lab.cells(found)] == ["araki.table1.0.9"] + [
        f"araki.table2.0.{rank}" for rank in TOPS
    ]


def test_the_shipped_predictor_is_compared_with_the_paper() -> None:
    assert {row.where for row in lab.card_rows()} == {"Table IV"}
    assert len(lab.card_rows()) % len(lab.RANKS) == 0


def test_patterns_are_drawn_most_likely_first() -> None:
    boards = [play_random(Board(5), 12, np.random.default_rng(seed)) for seed in range(24)]
    games = from_records([GameRecord(rows=5, cols=5, moves=board.moves) for board in boards])
    found = lab.telling_patterns(games, PredictionSettings(), 4)
    shares = [float(picture.title.split()[1]) for picture in found]
    assert 0 < len(found) <= 4 and shares == sorted(shares, reverse=True)
