"""Play openings with evolved networks and let an expert finish them; give scores from a side's
view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, WHITE, Board, Point, Rules, play_random
from tengen.contracts import Expert, Player
from tengen.learners.opening_evolution.networks import Shape, Weights

COLOURS: dict[str, tuple[int, ...]] = {"both": (BLACK, WHITE), "black": (BLACK,), "white": (WHITE,)}
"""Which sides a network plays when its fitness is measured."""


@dataclass
class NetworkPlayer:
    """A network as a player: the best point, or a pass if that is illegal."""

    shape: Shape
    weights: Weights
    name: str = "evolved"

    def __post_init__(self) -> None:
        self._shape, self._weights = self.shape.unfold(self.weights)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move; uses no randomness."""
        move = board.answer(self._shape.move(self._weights, board))
        return move if board.is_legal(move) else PASS


@dataclass(frozen=True)
class OpeningTerms:
    """What a game of openings is: board, length of the opening, komi, and the ko rule.

    `moves` are the moves of each side. `random_plies` are played before it, so that players without
    randomness do not repeat one game.
    """

    rows: int = 13
    cols: int = 13
    moves: int = 15
    komi: float = 7.5
    random_plies: int = 0

    def start(self, seed: int) -> Board:
        """Return the board on which the opening begins."""
        board = Board(self.rows, self.cols, rules=Rules(ko="simple"), komi=self.komi)
        return play_random(board, self.random_plies, np.random.default_rng(seed))


def _play_opening(black: Player, white: Player, terms: OpeningTerms, seed: int) -> Board:
    """Return the board after both sides' opening moves."""
    board = terms.start(seed)
    rng = np.random.default_rng([seed, 1])
    for _ in range(2 * terms.moves):
        player = black if board.turn == BLACK else white
        move = player.choose(board, rng)
        board.push(move if move >= 0 else PASS)
    return board


def fitness(
    me: Player,
    opponents: Player | Sequence[Player],
    expert: Expert,
    terms: OpeningTerms,
    colours: str,
    seeds: Sequence[int],
    *,
    bend: float = 0.0,
) -> float:
    """Return a player's mean final score over starts and colours.

    `opponents` is one for all starts, or one for each seed. With `bend` a score s counts as
    bend * tanh(s / bend): beyond so many points a game is won, and more says little.
    """
    others = opponents if isinstance(opponents, Sequence) else [opponents] * len(seeds)
    boards, signs, finish_seeds = [], [], []
    for seed, other in zip(seeds, others, strict=True):
        for colour in COLOURS[colours]:
            black, white = (me, other) if colour == BLACK else (other, me)
            boards.append(_play_opening(black, white, terms, seed))
            signs.append(1.0 if colour == BLACK else -1.0)
            finish_seeds.append(seed)
    scores = np.asarray(expert.finish(boards, finish_seeds)) * signs
    return float(np.mean(bend * np.tanh(scores / bend) if bend else scores))


def match(
    a: Player, b: Player, expert: Expert, terms: OpeningTerms, seeds: Sequence[int]
) -> FloatArray:
    """Return the scores of `a` against `b`: each seed's start is played with both colours.

    Entry 2 i has `a` as Black, entry 2 i + 1 as White.
    """
    boards: list[Board] = []
    for seed in seeds:
        boards.append(_play_opening(a, b, terms, seed))
        boards.append(_play_opening(b, a, terms, seed))
    scores = np.asarray(expert.finish(boards, [s for seed in seeds for s in (seed, seed)]))
    return np.where(np.arange(len(boards)) % 2 == 0, scores, -scores)
