"""Fit how far a review's losses by the network are off: `NETWORK_SCATTER` in tengen.reviews.game.

Run: python benchmarks/review_scatter.py GAMES.sgf --games 30 --moves 4 --seed 0

Moves drawn from the games are reviewed twice, as usual and with several times the visits. The
answer is the root of the mean square of the difference in points lost, by that of the spread over
the fourth root of the visits. Games to train on only: what is fitted to them is measured elsewhere.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from tengen.board import PASS
from tengen.records import GameRecord, read_games
from tengen.reviews import ReviewSettings
from tengen.reviews.game import (
    EvaluatedPosition,
    MoveReview,
    find_reviewer,
    legal_part,
    review_move,
    search_position,
)


def reviewed(
    record: GameRecord, number: int, settings: ReviewSettings
) -> tuple[EvaluatedPosition, MoveReview]:
    """Review one move of a game, and nothing else of it."""
    player = find_reviewer(record.rows, record.cols, settings).player
    assert player is not None
    boards = legal_part(record)[0][number - 1 : number + 1]
    before, after = (search_position(board, player, settings.seed) for board in boards)
    return before, review_move(number, record.moves[number - 1], before, after)


def main() -> None:
    """Print a line for every move, then the fit with its interval."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("files", nargs="+")
    ask.add_argument("--games", type=int, default=30)
    ask.add_argument("--moves", type=int, default=4, help="moves of each game")
    ask.add_argument("--visits", type=int, default=50)
    ask.add_argument("--longer", type=int, default=8, help="times the visits of the long review")
    ask.add_argument("--seed", type=int, default=0)
    wanted = ask.parse_args()
    rng = np.random.default_rng(wanted.seed)
    short = ReviewSettings(visits=wanted.visits)
    long = replace(short, visits=wanted.longer * wanted.visits)
    games = [g for file in wanted.files for g in read_games(file) if len(g.moves) > 20]
    off, units = [], []
    for i in rng.permutation(len(games))[: wanted.games]:
        record = games[i]
        moves = [n for n, (_, point) in enumerate(record.moves, 1) if point != PASS]
        for number in rng.choice(moves, min(wanted.moves, len(moves)), replace=False):
            before, quick = reviewed(record, int(number), short)
            _, slow = reviewed(record, int(number), long)
            off.append(quick.points_lost - slow.points_lost)
            units.append(before.spread / max(before.visits, 1) ** 0.25)
            print(
                f"{record.file} game {record.game} move {number}: lost {quick.points_lost:.2f}, "
                f"with more visits {slow.points_lost:.2f}; spread {before.spread:.1f}, "
                f"visits {before.visits}",
                flush=True,
            )
    square, unit = np.square(off), np.square(units)
    draws = rng.integers(0, len(off), (2000, len(off)))
    again = np.sqrt(square[draws].sum(axis=1) / unit[draws].sum(axis=1))
    low, high = np.quantile(again, [0.025, 0.975])
    scatter = float(np.sqrt(square.sum() / unit.sum()))
    print(f"{len(off)} moves: scatter {scatter:.3f} [{low:.3f}, {high:.3f}], by the bootstrap")


if __name__ == "__main__":
    main()
