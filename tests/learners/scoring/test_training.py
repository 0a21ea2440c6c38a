"""Check optimisers, gradients and the bootstrap that learns from scores alone."""

from __future__ import annotations

import numpy as np
import pytest
from finished_games import lone_stone

from tengen.lab.scoring import (
    Momentum,
    PaperGames,
    energy_and_gradient,
    expected_margins,
    initial_parameters,
    soft_loss,
    train_paper,
    train_soft,
)
from tengen.learners.scoring import network
from tengen.learners.scoring.network import Rprop
from tengen.records.arrays import from_records

SHIFT = (3.0, -2.0, 0.5)


@pytest.mark.parametrize("optimiser", [Rprop(), Momentum(rate=0.05)], ids=["rprop", "momentum"])
def test_optimisers_find_the_bottom_of_a_bowl(optimiser):
    place = [np.zeros(3)]
    scale = np.array([1.0, 10.0, 0.1])
    error = np.inf
    for _ in range(600):
        error = float((scale * (place[0] - SHIFT) ** 2).sum())
        optimiser.step(place, [2 * scale * (place[0] - SHIFT)], error)
    assert error < 0.1


def test_rprop_looks_at_signs_only():
    one, other = [np.zeros(2)], [np.zeros(2)]
    a, b = Rprop(), Rprop()
    for k in range(5):
        gradient = np.array([1.0, -1.0]) * (1 if k < 3 else -1)
        a.step(one, [gradient])
        b.step(other, [gradient * 1e6])
    np.testing.assert_array_equal(one[0], other[0])


def test_rprop_steps_grow_shrink_and_forget_a_flipped_gradient():
    place = [np.zeros(1)]
    way = Rprop(first=0.1)
    way.step(place, [np.array([1.0])])
    way.step(place, [np.array([1.0])])
    assert place[0][0] == pytest.approx(-0.1 - 0.12)
    way.step(place, [np.array([-1.0])])  # flipped: the step halves and nothing moves
    assert place[0][0] == pytest.approx(-0.22)
    way.step(place, [np.array([-1.0])])
    assert place[0][0] == pytest.approx(-0.22 + 0.06)


def test_the_network_gradient_agrees_with_differences():
    rng = np.random.default_rng(3)
    x, target = rng.normal(size=(20, 4)), rng.integers(0, 2, 20).astype(float)
    weights = network.initial(4, 3, 1)
    importance = rng.uniform(0.5, 2, 20)
    _, gradients = network.loss_and_gradient(weights, x, target, importance, 1e-3)
    for array, gradient in zip(weights, gradients, strict=True):
        for index in np.ndindex(array.shape):
            kept = array[index]
            values = []
            for step in (1e-6, -1e-6):
                array[index] = kept + step
                values.append(network.loss_and_gradient(weights, x, target, importance, 1e-3)[0])
            array[index] = kept
            assert (values[0] - values[1]) / 2e-6 == pytest.approx(gradient[index], abs=1e-6)


