"""Count finished games, given the dead stones; find stones that are alive unconditionally.

Works on arrays (rows x columns of EMPTY, BLACK, WHITE), row 0 at the top.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tengen.arrays import BoolArray, IntArray
from tengen.board import counting_kernels as k
from tengen.board.coordinates import index_of
from tengen.board.layout_kernels import BLACK, BORDER, WHITE
from tengen.board.tactics_kernels import benson
from tengen.errors import TengenError

if TYPE_CHECKING:
    from tengen.board.board import Board
    from tengen.board.rules import Rules

Method = Literal["careful", "plain"]
Grid = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Count:
    """The count of one finished game and what every point counted for (see `counting_kernels`)."""

    scoring: Literal["area", "territory"]
    method: Literal["careful", "plain", "tromp-taylor"]
    grid: Grid = field(repr=False)
    dead: BoolArray = field(repr=False)
    kinds: Grid = field(repr=False)
    komi: float = 0.0
    handicap: float = 0.0
    """Points White gets for Black's handicap stones."""
    prisoners: tuple[int, int] = (0, 0)
    """Stones taken during the game by Black and by White; they count under territory only."""

    def _where(self, *kinds: int) -> BoolArray:
        return np.isin(self.kinds, kinds)

    @property
    def owner(self) -> Grid:
        """BLACK or WHITE on every point that counts for that side, else EMPTY."""
        owner = np.zeros_like(self.kinds)
        for colour in (BLACK, WHITE):
            owner[self.points(colour)] = colour
        return owner

    def points(self, colour: int) -> BoolArray:
        """Return the points that count for one colour."""
        counted = self.territory(colour)
        if self.scoring == "area":
            counted = counted | ((self.grid == colour) & ~self.dead)
        return counted

    def territory(self, colour: int) -> BoolArray:
        """Return one colour's territory."""
        return self._where(k.BLACK_TERRITORY if colour == BLACK else k.WHITE_TERRITORY)

    @property
    def dame(self) -> BoolArray:
        """Return the empty points that count for neither side."""
        return self._where(k.DAME, k.NOBODY, k.BLACK_OPEN, k.WHITE_OPEN)

    @property
    def seki(self) -> BoolArray:
        """Return the stones in seki and the points they hold, which score nothing."""
        return self._where(
            k.BLACK_SEKI_STONE, k.WHITE_SEKI_STONE, k.BLACK_SEKI_POINT, k.WHITE_SEKI_POINT
        )

    @property
    def false_eyes(self) -> BoolArray:
        """Return the points their owner must fill, which score nothing."""
        return self._where(k.BLACK_FALSE_EYE, k.WHITE_FALSE_EYE)

    def dead_stones(self, colour: int) -> int:
        """Return how many stones of a colour were counted as dead."""
        return int(np.count_nonzero(self.dead & (self.grid == colour)))

    def _total(self, colour: int) -> float:
        total = int(np.count_nonzero(self.points(colour)))
        if self.scoring == "territory":
            total += self.prisoners[colour - 1] + self.dead_stones(3 - colour)
        return float(total)

    @property
    def black(self) -> float:
        """Return Black's points."""
        return self._total(BLACK)

    @property
    def white(self) -> float:
        """Return White's points, komi and handicap compensation included."""
        return self._total(WHITE) + self.komi + self.handicap

    @property
    def score(self) -> float:
        """Return Black's points minus White's."""
        return self.black - self.white

    @property
    def result(self) -> str:
        """Return the result as SGF's RE writes it."""
        return format_result(self.score)

    def parts(self, colour: int) -> dict[str, float]:
        """Return what one side's total consists of."""
        found: dict[str, float] = {"territory": int(np.count_nonzero(self.territory(colour)))}
        if self.scoring == "area":
            found["stones"] = int(np.count_nonzero((self.grid == colour) & ~self.dead))
        else:
            found["prisoners"] = self.prisoners[colour - 1]
            found["dead"] = self.dead_stones(3 - colour)
        if colour == WHITE:
            found["komi"] = self.komi
            if self.handicap:
                found["handicap"] = self.handicap
        return found

    def explain(self) -> str:
        """Return in words what was counted."""
        words = {"territory": "points of territory", "dead": "dead stones"}
        words["handicap"] = "for handicap stones"
        lines = [f"{self.scoring} counting, {self.method}"]
        for name, colour, total in (("Black", BLACK, self.black), ("White", WHITE, self.white)):
            parts = (f"{n:g} {words.get(part, part)}" for part, n in self.parts(colour).items())
            lines.append(f"{name}: {' + '.join(parts)} = {total:g}")
        left = ("dame", "points and stones in seki", "false eyes")
        for what, mask in zip(left, (self.dame, self.seki, self.false_eyes), strict=True):
            if mask.any():
                lines.append(f"not counted: {np.count_nonzero(mask)} {what}")
        lines.append(f"result: {self.result}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values, for JSON."""
        return {name: getattr(self, name) for name in ("black", "white", "score", "result")}


def format_result(score: float) -> str:
    """Write a score from Black's view as SGF's RE does.

    >>> format_result(-3.5), format_result(12), format_result(0)
    ('W+3.5', 'B+12', '0')
    """
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def _checked(grid: npt.ArrayLike, dead: npt.ArrayLike | None) -> tuple[Grid, BoolArray]:
    stones = np.ascontiguousarray(grid, dtype=np.int8)
    if stones.ndim != 2 or stones.size == 0:
        raise TengenError(f"a grid to count has rows and columns, not the shape {stones.shape}")
    if stones.min() < 0 or stones.max() > WHITE:
        raise TengenError("a grid to count holds only EMPTY (0), BLACK (1) and WHITE (2)")
    if dead is None:
        return stones, np.zeros(stones.shape, np.bool_)
    dead_stones = np.ascontiguousarray(dead, dtype=np.bool_)
    if dead_stones.shape != stones.shape:
        raise TengenError(
            f"dead stones of shape {dead_stones.shape} on a grid of shape {stones.shape}"
        )
    # An empty point is not dead: it must not count as a prisoner.
    return stones, dead_stones & (stones != 0)


def count_territory(
    grid: npt.ArrayLike,
    dead: npt.ArrayLike | None = None,
    *,
    method: Method = "careful",
    komi: float = 0.0,
    prisoners: tuple[int, int] = (0, 0),
) -> Count:
    """Count territory and prisoners (taken by Black, by White), given a mask of the dead stones.

    `careful` counts no points in seki and in false eyes; `plain` counts every empty region that
    touches only one colour once the dead stones are removed.

    >>> grid = np.array([[0, 1, 0, 2, 0], [0, 1, 0, 2, 2], [0, 1, 0, 2, 0]], np.int8)
    >>> count_territory(grid, komi=0.5).result
    'B+0.5'
    >>> print(count_territory(grid).explain())
    territory counting, careful
    Black: 3 points of territory + 0 prisoners + 0 dead stones = 3
    White: 2 points of territory + 0 prisoners + 0 dead stones + 0 komi = 2
    not counted: 3 dame
    result: B+1
    """
    stones, dead_stones = _checked(grid, dead)
    kinds = np.zeros(stones.shape, np.int8)
    if method == "careful":
        k.careful_kinds(stones, dead_stones, kinds)
    elif method == "plain":
        k.plain_kinds(stones, dead_stones, kinds)
    else:
        raise TengenError(f"no counting method {method!r}; there are careful and plain")
    return Count("territory", method, stones, dead_stones, kinds, komi, prisoners=prisoners)


def count_area(
    grid: npt.ArrayLike,
    dead: npt.ArrayLike | None = None,
    *,
    komi: float = 0.0,
    handicap: float = 0.0,
) -> Count:
    """Count living stones and the empty regions that touch one colour, given the dead stones."""
    stones, dead_stones = _checked(grid, dead)
    kinds = np.zeros(stones.shape, np.int8)
    k.plain_kinds(stones, dead_stones, kinds)
    return Count("area", "plain", stones, dead_stones, kinds, komi, handicap)


def count_by_rules(
    grid: npt.ArrayLike,
    dead: npt.ArrayLike | None,
    rules: Rules,
    *,
    method: Method = "careful",
    komi: float = 0.0,
    prisoners: tuple[int, int] = (0, 0),
    handicap: int = 0,
) -> Count:
    """Count by area or by territory, as the rules say; `handicap` is the number of stones."""
    if rules.scoring == "area":
        return count_area(grid, dead, komi=komi, handicap=rules.compensation(handicap))
    return count_territory(grid, dead, method=method, komi=komi, prisoners=prisoners)


def count_board(board: Board, dead: npt.ArrayLike | None, rules: Rules | None = None) -> Count:
    """Count a position under its own rules, or others, given the mask of its dead stones."""
    return count_by_rules(
        board.grid(), dead, rules or board.rules, komi=board.komi, prisoners=board.prisoners,
        handicap=board.handicap,
    )  # fmt: skip


def count_both(
    board: Board, dead: npt.ArrayLike | None, taken: tuple[int, int] = (0, 0)
) -> tuple[Count, Count]:
    """Count a position by territory and by area; `taken` are further prisoners."""
    territory, area = (
        count_board(board, dead, board.rules.with_(scoring=way)) for way in ("territory", "area")
    )
    (black, white), (more, others) = board.prisoners, taken
    return replace(territory, prisoners=(black + more, white + others)), area


def overruled(
    mask: BoolArray, board: Board, *, dead: Iterable[str] = (), alive: Iterable[str] = ()
) -> BoolArray:
    """Return a mask of dead stones, overridden for the blocks at vertices `dead` and `alive`."""
    result, judged = mask.copy(), dict[int, bool]()
    for vertices, verdict in ((dead, True), (alive, False)):
        for vertex in vertices:
            for stone in board.block(vertex).stones:
                if judged.setdefault(stone, verdict) != verdict:
                    raise TengenError(f"the block at {vertex} is called dead and alive")
                result.flat[index_of(stone, board.rows, board.cols)] = verdict
    return result


def tromp_taylor(grid: npt.ArrayLike, komi: float = 0.0) -> Count:
    """Count area with every stone on the board alive."""
    return replace(count_area(grid, komi=komi), method="tromp-taylor")


def territory_margins(
    grids: npt.ArrayLike, dead: npt.ArrayLike, *, method: Method = "careful"
) -> IntArray:
    """Return Black's margin in territory and dead stones for stacks of grids and dead masks."""
    stones = np.ascontiguousarray(grids, dtype=np.int8)
    dead_stones = np.ascontiguousarray(dead, dtype=np.bool_)
    if stones.ndim != 3 or stones.shape != dead_stones.shape:
        raise TengenError(f"stacks of shape {stones.shape} and {dead_stones.shape} do not fit")
    careful, kinds = method == "careful", np.empty(stones.shape[1:], np.int8)
    pairs = zip(stones, dead_stones, strict=True)
    return np.array([k.territory_margin(*pair, careful, kinds) for pair in pairs], np.int64)


class Safe(NamedTuple):
    """A colour's unconditionally living stones and the points of their eyes."""

    stones: BoolArray
    points: BoolArray


def unconditional(grid: npt.ArrayLike, colour: int) -> Safe:
    """Return what a colour keeps even if it always passes (Benson 1976).

    >>> kept = unconditional([[0, 1, 0, 1, 2], [1, 1, 1, 1, 2], [2, 2, 2, 2, 2]], BLACK)
    >>> [int(mask.sum()) for mask in kept]
    [6, 2]
    """
    stones, _ = _checked(grid, None)
    if colour not in (BLACK, WHITE):
        raise TengenError(f"colour {colour!r} is neither BLACK ({BLACK}) nor WHITE ({WHITE})")
    line = np.append(np.pad(stones, ((1, 1), (1, 0)), constant_values=BORDER).ravel(), BORDER)
    out = np.zeros(line.shape, np.int64)
    benson(line.astype(np.int64), stones.shape[1] + 1, colour, out)
    found = out[:-1].reshape(stones.shape[0] + 2, -1)[1:-1, 1:]
    return Safe(found == 1, found == 2)
