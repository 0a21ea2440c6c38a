"""Show a review in a notebook: curve, position of the largest loss, table; light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

from tengen.board import BLACK, COLOUR_NAMES, WHITE, Board, Point
from tengen.board.coordinates import Move
from tengen.board.drawing import Mark
from tengen.sanitize import html_table

_WIDTH, _HEIGHT = 480.0, 140.0
_LOST = {BLACK: "#3b7dd8", WHITE: "#d0493a"}  # bars of either side, on light and on dark


class ReviewedMove(Protocol):
    """What is shown of a reviewed move."""

    @property
    def number(self) -> int:
        """The number of the move in the game."""

    @property
    def colour(self) -> int:
        """Who played it."""

    @property
    def move(self) -> Point:
        """What was played."""

    @property
    def points_lost(self) -> float:
        """Points that it lost."""

    @property
    def error(self) -> float:
        """Standard error of these."""

    @property
    def win_probability(self) -> float:
        """Probability that Black wins after it."""

    @property
    def score(self) -> float:
        """Expected score for Black after it."""

    @property
    def best(self) -> Point:
        """The better move."""

    @property
    def line(self) -> tuple[Point, ...]:
        """How it might go on from the better move."""


def curve_svg(scores: Sequence[float], losses: Mapping[int, tuple[int, float]]) -> str:
    """Draw the score before each move, Black's up, and a bar for what each move lost.

    `losses` has side and points by the move's number. Ink is that of the text around.

    >>> curve_svg([0.0, 3.0, -2.0], {1: (1, 5.0)}).count("<rect")
    1
    """
    most = max(10.0, *(abs(score) for score in scores), *(lost for _, lost in losses.values()))
    middle, step = _HEIGHT / 2, _WIDTH / max(len(scores) - 1, 1)
    line = " ".join(
        f"{step * n:.1f},{middle - score / most * (middle - 4):.1f}"
        for n, score in enumerate(scores)
    )
    bars = "".join(
        f'<rect x="{step * number - step * 0.4:.1f}" y="{_HEIGHT - lost / most * middle:.1f}" '
        f'width="{max(step * 0.8, 1):.1f}" height="{lost / most * middle:.1f}" '
        f'fill="{_LOST[colour]}"/>'
        for number, (colour, lost) in losses.items()
        if lost > 0
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" '
        f'width="{_WIDTH:g}" height="{_HEIGHT:g}" role="img" '
        'aria-label="score by move, and points lost">'
        f'<path d="M0 {middle:g}H{_WIDTH:g}" stroke="currentColor" opacity="0.35"/>{bars}'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>'
    )


def review_html(
    sides: str,
    positions: Sequence[tuple[Board, float]],
    moves: Sequence[ReviewedMove],
    worst: Sequence[ReviewedMove],
) -> str:
    """Return a review as HTML: both sides, the curve, the largest loss, a table of the worst moves.

    `positions` are boards with their scores.
    """
    losses = {move.number: (move.colour, move.points_lost) for move in moves}
    parts = [
        f"<p>{escape(sides)}</p>",
        curve_svg([score for _, score in positions], losses),
        "<p><small>Score by move, Black's above the line. Bars are points lost by "
        f'<span style="color:{_LOST[BLACK]}">Black</span> and '
        f'<span style="color:{_LOST[WHITE]}">White</span>.</small></p>',
    ]
    if worst:
        parts.append(_largest(positions[worst[0].number - 1][0], worst[0]))
    columns = ["move", "played", "points lost", "better", "Black wins", "score"]
    rows = [
        [
            move.number,
            f"{COLOUR_NAMES[move.colour].lower()} {move.move}",
            f"{move.points_lost:.1f} ± {move.error:.1f}",
            " ".join(map(str, move.line)),
            f"{move.win_probability:.0%}",
            f"{move.score:+.1f}",
        ]
        for move in worst
    ]
    return "".join([*parts, html_table(columns, rows)])


def _largest(board: Board, move: ReviewedMove) -> str:
    """Draw the position before a move, with the move played and the better one."""
    marks: dict[Move, str | Mark] = {}
    if move.best:
        marks[move.best] = Mark("A", 1.0)
    if move.move:
        marks[move.move] = "×"
    words = (
        f"Before move {move.number}: {COLOUR_NAMES[move.colour].lower()} {move.move} (×) lost "
        f"{move.points_lost:.1f} points, {move.best} (A) is better."
    )
    return f"<p>{escape(words)}</p>{board.svg(marks=marks)}"
