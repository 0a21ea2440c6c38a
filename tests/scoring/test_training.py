"""Optimisers, gradients, learning from scores alone, self-made games, and training runs."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from typer.testing import CliRunner

from tengen.board import PASS, Board
from tengen.cli import app
from tengen.cli import run as tengen
from tengen.errors import ModelError, TengenError
from tengen.models import find_model, load_model, read_metrics, save_model
from tengen.players import make_player
from tengen.records import Corpus, GameRecord, read_games
from tengen.records.arrays import from_records
from tengen.records.record import board_at
from tengen.records.sgf_properties import Result
from tengen.scoring import BlockScorer, network
from tengen.scoring.features import BlockTable, describe_games
from tengen.scoring.network import Ensemble, Rprop, train_ensemble
from tengen.scoring.self_labelling import (
    Evidence,
    LabelledBlocks,
    fit_safety,
    learn_from_scores,
)
from tengen.scoring.settings import ScorerSettings
from tengen.scoring.training import (
    MODEL,
    Making,
    agreed_dead_stones,
    label,
    make_game,
    marked_dead,
    played_out,
    read_labelled,
    train_scorer,
)

QUICK = ScorerSettings(hidden=3, members=1, epochs=8, rounds=2, seed=1)
PLAYER = "mcts:playouts=20,resign=0"
MAKER = ("--made", "5:3", "--player", PLAYER)


WALLS = """
. . X O . . .
. O X O . . .
. . X O . . .
. . X O . O .
. . X O . . .
. . X O . . .
. . X O . . .
"""
"""Two walls, a white stone that is dead in Black's corner, and one that lives at home."""
SCORE = 14 + 1 - 20 - 0.5
"""What it counts for Black, by territory with komi 0.5."""


def lone_stone(dead: bool = True) -> GameRecord:
    """Return a game that ends so, with that score, or with one that no count explains."""
    board = Board.from_ascii(WALLS)
    score = SCORE if dead else 0.5
    return GameRecord(
        rows=board.rows,
        cols=board.cols,
        setup=[(block.colour, p) for block in board.blocks() for p in block.stones],
        moves=[(1, PASS), (2, PASS)],
        komi=0.5,
        result=Result("score", 1 if score > 0 else 2, abs(score)),
    )


def some_games(every: int = 4):
    """Return games of which one in `every` has a result that no count explains."""
    return [lone_stone(i % every > 0) for i in range(24)]


@pytest.fixture(scope="module")
def games():
    return from_records(some_games())


@pytest.fixture(scope="module")
def table(games):
    return describe_games(games)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "games.sgf"
    path.write_bytes(b"\n".join(game.utf8_sgf() for game in some_games()))
    return path


# ----- Optimisers and gradients -----


def test_rprop_finds_the_bottom_of_a_bowl():
    optimiser, place, bottom = Rprop(), [np.zeros(3)], (3.0, -2.0, 0.5)
    scale = np.array([1.0, 10.0, 0.1])
    error = np.inf
    for _ in range(600):
        error = float((scale * (place[0] - bottom) ** 2).sum())
        optimiser.step(place, [2 * scale * (place[0] - bottom)], error)
    assert error < 0.1


def test_rprop_steps_grow_shrink_and_forget_a_flipped_gradient():
    for size in (1.0, 1e6):  # only signs matter
        place = [np.zeros(1)]
        way = Rprop(first=0.1)
        way.step(place, [np.array([size])])
        way.step(place, [np.array([size])])
        assert place[0][0] == pytest.approx(-0.1 - 0.12)
        way.step(place, [np.array([-size])])  # flipped: the step halves and nothing moves
        assert place[0][0] == pytest.approx(-0.22)
        way.step(place, [np.array([-size])])
        assert place[0][0] == pytest.approx(-0.22 + 0.06)


def check_gradient(arrays, gradients, loss, step=1e-6, tolerance=1e-4):
    """Compare a gradient with differences of the loss."""
    for array, gradient in zip(arrays, gradients, strict=True):
        for index in np.ndindex(array.shape):
            kept = array[index]
            values = []
            for change in (step, -step):
                array[index] = kept + change
                values.append(loss())
            array[index] = kept
            slope = (values[0] - values[1]) / (2 * step)
            assert slope == pytest.approx(gradient[index], abs=tolerance)