def paper_data(seed=0):
    rng = np.random.default_rng(seed)
    games, blocks, regions = 4, 24, 12
    block_game = np.repeat(np.arange(games), blocks // games)
    region_game = np.repeat(np.arange(games), regions // games)
    edges = [
        (e, b)
        for e in range(regions)
        for b in range(blocks)
        if region_game[e] == block_game[b] and rng.random() < 0.5
    ]
    return PaperGames(
        x=rng.normal(size=(blocks, 5)),
        colour=rng.integers(1, 3, blocks),
        size=rng.integers(1, 9, blocks).astype(float),
        block_game=block_game,
        region_game=region_game,
        region_size=rng.integers(1, 30, regions).astype(float),
        edge_region=np.array([e for e, _ in edges]),
        edge_block=np.array([b for _, b in edges]),
        offset=rng.normal(size=games),
        score=rng.normal(0, 20, games),
    )


@pytest.mark.parametrize("energy", ["step", "linear"])
def test_the_right_gradient_agrees_with_differences_and_the_printed_one_does_not(energy):
    games = paper_data()
    parameters = initial_parameters(5, 3, 2)
    _, right, _ = energy_and_gradient(parameters, games, energy=energy)
    _, printed, _ = energy_and_gradient(parameters, games, energy=energy, printed=True)
    for number, (array, gradient) in enumerate(zip(parameters, right, strict=True)):
        for index in np.ndindex(array.shape):
            kept = array[index]
            values = []
            for step in (1e-7, -1e-7):
                array[index] = kept + step
                values.append(energy_and_gradient(parameters, games, energy=energy)[0])
            array[index] = kept
            assert (values[0] - values[1]) / 2e-7 == pytest.approx(gradient[index], abs=1e-4)
        # The first four (W, a, b, v) lie before r: there the paper climbs.
        sign = -1 if number < 4 else 1
        np.testing.assert_allclose(printed[number], sign * gradient)


def test_the_printed_gradient_diverges_and_the_right_one_does_not():
    games = paper_data(2)
    bad = train_paper(games, printed=True, steps=60)
    good = train_paper(games, printed=False, steps=60)
    assert bad["last_error"] > 1e4 > 1e2 > good["last_error"]
    assert bad["exact"] == 0.0


def test_bootstrap_believes_games_that_add_up_and_no_others():
    from tengen.learners.scoring.features import describe_games
    from tengen.learners.scoring.self_labelling import learn_from_scores
    from tengen.learners.scoring.settings import ScorerSettings

    games = from_records([lone_stone(True)] * 6 + [lone_stone(False)])
    table = describe_games(games)
    assert table.known.all()
    recipe = ScorerSettings(hidden=3, members=1, epochs=20, rounds=2, seed=1)
    trained = learn_from_scores(table, recipe)
    assert trained.believed[:6].all()
    rows = slice(int(table.start[0]), int(table.start[1]))
    # In the order of their first points: both walls, the stone in the corner, the one at home.
    assert trained.labels[rows].tolist() == [True, True, False, True]
    again = learn_from_scores(table, recipe)
    np.testing.assert_array_equal(trained.first.w, again.first.w)


def test_the_soft_score_has_the_right_gradient_and_learns():
    games = paper_data(4)
    weights = network.initial(5, 3, 1)
    _, gradients, _ = soft_loss(weights, games)
    for array, gradient in zip(weights, gradients, strict=True):
        for index in np.ndindex(array.shape):
            kept = array[index]
            values = []
            for step in (1e-6, -1e-6):
                array[index] = kept + step
                values.append(soft_loss(weights, games)[0])
            array[index] = kept
            assert (values[0] - values[1]) / 2e-6 == pytest.approx(gradient[index], abs=1e-4)
    losses = []
    train_soft(games, hidden=6, epochs=60, tell=lambda epoch, loss: losses.append(loss))
    assert losses[-1] < 0.7 * losses[0]


def test_a_sure_soft_score_is_a_count():
    games = PaperGames(
        x=np.zeros((3, 1)), colour=np.array([1, 2, 2]), size=np.array([5.0, 5.0, 1.0]),
        block_game=np.zeros(3, np.int64), region_game=np.zeros(2, np.int64),
        region_size=np.array([9.0, 4.0]), edge_region=np.array([0, 0, 1]),
        edge_block=np.array([0, 2, 1]), offset=np.zeros(1), score=np.zeros(1),
    )  # fmt: skip
    margins, _ = expected_margins(np.array([1.0, 1.0, 0.0]), games)
    assert margins[0] == pytest.approx(9 - 4 + 2)  # nine and a dead stone against four


def test_the_command_makes_the_same_scorer_again(tmp_path):
    from typer.testing import CliRunner

    from tengen.cli.papers import app
    from tengen.models.store import load_model

    file = tmp_path / "games.sgf"
    file.write_bytes(b"\n".join(lone_stone(i % 4 > 0).utf8_sgf() for i in range(24)))
    models = []
    for words in (["--out", "a"], ["--out", "b"], ["--out", "b", "--resume"]):
        words[1] = str(tmp_path / words[1])
        done = CliRunner().invoke(
            app, ["train-scoring", str(file), *words, "--epochs", "5", "--members", "1", "--json"]
        )
        assert done.exit_code == 0, done.output
        models.append(load_model(f"{words[1]}/scorer.safetensors"))
    (first, card), *others = models
    assert "24 games of games.sgf" in card.data and card.recipe["seed"] == 0
    for tensors, other in others:
        assert other.sha256 == card.sha256
        for name in first:
            np.testing.assert_array_equal(tensors[name], first[name])


def test_runs_are_not_mixed_up(tmp_path, capsys):
    from tengen.cli import run as tengen
    from tengen.models import read_metrics
    from tengen.models.store import load_model

    file, other = tmp_path / "games.sgf", tmp_path / "other.sgf"
    file.write_bytes(b"\n".join(lone_stone(i % 4 > 0).utf8_sgf() for i in range(24)))
    other.write_bytes(b"\n".join(lone_stone(i % 3 > 0).utf8_sgf() for i in range(24)))
    out = tmp_path / "run"

    def train(games, *words, status=0):
        quick = ["--members", "1", "--out", str(out), "--quiet"]
        assert tengen(["train", "scoring", str(games), *quick, *words]) == status
        return capsys.readouterr().err

    maker = ("--made", "5:3", "--player", "mcts:playouts=20,resign=0")
    train(file, "--epochs", "4", *maker)
    rows = read_metrics(out)
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1)) and len(rows) == 13
    tensors, card = load_model(out / "scorer.safetensors")
    assert "made by mcts:playouts=20,resign=0" in card.data
    assert "holds a run; resume it" in train(file, "--seed", "3", status=1)
    assert "begun with other games" in train(other, "--resume", *maker, status=1)
    assert "epochs 4 there, 5 asked" in train(file, "--resume", *maker, "--epochs", "5", status=1)
    told = train(file, "--resume", "--made", "5:3", "--player", "random", status=1)
    assert "begun with other made 5x5 (3 games by mcts:playouts=20,resign=0, not 3" in told
    assert "made 5x5" in train(file, "--resume", status=1)
    assert "twice" in train(file, "--resume", *maker, *maker, status=1)
    train(file, "--resume", *maker)
    again, _ = load_model(out / "scorer.safetensors")
    assert all(np.array_equal(again[name], tensors[name]) for name in tensors)
    assert read_metrics(out) == rows


