"""`Board`, one game of Go: play, undo, query, draw. The rules themselves are in `kernels`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board import kernels as k
from tengen.board import layout_kernels as layout
from tengen.board.coordinates import (
    BLACK,
    COLOUR_NAMES,
    EMPTY,
    PASS,
    RESIGN,
    WHITE,
    Colour,
    Move,
    Point,
    Side,
    board_size,
    colour_of,
    count_of,
    indices_of,
    places,
    point_from,
    point_of_move,
    points_at,
)
from tengen.board.drawing import Mark, Numbers, format_ascii, format_svg, parse_ascii
from tengen.board.rules import KO_NUMBERS, Rules, handicap_points
from tengen.errors import IllegalMoveError, TengenError

_STRIDE = 64  # moves between the positions that `Board.undo` keeps

_WHY_NOT = {
    k.TAKEN: "the point is taken",
    k.REPEATED: "it would repeat an earlier position (superko)",
    k.KO_RETAKEN: "it would retake the ko at once",
    k.SUICIDAL: "it would be suicide",
}


@dataclass(frozen=True)
class Block:
    """A maximal connected set of stones of one colour, with the empty points next to it."""

    colour: Colour
    stones: tuple[Point, ...]
    liberties: tuple[Point, ...]


class LegalMoves:
    """The legal moves of a side, as a view: `in`, iteration over points, `len`, truth."""

    def __init__(self, board: Board, colour: Colour) -> None:
        self._board, self._colour = board, colour

    def __contains__(self, move: object) -> bool:
        try:
            return self._board.is_legal(move, self._colour)  # type: ignore[arg-type]
        except IllegalMoveError:
            if isinstance(move, (str, tuple, Point)):
                return False
            raise

    def __iter__(self) -> Iterator[Point]:
        board = self._board
        legal = np.flatnonzero(board.legal_mask(self._colour))
        for raw in points_at(legal, board.rows, board.cols).tolist():
            yield point_from(raw, board.rows, board.cols)

    def __len__(self) -> int:
        return int(self._board.legal_mask(self._colour).sum())

    def __repr__(self) -> str:
        return f"<legal moves: {' '.join(map(str, self))}>"


class Board:
    """A game of Go in progress: position, turn, rules, and the moves that led here.

    >>> board = Board(9)
    >>> board.play("C3")
    >>> board.play("D3")
    >>> board.turn == BLACK, len(board.legal_moves)
    (True, 80)

    Boards with the same position (see `key`) are equal and have the same hash. Do not play on a
    board that is a dictionary key; store a `copy`, or its `key`. Boards are not thread-safe: give
    each thread a `copy`.

    Parameters
    ----------
    rules
        `Rules` or the name of a preset; area scoring with positional superko by default.
    komi
        White's compensation; the usual one of the rules by default.
    setup
        Rows of `.`, `X`, `O` from the top, joined by `/`, on the board before the first move.
    handicap
        Number of handicap stones in `setup`; `place_handicap` places and counts them itself.
    moves
        Moves to play on creation, such as `"B D4 W pass"`.
    """

    def __init__(
        self,
        rows: int = 19,
        cols: int | None = None,
        *,
        rules: Rules | str = "cgos",
        komi: float | None = None,
        setup: str = "",
        to_play: Side = BLACK,
        handicap: int = 0,
        moves: str = "",
    ) -> None:
        self.rows, self.cols = board_size(rows, cols)
        self.rules = Rules.of(rules)
        self.komi = self.rules.komi_or(komi)
        self._places = places(self.rows, self.cols)
        self.handicap = count_of("handicap", handicap, self.rows * self.cols)
        """Handicap stones, for White's compensation under rules that give one."""
        self.moves: list[tuple[Colour, Point]] = []
        """The moves played so far, passes included."""
        self.state: IntArray = k.new_state(self.rows, self.cols)
        """The position as an array for kernels; change it only through this class."""
        self.history: IntArray
        """The hash table of all earlier positions, for kernels; change it as `state`."""
        self._ko_rule = KO_NUMBERS[self.rules.ko]
        self._positions: list[IntArray]  # one per _STRIDE moves, as far as `undo` needed
        self._keys: list[int]  # per move, the key of the position it led to; 0 for a repetition
        for name, text in (("setup", setup), ("moves", moves)):
            if not isinstance(text, str):
                raise TengenError(f"{name} {text!r}: give text")
        self._setup(parse_ascii(setup.replace("/", "\n")) if setup else None, to_play)
        words = moves.split()
        if len(words) % 2 or any(word.upper() not in ("B", "W") for word in words[::2]):
            raise TengenError(f"moves {moves!r}: write each as a colour, B or W, and a vertex")
        for side, vertex in zip(words[::2], words[1::2], strict=True):
            self.play(vertex, side)

    # ----- Making boards -----

    @classmethod
    def from_ascii(cls, picture: str, *, to_play: Side = BLACK, **options: object) -> Board:
        """Return the board of a picture made of `.`, `X` and `O`.

        >>> Board.from_ascii(". X . / X O X / . . .".replace("/", chr(10))).liberties("B2")
        1
        """
        return cls.from_grid(parse_ascii(picture), to_play=to_play, **options)

    @classmethod
    def from_grid(
        cls, grid: NDArray[np.int8], *, to_play: Side = BLACK, **options: object
    ) -> Board:
        """Return the board with these stones (rows x columns of EMPTY, BLACK, WHITE)."""
        stones = (EMPTY, BLACK, WHITE)
        array = isinstance(grid, np.ndarray) and grid.ndim == 2 and grid.dtype.kind in "iu"
        if not array or not np.isin(grid, stones).all():
            raise TengenError("grid: give an array, rows x columns, of EMPTY, BLACK and WHITE")
        return cls(*grid.shape, setup=_as_setup(grid), to_play=to_play, **options)  # type: ignore[arg-type]

    @classmethod
    def of_state(
        cls, state: IntArray, table: IntArray, *, rules: Rules | str, komi: float | None = None
    ) -> Board:
        """Return a board with a kernel's position and table of earlier ones, but no moves."""
        rows, cols = (int(state[layout.SCALARS, n]) for n in (layout.ROWS, layout.COLS))
        board = cls(rows, cols, rules=rules, komi=komi)
        board._begin(state, int(state[layout.SCALARS, layout.PLIES]))
        board.history = table.copy()
        board._remember_start()
        return board

    def copy(self) -> Board:
        """Return an independent board with the same game."""
        twin = object.__new__(Board)
        twin.__dict__.update(self.__dict__)
        twin.moves = self.moves.copy()
        twin.state = k.copied(self.state)
        twin._positions = self._positions.copy()
        twin._keys = self._keys.copy()
        twin.history = self.history.copy()
        return twin

    __copy__ = copy  # the default `copy.copy` would share the arrays

    def __deepcopy__(self, memo: dict[int, Any]) -> Board:
        return self.copy()

    def continues(self, earlier: Board) -> bool:
        """Return whether this is the game of an `earlier` board, at the same move or further on."""
        return (
            self.moves[: len(earlier.moves)] == earlier.moves
            and (self.white_bonus, self.rules) == (earlier.white_bonus, earlier.rules)
            and np.array_equal(self._positions[0], earlier._positions[0])
        )

    def place_handicap(self, stones: int) -> list[Point]:
        """Put handicap stones on their usual points of an empty board and give White the turn."""
        points = handicap_points(self.rows, self.cols, stones)
        if self.moves or (self.state[layout.COLOUR] == BLACK).any():
            raise TengenError("handicap stones go on an empty board")
        self.set_stones(black=points, to_play=WHITE)
        self.handicap = len(points)
        return points

    def set_stones(
        self, *, black: Iterable[Move] = (), white: Iterable[Move] = (), to_play: Side = BLACK
    ) -> None:
        """Replace the game with a position made of these stones, with no history."""
        grid = np.zeros((self.rows, self.cols), np.int8)
        for colour, stones in ((BLACK, black), (WHITE, white)):
            for move in stones:
                point = self.point(move)
                if point == PASS:
                    raise TengenError("a pass is no place for a stone")
                if grid.flat[point.index]:
                    raise TengenError(f"two stones on {point}")
                grid.flat[point.index] = colour
        self._setup(grid, to_play)

    def _setup(self, grid: NDArray[np.int8] | None, to_play: Side) -> None:
        to_play = colour_of(to_play)
        state = k.new_state(self.rows, self.cols)
        if grid is not None:
            if grid.shape != (self.rows, self.cols):
                raise TengenError(f"a setup of {grid.shape} does not fit {self.rows}x{self.cols}")
            stones = points_at(np.arange(grid.size), self.rows, self.cols)
            for point, colour in zip(stones.tolist(), grid.ravel().tolist(), strict=True):
                if colour:
                    k.place(state, point, colour)
            # A block without liberties was captured, or captured itself, when it lost the last one.
            lost = stones[state[layout.COLOUR, stones] != grid.ravel()]
            if len(lost):
                first = point_from(int(lost[0]), self.rows, self.cols)
                side = COLOUR_NAMES[int(grid.flat[first.index])]
                raise TengenError(f"the {side} stone on {first} has no liberty")
        state[layout.SCALARS, layout.SUICIDE] = self.rules.suicide
        state[layout.SCALARS, layout.TURN] = to_play
        state[layout.SCALARS, [layout.KO, layout.PRISONERS_B, layout.PRISONERS_W]] = 0
        self._begin(state, 0)
        self.history = np.zeros(256, np.int64)
        self._remember_start()

    def _begin(self, state: IntArray, before: int) -> None:
        """Start from a position reached by `before` unknown moves."""
        self._positions, self.state, self.moves = [state.copy()], state.copy(), []
        self._keys, self._before = [], before

    def _remember_start(self) -> None:
        scalars = self.state[layout.SCALARS]
        key = k.history_key(scalars[layout.HASH], scalars[layout.TURN], self._ko_rule)
        k.remember(self.history, key)

    # ----- Playing -----

    def point(self, move: Move) -> Point:
        """Return the point that a move names."""
        return point_of_move(move, self.rows, self.cols)

    def to_point(self, move: Move | int) -> Point:
        """Return the point of a player's answer, which may be RESIGN or a raw point of kernels."""
        if isinstance(move, (str, tuple, Point)):
            return RESIGN if move in (RESIGN, "resign") else self.point(move)
        try:
            return point_from(operator.index(move), self.rows, self.cols)
        except (TypeError, TengenError):
            raise IllegalMoveError(
                f"{move!r} is no move on the {self.rows}x{self.cols} board"
            ) from None

    def is_legal(self, move: Move, colour: Side | None = None) -> bool:
        """Return whether a side may play there under the rules in force, superko included."""
        colour = self._side(colour)
        point = int(self.point(move))
        return bool(k.verdict(self.state, self.history, self._ko_rule, point, colour) == k.ALLOWED)

    def play(self, move: Move, colour: Side | None = None) -> None:
        """Play a move, or raise `IllegalMoveError`; a colour may move twice in a row."""
        colour, point = self._side(colour), self.point(move)
        verdict = k.verdict(self.state, self.history, self._ko_rule, int(point), colour)
        if verdict != k.ALLOWED:
            raise IllegalMoveError(
                f"{COLOUR_NAMES[colour]} may not play {point} at move {len(self.moves) + 1}: "
                + _WHY_NOT[verdict]
            )
        self.push(point, colour)

    def push(self, move: int, colour: Side | None = None) -> None:
        """Play a pass or any empty point, as a point or raw point, regardless of the rules."""
        colour = self._side(colour)
        raw = int(move)  # passing a `Point` to a kernel is slow
        if 2 * (self._before + len(self.moves) + 1) >= self.history.shape[0]:
            larger = np.zeros(4 * self.history.shape[0], np.int64)
            k.regrow(self.history, larger)
            self.history = larger
        played, key = k.push(self.state, self.history, self._ko_rule, raw, colour)
        if not played:
            raise IllegalMoveError(
                f"raw point {raw} is not empty on the {self.rows}x{self.cols} board"
            )
        self.moves.append((colour, self._places[raw]))  # type: ignore[arg-type]
        self._keys.append(key)

    def undo(self) -> tuple[Colour, Point]:
        """Take back the last move and return it; fast in long games, too."""
        if not self._keys:
            raise IllegalMoveError("there is no move to undo")
        key, last = self._keys.pop(), self.moves.pop()
        if key:
            k.forget(self.history, key)
        self._restore(len(self.moves))
        return last

    def _restore(self, plies: int) -> None:
        """Return to the position after `plies` moves from a kept one; keep others on the way."""
        del self._positions[plies // _STRIDE + 1 :]
        state = self._positions[-1].copy()
        done = (len(self._positions) - 1) * _STRIDE
        while done < plies:
            moves = np.array(self.moves[done : min(done + _STRIDE, plies)], np.int64)
            if not len(moves) or k.replay(state, moves[:, 0], moves[:, 1]) < len(moves):
                raise TengenError("this board was changed by several threads; give each a copy")
            done += len(moves)
            if done % _STRIDE == 0:
                self._positions.append(state.copy())
        self.state = state

    def _side(self, colour: Side | None) -> Colour:
        """Return a checked colour; None stands for the side to move."""
        return self.turn if colour is None else colour_of(colour)

    # ----- Queries -----

    @property
    def turn(self) -> Colour:
        """The side to move. Given to the other side, as by a pass, it ends a ko."""
        return int(self.state[layout.SCALARS, layout.TURN])

    @turn.setter
    def turn(self, colour: Side) -> None:
        k.give_turn(self.state, colour_of(colour))

    @property
    def ko(self) -> Point | None:
        """The point that simple ko forbids to the side to move, if any."""
        raw = int(self.state[layout.SCALARS, layout.KO])
        return self._places[raw] if raw else None

    @property
    def last_move(self) -> Point | None:
        """The last point played (PASS for a pass), None at the start."""
        if self.moves:
            return self.moves[-1][1]
        raw = int(self.state[layout.SCALARS, layout.LAST])  # of a board whose moves are not known
        return self._places[raw] if raw >= 0 else None

    @property
    def is_over(self) -> bool:
        """Whether both sides have passed in a row."""
        return bool(self.state[layout.SCALARS, layout.PASSES] >= 2)

    @property
    def prisoners(self) -> tuple[int, int]:
        """Stones captured by Black and by White."""
        scalars = self.state[layout.SCALARS]
        return int(scalars[layout.PRISONERS_B]), int(scalars[layout.PRISONERS_W])

    @property
    def white_bonus(self) -> float:
        """White's points besides those on the board: komi, and compensation for handicap stones."""
        return self.komi + self.rules.compensation(self.handicap)

    @property
    def hash(self) -> int:
        """The Zobrist hash of the stones: the same in every process and version, 64 bits."""
        return int(self.state[layout.SCALARS, layout.HASH]) & 0xFFFFFFFFFFFFFFFF

    @property
    def key(self) -> tuple[int, int, Colour, int, bytes]:
        """The position as a value for dictionaries: rows, columns, turn, ko point and stones."""
        ko = int(self.state[layout.SCALARS, layout.KO])
        return self.rows, self.cols, self.turn, ko, self.grid().tobytes()

    def legal_mask(self, colour: Side | None = None) -> BoolArray:
        """Return a side's legal moves as a mask: row-major, the last entry is the pass."""
        mask = np.empty(self.rows * self.cols + 1, np.bool_)
        colour = self._side(colour)
        k.allowed_mask(self.state, self.history, self._ko_rule, colour, mask)
        return mask

    @property
    def legal_moves(self) -> LegalMoves:
        """The legal moves of the side to move, as a view."""
        return LegalMoves(self, self.turn)

    def grid(self) -> NDArray[np.int8]:
        """Return the stones as rows x columns of EMPTY, BLACK and WHITE."""
        out = np.empty(self.rows * self.cols, np.int8)
        k.to_grid(self.state, out)
        return out.reshape(self.rows, self.cols)

    def planes(self, colour: Side | None = None) -> Float32Array:
        """Return the position for a side as `PLANES`; legal points only for the side to move."""
        colour = self._side(colour)
        last = np.array([self.last_move or 0], np.int64)
        mask = self.legal_mask(colour)
        if colour != self.turn:
            mask[:] = False
        seen = stack_planes(self.grid()[None], np.array([colour]), last, mask[None])
        return seen.reshape(seen.shape[1:])

    def __getitem__(self, move: Move) -> Colour:
        return int(self.state[layout.COLOUR, self.point(move)])

    def block(self, move: Move) -> Block:
        """Return the block of stones at a point."""
        point = int(self.point(move))
        state = k.copied(self.state)
        if state[layout.COLOUR, point] not in COLOUR_NAMES:
            raise TengenError(f"no stone on {self._places[point]}")
        return self._block(state, point, state[layout.NEXT].tolist())

    def _block(self, state: IntArray, point: int, following: list[int]) -> Block:
        stones = [point]
        while (after := following[stones[-1]]) != point:
            stones.append(after)
        out = np.empty(state.shape[1], np.int64)
        liberties = out[: k.block_liberties(state, point, out)].tolist()
        parts = (tuple(self._places[raw] for raw in sorted(part)) for part in (stones, liberties))
        return Block(int(state[layout.COLOUR, point]), *parts)

    def blocks(self) -> list[Block]:
        """Return all blocks, ordered by their first stone."""
        found: list[Block] = []
        done: set[int] = set()
        state = k.copied(self.state)  # another thread may change the board's own
        following: list[int] = state[layout.NEXT].tolist()
        for point, colour in enumerate(state[layout.COLOUR].tolist()):
            if colour in COLOUR_NAMES and point not in done:
                found.append(self._block(state, point, following))
                done.update(found[-1].stones)
        return found

    def liberties(self, move: Move) -> int:
        """Return the number of liberties of the block at a point."""
        return len(self.block(move).liberties)

    def area_score(self) -> float:
        """Return Black's area minus White's, minus `white_bonus`; every stone counts as alive."""
        return float(k.area_score(self.state) - self.white_bonus)

    # ----- Showing -----

    def ascii(self) -> str:
        """Return the board as text with coordinates."""
        return format_ascii(self.grid())

    __str__ = ascii

    def svg(
        self,
        *,
        marks: Mapping[Move, str | Mark] | None = None,
        heat: Numbers | None = None,
        ownership: Numbers | None = None,
        dead: Iterable[Move] = (),
        coordinates: bool = True,
        cell: int = 24,
    ) -> str:
        """Return the board as a self-contained SVG picture, the last move marked with a ring.

        `marks` are short texts, darker with a `Mark`'s weight. `heat` (0 to 1, nan for none) and
        `ownership` (-1 for White to +1 for Black) have one number per point, row-major. `dead`
        stones are drawn faint. `cell` is the distance between lines in pixels.
        """
        last = self.last_move
        faint = [self.point(move).index for move in dead]
        labels = {self.point(move).index: mark for move, mark in (marks or {}).items()}
        return format_svg(
            self.grid(), last=last.index if last else None, marks=labels, heat=heat,
            ownership=ownership, dead=faint, coordinates=coordinates, cell=cell,
        )  # fmt: skip

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        parts = [f"{self.rows}", f"{self.cols}", f"rules={self.rules!r}", f"komi={self.komi}"]
        first = self._positions[0]
        start = np.empty(self.rows * self.cols, np.int8)
        k.to_grid(first, start)
        if start.any():
            parts.append(f"setup={_as_setup(start.reshape(self.rows, self.cols))!r}")
        if first[layout.SCALARS, layout.TURN] != BLACK:
            parts.append(f"to_play={int(first[layout.SCALARS, layout.TURN])}")
        if self.handicap:
            parts.append(f"handicap={self.handicap}")
        if self.moves:
            names = (f"{'.BW'[c]} {p}" for c, p in self.moves)
            parts.append(f"moves={' '.join(names)!r}")
        return f"Board({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Return whether both show the same position; see `key`."""
        return self.key == other.key if isinstance(other, Board) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)


def _as_setup(grid: NDArray[np.int8]) -> str:
    return "/".join("".join(".XO"[stone] for stone in row) for row in grid)


PLANES = ("own", "enemy", "empty", "last", "legal", "black")
"""What each plane of a position marks; `black` is all ones where the side is Black."""


def stack_planes(
    grids: NDArray[np.int8], colours: IntArray, last: IntArray, legal: BoolArray
) -> Float32Array:
    """Return games x PLANES x rows x columns; `last` are raw points, 0 or less for none."""
    games, rows, cols = grids.shape
    side = colours[:, None, None]
    out = np.zeros((games, len(PLANES), rows, cols), np.float32)
    out[:, 0], out[:, 1], out[:, 2] = grids == side, grids == 3 - side, grids == 0
    played = np.flatnonzero(last > 0)
    out.reshape(games, len(PLANES), -1)[played, 3, indices_of(last[played], rows, cols)] = 1
    out[:, 4] = legal[:, :-1].reshape(grids.shape)
    out[:, 5] = side == 1
    return out
