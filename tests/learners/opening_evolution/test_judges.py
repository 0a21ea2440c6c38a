"""Judges made of others: playing on before the verdict, and several verdicts for one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tengen.board import PASS, Board
from tengen.errors import SpecError
from tengen.learners.opening_evolution import Jury, PlayedOn, make_judge
from tengen.players import make_expert, make_player


class Stones:
    """An expert that counts how many moves were made, plus something."""

    closed = False

    def __init__(self, more: float = 0.0) -> None:
        self.more = more

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> np.ndarray:
        return np.array([len(board.moves) + self.more for board in boards])

    def close(self) -> None:
        self.closed = True


class Passer:
    name = "passer"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return PASS


def test_plays_on_before_the_verdict_and_leaves_the_board_alone() -> None:
    board = Board(5, moves="B C3 W C2")
    judge = PlayedOn(make_player("random"), 6, Stones())
    assert judge.finish([board], [1]).tolist() == [8.0]
    assert len(board.moves) == 2
    assert PlayedOn(Passer(), 6, Stones()).finish([board], [1]).tolist() == [4.0]


def test_a_jury_gives_the_mean() -> None:
    parts = [Stones(), Stones(3.0)]
    jury = Jury(parts)
    assert jury.finish([Board(5), Board(5, moves="B C3")], [1, 2]).tolist() == [1.5, 2.5]
    jury.close()
    assert all(part.closed for part in parts)


def test_judges_by_their_spec() -> None:
    made = make_judge(
        "static + 4 plies of random then builtin:playouts=8", make_player, make_expert
    )
    assert isinstance(made, Jury)
    last = made.experts[1]
    assert isinstance(last, PlayedOn) and last.plies == 4
    board = Board(5, moves="B C3 W C2")
    static, played_on = (expert.finish([board], [3])[0] for expert in made.experts)
    assert made.finish([board], [3])[0] == pytest.approx((static + played_on) / 2)
    with pytest.raises(SpecError, match="N plies of PLAYER then EXPERT"):
        make_judge("some plies of random then static", make_player, make_expert)
