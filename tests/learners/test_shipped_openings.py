"""The shipped opening players choose and value a fixed game as they always did."""

from __future__ import annotations

import numpy as np
import pytest

from tengen.board import Board
from tengen.board.coordinates import format_gtp
from tengen.models import load_learner
from tengen.players.simple import OpeningPlayer

GAMES = {9: "E5 C3 G7 C7 G3 D4 F4 D3 E6", 13: "K10 D4 D10 K4 G7 F3 C7 L7 K8 D6"}
KOMI = {9: 5.5, 13: 7.5}

# What each would play before every move of the game, and its value after the move.
KNOWN = {
    "td-abcde-9x9": (
        "D3 F5 G3 C7 G6 D5 F5 E6 G4",
        (-2.23506, 1.13061, -2.43232, 0.61314, -1.93417, 1.05201, -1.78762, 2.32618, -3.84461),
    ),
    "td-best-9x9": (
        "D2 H4 F2 D8 B6 H6 F8 D8 F8",
        (-0.50465, 4.49547, -3.69066, 6.95753, -6.26546, 9.70982, -9.5321, 9.01206, -9.57671),
    ),
    "evolved-minimax-13x13": (
        "G7 G7 G7 G7 G7 F10 H4 H10 H4 F10",
        (165.60064, -64.3881, 163.8304, -32.5888, 163.84297, 157.45119, 166.45854, 154.23464,
         167.28451, 152.32033),
    ),
    "evolved-spatial-13x13": (
        "G9 G9 E7 G9 G5 E7 G5 G5 G5 G9",
        (112.87642, -72.56437, 111.98946, -68.7321, 12.65984, -102.35641, 96.35868, -100.17229,
         -7.94117, -101.1251),
    ),
}  # fmt: skip


class Nobody:
    """Takes over after the opening, which must not happen here."""

    name = "nobody"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        raise AssertionError("the opening is over")


@pytest.mark.parametrize("name", KNOWN)
def test_answers_are_what_they_were(name: str) -> None:
    model = load_learner(name)
    player, rng = OpeningPlayer(model=model, then=Nobody()), np.random.default_rng(0)
    size = 9 if name.endswith("9x9") else 13
    board, choices, values = Board(size, komi=KOMI[size]), [], []
    for move in GAMES[size].split():
        choices.append(format_gtp(player.choose(board, rng), size, size))
        board.play(move)
        values.append(float(model.values([board])[0]))
    expected, known = KNOWN[name]
    assert " ".join(choices) == expected
    assert values == pytest.approx(known, abs=1e-4)