def test_the_network_gradient_agrees_with_differences():
    rng = np.random.default_rng(3)
    x, target = rng.normal(size=(20, 4)), rng.integers(0, 2, 20).astype(float)
    weights = network.initial(4, 3, 1)
    task = x, target, rng.uniform(0.5, 2, 20), 1e-3
    _, gradients = network.loss_and_gradient(weights, *task)
    check_gradient(
        weights, gradients, lambda: network.loss_and_gradient(weights, *task)[0], tolerance=1e-6
    )


def test_members_of_an_ensemble_vote():
    features = np.random.default_rng(1).normal(0, 5, (50, 3))
    features[:, 2] = 4.0
    task = features, features[:, 0] > 0, np.ones(50)
    both, *alone = (
        train_ensemble(*task, seeds=seeds, hidden=4, epochs=30, decay=0.0)
        for seeds in ((1, 2), (1,), (2,))
    )
    scaled = both.scaled(features)
    assert np.allclose(scaled[:, :2].std(axis=0), 1, atol=0.1)
    assert not scaled[:, 2].any(), "what never changes says nothing"
    votes = both.vote(features)
    assert np.allclose(votes, np.mean([each.vote(features) for each in alone], axis=0))
    assert ((votes > 0) == task[1]).mean() > 0.9
    tensors = both.tensors("x.")
    assert np.allclose(Ensemble.read(tensors, 3, "x.").vote(features), votes)
    with pytest.raises(ModelError, match="do not fit"):
        Ensemble.read(tensors | {"x.mean": np.zeros(9)}, 3, "x.")


# ----- Learning from scores -----


def test_it_believes_games_that_add_up_and_no_others():
    table = describe_games(from_records([lone_stone(True)] * 6 + [lone_stone(False)]))
    assert table.known.all()
    recipe = replace(QUICK, epochs=20)
    trained = learn_from_scores(table, recipe)
    assert trained.labelled_games[:6].all()
    # In the order of their first points: both walls, the stone in the corner, the one at home.
    assert trained.labels[table.rows(0)].tolist() == [True, True, False, True]
    assert (trained.logits(table)[:4] > 0).tolist() == [True, True, False, True]
    np.testing.assert_array_equal(trained.networks.w, learn_from_scores(table, recipe).networks.w)


def test_models_of_other_features_are_refused(tmp_path):
    tensors, card = load_model(find_model("scorer"))
    old = tmp_path / "old.safetensors"
    save_model(old, tensors, card.model_copy(update={"recipe": {**card.recipe, "cascade": True}}))
    with pytest.raises(ModelError, match=r"old\.safetensors: has a second round"):
        BlockScorer.load(old)
    for name in ("mean", "safe_w", "safe_from"):
        save_model(old, {**tensors, name: tensors[name][:0]}, card)
        with pytest.raises(ModelError, match=r"old\.safetensors"):
            BlockScorer.load(old)


def test_labelled_positions_teach_what_scores_alone_do_not(table):
    # The same positions with the opposite label: the stone at home is dead, not the invader.
    stone = table.features[:, 0] == 1
    first = np.zeros(len(stone), np.bool_)
    first[table.start[:-1] + 2] = True
    labelled = LabelledBlocks(table, np.where(first, True, ~stone))
    recipe = replace(QUICK, epochs=40)
    plain = learn_from_scores(table, recipe).logits(table)
    taught = learn_from_scores(table, recipe, made=[labelled] * 8).logits(table)
    assert (taught[first] > plain[first]).all()


def test_labels_grow_from_labelled_games_and_without_flips_only_from_exact_counts(table):
    right = np.ones(len(table.block), np.bool_)
    right[table.start[:-1] + 2] = False  # the invader of the corner
    few = np.arange(1, 4)
    known = LabelledBlocks(table, right).take(few)
    recipe = replace(QUICK, epochs=40, rounds=3)
    chosen = ~np.isin(np.arange(len(table)), few)
    grown = learn_from_scores(table, recipe, chosen=chosen, made=[known], grown=True, flips=False)
    assert all(row["turned"] == 0 for row in grown.history)
    # A quarter of the recorded scores is wrong; the labelled games are not labelled again.
    explained = chosen & (np.arange(len(table)) % 4 > 0)
    np.testing.assert_array_equal(grown.labelled_games, explained)
    # Learned from the opposite labels, no count is right.
    wrong = LabelledBlocks(known.table, ~known.alive)
    with_wrong = learn_from_scores(
        table, replace(recipe, rounds=2), chosen=chosen, made=[wrong] * 8, grown=True, flips=False
    )
    assert with_wrong.history[0]["exact"] < grown.history[0]["exact"]