def test_a_stopped_training_goes_on_exactly(tmp_path):
    from functools import partial

    from tengen.learners.scoring.settings import ScorerSettings
    from tengen.learners.scoring.training import (
        MODEL,
        Making,
        described,
        fingerprint_scored,
        train_scorer,
    )
    from tengen.models.store import load_model
    from tengen.players import make_player

    games = from_records([lone_stone(i % 4 > 0) for i in range(24)])
    player = "mcts:playouts=20,resign=0"
    making = [Making(5, 3, player, partial(make_player, player))]
    settings = ScorerSettings(hidden=3, members=1, epochs=4, rounds=2)
    train_scorer(games, settings, tmp_path / "whole", making=making)

    class Stopped(Exception):
        pass

    def stop(row):
        raise Stopped

    with pytest.raises(Stopped):
        train_scorer(games, settings, tmp_path / "cut", making=making, report=stop)
    made = tmp_path / "cut" / "made-5x5.sgf"
    before = made.stat().st_mtime_ns
    train_scorer(games, settings, tmp_path / "cut", making=making, resume=True)
    assert made.stat().st_mtime_ns == before
    whole, cut = (load_model(tmp_path / name / MODEL) for name in ("whole", "cut"))
    assert whole[1].sha256 == cut[1].sha256
    kept = described(games, tmp_path / "cut" / "features.npz")
    assert len(kept) == len(games)
    assert fingerprint_scored(games) != fingerprint_scored(games.take(range(5)))


def test_a_count_is_trusted_where_unseen_games_came_out_right():
    from tengen.learners.scoring.features import describe_games
    from tengen.learners.scoring.judgement import Evidence, Safety, fit_safety, judge_games
    from tengen.learners.scoring.self_labelling import learn_from_scores
    from tengen.learners.scoring.settings import ScorerSettings

    games = from_records([lone_stone(i % 4 > 0) for i in range(24)])
    table = describe_games(games)
    unseen = np.arange(0, 24, 3)
    chosen = np.ones(24, np.bool_)
    chosen[unseen] = False
    settings = ScorerSettings(hidden=3, members=1, epochs=20, rounds=2, seed=1)
    trained = learn_from_scores(table, settings, chosen=chosen)
    doubts, right = judge_games(table, trained, unseen)
    # A quarter of the records is wrong, and nothing else.
    assert right.tolist() == [bool(g % 4) for g in unseen]
    size = "x".join(map(str, table.grids.shape[1:]))
    evidence = Evidence()
    evidence.add_games(games, table, trained, unseen)
    evidence.add_made(table.take(np.arange(4)), trained, np.arange(1, 4))
    safety, measured = fit_safety(evidence)
    assert isinstance(safety, Safety) and measured[f"{size} exact"] == right.mean()
    assert measured[f"made {size} games"] == 3 and measured["unfinished games"] == 3 * len(unseen)
    chances = [safety.chance(each) for each in doubts]
    assert all(0 <= chance <= 1 for chance in chances)
    assert safety.trusts(1.0) and not safety.trusts(0.5)
