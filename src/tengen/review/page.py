"""Make one self-contained page of a review: curves, a board to step through, mistakes, moves."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tengen import __version__
from tengen.board import BLACK, PASS, WHITE, Move, format_gtp, index_of
from tengen.board.colours import COLOUR_NAMES
from tengen.board.counting import format_result
from tengen.board.drawing import star_points
from tengen.review.annotate import LABELLED, LABELS, LINE, move_words
from tengen.review.curves import draw_curve
from tengen.review.game import MoveReview, Position, Review

_SHADES = "ABCDEFGHIJKLMNOPQRSTU"
"""Ownership from -1 (A) to +1 (U) in steps of a tenth."""


def make_page(review: Review, *, title: str, top: int = 5, index: str = "") -> str:
    """Return the page as HTML; it needs no network. `index` is the address of a page above it."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("tengen.review", "templates"), autoescape=select_autoescape()
    )
    ending = review.ending
    return environment.get_template("review.html").render(
        title=title,
        index=index,
        version=__version__,
        review=review,
        names=_names(review),
        curves=_curves(review),
        sides=[(COLOUR_NAMES[c], review.side(c)) for c in (BLACK, WHITE)],
        mistakes=[_diagram(review, m) for m in review.mistakes(top)],
        doubts=[_diagram(review, m) for m in review.doubts(top)],
        surprises=[_diagram(review, m) for m in review.surprises(top)],
        moves=[_row(review, m) for m in review.moves],
        ending=None if ending is None else ending.count.explain(),
        ending_svg=_ending_svg(review),
        judge="" if ending is None else ending.judge,
        game=json.dumps(_game(review), separators=(",", ":")).replace("<", "\\u003c"),
    )


def _names(review: Review) -> str:
    """Write who played whom, as far as the record tells."""
    told = review.record.properties
    black, white = (told.get(key, ["?"])[0] for key in ("PB", "PW"))
    return f"{black} (Black) and {white} (White), {_size(review)}, komi {review.record.komi:g}"


def _size(review: Review) -> str:
    return f"{review.record.rows}x{review.record.cols}"


def _curves(review: Review) -> list[dict[str, str]]:
    """Draw the score and the win rate over the game."""
    worst = [m.number for m in review.mistakes(10)]
    scores = [p.score for p in review.positions]
    rates = [100 * p.winrate for p in review.positions]
    chances = draw_curve(rates, label="Win rate", marked=worst, span=(0, 100), middle=50)
    return [
        {
            "title": "Expected score: points for Black",
            "svg": draw_curve(scores, label="Expected score", marked=worst),
        },
        {"title": "Win rate of Black, %", "svg": chances},
    ]


def _diagram(review: Review, move: MoveReview) -> dict[str, Any]:
    """Draw the position before a move: what was played (x), the better move, the predicted ones."""
    before = review.positions[move.number - 1]
    board = before.board
    labels: dict[Move, str] = {
        board.answer(point): str(number)
        for number, (point, chance) in reversed(list(enumerate(before.guesses(3), 1)))
        if point != PASS and chance > 0.01
    }
    if move.best != PASS and (move.is_mistake or move.is_doubtful):
        labels[board.answer(move.best)] = "A"
    if move.move != PASS:
        labels[board.answer(move.move)] = "x"
    return {**_row(review, move), "svg": board.svg(labels=labels, shades=before.ownership)}


def _row(review: Review, move: MoveReview) -> dict[str, Any]:
    """Write the numbers of one move for a table."""
    position = review.positions[move.number]
    rows, cols = position.board.rows, position.board.cols
    return {
        "number": move.number,
        "colour": COLOUR_NAMES[move.colour],
        "vertex": format_gtp(move.move, rows, cols),
        "lost": f"{move.lost:.1f}",
        "error": f"{move.error:.1f}",
        "best": format_gtp(move.best, rows, cols),
        "line": " ".join(format_gtp(p, rows, cols) for p in move.line[:8]),
        "chance": "" if move.probability is None else f"{100 * move.probability:.1f} %",
        "rank": "" if move.rank is None else move.rank,
        "winrate": f"{100 * position.winrate:.0f} %",
        "score": format_result(round(position.score, 1)),
        "mistake": move.is_mistake,
    }


def _ending_svg(review: Review) -> str:
    """Draw the end with territory and dead stones."""
    if review.ending is None:
        return ""
    board, count = review.positions[-1].board, review.ending.count
    owner = count.territory(BLACK).astype(float) - count.territory(WHITE).astype(float)
    dead = [board.answer(p) for p in review.ending.dead]
    return board.svg(shades=owner.ravel(), dead=dead)


def _game(review: Review) -> dict[str, Any]:
    """Return what the page's script needs to step through the game."""
    first = review.positions[0].board
    frames = []
    for number, position in enumerate(review.positions):
        board = position.board
        last = board.last_move
        frames.append(
            {
                "s": "".join(".XO"[c] for c in board.grid().ravel()),
                "o": _shades(position.ownership),
                "l": index_of(last, board.rows, board.cols) if last else -1,
                "t": move_words(review, review.moves[number - 1]) if number else "The beginning",
                "p": _letters(position),
                "b": _better(review, number),
            }
        )
    return {
        "rows": first.rows,
        "cols": first.cols,
        "stars": [r * first.cols + c for r, c in star_points(first.rows, first.cols)],
        "frames": frames,
    }


def _letters(position: Position) -> list[list[Any]]:
    """Return where the predicted next moves are, with their letters."""
    rows, cols = position.board.rows, position.board.cols
    return [
        [index_of(point, rows, cols), letter]
        for letter, (point, chance) in zip(LABELS, position.guesses(), strict=False)
        if point != PASS and chance >= LABELLED
    ]


def _better(review: Review, number: int) -> dict[str, Any] | None:
    """Return the board at the end of the line that was better than a move, and its numbers."""
    move = review.moves[number - 1] if number else None
    if move is None or not (move.is_mistake or move.is_doubtful):
        return None
    board = review.positions[number - 1].board.copy()
    places: dict[int, int] = {}
    for count, point in enumerate(move.line[:LINE], 1):
        move_on = board.answer(point)
        if not board.is_legal(move_on):  # a foreign engine may say anything
            break
        board.play(move_on)
        if point != PASS:
            places[index_of(point, board.rows, board.cols)] = count
    return {"s": "".join(".XO"[c] for c in board.grid().ravel()), "n": list(places.items())}


def _shades(ownership: Any) -> str:
    """Pack an ownership map into one letter a point."""
    if ownership is None:
        return ""
    steps = np.clip(np.rint((np.asarray(ownership) + 1) * 10), 0, 20).astype(int)
    return "".join(_SHADES[step] for step in steps)
