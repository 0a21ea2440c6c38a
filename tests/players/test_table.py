"""A game between a person and a player, without a terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, PASS, RESIGN, WHITE, Board, parse_gtp
from tengen.errors import IllegalMoveError
from tengen.learners.scoring import BlockScorer
from tengen.players.table import Table
from tengen.records import read_game


class Passing:
    """A player that passes."""

    name = "passing"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return PASS


def table(human: int = BLACK) -> Table:
    return Table(Board(5, komi=0.5), Passing(), human, seed=1)


def test_a_game_is_counted_after_two_passes(tmp_path: Path) -> None:
    game = table()
    game.play(parse_gtp("C3", 5, 5))
    assert game.waits and game.answer() == PASS and not game.waits
    game.play(PASS)
    assert game.over and game.result == "B+24.5"
    assert len(game.territory()[BLACK]) == 24 and game.territory()[WHITE] == []
    with pytest.raises(IllegalMoveError, match="the game is over"):
        game.play(PASS)
    game.turn_over("C3")
    assert game.result == "W+0.5" and game.fallen() == [12] and game.summary()["dead"] == ["C3"]
    game.turn_over("C3")
    assert game.result == "B+24.5" and game.dead == set()
    assert game.judge_learned is isinstance(game.judge.scorer, BlockScorer)
    (tmp_path / "game.sgf").write_bytes(game.sgf())
    record = read_game(tmp_path / "game.sgf")
    assert str(record.result) == "B+24.5" and len(record.tree.nodes[-1]["TB"]) == 24


def test_undo_goes_back_to_the_persons_turn() -> None:
    game = table()
    with pytest.raises(IllegalMoveError, match="no move of yours"):
        game.undo()
    game.play(parse_gtp("C3", 5, 5))
    game.answer()
    game.play(PASS)
    game.undo()
    assert not game.over and [move for _, move in game.board.moves][1:] == [PASS]
    game.play(RESIGN)
    assert game.result == "W+R" and game.resigned == BLACK
    game.undo()
    assert not game.over and len(game.board.moves) == 2


def test_stones_are_taken_off_only_at_the_end() -> None:
    with pytest.raises(IllegalMoveError, match="after both have passed"):
        table().turn_over("C3")


def test_somebody_who_watches_sees_the_end() -> None:
    game = table(human=0)
    while game.waits:
        game.answer()
    assert game.over and game.result and game.summary()["colour"] is None


def test_advice_and_estimate() -> None:
    game = table()
    assert game.advice() == PASS
    outlook, owners = game.estimate()
    assert abs(outlook.score) <= 40 and not outlook.finished and outlook.by
    assert owners is None or owners.shape == (25,)
