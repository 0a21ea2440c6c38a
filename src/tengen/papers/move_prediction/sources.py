"""The games that experiments learn from and measure on: collections, or games made by rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.board import RESIGN, Board, Point, play_random, play_to_end
from tengen.errors import TengenError
from tengen.lab.steps import LabContext
from tengen.papers.move_prediction.training import read_games
from tengen.players import make_player
from tengen.progress import OnStep
from tengen.records import GameRecord
from tengen.records.arrays import GameArrays, from_records


@dataclass(frozen=True)
class GameSource:
    """The games to learn from and to measure on."""

    made: int = 0  # games to make by the rule player and learn from; 0 to use the collection
    board: int = 19
    train: str = "tom9d-train.sgf"
    test: str = "tom9d-dev.sgf"  # files of the collection; without a test file games are held out
    test_games: int = 500  # as in the paper

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read."""
        return () if self.made else tuple(filter(None, (self.train, self.test)))

    def training(self, context: LabContext) -> GameArrays:
        """Return the games to learn from."""
        if self.made:
            on_step = context.between(0, 0.2, "game")
            return sample_games(self.made, self.board, context.seed, on_step)
        return self._read(context, self.train)

    def read(self, context: LabContext) -> tuple[GameArrays, GameArrays]:
        """Return the games to learn from and to measure on."""
        train = self.training(context)
        if self.made:
            return train, sample_games(self.test_games, self.board, context.seed + 1)
        if self.test:
            test = self._read(context, self.test)
            return train, test.take(np.arange(min(self.test_games, len(test))))
        return hold_out(train, self.test_games, context.seed)

    def _read(self, context: LabContext, name: str) -> GameArrays:
        return read_games([str(context.games(name))], self.board)[0]


def sample_games(
    games: int,
    size: int,
    seed: int,
    on_step: OnStep = lambda done, total: None,
    *,
    random_share: float = 0.0,
) -> GameArrays:
    """Return games of the rule player against itself from random openings, as arrays.

    With `random_share` it plays so many of its moves at random, which makes it weaker.
    """
    static, weak = make_player("static"), make_player("random")
    rng = np.random.default_rng(seed)

    def choose(board: Board) -> Point:
        player = weak if random_share and rng.random() < random_share else static
        return player.choose(board, rng) or RESIGN

    records = []
    for number in range(games):
        board = play_random(Board(size), 4, rng)
        # To the first pass: players ask the judge before a second one, which takes longer than
        # the game.
        play_to_end(board, choose, limit=2 * size * size - 4)
        records.append(GameRecord(rows=size, cols=size, moves=list(board.moves), komi=board.komi))
        on_step(number + 1, games)
    return from_records(records)


def hold_out(games: GameArrays, count: int, seed: int) -> tuple[GameArrays, GameArrays]:
    """Hold out `count` games and leave two or more; return (the others, the games held out)."""
    if len(games) < count + 2:
        raise TengenError(f"{len(games)} games: too few to hold out {count}")
    order = np.random.default_rng([seed, 1]).permutation(len(games))
    return games.take(order[count:]), games.take(order[:count])


def games_of_ranks(
    context: LabContext, name: str, board: int, low: str, below: str | None
) -> GameArrays:
    """Return the games of a file whose weaker player is at least `low` and under `below`."""

    def keep(record: GameRecord) -> bool:
        players = record.black_rank, record.white_rank
        strong = all(rank >= low for rank in players)
        return strong and (below is None or any(rank < below for rank in players))

    return read_games([str(context.games(name))], board, keep=keep)[0]
