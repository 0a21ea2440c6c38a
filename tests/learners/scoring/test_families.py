"""Families of features, and the cross-validation that compares them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from finished_games import lone_stone
from typer.testing import CliRunner

from tengen.contracts import check_learner
from tengen.errors import ModelError, SpecError
from tengen.learners.scoring import BlockScorer
from tengen.learners.scoring.features import INPUTS, columns, describe_games
from tengen.learners.scoring.self_labelling import LabelledBlocks, learn_from_scores
from tengen.learners.scoring.settings import FAMILIES, ScorerSettings
from tengen.models.store import load_model, save_model
from tengen.records.arrays import from_records

QUICK = ScorerSettings(hidden=3, members=1, epochs=8, rounds=2, seed=1)


@pytest.fixture(scope="module")
def games():
    return from_records([lone_stone(i % 4 > 0) for i in range(24)])


@pytest.fixture(scope="module")
def table(games):
    return describe_games(games)


def test_it_is_a_learner(games, table, tmp_path):
    def fit(learner):
        learner.settings = QUICK
        return learner.fit(games, table)

    def same(a, b):
        one, two = (each.read(table.grids[0]) for each in (a, b))
        return np.allclose(one.alive, two.alive) and one.safe_probability == two.safe_probability

    check_learner(BlockScorer, fit, tmp_path, same=same)


def test_families_are_columns_in_order():
    assert list(columns(FAMILIES)) == list(range(INPUTS))
    assert list(columns(["attacks", "paper"]))[:48] == list(range(48))
    assert INPUTS == 142
    with pytest.raises(SpecError, match="families is 'magic'; it should be 'paper'"):
        ScorerSettings(families=("paper", "magic"))


def test_a_model_names_its_inputs_and_comes_back_the_same(games, table, tmp_path):
    scorer = BlockScorer(settings=replace(QUICK, families=("paper", "attacks")))
    scorer.fit(games, table)
    path = tmp_path / "scorer.safetensors"
    scorer.save(path)
    twin = BlockScorer.load(path)
    assert twin.settings.families == ("paper", "attacks")
    reading, other = scorer.read(table.grids[0]), twin.read(table.grids[0])
    np.testing.assert_array_equal(reading.alive, other.alive)
    assert reading.safe_probability == other.safe_probability


def test_a_card_without_families_is_that_of_an_older_model(games, table, tmp_path):
    scorer = BlockScorer(settings=QUICK).fit(games, table)
    path, old = tmp_path / "new.safetensors", tmp_path / "old.safetensors"
    scorer.save(path)
    tensors, card = load_model(path)
    recipe = {k: v for k, v in card.recipe.items() if k != "families"}
    save_model(old, tensors, card.model_copy(update={"recipe": recipe}))
    assert BlockScorer.load(old).settings.families == FAMILIES
    for wrong in ({**recipe, "families": ["paper"]}, {**recipe, "families": ["magic"]},
                  {**recipe, "cascade": True}):  # fmt: skip
        save_model(old, tensors, card.model_copy(update={"recipe": wrong}))
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


def test_the_commands_know_the_parts(tmp_path):
    from tengen.cli.papers import app

    file = tmp_path / "games.sgf"
    file.write_bytes(b"\n".join(lone_stone(i % 4 > 0).utf8_sgf() for i in range(24)))
    quick = ["--epochs", "4", "--members", "1"]
    done = CliRunner().invoke(
        app,
        ["train-scoring", str(file), *quick, "--made", "5:3", "--player",
         "mcts:playouts=20,resign=0", "--families", "paper", "--families", "surroundings",
         "--out", str(tmp_path), "--json"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["made"][0]["size"] == 5 and answer["made"][0]["games"] > 0
    scorer = BlockScorer.load(tmp_path / "scorer.safetensors")
    assert scorer.settings.families == ("paper", "surroundings")
    wrong = CliRunner().invoke(app, ["train-scoring", str(file), "--families", "magic"])
    assert "magic" in str(wrong.exception)
