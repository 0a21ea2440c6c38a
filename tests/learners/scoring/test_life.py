"""Check foresight of life and death: labels, symmetry, learning, the shipped model, commands."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from tengen.board import BLACK, PASS, WHITE, Board
from tengen.board.symmetry import transform
from tengen.contracts import check_evaluator, check_learner
from tengen.errors import ModelError, TengenError
from tengen.learners.scoring import LifeEvaluator
from tengen.learners.scoring.features import describe
from tengen.learners.scoring.life_data import block_fate, collect, final_owner, moments, truth
from tengen.learners.scoring.life_evaluation import _Phase, block_rates, evaluate_life
from tengen.learners.scoring.life_features import (
    ODD,
    block_inputs,
    cut,
    grids_at,
    point_inputs,
    swapped,
)
from tengen.learners.scoring.settings import LifeSettings
from tengen.models import load_evaluator, load_scorer
from tengen.players.evaluators import make_evaluator
from tengen.records import GameRecord
from tengen.records.arrays import from_records
from tengen.records.sgf_properties import Result

SWAP = np.array([0, 2, 1], np.int8)


def wall_game(invader=(1, 1), score=9.5, size=7):
    """Return a game: two walls, then a white stone into Black's side, which dies, then passes."""
    moves = []
    for row in range(size):
        moves += [(BLACK, (row, 2)), (WHITE, (row, 3))]
    moves += [(BLACK, PASS), (WHITE, invader), (BLACK, PASS), (WHITE, PASS)]
    winner = BLACK if score > 0 else WHITE
    return GameRecord(
        rows=size, cols=size, moves=moves, komi=0.5, rules="japanese",
        result=Result("score", winner, abs(score)),
    )  # fmt: skip


# Black has 14 points and one dead stone, White 21 and komi.
SCORE = 14 + 1 - 21 - 0.5


@pytest.fixture(scope="module")
def games():
    spots = [(r, c) for r in range(7) for c in range(2)]
    return from_records([wall_game(spot, SCORE) for spot in spots] + [wall_game((0, 0), 30.5)])


@pytest.fixture(scope="module")
def scorer():
    return load_scorer("scorer")


@pytest.fixture(scope="module")
def shipped():
    return load_evaluator("life")


def test_cutting_keeps_the_first_moves_and_tells_the_turn(games):
    plies = np.minimum(np.arange(len(games)), 5)
    short, turn = cut(games, plies)
    assert short.lengths().tolist() == plies.tolist()
    assert turn[:3].tolist() == [BLACK, WHITE, BLACK]
    _, turn = cut(games, games.lengths())
    assert set(turn.tolist()) == {BLACK}
    grids, _ = grids_at(games, plies)
    assert [int(np.count_nonzero(g)) for g in grids] == plies.tolist()


def test_the_end_labels_what_the_record_explains(games, scorer):
    owners, believed = truth(games, scorer)
    assert believed[:-1].all() and not believed[-1]
    assert (owners[0][:, :3] == 1).all() and (owners[0][:, 3:] == -1).all()


def test_fate_is_who_owns_most_points_at_the_end():
    grid = Board.from_ascii("X X . .\n. . . .\n. . O O\n. . . .").grid()
    owner = np.array([[1, 1, -1, -1]] + [[0, 0, 1, -1]] * 3, np.int8)
    lives, unclear = block_fate(describe(grid), owner)
    assert lives.tolist() == [True, False] and unclear.tolist() == [False, True]
    dead = np.zeros(grid.shape, bool)
    dead[2, 2:] = True
    assert (final_owner(grid, dead) == 1).all()


def test_moments_lie_in_every_part_of_a_game(games):
    for number, plies in enumerate(moments(games, 3, np.random.default_rng(0))):
        share = plies / (games.lengths() + 1)
        assert (share <= (number + 1) / 3).all() and (share > number / 3 - 0.1).all()


def test_points_seen_by_the_other_side_change_only_their_signs():
    board = Board.from_ascii(". X . O .\n. X . O .\n. X O . .\n. . . . .\nO . . X .")
    grid = board.grid()
    described, other = describe(grid), describe(SWAP[grid])
    rng = np.random.default_rng(1)
    alive = rng.random(len(described.colour))
    # Playouts of swapped positions use the same random numbers for the other colour only roughly.
    other.means = -described.means[[1, 0, 3, 2]]
    other.ownership = -described.ownership
    one, two = point_inputs(described, alive, BLACK), point_inputs(other, alive, WHITE)
    np.testing.assert_allclose(swapped(one), two, atol=1e-12)
    assert np.abs(one[:, :ODD]).max() > 0
    turns = block_inputs(described, BLACK) - block_inputs(described, WHITE)
    assert (np.abs(turns).sum(axis=1) == 2).all()


