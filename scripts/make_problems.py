"""Make the first problems of `tengen web`: mistakes of weak levels in games against each other.

    python scripts/make_problems.py [--games 6] [--seed 0]

A mistake becomes a problem where a search finds one move clearly better than all others.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from tengen.board import PASS, Board
from tengen.players import make_player
from tengen.records import loads
from tengen.records.from_board import sgf_of_board
from tengen.reviews import ReviewSettings
from tengen.reviews.game import MoveReview, Review, find_reviewer, review_game
from tengen.web.positions import to_value

OUT = Path(__file__).parents[1] / "src" / "tengen" / "web" / "problems.json"
LEVELS = (("tengen:level=1", "tengen:level=2"), ("tengen:level=2", "tengen:level=3"))
VISITS = 200  # of the searches before and after a move
LONGEST = 70  # moves of a game
LEAST_LOSS, LEAST_GAP = 4.0, 2.5  # points that the move lost, and that the second move loses
MOST_OF_A_GAME = 3


def play(seed: int, size: int) -> Board:
    """Play a game between two levels."""
    board, rng = Board(size), np.random.default_rng(seed)
    players = [make_player(spec) for spec in LEVELS[seed % len(LEVELS)]]
    while not board.is_over and len(board.moves) < LONGEST:
        board.play(players[len(board.moves) % 2].choose(board.copy(), rng))
    return board


def is_clear(review: Review, move: MoveReview) -> bool:
    """Return whether one move is clearly better than the one played and all others."""
    before = review.positions[move.number - 1]
    others = [lost for point, lost in before.candidates if point != before.best]
    gap = min(others, default=move.points_lost)
    is_searched = move.visits > 1 and move.best != PASS and move.verdict == "mistake"
    return is_searched and move.points_lost >= LEAST_LOSS and gap >= LEAST_GAP


def problems_of(seed: int, size: int) -> list[dict[str, Any]]:
    """Return the problems of one game."""
    [record] = loads(sgf_of_board(play(seed, size)).encode())
    reviewer = find_reviewer(size, size, ReviewSettings(visits=VISITS))
    review = review_game(record, reviewer, seed=seed)
    clear = [move for move in review.mistakes(len(review.moves)) if is_clear(review, move)]
    names = ("number", "colour", "move", "best", "points_lost")
    return [
        {
            "board": to_value(review.positions[move.number - 1].board),
            **{name: move.to_dict()[name] for name in names},
        }
        for move in clear[:MOST_OF_A_GAME]
    ]


def main() -> None:
    """Make the problems, and write them after each game."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=9)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    for seed in range(options.seed, options.seed + options.games):
        found += problems_of(seed, options.size)
        print(f"game {seed}: {len(found)} problems", flush=True)
        lines = (json.dumps(one, separators=(",", ":")) for one in found)
        OUT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
