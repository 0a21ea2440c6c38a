"""Training: exact resume, independence of workers, learning, files and the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tengen.board import Board
from tengen.cli import run
from tengen.contracts import check_evaluator, check_learner, check_policy
from tengen.errors import ModelError, SpecError
from tengen.learners.symmetry_network import Categories, Settings, SymmetryNetwork, Trainer
from tengen.learners.symmetry_network.matches import learning_curve, play_match
from tengen.learners.symmetry_network.training import train_run

SMALL = Settings(games=24, linear_games=8, batch=4, rate=1e-4, size=5, seed=3)


def trained(settings: Settings = SMALL, workers: int = 1) -> Trainer:
    trainer = Trainer(settings, workers=workers)
    list(trainer.run())
    return trainer


def test_workers_never_change_the_result():
    assert np.array_equal(trained(workers=1).free, trained(workers=3).free)


def test_batch_and_seed_do_change_it():
    plain = trained().free
    for change in ({"batch": 2}, {"seed": 4}):
        assert not np.array_equal(plain, trained(Settings(**{**SMALL.__dict__, **change})).free)


def test_the_first_phase_is_linear():
    trainer = Trainer(SMALL)
    start = trainer.free.copy()
    trainer.advance()
    slices = SMALL.architecture.slices
    assert np.abs(trainer.free[slices["OI"]] - start[slices["OI"]]).max() > 0
    assert not trainer.free[slices["OH"]].any()
    list(trainer.run())
    assert trainer.free[slices["OH"]].any()


def test_resume_is_exact(tmp_path):
    whole = train_run(SMALL, tmp_path / "whole", checkpoint_every=8, snapshot_every=8)
    half = Settings(**{**SMALL.__dict__, "games": 12})
    train_run(half, tmp_path / "parts", checkpoint_every=4)
    with pytest.raises(SpecError, match="resume"):
        train_run(SMALL, tmp_path / "parts")
    rest = train_run(SMALL, tmp_path / "parts", resume=True, checkpoint_every=4)
    assert np.array_equal(whole.free, rest.free)
    other = Settings(**{**SMALL.__dict__, "rate": 0.5})
    with pytest.raises(SpecError, match="rate"):
        train_run(other, tmp_path / "parts", resume=True)
    lines = (tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["games"] for line in lines] == [4, 8, 12, 16, 20, 24]


def test_it_learns_to_beat_a_random_mover():
    settings = Settings(games=160, linear_games=160, batch=8, rate=2e-4, size=5, seed=1)
    learned = SymmetryNetwork(settings=settings).fit()
    result = play_match(learned, None, games=60, size=5, komi=0.5)
    assert result.win_rate > 0.7
    low, high = result.interval
    assert low < result.win_rate < high


def same(a: SymmetryNetwork, b: SymmetryNetwork) -> bool:
    return np.array_equal(a.free_, b.free_) and a.settings == b.settings


def test_contracts(tmp_path):
    def small() -> SymmetryNetwork:
        return SymmetryNetwork(settings=SMALL)

    fitted = check_learner(SymmetryNetwork, lambda x: x.fit(games=2), tmp_path, same=_same_numbers)
    assert fitted.games_ == 2
    network = small().fit()
    path = tmp_path / "model.safetensors"
    network.save(path)
    assert same(network, SymmetryNetwork.load(path))
    check_evaluator(network)
    check_policy(network)


def _same_numbers(a: SymmetryNetwork, b: SymmetryNetwork) -> bool:
    return np.array_equal(a.free_, b.free_)


def test_views_of_a_board():
    network = SymmetryNetwork(settings=SMALL).fit()
    board = Board.from_ascii(". X . . .\n. X O . .\n. X O . .\n. X O . .\n. X O . .")
    maps = network.heat_maps(board)
    assert set(maps) >= {"territory", "white_eye", "black_dies"}
    assert np.isnan(maps["territory"][0, 1])
    assert np.isnan(maps["black_dies"][0, 0])
    assert 0 < maps["black_dies"][0, 1] < 1
    moves = network.move_values(board)
    assert np.array_equal(np.isfinite(moves), board.legal_mask())
    turned = Board.from_ascii("O O O O .\n" * 0 + "\n".join(_rotated(board)))
    assert network.values([turned])[0] == pytest.approx(network.values([board])[0], abs=1e-4)


def _rotated(board: Board) -> list[str]:
    grid = np.rot90(board.grid())
    return [" ".join(".XO"[c] for c in row) for row in grid]


def test_the_side_to_move_gets_its_own_view():
    network = SymmetryNetwork(settings=SMALL).fit()
    board = Board(5)
    black = network.move_values(board)
    board.play("pass")
    white = network.move_values(board)
    assert np.sign(black[-1]) == -np.sign(white[-1])


@pytest.mark.parametrize("mode", ["liberties", "none"])
def test_other_categories(mode):
    settings = Settings(**{**SMALL.__dict__, "categories": Categories(mode=mode)})
    assert np.isfinite(trained(settings).free).all()


def test_mistakes_are_told():
    with pytest.raises(SpecError, match="categories"):
        Categories(mode="stars").packed()
    with pytest.raises(SpecError, match="batch"):
        Settings(batch=0)
    with pytest.raises(ModelError, match="not learned"):
        SymmetryNetwork().values([Board(5)])


def test_info(capsys):
    assert run(["symmetry-network", "info", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["free_parameters"] == 714
    assert (value["biases"], value["hidden"], value["inputs"], value["outputs"]) == (11, 12, 14, 7)
    assert value["equivariance_error"] < 1e-12


def test_train_and_evaluate_from_the_command_line(tmp_path, capsys):
    out = str(tmp_path / "run")
    options = ["--games", "4", "--size", "5", "--batch", "2", "--quiet", "--json", "--out", out]
    assert run(["symmetry-network", "train", *options]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["games"] == 4
    common = ["--games", "4", "--size", "5", "--json", "--quiet"]
    assert run(["symmetry-network", "evaluate", "--model", value["model"], *common]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["games"] == 4
    assert result["interval"][0] <= result["win_rate"] <= result["interval"][1]
    assert run(["symmetry-network", "info", "--model", value["model"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 4


def test_snapshots_play_each_other(tmp_path, capsys):
    settings = Settings(games=8, linear_games=8, batch=2, rate=2e-4, size=5)
    SymmetryNetwork(settings=settings).fit_run(tmp_path, snapshot_every=2, checkpoint_every=2)
    options = ["--games", "2", "--size", "5", "--json", "--quiet"]
    assert run(["symmetry-network", "experiment", str(tmp_path), *options]) == 0
    curve = json.loads(capsys.readouterr().out)
    assert curve["games"] == [0, 2, 4, 6, 8]
    assert sum(curve["rates"]) == pytest.approx(2.5)
    assert curve["best"] in curve["games"]
    assert run(["symmetry-network", "experiment", str(tmp_path / "none"), *options]) == 1
    assert "no snapshots" in capsys.readouterr().err


def test_trend_test_sees_a_trend():
    games = list(range(0, 200_000, 20_000))
    n = len(games)
    points = np.array(
        [[5.0 + (i - j) * 0.4 if i != j else 0.0 for j in range(n)] for i in range(n)]
    )
    curve = learning_curve(games, points, 10)
    assert curve.p_value < 0.01
    assert curve.best == games[-1]


@pytest.mark.parametrize(("name", "weights"), [("isn-9x9", 714), ("isn-best", 354)])
def test_shipped_networks(name, weights):
    network = SymmetryNetwork.load(name)
    assert network.architecture.weights == weights
    assert network.games_ == 860_000
    result = play_match(network, None, games=6, seed=2)
    assert result.wins == 6
    check_evaluator(network)
