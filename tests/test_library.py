"""`import tengen`: the public functions and the values they return."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tengen
from tengen.board import BLACK, WHITE
from tengen.errors import ModelError, SpecError
from tengen.records.record import Rank

GAME = (
    "(;SZ[9]KM[7]RU[Chinese]PB[Anna]BR[6 dan]PW[Bert]WR[2k]DT[2020-02-03]RE[B+R];B[ee];W[ce];B[gc])"
)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    path = tmp_path / "games.sgf"
    path.write_text(GAME + GAME.replace("6 dan", "4d").replace("[gc]", "[gd]") + "(;SZ[9];B[aa])")
    return path


def test_an_analysis_is_typed_and_draws_itself() -> None:
    board = tengen.Board(9, moves="B E5 W C5")
    analysis = tengen.analyse(board, visits=16)
    assert analysis.visits == 16 and 0 < analysis.win_probability < 1
    assert analysis.ownership is not None and analysis.ownership.shape == (9, 9)
    assert analysis.best == analysis.moves[0].line[0] and board.is_legal(analysis.best)
    assert sum(found.visits for found in analysis.moves) <= 16
    assert len(board.moves) == 2
    assert str(analysis.best) in str(analysis)
    told = json.loads(json.dumps(analysis.to_dict()))
    assert told["best"] == told["moves"][0]["move"] == str(analysis.best)
    assert told["visits"] == 16 and len(told["ownership"]) == 9
    page = analysis._repr_html_()
    assert "<svg" in page and "<table>" in page and str(analysis.best) in page


def test_values_of_an_analysis_are_from_blacks_view() -> None:
    stones = [".........", ".XXXXXXX.", ".........", ".XXXXXXX.", "........."]
    for to_play in (BLACK, WHITE):
        board = tengen.Board.from_ascii("\n".join(stones + stones[1:]), to_play=to_play)
        analysis = tengen.analyse(board, visits=8)
        assert analysis.win_probability > 0.5 and analysis.score > 0
        assert analysis.ownership is not None and analysis.ownership.mean() > 0.5


def test_bad_limits_and_players_of_an_analysis_are_named() -> None:
    board = tengen.Board(9)
    with pytest.raises(SpecError, match="visits or seconds, not both"):
        tengen.analyse(board, visits=1, seconds=1)
    with pytest.raises(SpecError, match="0 is below 1"):
        tengen.analyse(board, visits=0)
    with pytest.raises(SpecError, match="random cannot analyse"):
        tengen.analyse(board, player="random")


def test_networks_are_loaded_by_name_and_evaluate_boards_of_any_size() -> None:
    network = tengen.load_network("tengen-small")
    small, large = network.evaluate([tengen.Board(9), tengen.Board(13)])
    assert small.priors.shape == (82,) and large.ownership.shape == (169,)
    assert np.isclose(small.priors.sum(), 1)
    with pytest.raises(SpecError, match="list of boards"):
        network.evaluate(tengen.Board(9))
    with pytest.raises(ModelError, match="not a network"):
        tengen.load_network("scorer")


def test_a_board_and_its_record_have_one_score() -> None:
    picture = ". X O . .\nX X O O .\n. X O . O\nO X O O .\n. X O . ."
    board = tengen.Board.from_ascii(picture, rules="chinese", komi=0.5)
    found = tengen.score(board)
    assert [str(stone) for stone in found.dead] == ["A2"]
    assert found.score == found.area.score == -5.5 and found.result == "W+5.5"
    assert "dead: A2" in str(found) and "<svg" in found._repr_html_()
    assert tengen.score(board, alive=["A2"]).dead == []


def test_an_unfinished_game_gets_an_estimate(games: Path) -> None:
    found = tengen.score(tengen.read_game(games))
    assert found.estimate is not None and "±" in found.result
    assert found.score == found.estimate.score


def test_a_quick_review(games: Path) -> None:
    found = tengen.review(tengen.read_game(games), quick=True)
    assert len(found.moves) == 3
    assert all(move.visits > 1 for move in found.moves if move.verdict == "mistake")
    assert "points lost per move" in str(found) and "<table>" in found._repr_html_()


def test_a_review_shows_its_curve_and_the_largest_loss_with_the_better_move() -> None:
    board = tengen.Board(5, moves="B C3 W C2 B D2 W B2 B A1 W D3 B E5")
    found = tengen.review(board, quick=True)
    page = found._repr_html_()
    worst = found.mistakes()[0]
    assert page.count("<polyline") == 1 and "currentColor" in page
    assert f"Before move {worst.number}: " in page and f"{worst.best} (A) is better" in page


def test_points_of_a_review_are_played_on_boards(games: Path) -> None:
    found = tengen.review(tengen.read_game(games), quick=True)
    for position, move in zip(found.positions, found.moves, strict=False):
        assert 0 < move.win_probability < 1 and 0 < position.win_probability < 1
        for point in (move.best, move.move, position.best, position.guesses(1)[0][0]):
            position.board.copy().play(point)
        line = position.board.copy()
        for point in move.line:
            line.play(point)
        assert move.to_dict()["best"] == str(move.best)


def test_a_match_of_players_and_objects() -> None:
    class First:
        def choose(self, board: tengen.Board, rng: np.random.Generator) -> tengen.Point:
            return next(iter(board.legal_moves))

    result = tengen.play_match(First(), "random", games=2, size=5)  # type: ignore[arg-type]
    assert result.games + result.duplicates == 2
    assert "First - random" in str(result) and "<td>First</td>" in result._repr_html_()


def test_records_tell_players_ranks_and_dates(games: Path) -> None:
    first, second, bare = tengen.Corpus(games)
    assert (first.black, first.white, first.date) == ("Anna", "Bert", "2020-02-03")
    assert first.black_rank == "6d" and first.black_rank > second.black_rank > "1k"
    assert (bare.black, bare.black_rank, bare.date) == ("", "", "")
    assert repr(first).endswith("game 1, Anna 6d - Bert 2k, 9x9, 3 moves, B+R>")
    assert first.board.last_move == first.moves[-1][1]


def test_a_corpus_is_filtered_by_record_and_counted(games: Path) -> None:
    corpus = tengen.Corpus(games)
    strong = corpus.filter(lambda record: record.black_rank >= "6d")
    assert (len(corpus), len(strong), len(list(strong))) == (3, 1, 1)
    both = strong.where(lambda arrays: arrays.rows == 9).filter(lambda record: not record.black)
    assert len(both) == 0 and "3 filters" in repr(both)
    assert len(corpus.filter(lambda record: record.black_rank < "9p").unique()) == 2


@pytest.mark.parametrize(
    ("weaker", "stronger"),
    [("30k", "29k"), ("1k", "1d"), ("9d", "1p"), ("2段", "3 dan"), ("5K?", "4k")],
)
def test_ranks_are_compared_by_strength(weaker: str, stronger: str) -> None:
    assert Rank(weaker) < stronger and Rank(stronger) > weaker
    assert Rank(weaker) <= weaker and Rank(stronger) >= weaker
    assert not (Rank("?") < weaker or Rank("?") >= weaker or Rank(weaker) > "?")
