"""Keep one opening player: its settings, its weights, what it thinks of positions and moves.

Training and matches work on an `OpeningModel`; the estimator `OpeningTD` is one that can learn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Point
from tengen.board.coordinates import index_of
from tengen.errors import TengenError
from tengen.learners.opening_td import candidate_kernels, game_kernels, kernels
from tengen.learners.opening_td.features import geometry
from tengen.learners.opening_td.network import make_memory, make_net, make_room, output_to_score
from tengen.learners.opening_td.settings import DEFAULTS, TDSettings
from tengen.models import Card

_SCALE = 10.0
"""Points that turn even chances into 73 %, for a player whose card does not say."""


class Desk(NamedTuple):
    """The tables and arrays that the kernels work with for one player."""

    tables: kernels.Geometry
    layout: kernels.Layout
    room: candidate_kernels.Room
    memory: game_kernels.Memory


class OpeningModel:
    """An opening player: judges positions from the view of the side that has just moved.

    It plays the move after which it likes the position best. Values are scores in points for a
    score or ownership target, and log odds times `scale` for a target of winning.
    """

    net_: kernels.Net
    games_: int
    """Openings it was trained with."""

    def __init__(self, *, settings: TDSettings = DEFAULTS) -> None:
        self.settings = settings
        self.card: Card | None = None
        """The card of the file it was loaded from; None for a new one."""
        self._desk: Desk | None = None

    def draw(self) -> Self:
        """Draw the first weights; training does it itself."""
        chosen = self.settings
        inputs = chosen.chosen.n_inputs(*chosen.shape)
        self.net_ = make_net(inputs, chosen.hidden, chosen.outputs, chosen.seed)
        self.games_ = 0
        return self

    def desk(self) -> Desk:
        """Return what the kernels work with, made when first needed."""
        if self._desk is None:
            chosen = self.settings
            sizes = (chosen.chosen, *chosen.shape, chosen.hidden, chosen.outputs)
            self._desk = Desk(
                geometry(*chosen.shape),
                chosen.chosen.layout(*chosen.shape),
                make_room(*sizes),
                make_memory(*sizes, chosen.opening_plies),
            )
        return self._desk

    @property
    def name(self) -> str:
        """A short name."""
        return self.settings.name

    @property
    def opening_plies(self) -> int:
        """How many plies of a game it has learned to play."""
        return self.settings.opening_plies

    @property
    def scale(self) -> float:
        """Points that turn even chances into 73 %."""
        return _SCALE if self.card is None or self.card.scale is None else self.card.scale

    def outputs_of(self, board: Board) -> FloatArray:
        """Return the outputs for a position from Black's view; one a cell for ownership.

        The position is seen by the side that is not to move, under the komi of the training.
        """
        self._check_board(board)
        tables, layout, room, _ = self.desk()
        friend = 3 - board.turn
        kernels.position_keys(board.state, friend, tables, room.keys)
        orientation = kernels.best_orientation(room.keys)
        kernels.constant_sums(self.net_, layout, room.fixed)
        komi = self.settings.komi
        candidate_kernels.evaluate(
            board.state, friend, komi, orientation, self.net_, tables, layout, room
        )
        out = np.zeros(self.settings.outputs)
        game_kernels.view(room.output, friend, tables.turned[orientation], out)
        return out

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([self._value(board) for board in boards], np.float64)

    def _value(self, board: Board) -> float:
        out, settings = self.outputs_of(board), self.settings
        if settings.target == "ownership":
            value = float((2 * out - 1).sum()) - settings.komi
        elif settings.target == "win":
            chance = min(max(float(out[0]), 1e-9), 1 - 1e-9)
            value = self.scale * math.log(chance / (1 - chance))
        else:
            value = output_to_score(float(out[0]), settings.largest)
        # Learned under one komi; another one moves the score by the difference.
        return value - (board.white_bonus - settings.komi)

    def priors(self, board: Board) -> FloatArray:
        """Return a softmax over the values of legal moves; pass only where there is no other."""
        out = np.zeros(board.rows * board.cols + 1)
        moves = [p for p in board.legal_moves if p]
        if not moves:
            out[-1] = 1.0
            return out
        values = np.empty(len(moves))
        for i, move in enumerate(moves):
            after = board.copy()
            after.push(move)
            values[i] = self._value(after) * (1 if board.turn == BLACK else -1)
        chances = np.exp((values - values.max()) / self.settings.temperature)
        for move, chance in zip(moves, chances / chances.sum(), strict=True):
            out[index_of(move, board.rows, board.cols)] = chance
        return out

    def best_move(self, board: Board) -> Point:
        """Return the move after which it likes the position best, superko respected."""
        self._check_board(board)
        tables, layout, room, _ = self.desk()
        no_past = np.zeros(1, np.int64)
        count = candidate_kernels.rate_moves(
            board.state, self.net_, self.settings.komi, tables, layout, no_past, 0, room
        )
        order = np.argsort(-room.values[:count], kind="stable")
        liked = (board.answer(raw) for raw in room.moves[order])
        return next((move for move in liked if board.is_legal(move)), PASS)

    def _check_board(self, board: Board) -> None:
        rows, cols = self.settings.shape
        if (board.rows, board.cols) != (rows, cols):
            raise TengenError(
                f"{self.name} has learned {rows}x{cols}, not {board.rows}x{board.cols}"
            )
        if not hasattr(self, "net_"):
            raise TengenError(f"{self.name} has learned nothing yet: call fit")
