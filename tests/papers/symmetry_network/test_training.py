"""Training: exact resume, independence of workers, learning, files and the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from tengen.board import BLACK, Board, point_at
from tengen.cli import run
from tengen.contracts import check_evaluator
from tengen.errors import ModelError, RunError, SpecError
from tengen.models.runs import Run, read_metrics
from tengen.papers.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.papers.symmetry_network.learner import load_snapshots, play_games
from tengen.statistics import Rate

SMALL = SymmetrySettings(games=24, linear_games=8, batch=4, rate=1e-4, size=5, seed=3)


def trained(settings: SymmetrySettings = SMALL, workers: int = 1) -> SymmetryNetwork:
    return SymmetryNetwork(settings=settings, workers=workers).fit()


def rate(*sides, **options) -> Rate:
    return Rate.of(play_games(*sides, **options)[0])


def test_batch_and_seed_do_change_it():
    plain = trained().free_
    for change in ({"batch": 2}, {"seed": 4}):
        assert not np.array_equal(plain, trained(replace(SMALL, **change)).free_)


def test_the_first_phase_is_linear():
    start, slices = SymmetryNetwork(settings=SMALL).draw().free_, SMALL.architecture.slices
    first, all_ = SymmetryNetwork(settings=SMALL).fit(games=4), trained()
    assert np.abs(first.free_[slices["OI"]] - start[slices["OI"]]).max() > 0
    assert not first.free_[slices["OH"]].any()
    assert all_.free_[slices["OH"]].any()


def run_in(folder, settings, *, resume=False, watch=lambda games, means: None) -> SymmetryNetwork:
    with Run.open(folder, SymmetryNetwork.kind, settings, resume=resume) as run:
        return SymmetryNetwork(settings=settings).fit(run=run, watch=watch)


def test_resume_is_exact(tmp_path):
    every = replace(SMALL, checkpoint_every=4, snapshot_every=8)
    whole = run_in(tmp_path / "whole", every)
    run_in(tmp_path / "parts", replace(every, games=12))
    with pytest.raises(RunError, match="resume"):
        run_in(tmp_path / "parts", every)
    rest = run_in(tmp_path / "parts", every, resume=True)
    assert np.array_equal(whole.free_, rest.free_)
    with pytest.raises(RunError, match=r"rate 0\.0001 there, 0\.5 asked"):
        run_in(tmp_path / "parts", replace(every, rate=0.5), resume=True)
    rows = [read_metrics(tmp_path / name) for name in ("whole", "parts")]
    assert rows[0] == rows[1]
    assert [row["step"] for row in rows[0]] == [4, 8, 12, 16, 20, 24]
    names = [path.stem for path in sorted((tmp_path / "parts" / "snapshots").iterdir())]
    assert [int(name) for name in names] == [0, 8, 16, 24]
    assert [network.games_ for network in load_snapshots(tmp_path / "parts")] == [0, 8, 16, 24]


def test_a_stopped_training_goes_on_as_if_nothing_had_happened(tmp_path):
    class Stop(Exception):
        pass

    def stop(games, means):
        assert 0 <= means["ended"] <= 1
        if games == 12:
            raise Stop

    every = replace(SMALL, checkpoint_every=4, snapshot_every=8)
    with pytest.raises(Stop):
        run_in(tmp_path, every, watch=stop)
    assert np.array_equal(run_in(tmp_path, every, resume=True).free_, trained().free_)


def test_it_learns_to_beat_a_random_mover():
    settings = SymmetrySettings(games=160, linear_games=160, batch=8, rate=2e-4, size=5, seed=1)
    learned = SymmetryNetwork(settings=settings).fit()
    result = rate(learned, "random", games=60, size=5, komi=0.5)
    assert result.win_rate > 0.7


def same(a: SymmetryNetwork, b: SymmetryNetwork) -> bool:
    return np.array_equal(a.free_, b.free_) and a.settings == b.settings


def test_views_of_a_board():
    network = trained()
    board = Board.from_ascii(". X . . .\n. X O . .\n. X O . .\n. X O . .\n. X O . .")
    maps = network.heat_maps(board)
    assert set(maps) >= {"territory", "white_eye", "black_dies"}
    assert np.isnan(maps["territory"][0, 1])
    assert np.isnan(maps["black_dies"][0, 0])
    assert 0 < maps["black_dies"][0, 1] < 1
    moves = network.move_values(board)
    assert np.array_equal(np.isfinite(moves), board.legal_mask())
    turned = Board.from_grid(np.ascontiguousarray(np.rot90(board.grid())))
    assert network.values([turned])[0] == pytest.approx(network.values([board])[0], abs=1e-4)


def test_the_side_to_move_gets_its_own_view():
    network = trained()
    board = Board(5)
    black = network.move_values(board)
    board.play("pass")
    white = network.move_values(board)
    assert np.sign(black[-1]) == -np.sign(white[-1])


@pytest.mark.parametrize(
    "change",
    [{}, {"categories": "liberties"}, {"colour": True}, {"tied": False}, {"mixture": {"T": 5}}],
)
def test_designs_learn_and_play_on_any_number_of_workers(change, tmp_path):
    settings = replace(SMALL, **change)
    network = trained(settings)
    assert np.array_equal(network.free_, trained(settings, workers=2).free_)
    assert not np.array_equal(network.free_, settings.architecture.initial(3, 0.3))
    network.save(tmp_path / "a.safetensors")
    assert same(network, SymmetryNetwork.load(tmp_path / "a.safetensors"))
    check_evaluator(network)
    assert rate(network, "maxlib", games=2, size=5).games == 2


def test_move_scores_are_the_values_after_the_moves():
    settings = replace(SMALL, categories="liberties")
    network = trained(settings)
    board = Board(5, moves="B C3 W C2 B D2 W B3", komi=2.5)
    for _ in range(2):
        scores = network.move_scores(board)
        for i in np.flatnonzero(board.legal_mask()):
            child = board.copy()
            child.push(point_at(int(i), 5, 5))
            sign = 1 if board.turn == BLACK else -1
            assert scores[i] == pytest.approx(sign * network.values([child])[0], abs=1e-3)
        board.play("pass")


def test_maxlib_is_a_stronger_opponent_than_random():
    network = SymmetryNetwork.load("isn-9x9")
    beaten = rate(network, "maxlib", games=6, beta=1e9, komi=7.5, seed=1)
    assert beaten.win_rate < 1
    with pytest.raises(SpecError, match="maxlib"):
        rate(network, "nobody", games=1)


def test_games_do_not_depend_on_who_plays_them():
    network = SymmetryNetwork.load("isn-9x9")
    options = {"games": 6, "size": 5, "komi": 0.5, "beta": 20.0, "seed": 3, "openings": 2}
    scores, plies = play_games(network, "maxlib", **options)
    again = play_games(network, "maxlib", **options, workers=3)
    assert np.array_equal(scores, again[0]) and np.array_equal(plies, again[1])
    assert len(set(scores.tolist())) > 1 and (plies > 0).all()
    assert network.side(1e9).prize == 0.4


def test_openings_are_the_same_for_both_colours():
    network = SymmetryNetwork.load("isn-9x9")
    result = rate(network, network, games=4, size=5, beta=1e9, komi=0, openings=3, seed=2)
    # Two networks alike that take the best moves: what one wins as Black the other wins too.
    assert result.win_rate == 0.5


def test_mistakes_are_reported():
    with pytest.raises(SpecError, match="'turn' cannot be read"):
        SymmetrySettings.from_recipe({**SMALL.recipe, "turn": True})
    with pytest.raises(SpecError, match="two thresholds"):
        SymmetrySettings(eyes=(0.5,))
    with pytest.raises(SpecError, match="at most 12"):
        SymmetryNetwork(settings=SymmetrySettings(mixture={"T": 13})).fit()
    with pytest.raises(ModelError, match="not learned"):
        SymmetryNetwork().values([Board(5)])


def test_the_papers_network_has_714_weights(capsys):
    assert run(["models", "show", "isn-9x9", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert value["free_parameters"] == 714
    assert (value["biases"], value["hidden"], value["inputs"], value["outputs"]) == (11, 12, 14, 7)
    assert value["equivariance_error"] < 1e-12
