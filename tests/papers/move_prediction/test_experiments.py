"""The experiments at tiny sizes: their games, what they keep, and the form of their rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.board import Board, play_random
from tengen.errors import TengenError
from tengen.lab.steps import LabContext
from tengen.papers.move_prediction import PredictionSettings, experiments, questions, trainings
from tengen.papers.move_prediction.model import TOPS
from tengen.papers.move_prediction.patterns import picture, telling_patterns
from tengen.papers.move_prediction.sources import games_of_ranks, hold_out, sample_games
from tengen.papers.move_prediction.training import train
from tengen.records import GameRecord
from tengen.records.arrays import from_records

TABLES = experiments.PredictionTables(
    made=16, board=7, test_games=4, width_games=(8,), widths=(0.0, 0.9), top_games=8, tops=(0, 20),
    sizes=(8, 16), solvers=("optimum", "passes"), iterations=5, patterns=2,
)  # fmt: skip


def test_games_are_held_out_by_the_seed() -> None:
    rest, test = hold_out(sample_games(8, 7, seed=1), 3, seed=3)
    assert (len(rest), len(test)) == (5, 3)
    assert np.array_equal(hold_out(sample_games(8, 7, seed=1), 3, seed=3)[1].moves, test.moves)
    with pytest.raises(TengenError, match="8 games: too few to hold out 7"):
        hold_out(sample_games(8, 7, seed=1), 7, seed=3)


def test_each_training_of_the_tables_is_done_once() -> None:
    plan = experiments.PredictionTables().plan(seed=0)
    assert len(plan) == len(set(plan)) == 11 + 11 + 4 + 3 + 4
    shared = trainings.Training(2000, 0.9, 20, "optimum", 0)
    assert plan.count(shared) == 1


def test_rows_have_the_hits_of_every_game_and_training(tmp_path: Path) -> None:
    made = {each.name: list(each.rows) for each in experiments.tables(_context(tmp_path), TABLES)}
    rows, phases = made["move-prediction"], made["move-prediction-phases"]
    assert len(made["move-prediction-trainings"]) == len(TABLES.plan(3)) == 6
    assert len(rows) == 6 * 4 and {row["solver"] for row in rows} == {"optimum", "passes"}
    for row in rows:
        hits = [row[f"hits{top}"] for top in TOPS]
        assert hits == sorted(hits) and hits[-1] <= row["moves"]
    last = [r for r in rows if r["games"] == 16 and r["solver"] == "optimum"]
    assert sum(row["moves"] for row in phases) == sum(row["moves"] for row in last)
    assert sum(r["hits1"] for r in phases) == pytest.approx(sum(r["hits1"] for r in last), abs=0.1)
    for row in made["move-prediction-trainings"]:
        assert row["seconds"] > 0 and row["peak_memory"] > 0
        assert row["iterations"] <= (5 if row["solver"] == "optimum" else 3)


def _context(folder: Path) -> LabContext:
    return LabContext(folder, 3, 1)


def test_a_finished_training_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = _context(tmp_path)
    first = [list(each.rows) for each in experiments.tables(context, TABLES)]
    monkeypatch.setattr(experiments, "train", None)
    assert [list(each.rows) for each in experiments.tables(context, TABLES)] == first


def test_hits_by_game_add_up_to_the_evaluation() -> None:
    games, test = hold_out(sample_games(12, 7, seed=1), 4, seed=3)
    model = train(games, PredictionSettings(top=5))
    measured = experiments.MovePredictor.of(model, PredictionSettings()).evaluate(test)
    hits, counts = trainings.hits_by_game(model, test, workers=2)
    assert hits.sum(axis=0) == pytest.approx(measured.hits) and len(hits) == 4
    assert np.array_equal(counts.sum(axis=0), measured.counts)


def test_too_few_games_are_refused(tmp_path: Path) -> None:
    size = experiments.PredictionTables(made=8, board=7, test_games=2, sizes=(16,), top_games=8)
    with pytest.raises(TengenError, match="8 games to learn from"):
        experiments.tables(_context(tmp_path), size)


def test_the_match_has_a_row_for_each_game(tmp_path: Path) -> None:
    size = experiments.MatchSize(
        made=8, board=7, test_games=2, games=8, match_games=2, opponent="random"
    )
    [made] = experiments.match(_context(tmp_path), size)
    assert [{row["black"], row["white"]} for row in made.rows] == [{"paper", "opponent"}] * 2
    assert made.settings["opponent"] == "random"


def test_own_lines_are_as_long_as_the_games(tmp_path: Path) -> None:
    size = questions.OwnMoves(
        made=12, board=7, games=12, test_games=3, expert="static", start=6, plies=9, every=3
    )
    [made] = questions.own_moves(_context(tmp_path), size)
    rows = list(made.rows)
    assert len(rows) == 3 * 2 * 2
    assert {(row["line"], row["features"]) for row in rows} == {
        (line, name) for line in ("expert", "own") for name in ("history", "none")
    }
    assert all(0 <= row["hits1"] <= row["hits5"] <= row["moves"] <= 3 for row in rows)


def test_pruning_keeps_more_with_more_moves(tmp_path: Path) -> None:
    size = questions.Pruning(
        made=12, board=9, games=12, test_games=2, evaluator="area", every=10, match_games=0
    )
    [made] = questions.pruning(_context(tmp_path), size)
    rows = list(made.rows)
    lost = [row["lost"] for row in rows[: len(size.widths)]]
    assert lost == sorted(lost, reverse=True) and lost[-1] == 0
    assert all(row["kept"] == (row["lost"] == 0) for row in rows)


def test_games_are_grouped_by_the_weaker_player(tmp_path: Path) -> None:
    text = b""
    for seed, (black, white) in enumerate((("6d", "9d"), ("8d", "7d"), ("9d", "1p"), ("6d", ""))):
        board = play_random(Board(9), 12, np.random.default_rng(seed))
        record = GameRecord(9, 9, moves=list(board.moves)).sgf()
        text += record.replace(b"(;", f"(;BR[{black}]WR[{white}]".encode(), 1) + b"\n"
    (tmp_path / "some.sgf").write_bytes(text)
    context = LabContext(tmp_path, 0, 1, collection=tmp_path)
    assert len(games_of_ranks(context, "some.sgf", 9, "6d", "7d")) == 1
    assert len(games_of_ranks(context, "some.sgf", 9, "7d", "8d")) == 1
    assert len(games_of_ranks(context, "some.sgf", 9, "8d", None)) == 1


def test_random_moves_make_the_player_weaker_and_groups_of_games_follow(tmp_path: Path) -> None:
    size = questions.RankSize(
        made=6, board=7, groups=("0.5", "0"), games=6, test_games=2, trainings=2
    )
    [made] = questions.ranks(_context(tmp_path), size)
    rows = list(made.rows)
    assert len(rows) == 2 * 2 * 2 * 2 and made.seeds == [3, 4]


def test_patterns_are_found_most_likely_first() -> None:
    boards = [play_random(Board(5), 12, np.random.default_rng(seed)) for seed in range(24)]
    games = from_records([GameRecord(rows=5, cols=5, moves=board.moves) for board in boards])
    found = telling_patterns(games, PredictionSettings(), 4)
    shares = [row["frequency"] for row in found]
    assert 0 < len(found) <= 4 and shares == sorted(shares, reverse=True)
    assert "<svg" in picture(found[0]["cells"], shares[0]).svg
