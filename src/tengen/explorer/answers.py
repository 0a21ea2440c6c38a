"""The moves played in a position, with the opinions of models.

Games that are equal after a symmetry or with swapped colours count together; results are given for
the colours of the queried position. In a corner the next move there counts, however late.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Move, Point, index_of
from tengen.board.drawing import Mark, format_ascii
from tengen.contracts import Evaluator, Policy
from tengen.errors import TengenError
from tengen.explorer.index import CORNERS, Openings, corner_of, fold, geometry, unfold
from tengen.explorer.kernels import ELSEWHERE
from tengen.sanitize import csv_text

OPINIONS = ("network", "opening")  # the kinds of models that give opinions
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class NextMove:
    """One move that was played in the position."""

    points: tuple[Point, ...]  # where it is; several points of a symmetric position count as one
    count: int
    share: float
    wins_black: int
    wins_white: int
    first: str  # date of the first such game; empty if no game has one
    last: str
    example: tuple[str, int]  # file and number of the last such game
    opinions: dict[str, float] = field(default_factory=dict)
    """By model: probability of policies, Black's points of evaluators."""

    @property
    def name(self) -> str:
        """The move for display: a vertex or `pass`."""
        return str(self.points[0])

    @property
    def win_rate_black(self) -> float | None:
        """Black's share of the games with a result; None without any."""
        decided = self.wins_black + self.wins_white
        return self.wins_black / decided if decided else None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        plain = ("count", "share", "wins_black", "wins_white", "win_rate_black", "first", "last")
        return {
            "move": self.name,
            "same": [str(point) for point in self.points[1:]],
            **{name: getattr(self, name) for name in plain},
            "example": dict(zip(("file", "game"), self.example, strict=True)),
            **dict.fromkeys(OPINIONS),
            **self.opinions,
        }


@dataclass(frozen=True)
class Answer:
    """The moves that a collection has in a position."""

    board: Board
    corner: str | None  # name of the queried corner; None for the whole board
    collection: int  # games in the collection
    plies: int  # indexed moves per game
    games: int  # that continued from the position; in a corner: times this side played on there
    elsewhere: int  # times that this side first answered a corner's last move elsewhere
    moves: tuple[NextMove, ...]

    def marks(self) -> dict[str, NextMove]:
        """Return the moves on the board by letter, most frequent first."""
        on_board = [move for move in self.moves if move.points[0] != PASS]
        return dict(zip(_LETTERS, on_board, strict=False))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        plain = ("corner", "collection", "plies", "games", "elsewhere")
        return {
            "position": [str(point) for _, point in self.board.moves],
            "size": [self.board.rows, self.board.cols],
            "to_play": "black" if self.board.turn == BLACK else "white",
            **{name: getattr(self, name) for name in plain},
            "moves": [move.to_dict() for move in self.moves],
        }

    def csv(self) -> str:
        """Return the moves as CSV, one line each."""
        rows = []
        for move in self.moves:
            row = move.to_dict()
            file, game = row.pop("example").values()
            rows.append({**row, "example_file": file, "example_game": game})
        return csv_text(list(rows[0]) if rows else ["move"], (row.values() for row in rows))

    def ascii(self) -> str:
        """Draw the board with a letter on each move."""
        marks = {
            point.index: letter for letter, move in self.marks().items() for point in move.points
        }
        return format_ascii(self.board.grid(), marks)


def explore(
    openings: Openings,
    board: Board,
    *,
    corner: bool = False,
    policies: Mapping[str, Policy] | None = None,
    evaluators: Mapping[str, Evaluator] | None = None,
    limit: int | None = None,
) -> Answer:
    """Return the moves played next in the position of a board, or in the corner of its moves.

    Policies give probabilities (in a corner: among its moves), evaluators Black's points after a
    move. `limit` bounds the number of moves; shares refer to all of them.
    """
    where = corner_of(board) if corner else None
    folded = fold(board, where)
    everything = openings.continuations(folded)
    found = [each for each in everything if each.move != ELSEWHERE]
    total = sum(each.count for each in found)
    moves = []
    priors = {name: _priors(policy, board, where) for name, policy in (policies or {}).items()}
    for each in found[:limit]:
        points = tuple(unfold(board, folded, each.move))
        opinions = {
            name: float(sum(values[index_of(p, board.rows, board.cols)] for p in points))
            for name, values in priors.items()
        }
        for name, evaluator in (evaluators or {}).items():
            value = _value_after(evaluator, board, points)
            if value is not None:
                opinions[name] = value
        wins = (each.wins, each.losses) if board.turn == BLACK else (each.losses, each.wins)
        dates, example = (_date(each.first), _date(each.last)), openings.origin(each.example)
        share = each.count / total
        moves.append(NextMove(points, each.count, share, *wins, *dates, example, opinions))
    return Answer(
        board=board,
        corner=None if where is None else CORNERS[where],
        collection=openings.about.games,
        plies=openings.about.plies,
        games=total,
        elsewhere=sum(each.count for each in everything if each.move == ELSEWHERE),
        moves=tuple(moves),
    )


