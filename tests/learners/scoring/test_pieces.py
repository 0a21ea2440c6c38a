"""The scorer's pieces by themselves: inputs, ensembles, doubts, simple ways to count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from finished_games import SCORE, WALLS, lone_stone

from tengen.board import BLACK, Board
from tengen.errors import ModelError
from tengen.lab.scoring import measure_simple
from tengen.learners.scoring import network
from tengen.learners.scoring.features import (
    HEAVY_MEAN,
    INPUTS,
    LIGHT_MEAN,
    UNCONDITIONAL,
    Described,
    describe,
    describe_games,
    first_opinion,
)
from tengen.learners.scoring.game_score import GameScore, score_record
from tengen.learners.scoring.judgement import DOUBTS, judge
from tengen.learners.scoring.learner import CanonicalPosition, canonical_position
from tengen.learners.scoring.network import LIMIT, Ensemble, Scaling
from tengen.learners.scoring.scored_games import read_scored_games
from tengen.learners.scoring.self_labelling import Trained, learn_from_scores
from tengen.learners.scoring.settings import ScorerSettings
from tengen.models import load_scorer
from tengen.records.arrays import from_records


@pytest.fixture(scope="module")
def described() -> Described:
    return describe(np.ascontiguousarray(Board.from_ascii(WALLS).grid()))


def test_playouts_speak_of_every_block(described: Described) -> None:
    blocks = described.blocks
    assert described.sound and len(blocks) == 4 and described.features.shape[1] == INPUTS
    opinion = first_opinion(described.features)[blocks]
    for column in (LIGHT_MEAN, HEAVY_MEAN):
        assert described.features[blocks[2], column] < described.features[blocks[0], column]
    assert opinion[2] < 0.5 < opinion[0], "the stone in the corner is captured, the wall is not"
    eyes = Board.from_ascii("X X X X X\n. X . X X\nX X X X X\n. . . . .\n. . O . .")
    alive = describe(np.ascontiguousarray(eyes.grid()))
    own = alive.features[alive.blocks]
    assert own[0, UNCONDITIONAL] == 1.0 and own[-1, UNCONDITIONAL] == 0.0


def test_an_answer_comes_with_its_doubts(described: Described) -> None:
    logit = np.full(len(described.colour), 5.0)
    logit[described.blocks[2]] = -5.0
    found = judge(described, logit)
    assert found.doubts.shape == (DOUBTS,) and found.dead.sum() == 1
    logit[described.blocks[2]] = -0.1
    assert not np.array_equal(judge(described, logit).doubts, found.doubts)


def test_members_of_an_ensemble_vote() -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(0, 5, (50, 3))
    features[:, 2] = 4.0
    scaling = Scaling.of(features)
    scaled = scaling.apply(features)
    assert np.allclose(scaled[:, :2].std(axis=0), 1, atol=0.1)
    assert not scaled[:, 2].any(), "what never changes says nothing"
    members = [network.initial(3, 4, seed) for seed in (1, 2)]
    both = Ensemble.of(scaling, members)
    alone = [Ensemble.of(scaling, [member]).vote(features) for member in members]
    assert np.allclose(both.vote(features), np.mean(alone, axis=0)) and both.inputs == 3
    tensors = both.tensors("x.")
    assert np.allclose(Ensemble.read(tensors, "x.").vote(features), both.vote(features))
    with pytest.raises(ModelError, match="do not fit"):
        Ensemble.read(tensors | {"x.mean": np.zeros(9)}, "x.")
    assert np.isfinite(np.exp(LIMIT))


def test_simple_ways_are_tallied(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(lone_stone().utf8_sgf())
    cases = read_scored_games([path])
    told: list[tuple[str, int, int]] = []
    alive = measure_simple("all alive", cases, "careful", lambda *words: told.append(words))
    played = measure_simple("playout majority", cases, "careful", lambda *words: None)
    assert (alive["exact"], played["exact"]) == (0.0, 1.0)
    assert told == [("all alive", 1, 1)]


def test_what_is_trained_names_the_living() -> None:
    table = describe_games(from_records([lone_stone()] * 4))
    trained = learn_from_scores(
        table, ScorerSettings(hidden=3, members=1, epochs=20, rounds=2, seed=1)
    )
    assert isinstance(trained, Trained) and trained.believed.all()
    assert (trained.logits(table)[:4] > 0).tolist() == trained.labels[:4].tolist()


def test_a_scored_game_is_a_sheet() -> None:
    sheet = score_record(load_scorer(), lone_stone())
    assert isinstance(sheet, GameScore) and sheet.to_dict()["finished"]
    assert sheet.to_dict()["dead"] == ["B6"] and sheet.territory.score == SCORE


def test_a_frame_leads_back() -> None:
    grid = np.array([[0, 1, 0], [0, 2, 0], [0, 0, 0]], np.int8)
    frame = canonical_position(grid)
    assert isinstance(frame, CanonicalPosition)
    back = frame.back(frame.grid)
    swapped = np.array([0, 2, 1], np.int8)[back] if frame.swapped else back
    assert np.array_equal(swapped, grid)


def test_points_of_a_part_are_one_block_or_one_region(described: Described) -> None:
    part, grid = described.part_grid, described.grid
    assert part.shape == grid.shape and part.min() == 0
    for number in range(part.max() + 1):
        assert set(grid[part == number].tolist()) == {described.colour[number]}
        assert (part == number).sum() == described.size[number]


def test_what_is_said_of_a_symmetric_position_is_evened_out() -> None:
    grid = np.zeros((3, 3), np.int8)
    grid[1, 1] = BLACK
    frame = canonical_position(grid)
    corner = np.zeros((3, 3))
    corner[0, 0] = 1.0
    even = frame.even_out(corner)
    assert even[[0, 0, 2, 2], [0, 2, 0, 2]].tolist() == [0.25] * 4 and even.sum() == 1
    grid[0, 1], grid[0, 0] = BLACK, 2
    assert canonical_position(grid).even_out(corner) is corner  # looks like nothing else
