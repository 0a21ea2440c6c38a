"""The board for people: play, undo, ask, draw. The rules themselves live in `kernels`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, IntArray
from tengen.board import kernels as k
from tengen.board import layout_kernels as layout
from tengen.board.colours import BLACK, COLOUR_NAMES, EMPTY, WHITE, Colour
from tengen.board.coordinates import (
    PASS,
    RESIGN,
    Move,
    Point,
    places,
    point_from,
    point_of,
    point_of_move,
)
from tengen.board.drawing import Mark, Numbers, format_ascii, format_svg, parse_ascii
from tengen.board.planes import stack_planes
from tengen.board.rules import KO_NUMBERS, Rules
from tengen.board.setups import handicap_points, refuse_dead_blocks
from tengen.board.views import Block, LegalMoves
from tengen.errors import IllegalMoveError, TengenError


class Board:
    """A game of Go in progress: position, turn, rules, and the moves that led here.

    >>> board = Board(9)
    >>> board.play("C3")
    >>> board.play("D3")
    >>> board.turn == BLACK, len(board.legal_moves)
    (True, 80)

    Parameters
    ----------
    rows, cols
        2 to 25 each; a square when only one is given.
    rules
        `Rules` or the name of a preset; area scoring with positional superko by default.
    komi
        White's compensation; the rules' usual one by default.
    setup
        Rows of `.`, `X`, `O` from the top, joined by `/`, on the board before the first move.
    to_play
        Who moves first.
    handicap
        How many stones of `setup` are a handicap; `place_handicap` puts some and counts them.
    moves
        Moves to play at once, as `"B D4 W pass"`.
    """

    def __init__(
        self,
        rows: int = 19,
        cols: int | None = None,
        *,
        rules: Rules | str = "cgos",
        komi: float | None = None,
        setup: str = "",
        to_play: Colour = BLACK,
        handicap: int = 0,
        moves: str = "",
    ) -> None:
        cols = rows if cols is None else cols
        try:
            rows, cols = operator.index(rows), operator.index(cols)
        except TypeError:
            raise TengenError(f"a board of {rows!r}x{cols!r}: give whole numbers") from None
        if not (2 <= rows <= layout.MAX_SIZE and 2 <= cols <= layout.MAX_SIZE):
            raise TengenError(f"a board of {rows}x{cols} is not between 2x2 and 25x25")
        self.rules = Rules.preset(rules) if isinstance(rules, str) else rules
        self.komi = self.rules.komi if komi is None else float(komi)
        if not np.isfinite(self.komi):
            raise TengenError(f"komi {komi} is not a number of points")
        self.rows, self.cols = rows, cols
        self._places = places(rows, cols)
        self.handicap = handicap
        """Handicap stones, for White's compensation under rules that give one."""
        self.moves: list[tuple[Colour, Point]] = []
        """The moves played so far, passes included."""
        self.state: IntArray = k.new_state(rows, cols)
        """The position as the kernels see it; change it only through this class."""
        self._ko_rule = KO_NUMBERS[self.rules.ko]
        self._start: IntArray
        self._table: IntArray
        self._past: IntArray | None
        self._setup(parse_ascii(setup.replace("/", "\n")) if setup else None, to_play)
        words = moves.split()
        if len(words) % 2 or any(word.upper() not in ("B", "W") for word in words[::2]):
            raise TengenError(f"moves {moves!r}: write each as a colour, B or W, and a vertex")
        for colour, vertex in zip(words[::2], words[1::2], strict=True):
            self.play(vertex, BLACK if colour.upper() == "B" else WHITE)

    # ----- Making boards -----

    @classmethod
    def from_ascii(cls, picture: str, *, to_play: Colour = BLACK, **options: object) -> Board:
        """Return the board of a picture made of `.`, `X` and `O`.

        >>> Board.from_ascii('''
        ... . X .
        ... X O X
        ... . . .
        ... ''').liberties("B2")
        1
        """
        return cls.from_grid(parse_ascii(picture), to_play=to_play, **options)

    @classmethod
    def from_grid(
        cls, grid: NDArray[np.int8], *, to_play: Colour = BLACK, **options: object
    ) -> Board:
        """Return the board with these stones (rows x columns of EMPTY, BLACK, WHITE)."""
        text = "/".join("".join(".XO"[c] for c in row) for row in grid)
        rows, cols = grid.shape
        return cls(rows, cols, setup=text, to_play=to_play, **options)  # type: ignore[arg-type]

    @classmethod
    def of_state(
        cls, state: IntArray, table: IntArray, *, rules: Rules | str, komi: float | None = None
    ) -> Board:
        """Return the board of a position as kernels see it, with the positions before it.

        The moves that led there are not known, but the last one is; `undo` cannot go back.
        """
        rows, cols = (int(state[layout.SCALARS, n]) for n in (layout.ROWS, layout.COLS))
        board = cls(rows, cols, rules=rules, komi=komi)
        board._start, board.state = state.copy(), state.copy()
        board._past = table.copy()
        board._before = int(state[layout.SCALARS, layout.PLIES])
        board._forget(len(table))
        return board

    def copy(self) -> Board:
        """Return an independent board with the same game."""
        twin = object.__new__(Board)
        twin.__dict__.update(self.__dict__)
        twin.moves = self.moves.copy()
        twin.state = self.state.copy()
        twin._table = self._table.copy()
        return twin

    __copy__ = copy  # the module's would share the arrays

    def continues(self, earlier: Board) -> bool:
        """Tell whether this is the same game as an earlier board's, as far on or further."""
        return (
            self.moves[: len(earlier.moves)] == earlier.moves
            and (self.white_bonus, self.rules) == (earlier.white_bonus, earlier.rules)
            and np.array_equal(self._start, earlier._start)
        )

    def place_handicap(self, stones: int) -> list[Point]:
        """Put handicap stones on their usual points of an empty board and give White the turn.

        Raises
        ------
        TengenError
            If stones are on the board, or there are no usual points for so many.
        """
        points = handicap_points(self.rows, self.cols, stones)
        if self.moves or (self.state[layout.COLOUR] == BLACK).any():
            raise TengenError("handicap stones go on an empty board")
        self.set_stones(black=points, to_play=WHITE)
        self.handicap = stones
        return points

    def set_stones(
        self, *, black: Iterable[Move] = (), white: Iterable[Move] = (), to_play: Colour = BLACK
    ) -> None:
        """Replace the game by a position made of these stones, with no history.

        Raises
        ------
        TengenError
            If a point is named twice or off the board, or a block would have no liberty.
        """
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

    def _setup(self, grid: NDArray[np.int8] | None, to_play: Colour) -> None:
        if to_play not in COLOUR_NAMES:
            raise TengenError(f"the side to move must be 1 (Black) or 2 (White), not {to_play}")
        state = k.new_state(self.rows, self.cols)
        if grid is not None:
            if grid.shape != (self.rows, self.cols):
                raise TengenError(f"a setup of {grid.shape} does not fit {self.rows}x{self.cols}")
            refuse_dead_blocks(grid)
            for row, col in zip(*np.nonzero(grid), strict=True):
                point = point_of(int(row), int(col), self.cols)
                k.place(state, point, int(grid[row, col]))
        state[layout.SCALARS, layout.SUICIDE] = self.rules.suicide
        state[layout.SCALARS, layout.TURN] = to_play
        state[layout.SCALARS, [layout.KO, layout.PRISONERS_B, layout.PRISONERS_W]] = 0
        self._start, self.state, self.moves = state, state.copy(), []
        self._past, self._before = None, 0
        self._forget(256)

    def _forget(self, room: int) -> None:
        """Remember the start alone, and what was before it, in a table of so many slots."""
        self._table = np.zeros(room, np.int64)
        if self._past is not None:
            k.regrow(self._past, self._table)
        self._remember()

    def _remember(self) -> None:
        if 2 * (self._before + len(self.moves)) >= self._table.shape[0]:
            larger = np.zeros(4 * self._table.shape[0], np.int64)
            k.regrow(self._table, larger)
            self._table = larger
        scalars = self.state[layout.SCALARS]
        k.remember(
            self._table, k.history_key(scalars[layout.HASH], scalars[layout.TURN], self._ko_rule)
        )

    # ----- Playing -----

    def point(self, move: Move) -> Point:
        """Return the point that a move names.

        >>> Board(9).point((4, 5))
        Point('F5', 9, 9)

        Raises
        ------
        IllegalMoveError
            If it is no place of this board.
        """
        return point_of_move(move, self.rows, self.cols)

    def answer(self, move: Move | int) -> Point:
        """Return the point of a player's answer, which may be RESIGN or a raw number of kernels.

        Raises
        ------
        IllegalMoveError
            If it is no place of this board.
        """
        if isinstance(move, (str, tuple, Point)):
            return RESIGN if move in (RESIGN, "resign") else self.point(move)
        try:
            return point_from(operator.index(move), self.rows, self.cols)
        except (TypeError, TengenError):
            raise IllegalMoveError(
                f"{move!r} is no move on the {self.rows}x{self.cols} board"
            ) from None

    def is_legal(self, move: Move, colour: Colour | None = None) -> bool:
        """Tell whether a side may play there under the rules in force, superko included."""
        colour = self.turn if colour is None else colour
        point = int(self.point(move))
        return bool(k.is_allowed(self.state, self._table, self._ko_rule, point, colour))

    def play(self, move: Move, colour: Colour | None = None) -> None:
        """Play a move after checking it; two moves of one colour in a row are allowed.

        Raises
        ------
        IllegalMoveError
            If the rules in force forbid it; the board is unchanged.
        """
        colour = self.turn if colour is None else colour
        if colour not in COLOUR_NAMES:
            raise IllegalMoveError(f"colour {colour} is neither Black (1) nor White (2)")
        point = self.point(move)
        if not k.is_allowed(self.state, self._table, self._ko_rule, int(point), colour):
            raise IllegalMoveError(
                f"{COLOUR_NAMES[colour]} may not play {point} at move {len(self.moves) + 1}: "
                + self._why_not(point, colour)
            )
        self.push(point, colour)

    def push(self, move: int, colour: Colour | None = None) -> None:
        """Play a point or raw point without checking it; an illegal one corrupts the board."""
        colour = self.turn if colour is None else colour
        raw = int(move)  # kernels take long to see what a `Point` is
        k.play_move(self.state, raw, colour)
        self.moves.append((colour, self._places[raw]))  # type: ignore[arg-type]
        self._remember()

    def undo(self) -> tuple[Colour, Point]:
        """Take the last move back and return it.

        Raises
        ------
        IllegalMoveError
            If no move was played.
        """
        if not self.moves:
            raise IllegalMoveError("there is no move to undo")
        last = self.moves.pop()
        # Replaying costs about a tenth of a microsecond a move and cannot forget anything.
        self.state = self._start.copy()
        self._forget(self._table.shape[0])
        record = np.array(self.moves, np.int64).reshape(-1, 2)
        k.replay(self.state, self._table, self._ko_rule, record[:, 0], record[:, 1], False)
        return last

    def _why_not(self, point: Point, colour: Colour) -> str:
        if self.state[layout.COLOUR, point] != EMPTY:
            return "the point is taken"
        if k.is_legal(self.state, int(point), colour):
            return "it would repeat an earlier position (superko)"
        if point == self.ko:
            return "it would retake the ko at once"
        return "it would be suicide"

    # ----- Asking -----

    @property
    def turn(self) -> Colour:
        """The side to move."""
        return int(self.state[layout.SCALARS, layout.TURN])

    @turn.setter
    def turn(self, colour: Colour) -> None:
        self.state[layout.SCALARS, layout.TURN] = colour

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
        """White's points beside the board: komi, and what the rules give for handicap stones."""
        return self.komi + self.rules.compensation(self.handicap)

    @property
    def hash(self) -> int:
        """The Zobrist hash of the stones: the same in every process and version, 64 bits."""
        return int(self.state[layout.SCALARS, layout.HASH]) & 0xFFFFFFFFFFFFFFFF

    def legal_mask(self, colour: Colour | None = None) -> BoolArray:
        """Return which moves a side may play: row-major, the last entry is the pass."""
        mask = np.empty(self.rows * self.cols + 1, np.bool_)
        colour = self.turn if colour is None else colour
        k.allowed_mask(self.state, self._table, self._ko_rule, colour, mask)
        return mask

    @property
    def legal_moves(self) -> LegalMoves:
        """The moves the side to move may play, as a view."""
        return LegalMoves(self, self.turn)

    def grid(self) -> NDArray[np.int8]:
        """Return the stones as rows x columns of EMPTY, BLACK and WHITE."""
        out = np.empty(self.rows * self.cols, np.int8)
        k.to_grid(self.state, out)
        return out.reshape(self.rows, self.cols)

    def planes(self, colour: Colour | None = None) -> Float32Array:
        """Return what a side sees, by default the one to move; see `planes.PLANES`.

        Legal points are marked only for the side to move.
        """
        colour = self.turn if colour is None else colour
        last = np.array([self.last_move or 0], np.int64)
        mask = self.legal_mask(colour)
        if colour != self.turn:
            mask[:] = False
        seen = stack_planes(self.grid()[None], np.array([colour]), last, mask[None])
        return seen.reshape(seen.shape[1:])

    def __getitem__(self, move: Move) -> Colour:
        return int(self.state[layout.COLOUR, self.point(move)])

    def block(self, move: Move) -> Block:
        """Return the block of stones at a point.

        Raises
        ------
        TengenError
            If no stone is there.
        """
        point = int(self.point(move))
        colour = int(self.state[layout.COLOUR, point])
        if colour not in COLOUR_NAMES:
            raise TengenError(f"no stone on {self._places[point]}")
        return self._block(point, colour, self.state[layout.NEXT].tolist())

    def _block(self, point: int, colour: Colour, following: list[int]) -> Block:
        stones = [point]
        while (after := following[stones[-1]]) != point:
            stones.append(after)
        out = np.empty(self.state.shape[1], np.int64)
        count = k.block_liberties(self.state, point, out)
        return Block(colour, self._points(stones), self._points(out[:count].tolist()))

    def _points(self, raw: list[int]) -> tuple[Point, ...]:
        table = self._places
        return tuple(table[number] for number in sorted(raw))  # type: ignore[misc]

    def blocks(self) -> list[Block]:
        """Return all blocks, ordered by their first stone."""
        found: list[Block] = []
        done: set[int] = set()
        following: list[int] = self.state[layout.NEXT].tolist()
        for point, colour in enumerate(self.state[layout.COLOUR].tolist()):
            if colour in COLOUR_NAMES and point not in done:
                found.append(self._block(point, colour, following))
                done.update(found[-1].stones)
        return found

    def liberties(self, move: Move) -> int:
        """Return the number of liberties of the block at a point."""
        return len(self.block(move).liberties)

    def area_score(self) -> float:
        """Return Black's area minus White's by Tromp-Taylor, minus `white_bonus`.

        Every stone counts as alive; see `counting` for dead stones and territory.
        """
        return float(k.area_score(self.state) - self.white_bonus)

    # ----- Showing -----

    def ascii(self) -> str:
        """Return the board as text with coordinates."""
        return format_ascii(self.grid())

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

        Parameters
        ----------
        marks
            Short texts on points; a `Mark` also has a weight that darkens its disc.
        heat
            One number per point, row-major, from 0 to 1, drawn as red squares; nan for none.
        ownership
            One number per point, row-major, from -1 (White's) to +1 (Black's), drawn as squares.
        dead
            Stones to draw faint.
        coordinates
            Whether letters and numbers stand at the edges.
        cell
            Distance between lines in pixels.
        """
        last = self.last_move
        return format_svg(
            self.grid(),
            last=last.index if last else None,
            marks={self.point(move).index: mark for move, mark in (marks or {}).items()},
            heat=heat,
            ownership=ownership,
            dead=[self.point(move).index for move in dead],
            coordinates=coordinates,
            cell=cell,
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return self.ascii()

    def __repr__(self) -> str:
        parts = [f"{self.rows}", f"{self.cols}", f"rules={self.rules!r}", f"komi={self.komi}"]
        start = np.empty(self.rows * self.cols, np.int8)
        k.to_grid(self._start, start)
        if start.any():
            rows = start.reshape(self.rows, self.cols)
            parts.append(f"setup={'/'.join(''.join('.XO'[c] for c in row) for row in rows)!r}")
        if self._start[layout.SCALARS, layout.TURN] != BLACK:
            parts.append(f"to_play={int(self._start[layout.SCALARS, layout.TURN])}")
        if self.handicap:
            parts.append(f"handicap={self.handicap}")
        if self.moves:
            names = (f"{'.BW'[c]} {p}" for c, p in self.moves)
            parts.append(f"moves={' '.join(names)!r}")
        return f"Board({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Tell whether both are the same game: size, rules, komi, setup and moves."""
        return isinstance(other, Board) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]
