"""Play openings with evolved networks and let an expert finish them; give scores from a side's
view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, PASS, WHITE, Board, Rules, play_random
from tengen.contracts import Expert, Player
from tengen.learners.opening_evolution.networks import Shape, Weights

Colours = Literal["both", "black", "white"]
"""Which side a network plays when its fitness is measured."""

COLOURS: dict[str, tuple[int, ...]] = {"both": (BLACK, WHITE), "black": (BLACK,), "white": (WHITE,)}


@dataclass
class NetworkPlayer:
    """A network as a player: the best point, or a pass if that is illegal.

    After an illegal choice it may choose again, among other points, `chances` times.
    """

    shape: Shape
    weights: Weights
    name: str = "evolved"
    chances: int = 0

    def __post_init__(self) -> None:
        self._shape, self._weights = self.shape.unfold(self.weights)

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        """Choose a move; uses no randomness."""
        barred: list[int] = []
        for _ in range(self.chances + 1):
            move = self._shape.move(self._weights, board, barred)
            if board.is_legal(move):
                return move
            barred.append(move)
        return PASS


@dataclass(frozen=True)
class Setting:
    """What a game of openings is: board, length of the opening, komi, handicap, and the ko rule.

    `moves` are the moves of each side. `random_plies` are played before it, so that players without
    randomness do not repeat one game. `handicap` stones go to the network's side as free first
    moves.
    """

    rows: int = 13
    cols: int = 13
    moves: int = 15
    komi: float = 7.5
    random_plies: int = 0
    handicap: int = 0

    def start(self, seed: int) -> Board:
        """Return the board on which the opening begins."""
        board = Board(self.rows, self.cols, rules=Rules(ko="simple"), komi=self.komi)
        return play_random(board, self.random_plies, np.random.default_rng(seed))


def play_opening(
    black: Player, white: Player, setting: Setting, seed: int, *, favoured: int | None = None
) -> Board:
    """Return the board after both sides' opening moves; a favoured colour has the handicap."""
    board = setting.start(seed)
    if favoured is not None:
        give_handicap(board, favoured, setting.handicap)
    rng = np.random.default_rng([seed, 1])
    for _ in range(2 * setting.moves):
        player = black if board.turn == BLACK else white
        move = player.choose(board, rng)
        board.push(move if move >= 0 else PASS)
    return board


def give_handicap(board: Board, colour: int, stones: int) -> None:
    """Put free stones of a colour on the usual handicap points that are empty."""
    from tengen.board import handicap_points

    for point in handicap_points(board.rows, board.cols, max(stones, 2))[:stones]:
        if board.is_legal(point, colour):
            board.push(point, colour)
    board.turn = BLACK


def fitness(
    shape: Shape,
    weights: Weights,
    opponents: Player | Sequence[Player],
    expert: Expert,
    setting: Setting,
    colours: Colours,
    seeds: Sequence[int],
    *,
    chances: int = 0,
    bend: float = 0.0,
) -> float:
    """Return the network's mean final score over starts and colours.

    `opponents` is one for all starts, or one for each seed. With `bend` a score s counts as
    bend * tanh(s / bend): beyond so many points a game is won, and more says little.
    """
    me = NetworkPlayer(shape, weights, chances=chances)
    others = opponents if isinstance(opponents, Sequence) else [opponents] * len(seeds)
    boards, signs, finish_seeds = [], [], []
    for seed, other in zip(seeds, others, strict=True):
        for colour in COLOURS[colours]:
            black, white = (me, other) if colour == BLACK else (other, me)
            favoured = colour if setting.handicap else None
            boards.append(play_opening(black, white, setting, seed, favoured=favoured))
            signs.append(1.0 if colour == BLACK else -1.0)
            finish_seeds.append(seed)
    scores = np.asarray(expert.finish(boards, finish_seeds)) * signs
    return float(np.mean(bend * np.tanh(scores / bend) if bend else scores))


def match(
    a: Player, b: Player, expert: Expert, setting: Setting, seeds: Sequence[int]
) -> NDArray[np.float64]:
    """Return the scores of `a` against `b`: each seed's start is played with both colours.

    Entry 2 i has `a` as Black, entry 2 i + 1 as White.
    """
    boards: list[Board] = []
    for seed in seeds:
        boards.append(play_opening(a, b, setting, seed))
        boards.append(play_opening(b, a, setting, seed))
    scores = np.asarray(expert.finish(boards, [s for seed in seeds for s in (seed, seed)]))
    return np.where(np.arange(len(boards)) % 2 == 0, scores, -scores)
