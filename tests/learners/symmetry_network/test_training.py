"""Training: exact resume, independence of workers, learning, files and the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from tengen.board import BLACK, WHITE, Board, point_at
from tengen.cli import run
from tengen.contracts import check_evaluator, check_learner, check_policy
from tengen.errors import ModelError, SpecError
from tengen.learners.symmetry_network import (
    OUTPUTS,
    Categories,
    Settings,
    SymmetryNetwork,
    Trainer,
)
from tengen.learners.symmetry_network.evolution import (
    Evolution,
    evolve_against,
    told_who_moved,
)
from tengen.learners.symmetry_network.matches import play_match
from tengen.learners.symmetry_network.pictures import TITLES
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
        assert not np.array_equal(plain, trained(replace(SMALL, **change)).free)


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
    half = replace(SMALL, games=12)
    train_run(half, tmp_path / "parts", checkpoint_every=4)
    with pytest.raises(SpecError, match="resume"):
        train_run(SMALL, tmp_path / "parts")
    rest = train_run(SMALL, tmp_path / "parts", resume=True, checkpoint_every=4)
    assert np.array_equal(whole.free, rest.free)
    other = replace(SMALL, rate=0.5)
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
    settings = replace(SMALL, categories=Categories(mode=mode))
    assert np.isfinite(trained(settings).free).all()


@pytest.mark.parametrize(
    "change",
    [
        {"turn": True},
        {"turn": True, "categories": Categories(mode="both"), "maxlib": 1.0},
        {"layers": 2},
        {"steps": 1},
        {"tied": False},
        {
            "single": True,
            "capture": 0.0,
            "stone": 1.0,
            "categories": Categories(mode="liberties"),
        },
    ],
)
def test_designs_beyond_the_paper_learn_and_play(change, tmp_path):
    settings = replace(SMALL, **change)
    first, second = trained(settings), trained(settings, workers=2)
    assert np.array_equal(first.free, second.free)
    assert not np.array_equal(first.free, settings.architecture.initial(3, 0.3))
    network = SymmetryNetwork.from_free(first.free, settings)
    network.save(tmp_path / "a.safetensors")
    assert same(network, SymmetryNetwork.load(tmp_path / "a.safetensors"))
    check_evaluator(network)
    assert play_match(network, "maxlib", games=2, size=5).games == 2


def test_a_network_that_knows_who_moved_treats_the_colours_alike():
    network = SymmetryNetwork(settings=replace(SMALL, turn=True)).fit()
    text = ". X . . .\n. X O . .\n. X O . .\n. . O . .\n. X . . ."
    board = Board.from_ascii(text, komi=0)
    swapped = Board.from_ascii(text.translate(str.maketrans("XO", "OX")), komi=0)
    board.turn, swapped.turn = BLACK, WHITE
    assert network.values([swapped])[0] == pytest.approx(-network.values([board])[0], abs=1e-4)
    assert np.allclose(network.move_values(swapped), network.move_values(board), atol=1e-4)
    board.turn = WHITE
    assert network.values([swapped])[0] != pytest.approx(-network.values([board])[0], abs=1e-4)


def test_move_scores_are_the_values_after_the_moves():
    settings = replace(SMALL, categories=Categories(mode="liberties"), turn=True)
    network = SymmetryNetwork(settings=settings).fit()
    board = Board(5, moves="B C3 W C2 B D2 W B3", komi=2.5)
    for _ in range(2):
        scores = network.move_scores(board)
        for i in np.flatnonzero(board.legal_mask()):
            child = board.copy()
            child.push(point_at(int(i), 5, 5))
            sign = 1 if board.turn == BLACK else -1
            assert scores[i] == pytest.approx(sign * network.values([child])[0], abs=1e-3)
        board.play("pass")


def test_the_rate_falls_at_the_end():
    settings = replace(SMALL, games=100, anneal=0.5)
    assert settings.rate_at(40) == settings.rate
    assert settings.rate_at(75) == pytest.approx(settings.rate / 2)
    assert settings.rate_at(100) == 0


def test_maxlib_is_a_stronger_opponent_than_random():
    network = SymmetryNetwork.load("isn-9x9")
    beaten = play_match(network, "maxlib", games=6, beta=1e9, komi=7.5, seed=1)
    assert beaten.win_rate < 1
    with pytest.raises(SpecError, match="maxlib"):
        play_match(network, "nobody", games=1)


def test_maps_as_a_picture(tmp_path, capsys):
    record = tmp_path / "game.sgf"
    record.write_text("(;GM[1]SZ[9]KM[5.5];B[ee];W[cc];B[gc];W[gg];B[cg])")
    picture = tmp_path / "maps.svg"
    options = ["--move", "5", "--out", str(picture), "--json", "--quiet"]
    assert run(["symmetry-network", "show", str(record), *options]) == 0
    value = json.loads(capsys.readouterr().out)
    assert list(value["maps"]) == list(OUTPUTS)
    assert value["maps"]["territory"][4][4] is None
    assert 0 < value["maps"]["black_dies"][4][4] < 1
    root = ElementTree.parse(picture).getroot()
    texts = [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(t in TITLES.values() for t in texts) == 7
    assert run(["symmetry-network", "show", str(record), "--quiet"]) == 0
    assert "expected score" in capsys.readouterr().out


def small_start() -> SymmetryNetwork:
    settings = Settings(games=40, linear_games=40, batch=8, rate=2e-4, size=5, seed=1)
    return SymmetryNetwork(settings=settings).fit()


def test_evolution_is_a_function_of_its_seed(tmp_path):
    start = small_start()
    plan = Evolution(generations=12, pairs=3, games=2, size=5, komi=0.5, openings=2)
    grown = evolve_against(start, ["random", start], plan)
    again = evolve_against(start, ["random", start], plan, workers=3)
    assert np.array_equal(grown.free_, again.free_)
    assert not np.array_equal(grown.free_, start.free_)
    # Stopped after ten generations and gone on with: the same; by another plan: refused.
    short = replace(plan, generations=10)
    evolve_against(start, ["random", start], short, folder=tmp_path)
    resumed = evolve_against(start, ["random", start], plan, folder=tmp_path)
    assert np.array_equal(grown.free_, resumed.free_)
    with pytest.raises(SpecError, match="another plan"):
        evolve_against(start, ["random", start], replace(plan, step=0.5), folder=tmp_path)
    with pytest.raises(SpecError, match="pairs 0"):
        Evolution(pairs=0)


def test_evolution_climbs():
    # A network that likes the worst moves best has much to gain, even against random moves.
    start = small_start()
    worse = SymmetryNetwork.from_free(-start.free_, start.settings, 0)
    plan = Evolution(generations=15, pairs=16, spread=0.4, step=0.2, size=5, komi=0.5, openings=0)
    means: list[float] = []
    evolve_against(worse, ["random"], plan, watch=lambda _g, _n, mean: means.append(mean))
    assert np.mean(means[-3:]) > np.mean(means[:3]) + 0.1


def test_a_network_told_who_moved_plays_the_same_at_first():
    settings = replace(SMALL, colour=True, categories=Categories(mode="liberties"))
    tied = SymmetryNetwork(settings=settings).fit()
    told = told_who_moved(tied)
    assert (len(tied.free_), len(told.free_)) == (settings.architecture.size, 725)
    board = Board(5, moves="B C3 W C2 B D2 W B3")
    assert np.allclose(tied.move_values(board), told.move_values(board), atol=1e-4)
    pushed = SymmetryNetwork.from_free(told.free_ * 1.1, told.settings, 0)
    assert not np.allclose(tied.move_values(board), pushed.move_values(board), atol=1e-4)


def test_the_command_evolves(tmp_path, capsys):
    small_start().save(tmp_path / "start.safetensors")
    out = tmp_path / "out.safetensors"
    command = ["symmetry-network", "evolve", "--model", str(tmp_path / "start.safetensors")]
    command += ["--pairs", "2", "--games", "2", "--size", "5", "--out", str(out)]
    command += ["--json", "--quiet", "--turn", "--generations"]
    assert run([*command, "2"]) == 0
    assert len(json.loads(capsys.readouterr().out)["fitness"]) == 2
    assert run([*command, "3", "--resume"]) == 0
    assert len(json.loads(capsys.readouterr().out)["fitness"]) == 1
    assert SymmetryNetwork.load(out).settings.turn
    assert SymmetryNetwork.load(out).games_ == 40
    assert run([*command, "3"]) == 1, "what was evolved is not thrown away"
    assert "--resume" in capsys.readouterr().err


def test_openings_are_the_same_for_both_colours():
    network = SymmetryNetwork.load("isn-9x9")
    result = play_match(network, network, games=4, size=5, beta=1e9, komi=0, openings=3, seed=2)
    # Two networks alike that take the best moves: what one wins as Black the other wins too.
    assert result.win_rate == 0.5


def test_mistakes_are_told():
    with pytest.raises(SpecError, match="capture"):
        Settings(single=True)
    with pytest.raises(SpecError, match="anneal"):
        Settings(anneal=2)
    with pytest.raises(SpecError, match="12 hidden"):
        Trainer(Settings(mixture={"T": 13}))
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