def test_it_learns_and_keeps_the_contract(games, scorer, tmp_path):
    def fit(learner):
        learner.settings = LifeSettings(epochs=40, members=1, hidden=4, positions=2)
        return learner.fit(games, scorer)

    def same(a, b):
        board = Board.from_ascii(". . X O .\n. . X O .\nO . X O .\n. . X O .\n. . X O .")
        return np.allclose(a.ownership(board), b.ownership(board), atol=1e-5)

    model = check_learner(LifeEvaluator, fit, tmp_path, same=same)
    board = Board.from_ascii(
        "\n".join([". . X O . . ."] * 3 + ["O . X O . . ."] * 1 + [". . X O . . ."] * 3)
    )
    seen = model.foresee(board.grid(), BLACK)
    assert seen.alive[3, 0] < 0.5 < seen.alive[0, 2]
    assert seen.ownership[:, :2].mean() > 0.5 > -0.5 > seen.ownership[:, 4:].mean()


def test_without_games_that_add_up_there_is_an_error(scorer):
    wrong = from_records([wall_game((0, 0), 30.5)] * 2)
    with pytest.raises(TengenError, match="explain"):
        LifeEvaluator().fit(wrong, scorer)


def test_the_shipped_model_keeps_the_contract(shipped):
    check_evaluator(shipped)
    assert shipped.scale > 1
    assert isinstance(make_evaluator("life"), LifeEvaluator)


@pytest.mark.parametrize("turn", [BLACK, WHITE])
def test_turning_and_swapping_colours_turns_the_answer(shipped, turn):
    rng = np.random.default_rng(4)
    board = Board(9)
    for _ in range(30):
        board.play(board.answer(rng.choice([m for m in board.legal_moves if m > 0])))
    symmetric = np.zeros((5, 5), np.int8)
    symmetric[1, 1] = symmetric[3, 3] = 1
    symmetric[1, 3] = symmetric[3, 1] = 2
    for grid in (board.grid(), symmetric):
        first = shipped.foresee(grid, turn)
        for element in range(8):
            for flip in (False, True):
                turned = np.ascontiguousarray(transform(SWAP[grid] if flip else grid, element))
                other = shipped.foresee(turned, 3 - turn if flip else turn)
                np.testing.assert_allclose(other.alive, transform(first.alive, element), atol=1e-12)
                np.testing.assert_allclose(
                    (-1 if flip else 1) * other.ownership,
                    transform(first.ownership, element),
                    atol=1e-12,
                )


@pytest.mark.parametrize("rows, cols", [(2, 2), (9, 9), (5, 11), (25, 25)])
def test_empty_boards_belong_to_nobody(shipped, rows, cols):
    board = Board(rows, cols, komi=6.5)
    assert abs(float(shipped.values([board])[0]) + 6.5) < 0.35 * rows * cols
    assert np.abs(shipped.ownership(board)).max() <= 1


def test_a_lone_stone_in_a_wall_of_enemies_is_given_up(shipped):
    board = Board.from_ascii(
        "\n".join([". . . X O . ."] * 3 + [". O . X O . ."] + [". . . X O . ."] * 3)
    )
    seen = shipped.foresee(board.grid(), BLACK)
    assert seen.alive[3, 1] < 0.5 and seen.alive[3, 3] > 0.5 and seen.alive[3, 4] > 0.5


def test_damaged_files_are_refused(shipped, tmp_path):
    path = tmp_path / "copy.safetensors"
    shipped.save(path, data="the same")
    twin = LifeEvaluator.load(path)
    assert twin.scale == shipped.scale
    (tmp_path / "bad.safetensors").write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ModelError):
        LifeEvaluator.load(tmp_path / "bad.safetensors")
    with pytest.raises(ModelError):
        LifeEvaluator.load("scorer")