def _priors(policy: Policy, board: Board, corner: int | None) -> FloatArray:
    """Return a policy's priors; in a corner, among its moves alone."""
    priors = np.asarray(policy.priors(board), np.float64)
    if corner is None:
        return priors
    points = np.flatnonzero(geometry(board.rows, board.cols).corners == corner).tolist()
    inside = [index_of(point, board.rows, board.cols) for point in points]
    among = np.zeros_like(priors)
    among[inside] = priors[inside] / max(priors[inside].sum(), 1e-12)
    return among


def _value_after(evaluator: Evaluator, board: Board, points: tuple[Point, ...]) -> float | None:
    """Return the value after a move; None if ko forbids it here."""
    after = board.copy()
    try:
        after.play(points[0])
    except TengenError:
        return None
    return float(evaluator.values([after])[0])


def _date(number: int) -> str:
    """Write a date as far as it is known.

    >>> _date(20030601), _date(20030600), _date(20030000), _date(0)
    ('2003-06-01', '2003-06', '2003', '')
    """
    text = f"{number:08}" if number else ""
    return "-".join(part for part in (text[:4], text[4:6], text[6:]) if part.strip("0"))


# ----- Pictures -----

_CELL = 26
_LINE = 20  # pixels from one line of the table to the next
_STYLE = (
    "<style>.page{fill:#fff}.ink{fill:#111}.soft{fill:#555}@media (prefers-color-scheme:dark)"
    "{.page{fill:#16171a}.ink{fill:#e8e6e1}.soft{fill:#aaa8a2}}</style>"
)


def picture(answer: Answer) -> str:
    """Return a self-contained SVG; the more games played a move, the darker its disc."""
    board = answer.board
    found = answer.marks()
    most = max((move.share for move in found.values()), default=1.0)
    marks: dict[Move, str | Mark] = {}
    for letter, move in found.items():
        # Mirror images of the move have plain discs.
        marks |= dict.fromkeys(move.points[1:], letter)
        marks[move.points[0]] = Mark(letter, move.share / most)
    table, table_width, table_height = _table(answer)
    left = (board.cols + 1) * _CELL
    width, height = left + table_width + 20, max((board.rows + 1) * _CELL, table_height + 10)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif">',
        f'{_STYLE}<rect class="page" width="{width:g}" height="{height:g}"/>',
        board.svg(marks=marks, cell=_CELL),
        f'<g transform="translate({left + 12:g} 6)">{table}</g>',
        "</svg>",
    ]
    return "\n".join(lines)


def _table(answer: Answer) -> tuple[str, float, float]:
    """Return the numbers as SVG text with its width and height."""
    shown = [name for name in OPINIONS if any(name in move.opinions for move in answer.moves)]
    headings = ["", "move", "times" if answer.corner else "games", "share", "Black wins", *shown]
    edges = [0.0, 18.0, 130.0, 185.0, 262.0, *(334.0 + 72.0 * k for k in range(len(shown)))]
    letters = {id(move): letter for letter, move in answer.marks().items()}
    moves = answer.moves[: len(letters) + 2]
    lines = [[letters.get(id(move), ""), *cells(move, shown)] for move in moves]
    side = "Black" if answer.board.turn == BLACK else "White"
    title = f"{side} to play: {answer.games:,} of {answer.collection:,} games"
    if answer.corner:
        title = f"{side} to play in this corner: {answer.games:,} times"
        lines.append(["", f"elsewhere at first: {answer.elsewhere:,} times"])
    out = [f'<text class="ink" y="14" font-size="14" font-weight="bold">{escape(title)}</text>']
    for number, line in enumerate([headings, *lines]):
        y = 14 + _LINE * (number + 1.3)
        ink = "soft" if number == 0 else "ink"
        for k, text in enumerate(line):
            anchor = "start" if k < 2 else "end"
            out.append(
                f'<text class="{ink}" x="{edges[k]:g}" y="{y:g}" font-size="13" '
                f'text-anchor="{anchor}">{escape(text)}</text>'
            )
    width = max(edges[-1], 8.0 * len(title))
    return "".join(out), width + 8, 14 + _LINE * (len(lines) + 2.3)


def cells(move: NextMove, shown: list[str]) -> list[str]:
    """Return the cells of a move: name, games, share, Black's wins, opinions of models."""
    rate = move.win_rate_black
    row = [move.name, f"{move.count:,}", f"{100 * move.share:.1f} %"]
    row.append("" if rate is None else f"{100 * rate:.1f} %")
    for name in shown:
        value = move.opinions.get(name)
        points = name == "opening"
        row.append("" if value is None else f"{value:+.1f}" if points else f"{100 * value:.1f} %")
    return row
