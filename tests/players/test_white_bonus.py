"""Whoever judges a position gives White the points for handicap stones that its rules give."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import Board, Rules, playouts
from tengen.board.counting import count_board
from tengen.game.endgame import estimate_by_playouts, score_as_it_stands
from tengen.learners.network import inputs
from tengen.models import load_evaluator
from tengen.players import make_expert, make_player
from tengen.players.evaluators import EVALUATORS
from tengen.players.simple import finish_score

_SIDE = 9


def settled(size: int = _SIDE, **options: object) -> Board:
    """Return a board of two groups with two eyes each and nothing else: Black has four columns."""
    rows = [list("X" * 4 + "O" * (size - 4)) for _ in range(size)]
    rows[0][0] = rows[-1][0] = rows[1][-1] = rows[-2][-1] = "."
    return Board.from_ascii("\n".join(map("".join, rows)), **options)  # type: ignore[arg-type]


def verdicts(board: Board) -> dict[str, float]:
    """Ask all who need no model what a settled board is worth."""
    found = {
        "area": board.area_score(),
        "count": count_board(board, None).score,
        "as it stands": score_as_it_stands(board),
        "judgement": estimate_by_playouts(board).score,
        "finish": finish_score(board),
    }
    for kind in ("light", "heavy"):
        found[kind] = playouts(board, 8, kind=kind).mean_score  # type: ignore[arg-type]
    for name in ("builtin", "static", "static:resign=no"):
        found[f"expert {name}"] = float(make_expert(name).finish([board], [1])[0])
    for name, make in EVALUATORS.items():
        found[f"evaluator {name}"] = float(make().values([board])[0])
    player = make_player("mcts:playouts=16")
    *_, report = player.analyse(board, np.random.default_rng(1), limited=True)  # type: ignore[attr-defined]
    found["search"] = report.score
    return found


@pytest.mark.parametrize(
    ("rules", "handicap", "bonus"),
    [("chinese", 4, 11.5), ("aga", 4, 10.5), ("chinese", 0, 7.5), ("cgos", 4, 7.5)],
)
def test_all_judges_agree_on_a_settled_board(rules: str, handicap: int, bonus: float) -> None:
    board = settled(rules=rules, handicap=handicap)
    assert board.white_bonus == bonus
    found = verdicts(board)
    assert found == dict.fromkeys(found, 36 - 45 - bonus)


def test_territory_is_counted_without_compensation() -> None:
    board = Board(9, rules=Rules(scoring="territory", handicap_bonus="n"), komi=0.5, handicap=4)
    assert board.white_bonus == 0.5


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("evolved-spatial-13x13", 13),
        ("isn-9x9", 9),
        ("isn-best", 9),
        ("scorer", 9),
        ("td-best-9x9", 9),
        ("zero-9x9", 9),
    ],
)
def test_models_take_compensation_for_komi(name: str, size: int) -> None:
    model = load_evaluator(name)
    given = settled(size, rules="chinese", komi=0.5, handicap=4)
    same = settled(size, rules="chinese", komi=4.5)
    even = settled(size, rules="chinese", komi=0.5)
    a, b, c = model.values([given, same, even])
    assert a == b < c
    rate = getattr(model, "move_scores", None)
    if rate is not None:
        assert np.array_equal(rate(given), rate(same))


def test_a_network_is_told_all_that_white_gets() -> None:
    boards = [settled(rules="chinese", komi=0.5, handicap=4, to_play=side) for side in (1, 2)]
    assert inputs.of_boards(boards).komi.tolist() == [-4.5, 4.5]


def test_another_handicap_is_another_game() -> None:
    board = settled(rules="chinese", handicap=4)
    assert board.continues(board.copy())
    assert not board.continues(settled(rules="chinese"))