def test_evaluation_by_phase(shipped, scorer, games, tmp_path):
    file = tmp_path / "games.sgf"
    records = [wall_game(spot, SCORE) for spot in ((1, 1), (4, 0))] + [wall_game((0, 0), 30.5)]
    file.write_bytes(b"\n".join(record.utf8_sgf() for record in records))
    answer = evaluate_life(shipped, [file], scorer=scorer, baselines=True, shares=(0.5, 1.0))
    assert answer["games"] == 3 and answer["labelled"] == 2
    assert [phase["share"] for phase in answer["phases"]] == [0.5, 1.0]
    last = answer["phases"][1]
    assert last["blocks"] == 6 and last["block_accuracy"] == 1.0 and last["point_accuracy"] > 0.9
    assert last["winner"] == pytest.approx(2 / 3)
    names = {row["name"]: row["phases"][1] for row in answer["baselines"]}
    assert names["all alive"]["block_accuracy"] == pytest.approx(4 / 6)
    together = {row["name"]: row["all"] for row in answer["baselines"]}["all alive"]
    assert together["blocks"] == sum(p["blocks"] for p in answer["phases"])
    low, high = together["block_interval"]
    assert low <= together["block_accuracy"] <= high < 1
    beside = evaluate_life(
        shipped, [file], scorer=scorer, beside={"again": shipped}, shares=(0.5, 1.0)
    )
    assert [row["name"] for row in beside["baselines"]] == ["again"]
    assert beside["baselines"][0]["all"]["blocks"] == answer["all"]["blocks"]
    with pytest.raises(TengenError, match="no games"):
        empty = tmp_path / "none.sgf"
        empty.write_text("(;SZ[9];B[ee])")
        evaluate_life(shipped, [empty], scorer=scorer)


def test_the_interval_of_blocks_is_one_of_games():
    def phase(games):
        found = _Phase()
        for game, right in enumerate(games):
            found.blocks[game], found.blocks_right[game] = 10, right
        return found

    assert block_rates([phase([10, 10])])["block_interval"] == [1.0, 1.0]
    mixed = block_rates([phase([10, 0] * 8)])
    low, high = mixed["block_interval"]
    assert mixed["block_accuracy"] == 0.5
    # Sixteen games all right or all wrong: as wide as sixteen draws, not as 160.
    assert high - low == pytest.approx(2 * 1.96 * 0.5 / 4)
    assert block_rates([_Phase()])["block_accuracy"] is None


def test_commands_train_and_evaluate(tmp_path):
    from tengen.cli.scoring import app

    file = tmp_path / "games.sgf"
    spots = [(r, c) for r in range(7) for c in range(2)]
    file.write_bytes(b"\n".join(wall_game(spot, SCORE).utf8_sgf() for spot in spots))

    def run(*words):
        done = CliRunner().invoke(app, ["life", *map(str, words)])
        assert done.exit_code == 0, done.output
        return done.stdout

    trained = json.loads(
        run("train", file, "--out", tmp_path, "--epochs", 10, "--members", 1, "--hidden", 3,
            "--positions", 1, "--json", "--quiet")
    )  # fmt: skip
    assert trained["games"] == 14
    again = CliRunner().invoke(app, ["life", "train", str(file), "--out", str(tmp_path)])
    assert "holds a run; --resume" in str(again.exception)
    resumed = json.loads(run("train", file, "--out", tmp_path, "--resume", "--json", "--quiet"))
    assert resumed == trained
    answer = json.loads(run("evaluate", file, "--model", trained["model"], "--json", "--quiet"))
    assert len(answer["phases"]) == 6 and "baselines" not in answer
    text = run("evaluate", file, "--model", trained["model"], "--beside", "scorer", "--quiet")
    assert "correlation" in text
    assert "all moments, life: " in text and "all moments, scorer: " in text
    for name, why in (("predictor-small", "who will own what"), ("life", "cannot be called life")):
        wrong = CliRunner().invoke(app, ["life", "evaluate", str(file), "--beside", name])
        assert why in str(wrong.exception)


def test_collect_leaves_out_empty_boards(games, scorer):
    owners, _ = truth(games, scorer)
    samples = collect(games, owners, [np.zeros(len(games), np.int64), games.lengths()])
    assert len(samples.found) == len(games)
    assert samples.rows_of(np.ones(len(games), bool)).all()
    assert len(samples.inputs) == len(samples.lives) == samples.found[-1].rows.stop
