"""Play openings between two sides and have an expert finish them; know no ratings.

A side is a trained model (played greedily, in a kernel), the word "random" (any legal move, the
paper's Random, in a kernel) or any `Player`. Side A has Black in games of even number. Networks are
deterministic, so matches begin with a few random plies, each start played with both colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tengen.board import BLACK, Board, random_point
from tengen.board.kernels import new_state
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_td import game_kernels
from tengen.learners.opening_td.features import FeatureSet
from tengen.learners.opening_td.game_kernels import NETWORK, RANDOM
from tengen.learners.opening_td.model import OpeningModel
from tengen.learners.opening_td.network import make_memory
from tengen.learners.opening_td.settings import TDSettings
from tengen.statistics import Rate

Side = OpeningModel | Player | str
"""A trained model, a player, or "random"."""

RANDOM_NAME = "random"
_BATCH = 50
"""Openings that the expert is given at once."""


@dataclass
class OpeningMatch:
    """A match that was played: the scores from side A's view, and the openings."""

    scores: list[float] = field(default_factory=list)
    openings: list[list[int]] = field(default_factory=list)

    @property
    def rate(self) -> Rate:
        """How side A did; pairs are taken as independent games."""
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
    terms: TDSettings | None = None,
    batch: int = _BATCH,
) -> OpeningMatch:
    """Play openings between A and B and let the expert finish them.

    `terms` say board, komi and length; the settings of the model among the sides, if not said.
    Without `random_plies` there are 2, but none where a side plays at random anyway.
    """
    terms = terms or _terms_of(a, b)
    match = OpeningMatch()
    for openings in _play_openings(a, b, terms, games, seed, random_plies, batch):
        first = len(match.openings)
        boards = [opening_board(o, terms) for o in openings]
        scores = expert.finish(boards, _judge_seeds(seed, first, len(boards)))
        for number, score in enumerate(scores, first):
            match.scores.append(float(score) if number % 2 == 0 else -float(score))
        match.openings += openings
    return match


def _play_openings(
    a: Side,
    b: Side,
    terms: TDSettings,
    games: int,
    seed: int,
    random_plies: int | None = None,
    batch: int = _BATCH,
) -> Iterator[list[list[int]]]:
    """Yield openings, a batch at a time, as lists of moves."""
    if random_plies is None:
        random_plies = 0 if RANDOM_NAME in (a, b) else 2
    for first in range(0, games, batch):
        numbers = range(first, min(first + batch, games))
        if _in_kernel(a) and _in_kernel(b):
            yield _play_in_kernel(a, b, terms, numbers, seed, random_plies)
        else:
            yield [_play_one(a, b, terms, number, seed, random_plies) for number in numbers]


def opening_board(moves: list[int], terms: TDSettings) -> Board:
    """Return the board after an opening."""
    board = Board(*terms.shape, komi=terms.komi)
    for move in moves:
        board.push(move)
    return board


def _terms_of(a: Side, b: Side) -> TDSettings:
    """Return the settings of the first model among two sides."""
    for side in (a, b):
        if isinstance(side, OpeningModel):
            return side.settings
    raise TengenError("a match between players needs terms: board, komi and length")


def _judge_seeds(seed: int, first: int, count: int) -> list[int]:
    """Return the expert's seeds for games `first` and following of a match."""
    words = (
        np.random.SeedSequence([seed, number, 4]).generate_state(1, np.uint64)[0]
        for number in range(first, first + count)
    )
    return [int(word >> np.uint64(1)) for word in words]


def _in_kernel(side: Side) -> bool:
    return isinstance(side, OpeningModel) or side == RANDOM_NAME


def _play_in_kernel(
    a: Side, b: Side, terms: TDSettings, numbers: range, seed: int, random_plies: int
) -> list[list[int]]:
    """Play openings of so many numbers at once."""
    shape, plies = terms.shape, terms.opening_plies
    sides = [s if isinstance(s, OpeningModel) else _nobody(terms) for s in (a, b)]
    for side in sides:
        if side.settings.shape != shape:
            raise TengenError(f"{side.name} has learned another board than {shape[0]}x{shape[1]}")
    states = np.repeat(new_state(*shape)[None], len(numbers), axis=0)
    moves = np.zeros((len(numbers), plies), np.int64)
    memory = make_memory(FeatureSet("A"), *shape, 1, 1, plies)
    (net_a, desk_a), (net_b, desk_b) = ((s.net_, s.desk()) for s in sides)
    who = [NETWORK if isinstance(s, OpeningModel) else RANDOM for s in (a, b)]
    game_kernels.match_openings(
        states, moves, plies, terms.komi, random_plies, random_plies > 0, seed, numbers.start,
        desk_a.tables, net_a, desk_a.layout, desk_a.room, net_b, desk_b.layout, desk_b.room,
        who[0], who[1], memory,
    )  # fmt: skip
    return [[int(m) for m in game] for game in moves]


def _nobody(terms: TDSettings) -> OpeningModel:
    """Return a tiny network to stand where none is needed."""
    rows, cols = terms.shape
    small = TDSettings(features="A", hidden=1, rows=rows, cols=cols, plies=terms.opening_plies)
    return OpeningModel(settings=small).draw()


def _play_one(
    a: Side, b: Side, terms: TDSettings, number: int, seed: int, random_plies: int
) -> list[int]:
    """Play one opening move by move, with players of any kind."""
    board = Board(*terms.shape, komi=terms.komi)
    start = np.random.default_rng([seed, number // 2, 5])
    rng = np.random.default_rng([seed, number, 6])
    for ply in range(terms.opening_plies):
        side = a if (board.turn == BLACK) == (number % 2 == 0) else b
        if ply < random_plies:
            move = random_point(board, start)
        elif isinstance(side, str):
            move = random_point(board, rng)
        elif isinstance(side, OpeningModel):
            move = side.best_move(board)
        else:
            move = side.choose(board, rng)
            if move < 0:
                raise TengenError(f"{side.name} resigned in the opening")
        board.play(move)
    return [int(move) for _, move in board.moves]