def test_a_count_is_trusted_where_unseen_games_came_out_right(games, table):
    unseen = np.arange(0, 24, 3)
    trained = learn_from_scores(
        table, replace(QUICK, epochs=20), chosen=~np.isin(np.arange(24), unseen)
    )
    evidence = Evidence()
    evidence.add("7x7", table, trained, unseen)
    doubts, right = evidence["7x7"]
    # A quarter of the records is wrong, and nothing else.
    assert right == [bool(g % 4) for g in unseen]
    evidence.add_unfinished(games, trained, unseen)
    evidence.add("made 7x7", table.take(np.arange(4)), trained, np.arange(1, 4))
    safety, measured = fit_safety(evidence)
    assert measured["7x7 exact"] == np.mean(right)
    assert measured["made 7x7 games"] == 3 and measured["unfinished games"] == 3 * len(unseen)
    chances = safety.chances(np.array(doubts))
    assert ((chances >= 0) & (chances <= 1)).all()
    assert safety.trusts(1.0) and not safety.trusts(0.5)


# ----- Self-made games -----

# One white stone in Black's corner; a dame in the middle of the bottom row.
FINISHED = """
. . X O . .
. O X O . .
. . X O . .
X X X O O .
. X . O . .
. X X O . .
"""


def owners(dame=1, stone=1):
    owner = np.where(np.arange(6)[None, :] < 3, 1, 2) * np.ones((6, 1))
    owner[4, 2] = dame
    owner[1, 1] = stone
    return owner.astype(np.int8)


def test_fates_are_known_when_all_ends_agree_but_for_dame():
    grid = Board.from_ascii(FINISHED).grid()
    dead = agreed_dead_stones(grid, [owners(dame=1), owners(dame=2)])
    assert dead is not None and np.argwhere(dead).tolist() == [[1, 1]]
    lost = owners()
    lost[0, 0] = 2
    for ends in ([owners(), owners(stone=2)], [owners(), lost], [owners(stone=0)]):
        assert agreed_dead_stones(grid, ends) is None
    # A border that nobody has closed is no dame.
    grid[3:, 2:4] = 0
    assert agreed_dead_stones(grid, [owners()]) is None


def test_playing_on_takes_dead_stones_although_the_game_is_won_anyway():
    # Black is far ahead with every stone alive and might as well pass.
    board = Board.from_ascii("X X X X X X\nX . X . X .\nX X X X X X\n. . . . X O\nX X X X X .")
    owner = played_out(make_player(PLAYER), board, np.random.default_rng(1), over=True)
    assert (owner == 1).all()


def test_made_games_carry_the_score_their_dead_stones_give(tmp_path):
    making = Making(5, 6, PLAYER, partial(make_player, PLAYER))
    made = [record for seed in range(6) if (record := make_game(making, seed)) is not None]
    assert len(made) >= 3
    path = tmp_path / "made.sgf"
    path.write_bytes(b"\n".join(record.utf8_sgf() for record in made))
    [labelled] = read_labelled([path])
    assert len(labelled.table) == len(made)
    assert labelled.table.exact(labelled.alive).all()
    for record in read_games(path):
        assert record.properties["PB"] == [PLAYER]
        assert "seed" in record.properties["GC"][0]
        dead = marked_dead(record, board_at(record).grid())
        assert not (dead & (board_at(record).grid() == 0)).any()
    [whole] = label(made)
    some = whole.take(np.array([0, 2]))
    assert len(some.table) == 2 and len(some.alive) == len(some.table.block)
    assert some.table.exact(some.alive).all()
    np.testing.assert_array_equal(some.table.grids[1], whole.table.grids[2])
    assert some.table.bond.max() < 2 * some.table.grids[0].size


def test_games_without_marks_are_refused(tmp_path):
    path = tmp_path / "plain.sgf"
    path.write_text("(;GM[1]SZ[5]RE[B+1.5];B[cc];W[];B[])")
    with pytest.raises(TengenError, match=r"plain\.sgf, game 1: marks no territory"):
        read_labelled([path])


# ----- Runs and commands -----


