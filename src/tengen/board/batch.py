"""`BatchBoard`: many games in arrays, played in parallel."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board import kernels
from tengen.board import layout_kernels as layout
from tengen.board.board import Board, stack_planes
from tengen.board.coordinates import (
    Move,
    Point,
    board_size,
    count_of,
    index_of,
    point_at,
    point_from,
    point_of_move,
)
from tengen.board.rules import KO_NUMBERS, Rules
from tengen.errors import IllegalMoveError, TengenError
from tengen.parallel import share

_SHARE = 64  # fewest games that are worth another thread


class BatchBoard:
    """`games` boards of one size and one set of rules, stepped together.

    >>> batch = BatchBoard(1000, 9)
    >>> batch.play(["E5"] * 1000)
    >>> int(batch.legal_masks()[0].sum())
    81
    >>> print(batch[0].last_move)
    E5

    `max_plies` is how long a game may last, 3 x points by default.
    """

    def __init__(
        self,
        games: int,
        rows: int = 19,
        cols: int | None = None,
        *,
        rules: Rules | str = "cgos",
        komi: float | None = None,
        max_plies: int | None = None,
    ) -> None:
        self.rows, self.cols = rows, cols = board_size(rows, cols)
        self.games = count_of("games", games)
        self.rules = Rules.of(rules)
        self.komi = self.rules.komi_or(komi)
        self.max_plies = count_of("max_plies", 3 * rows * cols if max_plies is None else max_plies)
        self._ko_rule = KO_NUMBERS[self.rules.ko]
        start = kernels.new_state(rows, cols)
        start[layout.SCALARS, layout.SUICIDE] = self.rules.suicide
        self._start = start
        self.states: IntArray = np.repeat(start[None], games, axis=0)
        """One position per game, for kernels."""
        slots = 1 << max(int(np.ceil(np.log2(2 * self.max_plies + 2))), 4)
        self._tables = np.zeros((games, slots), np.int64)
        self.reset(np.arange(games))

    def reset(self, games: IntArray) -> None:
        """Restart these games."""
        self.states[games] = self._start
        empty = np.zeros(self._tables.shape[1], np.int64)
        kernels.remember(empty, kernels.history_key(0, layout.BLACK, self._ko_rule))
        self._tables[games] = empty

    def copy(self) -> BatchBoard:
        """Return independent boards with the same games."""
        twin = object.__new__(BatchBoard)
        twin.__dict__.update(self.__dict__)
        twin.states, twin._tables = self.states.copy(), self._tables.copy()
        return twin

    __copy__ = copy  # the default `copy.copy` would share the arrays

    def legal_masks(self) -> BoolArray:
        """Return the legal moves of each side to move: games x (points + 1), pass last."""
        out = np.empty((self.games, self.rows * self.cols + 1), np.bool_)
        self._run(kernels.batch_masks, self.states, self._tables, self._ko_rule, out)
        return out

    def _run(self, kernel: Callable[..., object], *arguments: Any) -> None:
        """Run a kernel on all games in threads, each with its part of the arrays."""

        def run(first: int, last: int) -> None:
            kernel(*(a[first:last] if isinstance(a, np.ndarray) else a for a in arguments))

        share(run, self.games, least=_SHARE)

    def play(self, moves: NDArray[np.integer] | Sequence[Move | None]) -> None:
        """Play one move per game: columns of `legal_masks` (-1 for none), or moves (None for none).

        The error names the first game with an illegal move; all legal moves have been played.
        """
        indices = self._indices(moves)
        if indices.shape != (self.games,):
            raise TengenError(f"{indices.shape} moves for {self.games} games")
        size = self.rows, self.cols
        wrong = (indices > self.rows * self.cols) | (indices < -1)
        if wrong.any():
            game = int(np.argmax(wrong))
            raise IllegalMoveError(f"move {indices[game]} of game {game} is not on the board")
        if (self.plies >= self.max_plies)[indices >= 0].any():
            raise IllegalMoveError(f"a game is over after max_plies = {self.max_plies} plies")
        refused = np.empty(self.games, np.bool_)
        self._run(kernels.batch_play, self.states, self._tables, self._ko_rule, indices, refused)
        if refused.any():
            game = int(np.argmax(refused))
            point = point_from(point_at(int(indices[game]), *size), *size)
            raise IllegalMoveError(f"{point} in game {game} is illegal")

    def _indices(self, moves: NDArray[np.integer] | Sequence[Move | None]) -> IntArray:
        if isinstance(moves, np.ndarray):
            if not np.issubdtype(moves.dtype, np.integer):
                raise TengenError(f"an array of moves holds indices, not {moves.dtype}")
            return moves.astype(np.int64)
        found = np.full(len(moves), -1, np.int64)
        for game, move in enumerate(moves):
            if move is not None:
                try:
                    point = point_of_move(move, self.rows, self.cols)
                except IllegalMoveError as mistake:
                    raise IllegalMoveError(f"game {game}: {mistake}") from None
                found[game] = index_of(point, self.rows, self.cols)
        return found

    def __len__(self) -> int:
        return self.games

    def __getitem__(self, game: int) -> Board:
        """Return a copy of one game as a board, with its superko history but no moves to undo."""
        number = operator.index(game)
        if not -self.games <= number < self.games:
            raise IndexError(f"game {game} of {self.games}")
        return Board.of_state(
            self.states[number], self._tables[number], rules=self.rules, komi=self.komi
        )

    @property
    def last_moves(self) -> list[Point | None]:
        """The last move of every game, PASS for a pass, None where nothing was played yet."""
        last = self.states[:, layout.SCALARS, layout.LAST].tolist()
        return [point_from(raw, self.rows, self.cols) if raw >= 0 else None for raw in last]

    def planes(self, legal: BoolArray | None = None) -> Float32Array:
        """Return games x `PLANES` x rows x columns for the sides to move; `legal` if known."""
        last = self.states[:, layout.SCALARS, layout.LAST]
        legal = self.legal_masks() if legal is None else legal
        return stack_planes(self.grids(), self.turns, last, legal)

    @property
    def turns(self) -> IntArray:
        """The side to move in every game."""
        return self.states[:, layout.SCALARS, layout.TURN]

    @property
    def plies(self) -> IntArray:
        """Plies played in every game."""
        return self.states[:, layout.SCALARS, layout.PLIES]

    @property
    def passes(self) -> IntArray:
        """Passes in a row at the end of every game."""
        return self.states[:, layout.SCALARS, layout.PASSES]

    @property
    def over(self) -> BoolArray:
        """Whether both sides passed in a row, or max_plies was reached."""
        return (self.passes >= 2) | (self.plies >= self.max_plies)

    def area_scores(self) -> FloatArray:
        """Return Black's area minus White's in every game by Tromp-Taylor, komi subtracted."""
        out = np.empty(self.games, np.int64)
        self._run(kernels.batch_scores, self.states, out)
        return out.astype(np.float64) - self.komi

    def grids(self) -> NDArray[np.int8]:
        """Return all stones as games x rows x columns."""
        bordered = self.states[:, layout.COLOUR, :-1]
        shape = self.games, self.rows + 2, self.cols + 1
        return bordered.reshape(shape)[:, 1:-1, 1:].astype(np.int8)
