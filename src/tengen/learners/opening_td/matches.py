"""Play openings between two sides and have an expert finish them; know no ratings.

A side is a trained `OpeningTD` (played greedily, in a kernel), the word "random" (any legal move,
the paper's Random, in a kernel) or any `Player`. Side A has Black in games of even number.
Networks are deterministic, so matches begin with a few random plies, each start played with both
colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tengen.board import BLACK, Board, random_point
from tengen.board.kernels import new_state
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_td import candidate_kernels, game_kernels
from tengen.learners.opening_td.features import FeatureSet, geometry
from tengen.learners.opening_td.game_kernels import NETWORK, RANDOM
from tengen.learners.opening_td.learner import OpeningTD
from tengen.learners.opening_td.network import make_memory
from tengen.learners.opening_td.training import opening_board
from tengen.statistics import Rate

Side = OpeningTD | Player | str
"""A trained learner, a player, or "random"."""

RANDOM_NAME = "random"


@dataclass
class OpeningMatch:
    """The openings of a match, and their scores from side A's view once an expert finished them."""

    scores: list[float] = field(default_factory=list)
    openings: list[list[int]] = field(default_factory=list)

    @property
    def rate(self) -> Rate:
        """How side A did; games of a pair are taken as independent."""
        return Rate.of(self.scores)

    @property
    def duplicates(self) -> int:
        """Number of games whose opening had been played before in this match."""
        return len(self.openings) - len({tuple(o) for o in self.openings})


def play_match(
    a: Side,
    b: Side,
    expert: Expert,
    *,
    games: int,
    seed: int,
    random_plies: int | None = None,
    shape: tuple[int, int] = (9, 9),
    komi: float = 5.5,
    plies: int = 20,
    batch: int = 50,
) -> OpeningMatch:
    """Play openings between A and B, let the expert finish them, and count A's wins.

    Without `random_plies` it is 2, but 0 where a side plays at random anyway.
    """
    result = OpeningMatch()
    for openings in play_openings(
        a, b, games=games, seed=seed, random_plies=random_plies, shape=shape, komi=komi,
        plies=plies, batch=batch,
    ):  # fmt: skip
        boards = [opening_board(o, *shape, komi) for o in openings]
        first = len(result.openings)
        scores = expert.finish(boards, judge_seeds(seed, first, len(boards)))
        for number, score in enumerate(scores, first):
            result.scores.append(float(score) if number % 2 == 0 else -float(score))
        result.openings += openings
    return result


def play_openings(
    a: Side,
    b: Side,
    *,
    games: int,
    seed: int,
    random_plies: int | None = None,
    shape: tuple[int, int] = (9, 9),
    komi: float = 5.5,
    plies: int = 20,
    batch: int = 50,
) -> Iterator[list[list[int]]]:
    """Yield openings, a batch at a time, as lists of moves."""
    if random_plies is None:
        random_plies = 0 if RANDOM_NAME in (a, b) else 2
    for first in range(0, games, batch):
        count = min(batch, games - first)
        if _in_kernel(a) and _in_kernel(b):
            yield _play_in_kernel(a, b, first, count, seed, random_plies, shape, komi, plies)
        else:
            yield [
                _play_one(a, b, number, seed, random_plies, shape, komi, plies)
                for number in range(first, first + count)
            ]


def judge_seeds(seed: int, first: int, count: int) -> list[int]:
    """Return the expert's seeds for games `first` and following of a match."""
    return [
        int(
            np.random.SeedSequence([seed, number, 4]).generate_state(1, np.uint64)[0]
            >> np.uint64(1)
        )
        for number in range(first, first + count)
    ]


def _in_kernel(side: Side) -> bool:
    return isinstance(side, OpeningTD) or side == RANDOM_NAME


def _dummy(shape: tuple[int, int], plies: int) -> OpeningTD:
    """Return a tiny network to stand where none is needed."""
    return OpeningTD(features="A", hidden=1, rows=shape[0], cols=shape[1], plies=plies).initialise()


def _play_in_kernel(
    a: Side,
    b: Side,
    first: int,
    count: int,
    seed: int,
    random_plies: int,
    shape: tuple[int, int],
    komi: float,
    plies: int,
) -> list[list[int]]:
    sides = [s if isinstance(s, OpeningTD) else _dummy(shape, plies) for s in (a, b)]
    for side in sides:
        if side.shape != shape:
            raise TengenError(f"{side.name} has learned another board than {shape[0]}x{shape[1]}")
    states = np.repeat(new_state(*shape)[None], count, axis=0)
    moves = np.zeros((count, plies), np.int64)
    memory = make_memory(FeatureSet("A"), *shape, 1, 1, plies)
    (net_a, lay_a, room_a), (net_b, lay_b, room_b) = (
        (s.net_, s.chosen.layout(*shape), s.work()[0]) for s in sides
    )
    who = [NETWORK if isinstance(s, OpeningTD) else RANDOM for s in (a, b)]
    game_kernels.match_openings(
        states, moves, plies, komi, random_plies, random_plies > 0, seed, first,
        geometry(*shape), net_a, lay_a, room_a, net_b, lay_b, room_b, who[0], who[1], memory,
    )  # fmt: skip
    return [[int(m) for m in game] for game in moves]


def _play_one(
    a: Side,
    b: Side,
    number: int,
    seed: int,
    random_plies: int,
    shape: tuple[int, int],
    komi: float,
    plies: int,
) -> list[int]:
    """Play one opening move by move, with players of any kind."""
    board = Board(*shape, komi=komi)
    start = np.random.default_rng([seed, number // 2, 5])
    rng = np.random.default_rng([seed, number, 6])
    for ply in range(plies):
        side = a if (board.turn == BLACK) == (number % 2 == 0) else b
        if ply < random_plies:
            move = random_point(board, start)
        elif side == RANDOM_NAME:
            move = random_point(board, rng)
        elif isinstance(side, OpeningTD):
            move = best_move(side, board)
        else:
            assert not isinstance(side, str)
            move = side.choose(board, rng)
            if move < 0:
                raise TengenError(f"{side.name} resigned in the opening")
        board.play(move)
    return [move for _, move in board.moves]


def best_move(learner: OpeningTD, board: Board) -> int:
    """Return the move after which the learner likes the position best, superko respected."""
    room, _ = learner.work()
    tables, layout = geometry(*learner.shape), learner.chosen.layout(*learner.shape)
    no_past = np.zeros(1, np.int64)
    count = candidate_kernels.rate_moves(
        board.state, learner.net_, learner.komi, tables, layout, no_past, 0, room
    )
    order = np.argsort(-room.values[:count], kind="stable")
    for move in room.moves[order]:
        if board.is_legal(int(move)):
            return int(move)
    return 0
