"""The predictor as an estimator and a policy; damaged files and bad input."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from prediction_games import tasteful_game, tasteful_games

from tengen.board import Board, index_of, parse_gtp, point_at
from tengen.board.coordinates import permutation
from tengen.contracts import check_policy, sample_boards
from tengen.errors import ModelError, SpecError, TengenError
from tengen.models import list_models, load_model, save_model
from tengen.papers.move_prediction import MovePredictor, PredictionSettings
from tengen.papers.move_prediction.model import TOPS, Measured
from tengen.records.arrays import from_records

SMALL = PredictionSettings(top=5)


@pytest.fixture(scope="module")
def trained() -> MovePredictor:
    return MovePredictor(settings=SMALL).fit(tasteful_games(40))


def test_it_is_a_policy(trained: MovePredictor) -> None:
    check_policy(trained, boards=sample_boards(1, ((7, 7),)))


def test_it_learns_what_the_games_show(trained: MovePredictor) -> None:
    fresh = tasteful_games(10, seed=1000)
    measured = trained.evaluate(fresh)
    assert measured.positions == int(fresh.lengths().sum())
    # Four in five moves are one of the nearest points; a random guess gets about 4 %.
    assert measured.rate(1) > 0.12
    assert measured.rate(1) <= measured.rate(5) <= measured.rate(20) <= 1
    assert 0 < float(str(measured.summary()["log_loss"])) < np.log(49)
    assert sum(p["positions"] for p in measured.phases()) == measured.positions


def test_rates_are_shares_of_the_positions() -> None:
    measured = Measured(games=1)
    measured.counts[:2] = 3, 1
    measured.hits[0, TOPS.index(1)] = 2
    measured.hits[:2, TOPS.index(5)] = 3, 1
    assert (measured.positions, measured.rate(1), measured.rate(5)) == (4, 0.5, 1.0)
    assert [phase["positions"] for phase in measured.phases()] == [3, 1]
    assert measured.interval(1)[0] < 0.5 < measured.interval(1)[1]


def test_threads_that_share_a_predictor_do_not_disturb_each_other(trained: MovePredictor) -> None:
    boards = [Board(7, moves=moves) for moves in ("B C3 W D4", "B E5", "B C3 W D4 B D3")]
    alone = [trained.priors(board) for board in boards]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(trained.priors, boards * 50))
    for i, priors in enumerate(together):
        assert np.array_equal(priors, alone[i % len(boards)])


def test_a_board_with_no_legal_point_leaves_only_the_pass() -> None:
    predictor = MovePredictor(settings=SMALL).fit(tasteful_games(6, size=4, plies=12))
    board = Board.from_ascii(
        """
        . X . X
        X X X X
        X X X X
        X X X X
        """,
        to_play=2,
    )
    priors = predictor.priors(board)
    assert priors[-1] == 1.0 and priors.sum() == 1.0


def test_superko_gets_no_prior() -> None:
    games = [tasteful_game(3, 3, 40, seed) for seed in range(20)]
    long = from_records([game for game in games if len(game.moves) >= 10])
    predictor = MovePredictor(settings=SMALL).fit(long)
    rng = np.random.default_rng(1)
    forbidden = 0
    for _ in range(5):
        board = Board(3)
        while len(board.legal_moves) > 1 and len(board.moves) < 60:
            forbidden += len(Board.from_grid(board.grid(), to_play=board.turn).legal_moves)
            forbidden -= len(board.legal_moves)
            mask = board.legal_mask()
            priors = predictor.priors(board)
            assert np.all((priors > 0) == mask)
            assert priors.sum() == pytest.approx(1.0)
            board.push(int(rng.choice([p for p in board.legal_moves if p])))
    assert forbidden > 0


def test_a_model_refuses_other_board_sizes(tmp_path, trained: MovePredictor) -> None:
    with pytest.raises(ModelError, match="predicts moves on 7x7, not on 9x9"):
        trained.priors(Board(9))
    path = tmp_path / "seven.safetensors"
    trained.save(path)
    with pytest.raises(ModelError, match="seven predicts moves on 7x7, not on 5x5"):
        MovePredictor.load(path).priors(Board(5))


def test_models_whose_parts_do_not_fit_are_refused(tmp_path, trained: MovePredictor) -> None:
    path = tmp_path / "odd.safetensors"
    trained.save(path)
    tensors, card = load_model(path)
    odd = {
        "keys": tensors["keys"][1:],
        "weight_index": tensors["weight_index"] + np.uint32(10**7),
        "templates": tensors["templates"] + 1,
        "top": tensors["top"] - 6,
    }
    for name, array in odd.items():
        save_model(path, {**tensors, name: array}, card)
        with pytest.raises(ModelError, match=r"odd\.safetensors"):
            MovePredictor.load(path)
    wrong = card.model_copy(update={"recipe": {"settings": {"soup": 1}}})
    save_model(path, tensors, wrong)
    with pytest.raises(ModelError, match="no setting is called 'soup'"):
        MovePredictor.load(path)


def test_senseless_settings_and_games_are_refused() -> None:
    with pytest.raises(SpecError, match="minimum"):
        PredictionSettings(minimum=0)
    with pytest.raises(TengenError, match=r"2 of 2 games .* fewer than 10 moves"):
        MovePredictor().fit(tasteful_games(2, plies=5))


# ----- The shipped predictor -----

# Ataris, a ladder, a capture and a ko on nine lines; on nineteen they lie in a corner.
FIGHT = "E5 E4 D4 F5 F4 G4 D5 F3 G5 F6 E6 G6 C3 D3 C4 H5 F4 E3 E7 F7 D6 B4 B5 C6 C5 D7"


def test_priors_are_a_distribution_that_no_view_changes() -> None:
    predictor, plain = MovePredictor.load("predictor-paper"), np.zeros(0)
    for swap in (False, True):
        for element in range(8):
            turned, board = permutation(19, 19, element), Board(19)
            for ply, vertex in enumerate(FIGHT.split()):
                cell = turned[index_of(parse_gtp(vertex, 19, 19), 19, 19)]
                board.push(point_at(int(cell), 19, 19), 1 + (ply + swap) % 2)
            priors = predictor.priors(board)
            plain = plain if len(plain) else priors
            assert 0.2 < priors.max() < 1
            assert np.array_equal(priors > 0, board.legal_mask())
            assert priors.sum() == pytest.approx(1.0, abs=1e-9)
            assert np.allclose(priors[turned], plain, rtol=1e-3, atol=1e-6)


def test_the_card_tells_what_was_measured_and_the_file_is_small() -> None:
    info = next(info for info in list_models() if info.name == "predictor-paper")
    assert info.path.stat().st_size <= 2.2e6
    assert info.card is not None and info.card.data and info.card.results
    assert all(result.how and result.count for result in info.card.results)
    assert info.card.sizes == [(19, 19)]
