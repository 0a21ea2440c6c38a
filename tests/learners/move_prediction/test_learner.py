"""The estimator's manners, the policy's contract, resuming, and bad input."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from prediction_games import tasteful_games

from tengen.board import Board
from tengen.contracts import check_learner, check_policy, sample_boards
from tengen.errors import ModelError, RunError, SpecError, TengenError
from tengen.learners.move_prediction import FullSettings, MovePredictor, PaperSettings
from tengen.learners.move_prediction import training as training_module
from tengen.learners.move_prediction.kernels import priors_kernel, workspace
from tengen.learners.move_prediction.model import recent_moves
from tengen.learners.move_prediction.settings import FAMILIES
from tengen.learners.move_prediction.training import train_full
from tengen.models import load_model, save_model

SMALL = FullSettings(minimum=3, side=4, anywhere=True)


@pytest.fixture(scope="module")
def trained() -> MovePredictor:
    return MovePredictor(settings=SMALL).fit(tasteful_games(30))


def same(a: MovePredictor, b: MovePredictor) -> bool:
    half = a.model_.tensors(), b.model_.tensors()
    return all(np.array_equal(half[0][name], half[1][name]) for name in half[0])


def test_it_is_a_learner_and_a_policy(tmp_path, trained: MovePredictor) -> None:
    games = tasteful_games(6)

    def fit(learner: MovePredictor) -> MovePredictor:
        learner.settings = SMALL
        return learner.fit(games)

    check_learner(MovePredictor, fit, tmp_path, same=same)
    check_policy(trained, boards=sample_boards(1, ((7, 7), (5, 6))))


def test_it_learns_what_the_games_show(trained: MovePredictor) -> None:
    fresh = tasteful_games(10, seed=1000)
    measured = trained.evaluate(fresh)
    assert measured.positions == int(fresh.lengths().sum())
    # Four in five moves are one of the nearest points; a guess at random gets about 4 %.
    assert measured.rate(1) > 0.15
    assert measured.rate(5) > 0.4
    assert measured.rate(1) <= measured.rate(5) <= measured.rate(20) <= 1
    summary = measured.summary()
    assert 0 < float(str(summary["log_loss"])) < np.log(49)
    assert sum(p["positions"] for p in measured.phases()) == measured.positions


def test_plies_of_an_opening_can_be_left_out(trained: MovePredictor) -> None:
    fresh = tasteful_games(4, seed=1000)
    whole, late = trained.evaluate(fresh), trained.evaluate(fresh, first_ply=30)
    assert late.positions == int((fresh.lengths() - 30).sum())
    assert np.array_equal(late.hits[1:], whole.hits[1:]) and not late.hits[0].any()
    seen: list[int] = []
    settings = FullSettings(minimum=2, side=2, anywhere=True, first_ply=30)
    games = tasteful_games(6)
    train_full(games, settings, on_report=lambda report: seen.append(report.positions))
    assert 0 < sum(seen) <= int((games.lengths() - 30).sum())


def test_a_stopped_training_goes_on_exactly(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(training_module, "CHUNK", 2)
    games = tasteful_games(6)
    settings = FullSettings(minimum=2, side=2, anywhere=True)
    whole = train_full(games, settings)

    class Stopped(Exception):
        pass

    def stop(report) -> None:
        if report.games == 4:
            raise Stopped

    learner = MovePredictor(settings=settings)
    with pytest.raises(Stopped), learner.open_run(tmp_path, games) as run:
        learner.fit(games, run=run, on_report=stop)
    with learner.open_run(tmp_path, games, resume=True) as run:
        resumed = learner.fit(games, run=run).model_
        assert [row["step"] for row in run.rows()] == [2, 4, 6]
    assert np.array_equal(whole.vectors, resumed.vectors)
    assert np.array_equal(whole.dense, resumed.dense)
    other = MovePredictor(settings=FullSettings(minimum=3, side=2, anywhere=True))
    for wrong, lessons, words, goes_on in (
        (learner, games, "holds a run; --resume", False),
        (other, games, "minimum 2 there, 3 asked", True),
        (learner, tasteful_games(6, seed=9), "begun with other games", True),
        (MovePredictor(settings=PaperSettings()), games, "holds a run of .* full recipe", True),
    ):
        with pytest.raises(RunError, match=words):
            wrong.open_run(tmp_path, lessons, resume=goes_on)
    with pytest.raises(RunError, match="begun with other start"):
        learner.open_run(tmp_path, games, start=learner, resume=True)


def test_threads_that_share_a_predictor_do_not_disturb_each_other(trained: MovePredictor) -> None:
    boards = [Board(7, moves=moves) for moves in ("B C3 W D4", "B E5", "B C3 W D4 B D3")]
    alone = [trained.priors(board) for board in boards]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(trained.priors, boards * 200))
    for i, priors in enumerate(together):
        assert np.array_equal(priors, alone[i % len(boards)])


def test_the_kernel_gives_the_priors_of_the_policy(trained: MovePredictor) -> None:
    board = Board(7)
    for vertex in ("D4", "C3", "D3", "C4", "pass", "E5"):
        board.play(vertex)
    points, priors = np.zeros(49, np.int64), np.zeros(49)
    n = priors_kernel(
        board.state, recent_moves(board), trained.arrays(7, 7), workspace(7, 7), points, priors
    )
    whole = trained.priors(board)
    assert n == len(board.legal_moves) - 1
    for point, prior in zip(points[:n], priors[:n], strict=True):
        index = (point // 8 - 1) * 7 + point % 8 - 1
        assert whole[index] == pytest.approx(prior, rel=2e-4)


def test_a_board_with_no_legal_point_leaves_only_the_pass(trained: MovePredictor) -> None:
    board = Board.from_ascii(
        """
        . X . X
        X X X X
        X X X X
        X X X X
        """,
        to_play=2,
    )
    priors = trained.priors(board)
    assert priors[-1] == 1.0 and priors.sum() == 1.0


def test_superko_gets_no_prior(trained: MovePredictor) -> None:
    # Send two, return one: taking back would repeat a whole position.
    board = Board(2, 3)
    while len(board.legal_moves) > 1 and len(board.moves) < 12:
        mask = board.legal_mask()
        priors = trained.priors(board)
        assert np.all((priors > 0) == mask)
        assert priors.sum() == pytest.approx(1.0)
        index = int(np.flatnonzero(mask[:-1])[0])
        board.play((index // 3, index % 3))


def test_a_model_with_coordinates_says_what_it_can_serve(tmp_path) -> None:
    predictor = MovePredictor(settings=replace(SMALL, anywhere=False, games=2))
    predictor.fit(tasteful_games(3))
    with pytest.raises(ModelError, match="serves 7x7, not 9x9"):
        predictor.priors(Board(9))
    path = tmp_path / "seven.safetensors"
    predictor.save(path)
    with pytest.raises(ModelError, match="serves 7x7, not 5x5"):
        MovePredictor.load(path).priors(Board(5))


def test_damaged_and_foreign_files_are_one_clear_error(tmp_path, trained: MovePredictor) -> None:
    path = tmp_path / "model.safetensors"
    trained.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        MovePredictor.load(path)
    path.write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        MovePredictor.load(path)


def test_models_whose_parts_do_not_fit_are_refused(tmp_path, trained: MovePredictor) -> None:
    path = tmp_path / "odd.safetensors"
    trained.save(path)
    tensors, card = load_model(path)
    for name in ("weights", "keys", "dense", "scales"):
        save_model(path, {**tensors, name: tensors[name][:-1]}, card)
        with pytest.raises(ModelError, match="not a whole full predictor"):
            MovePredictor.load(path)
    paper = MovePredictor(settings=PaperSettings(top=3)).fit(tasteful_games(4))
    paper.save(path)
    tensors, card = load_model(path)
    odd = {
        "keys": tensors["keys"][1:],
        "weight_index": tensors["weight_index"] + 10**7,
        "templates": tensors["templates"] + 1,
        "top": tensors["top"] - 4,
    }
    for name, array in odd.items():
        save_model(path, {**tensors, name: array}, card)
        with pytest.raises(ModelError, match="not a whole paper predictor"):
            MovePredictor.load(path)


def test_eight_bits_a_number_lose_next_to_nothing(tmp_path, trained: MovePredictor) -> None:
    path = tmp_path / "stored.safetensors"
    trained.save(path)
    stored = MovePredictor.load(path)
    error = np.abs(stored.model_.vectors - trained.model_.vectors).max(axis=1)
    assert np.all(error <= np.maximum(np.abs(trained.model_.vectors).max(axis=1) / 200, 2**-14))
    board = Board(7)
    board.play("D4")
    assert np.allclose(stored.priors(board), trained.priors(board), atol=0.01)
    # Storing what was stored changes nothing more.
    assert same(stored, MovePredictor.load(path))
    stored.save(path)
    assert same(stored, MovePredictor.load(path))


def test_a_blend_lies_between_two_models(trained: MovePredictor) -> None:
    more = MovePredictor(settings=replace(SMALL, games=4, seed=5)).fit(
        tasteful_games(8, seed=300), start=trained
    )
    assert not np.array_equal(more.model_.weights, trained.model_.weights)
    assert np.array_equal(trained.blended(more, 0.0).model_.vectors, trained.model_.vectors)
    assert np.allclose(trained.blended(more, 1.0).model_.vectors, more.model_.vectors, atol=1e-6)
    half = trained.blended(more, 0.5)
    assert np.allclose(half.model_.weights, (trained.model_.weights + more.model_.weights) / 2)
    check_policy(half, boards=sample_boards(1, ((7, 7),)))
    other = MovePredictor(settings=replace(SMALL, minimum=9)).fit(tasteful_games(5, seed=9))
    with pytest.raises(TengenError, match="same dictionary"):
        trained.blended(other, 0.5)
    paper = MovePredictor(settings=PaperSettings(top=3)).fit(tasteful_games(4))
    with pytest.raises(TengenError, match="full recipe"):
        trained.blended(paper, 0.5)


def test_senseless_recipes_and_games_are_refused() -> None:
    with pytest.raises(SpecError, match="share is 2, more than 1"):
        FullSettings(share=2.0)
    with pytest.raises(TengenError, match=r"2 of 2 games .* fewer than 10 moves"):
        MovePredictor().fit(tasteful_games(2, plies=5))


def test_cards_of_older_models_are_read(tmp_path, trained: MovePredictor) -> None:
    path = tmp_path / "old.safetensors"
    trained.save(path)
    tensors, card = load_model(path)
    for recipe, words in (
        ({"recipe": "full", "settings": {"absolute": False, "seed": 3}}, ""),
        ({"recipe": "full", "settings": {"soup": 1}}, "no setting is called 'soup'"),
        ({"recipe": "soup"}, "'soup' is none of full, paper"),
    ):
        save_model(path, tensors, card.model_copy(update={"recipe": recipe}))
        if words:
            with pytest.raises(ModelError, match=words):
                MovePredictor.load(path)
        else:
            assert MovePredictor.load(path).settings == FullSettings(anywhere=True, seed=3)


def test_a_family_left_out_stays_out() -> None:
    from tengen.learners.move_prediction.ablation import ranges
    from tengen.learners.move_prediction.feature_kernels import DIRECT

    games = tasteful_games(4)
    settings = FullSettings(minimum=2, side=2, anywhere=True, without=("history", "patterns"))
    model = train_full(games, settings)
    assert len(model.weights) == DIRECT
    for first, last in ranges(("history",)):
        assert not np.abs(model.weights[first:last]).max() > 1e-10
    assert np.abs(model.weights).max() > 1e-3
    with pytest.raises(SpecError, match="without is 'soup', none of coordinates"):
        FullSettings(without=("soup",))
    assert all(0 <= a < b <= DIRECT for a, b in ranges(FAMILIES))


def test_late_positions_need_only_the_window_of_rings(trained: MovePredictor) -> None:
    from prediction_games import tasteful_game

    from tengen.learners.move_prediction.kernels import OPENING_STONES, priors_with_rings
    from tengen.learners.move_prediction.patterns import PatternHasher

    board = Board(13)
    for colour, point in tasteful_game(13, 13, 110, seed=5).moves:
        board.play(point, colour)
    assert np.count_nonzero(board.grid()) > OPENING_STONES
    model, room = trained.arrays(13, 13), workspace(13, 13)
    answers = []
    for rings in (None, PatternHasher.of(board).rings):
        points, priors = np.zeros(169, np.int64), np.zeros(169)
        state, recent = board.state, recent_moves(board)
        if rings is None:
            n = priors_kernel(state, recent, model, room, points, priors)
        else:
            n = priors_with_rings(state, rings, recent, model, room, points, priors)
        answers.append((n, points[:n].tolist(), priors[:n].tolist()))
    assert answers[0] == answers[1]
