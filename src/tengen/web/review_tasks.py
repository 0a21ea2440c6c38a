"""Reviews as plain values: made in a worker process, stored, exported as SGF and CSV."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from dataclasses import replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tengen.board import Board, point_at
from tengen.records import GameRecord, loads
from tengen.reviews.annotate import annotate
from tengen.reviews.game import (
    EvaluatedPosition,
    MoveReview,
    Review,
    Reviewer,
    assemble,
    boards_of,
    evaluate,
    find_reviewer,
    glance,
    review_last_move,
    review_move,
)
from tengen.reviews.settings import ReviewSettings
from tengen.web.positions import likely_moves, to_board, vertex, vertices, whole
from tengen.web.workers import Context

_GUESSES = 10
"""Predicted moves stored for each position."""
LINE = 12
"""Moves of a line that are shown."""
_LEVELS = "ABCDEFGHIJKLMNOPQRSTU"
"""Ownership from -1 (A) to +1 (U) in steps of a tenth."""


@lru_cache(maxsize=4)
def _reviewer(rows: int, cols: int, visits: int | None, quick: bool) -> Reviewer:
    return find_reviewer(rows, cols, ReviewSettings(visits=visits, quick=quick))


def record_of(sgf: str) -> GameRecord:
    """Read the one game of a stored review."""
    return loads(sgf)[0]


def review(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Review a game; report every position when it is evaluated or improved; return the summary.

    `known` are the values of positions searched before the server was stopped, by number.
    """
    record = record_of(arguments["sgf"])
    boards = list(boards_of(record))
    reviewer = _reviewer(record.rows, record.cols, arguments["visits"], arguments["quick"])
    known = {number: _from_value(value, boards[number]) for number, value in arguments["known"]}
    found: dict[int, EvaluatedPosition] = {}
    for stage, number, position, (done, total) in evaluate(record, reviewer, known=known):
        found[number] = position
        progress = {"stage": stage, "done": done, "total": total}
        # A position ends one move and starts the next.
        for changed in (number, number + 1):
            if changed in found:
                context.tell({**_part(record, found, changed), "progress": progress})
        if context.stop():
            return {}
    return _assembled(record, found, reviewer.name).summary()