def command(*words):
    done = CliRunner().invoke(app, ["train", "scoring", *map(str, words), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_the_command_makes_the_same_games_again(tmp_path):
    texts = []
    for name in ("a", "b"):
        [made] = command(*MAKER, "--made-only", "--seed", 4, "--out", tmp_path / name)
        assert made["played"] == 3
        texts.append((tmp_path / name / "made-5x5.sgf").read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.parametrize("made", ["9", "4:10", "9:0", "x:3", "21:5"])
def test_a_wrong_number_of_games_is_reported(made, tmp_path):
    done = CliRunner().invoke(app, ["train", "scoring", str(tmp_path / "none.sgf"), "--made", made])
    assert isinstance(done.exception, TengenError) and "SIZE:GAMES" in str(done.exception)


def test_the_command_makes_the_same_scorer_again(file, tmp_path):
    models = []
    for words in (["a"], ["b"], ["b", "--resume"]):
        command(file, "--out", tmp_path / words[0], *words[1:], "--epochs", 5, "--members", 1)
        models.append(load_model(tmp_path / words[0] / MODEL))
    (first, card), *others = models
    assert "24 games of games.sgf" in card.data and card.recipe["seed"] == 0
    for tensors, other in others:
        assert other.sha256 == card.sha256
        for name in first:
            np.testing.assert_array_equal(tensors[name], first[name])


def test_runs_are_not_mixed_up(file, tmp_path, capsys):
    other = tmp_path / "other.sgf"
    other.write_bytes(b"\n".join(game.utf8_sgf() for game in some_games(3)))
    out = tmp_path / "run"

    def train(games, *words, status=0):
        quick = ["--members", "1", "--out", str(out), "--quiet"]
        assert tengen(["train", "scoring", str(games), *quick, *words]) == status
        return capsys.readouterr().err

    train(file, "--epochs", "4", *MAKER)
    rows = read_metrics(out)
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1)) and len(rows) == 13
    tensors, card = load_model(out / MODEL)
    assert f"games on 5x5 made by {PLAYER}" in card.data
    assert "holds a run; resume it" in train(file, "--seed", "3", status=1)
    assert "begun with other games" in train(other, "--resume", *MAKER, status=1)
    assert "epochs 4 there, 5 asked" in train(file, "--resume", *MAKER, "--epochs", "5", status=1)
    told = train(file, "--resume", "--made", "5:3", "--player", "random", status=1)
    assert f"begun with other made 5x5 (3 games by {PLAYER}, not 3" in told
    assert "made 5x5" in train(file, "--resume", status=1)
    assert "twice" in train(file, "--resume", *MAKER, *MAKER, status=1)
    train(file, "--resume", *MAKER)
    again, _ = load_model(out / MODEL)
    assert all(np.array_equal(again[name], tensors[name]) for name in tensors)
    assert read_metrics(out) == rows


def test_a_stopped_training_goes_on_exactly(games, tmp_path):
    making = [Making(5, 3, PLAYER, partial(make_player, PLAYER))]
    train_scorer(games, QUICK, tmp_path / "whole", making=making)

    class Stopped(Exception):
        pass

    def stop(row):
        raise Stopped

    with pytest.raises(Stopped):
        train_scorer(games, QUICK, tmp_path / "cut", making=making, on_round=stop)
    made = tmp_path / "cut" / "made-5x5.sgf"
    before = made.stat().st_mtime_ns
    train_scorer(games, QUICK, tmp_path / "cut", making=making, resume=True)
    assert made.stat().st_mtime_ns == before
    whole, cut = (load_model(tmp_path / name / MODEL) for name in ("whole", "cut"))
    assert whole[1].sha256 == cut[1].sha256
    assert len(BlockTable.load(tmp_path / "cut" / "features.npz")) == len(games)


def test_training_needs_enough_games_and_its_own_features(tmp_path):
    file, out = tmp_path / "one.sgf", tmp_path / "run"
    file.write_bytes(lone_stone().utf8_sgf())
    assert tengen(["train", "scoring", str(file), "--out", str(out), "--quiet"]) == 1
    assert not out.exists()
    games = Corpus([file]).as_arrays()
    with pytest.raises(TengenError, match="too few"):
        BlockScorer().fit(games)
    kept = tmp_path / "features.npz"
    describe_games(games).save(kept)
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(TengenError, match="no features"):
        BlockTable.load(kept)
