"""The opening player as an estimator: fit, evaluate positions and moves, save and load."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Point
from tengen.board.coordinates import index_of
from tengen.contracts import Expert, Player
from tengen.errors import ModelError, TengenError
from tengen.learners.opening_td import game_kernels, kernels
from tengen.learners.opening_td.network import geometry, layout_of, make_memory, make_net, make_room
from tengen.learners.opening_td.settings import DEFAULTS, TDSettings
from tengen.models import Card, StoredLearner
from tengen.models.runs import Run
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Tensors

KIND = "opening-td"
_SCALE = 10.0
"""Points that turn even chances into 73 %, unless the model's card overrides it."""


class Desk(NamedTuple):
    """The tables and arrays that the kernels work with for one player."""

    tables: kernels.Geometry
    layout: kernels.Layout
    room: kernels.Room
    memory: game_kernels.Memory


class OpeningTD(StoredLearner):
    """An opening player that learns by temporal differences (Huang 2003).

    It evaluates positions from the view of the side that has just moved and plays the move after
    which it likes the position best. Values are scores in points.

    Parameters
    ----------
    settings
        What it is and how it is trained; see `TDSettings`.
    """

    kind = KIND
    net_: kernels.Net
    games_: int
    """Openings it was trained with."""

    def __init__(self, *, settings: TDSettings = DEFAULTS) -> None:
        self.settings = settings
        self._desk: Desk | None = None

    def fit(
        self,
        expert: Expert,
        opponent: Player | None = None,
        *,
        referee: Expert | None = None,
        run: Run[TDSettings] | None = None,
        on_game: Callable[[int], None] = lambda games: None,
    ) -> Self:
        """Learn from openings that the expert finishes, by self-play unless there is an opponent.

        With a run training continues there and writes checkpoints and a learning curve, judged by
        `referee` (by default the expert). `on_game` gets the number of openings played so far.
        """
        from tengen.learners.opening_td.training import train

        train(self, expert, opponent, referee=referee, run=run, on_game=on_game)
        return self

    def draw(self) -> Self:
        """Draw the initial weights; training does so itself."""
        chosen = self.settings
        inputs = chosen.chosen.n_inputs(*chosen.shape)
        self.net_ = make_net(inputs, chosen.hidden, chosen.seed)
        self.games_ = 0
        return self

    def desk(self) -> Desk:
        """Return the arrays that the kernels work with, made when first needed."""
        if self._desk is None:
            chosen = self.settings
            sizes = (chosen.chosen, *chosen.shape, chosen.hidden)
            self._desk = Desk(
                geometry(*chosen.shape),
                layout_of(chosen.chosen, *chosen.shape),
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
        """The number of plies of a game that it has learned to play."""
        return self.settings.opening_plies

    @property
    def scale(self) -> float:
        """Points that turn even chances into 73 %."""
        return _SCALE if self.card_ is None or self.card_.scale is None else self.card_.scale

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([self._value(board) for board in boards], np.float64)

    def _value(self, board: Board) -> float:
        """Return the value of a position for the side not to move, turned to Black's view."""
        self._check_board(board)
        tables, layout, room, _ = self.desk()
        friend, komi = 3 - board.turn, self.settings.komi
        kernels.position_keys(board.state, friend, tables, room.keys)
        orientation = kernels.best_orientation(room.keys)
        kernels.constant_sums(self.net_, layout, room.fixed)
        output, _ = kernels.evaluate(
            board.state, friend, komi, orientation, self.net_, tables, layout, room
        )
        value = (game_kernels.view(output, friend) - 0.5) * 2 * self.settings.largest
        # Learned under one komi; another one changes the score by the difference.
        return float(value - (board.white_bonus - komi))

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
        count = kernels.rate_moves(
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

    def _about(self) -> dict[str, Any]:
        settings = self.settings
        rows, cols = settings.shape
        return {
            "name": f"td-{settings.features.lower()}-{rows}x{cols}",
            "what": f"Opening player {self.name}, learned by temporal differences.",
            "recipe": {**to_plain(settings), "games_played": self.games_},
            "seed": settings.seed,
            "sizes": [(rows, cols)],
        }

    def _tensors(self) -> Tensors:
        """Return the weights as float32."""
        return {key: array.astype(np.float32) for key, array in self.net_._asdict().items()}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        if card.recipe.get("target", "score") != "score":
            raise ModelError("only players that predict the score can be read")
        learner = cls(settings=from_recipe(TDSettings, card.recipe))
        settings, hidden = learner.settings, learner.settings.hidden
        inputs = settings.chosen.n_inputs(*settings.shape)
        shapes = {"w1": (inputs, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
        for key, shape in shapes.items():
            if tensors[key].shape != shape:
                raise ModelError(f"tensor {key!r} has not the shape {shape}")
        learner.net_ = kernels.Net(*(tensors[key].astype(np.float64) for key in shapes))
        learner.games_ = int(card.recipe["games_played"])
        return learner