def lesson(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Say at once what the last move of a game lost, and what the position after it comes to."""
    board = to_board(arguments["board"])
    move, after = review_last_move(board, _reviewer(board.rows, board.cols, None, True))
    return {**_move_value(move, board), "after": to_value(after)}


def estimate(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Say what a position comes to, who owns what, and which network says so."""
    board = to_board(arguments["board"])
    reviewer = _reviewer(board.rows, board.cols, None, True)
    return {**to_value(glance(board, reviewer)), "by": reviewer.name.partition(",")[0]}


def _assembled(record: GameRecord, found: dict[int, EvaluatedPosition], name: str) -> Review:
    return assemble(record, [found[number] for number in sorted(found)], name=name)


def _part(record: GameRecord, found: dict[int, EvaluatedPosition], number: int) -> dict[str, Any]:
    """Return a position, and the move that led to it, as plain values."""
    move = None
    if number:
        before = found[number - 1]
        move = review_move(number, record.moves[number - 1], before, found[number])
    return {
        "number": number,
        "position": to_value(found[number]),
        "move": move and _move_value(move, found[number].board),
    }


def parts_of(review: Review) -> list[dict[str, Any]]:
    """Return every position of a finished review as plain values."""
    moves = [None, *review.moves]
    return [
        {
            "number": number,
            "position": to_value(position),
            "move": move and _move_value(move, position.board),
        }
        for number, (position, move) in enumerate(zip(review.positions, moves, strict=True))
    ]


def to_value(position: EvaluatedPosition) -> dict[str, Any]:
    """Return an evaluated position as plain values."""
    board = position.board
    return {
        "winrate": round(position.winrate, 5),
        "score": round(position.score, 3),
        "first": position.first and list(position.first),
        "best": vertex(position.best, board),
        "line": vertices(position.line[:LINE], board),
        "spread": position.spread,
        "scatter": position.scatter,
        "visits": position.visits,
        "ownership": None if position.ownership is None else packed(position.ownership),
        "guesses": []
        if position.priors is None
        else likely_moves(position.priors, board, _GUESSES),
    }


def packed(ownership: Any) -> str:
    """Pack an ownership map into one letter per point, A (White's) to U (Black's).

    >>> packed([-1.0, 0.0, 0.96])
    'AKU'
    """
    steps = np.clip(np.rint((np.asarray(ownership) + 1) * 10), 0, 20).astype(int)
    return "".join(_LEVELS[step] for step in steps)


def _from_value(value: dict[str, Any], board: Board) -> EvaluatedPosition:
    """Make the position that `to_value` described; of the predictions only the likeliest."""
    priors = np.zeros(board.rows * board.cols + 1)
    names = {
        vertex(point_at(i, board.rows, board.cols), board): i
        for i in range(board.rows * board.cols + 1)
    }
    for guess in value["guesses"]:
        priors[names[guess["move"]]] = guess["probability"]
    owners = value["ownership"]
    first = value["first"]
    return EvaluatedPosition(
        board=board,
        winrate=value["winrate"],
        score=value["score"],
        spread=value["spread"],
        visits=value["visits"],
        best=board.point(value["best"]),
        line=tuple(board.point(name) for name in value["line"]),
        ownership=None if owners is None else np.array([_LEVELS.index(x) / 10 - 1 for x in owners]),
        priors=priors if value["guesses"] else None,
        scatter=value["scatter"],
        first=first and (first[0], first[1]),
    )


def _move_value(move: MoveReview, board: Board) -> dict[str, Any]:
    return {**move.to_dict(board.rows, board.cols), "line": vertices(move.line[:LINE], board)}


def export_sgf(arguments: dict[str, Any], context: Context) -> str:
    """Return the annotated SGF of a finished review."""
    record = record_of(arguments["sgf"])
    parts = arguments["parts"]
    found = {
        number: _from_value(part["position"], board)
        for number, (part, board) in enumerate(zip(parts, boards_of(record), strict=True))
    }
    rebuilt = _assembled(record, found, arguments["summary"]["judge"])
    # Rounded ownership and the few stored predictions would change the moves' own figures.
    moves = [
        replace(
            move, **{name: part["move"][name] for name in ("points_lost", "probability", "rank")}
        )
        for move, part in zip(rebuilt.moves, parts[1:], strict=True)
    ]
    return annotate(replace(rebuilt, moves=moves)).decode("utf-8")


COLUMNS = (
    "number",
    "colour",
    "move",
    "points_lost",
    "error",
    "verdict",
    "best",
    "line",
    "winrate",
    "score",
    "visits",
    "probability",
    "rank",
)


def table(parts: list[dict[str, Any]]) -> str:
    """Return the moves of a review as CSV; win rate and score are Black's after the move."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(COLUMNS)
    for part in parts[1:]:
        sheet.writerow([_cell(part["move"][name]) for name in COLUMNS])
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(value)
    return "" if value is None else round(value, 4) if isinstance(value, float) else value


STATIC = Path(__file__).parent / "static"


def review_page(review: Review, title: str, index: str = "") -> str:
    """Return the page of a review as HTML; `index` is the address of a page with all games."""
    value = {
        "id": "",
        "status": "done",
        "trouble": "",
        "summary": review.summary(),
        "progress": None,
        "game": whole(review.record),
        "parts": parts_of(review),
        "title": title,
        "index": index,
    }
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    script, style = _built("app.js"), _built("app.css")
    policy = (
        f"default-src 'none'; script-src {_allowed(script)}; style-src {_allowed(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="content-security-policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<div id="app"></div>\n<script type="application/json" id="review-data">{data}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


@lru_cache
def _built(name: str) -> str:
    """Return a built file, made safe to stand inside an HTML element."""
    return (STATIC / name).read_text(encoding="utf-8").replace("</", "<\\/")


def _allowed(text: str) -> str:
    """Return the source expression of a content policy that allows exactly this text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
