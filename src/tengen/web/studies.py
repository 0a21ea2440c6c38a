"""Review games in a worker process, and keep what it found as plain values; see `reviews`."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from tengen.board import Board, point_at
from tengen.records import GameRecord, loads
from tengen.review.annotate import annotate
from tengen.review.game import (
    SCATTER,
    MoveReview,
    Position,
    Review,
    Thinker,
    assemble,
    boards_of,
    find_thinker,
    judge_positions,
    review_move,
)
from tengen.review.settings import DEFAULT_PLAYER as PLAYER
from tengen.review.settings import ReviewSettings
from tengen.web.positions import likely_moves, vertex, vertices
from tengen.web.workers import Context

_GUESSES = 10
"""Predicted moves kept for each position."""
LINE = 12
"""Moves of a line that are shown."""


@lru_cache(maxsize=4)
def _thinker(rows: int, cols: int, playouts: int) -> Thinker:
    return find_thinker(rows, cols, ReviewSettings(playouts=playouts, player=PLAYER))


def record_of(sgf: str) -> GameRecord:
    """Read the one game of a stored review."""
    return loads(sgf)[0]


def review(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Judge the positions of a game that are not judged yet, and tell each; then sum up."""
    record = record_of(arguments["sgf"])
    thinker = _thinker(record.rows, record.cols, arguments["playouts"])
    player, policy, policy_name = thinker.player, thinker.policy, thinker.policy_name
    boards = list(boards_of(record))
    positions = [_from_value(v, b) for v, b in zip(arguments["done"], boards, strict=False)]
    if positions and policy is not None:
        # Only the likeliest predictions are kept; the next move may be none of them.
        last = positions[-1]
        positions[-1] = replace(last, priors=policy.priors(last.board))
    judged = judge_positions(record, player, policy=policy, seed=0, done=positions)
    for position in judged:
        positions.append(position)
        number = len(positions) - 1
        move = None
        if number:
            before = positions[number - 1]
            move = review_move(number, record.moves[number - 1], before, position)
        context.tell({"position": to_value(position), "move": move and _move_value(move, position)})
        if context.stop():
            break
    if len(positions) < len(boards):
        return {}
    found = assemble(record, positions, player=player.name, policy=policy_name)
    ending = found.ending
    board = boards[-1]
    return {
        "player": found.player,
        "policy": policy_name,
        "black": found.side(1),
        "white": found.side(2),
        "ending": ending
        and {
            **ending.count.to_dict(),
            "dead": vertices(ending.dead, board),
            "judge": ending.judge,
        },
    }


def to_value(position: Position) -> dict[str, Any]:
    """Return a judged position as plain values."""
    board, owners = position.board, position.ownership
    return {
        "winrate": position.winrate,
        "score": position.score,
        "after_score": position.after_score,
        "best": vertex(position.best, board),
        "line": vertices(position.line[:LINE], board),
        "spread": position.spread,
        "scatter": position.scatter,
        "visits": position.visits,
        "ownership": None if owners is None else [round(float(v), 2) for v in owners],
        "guesses": []
        if position.priors is None
        else likely_moves(position.priors, board, _GUESSES),
    }


def _from_value(value: dict[str, Any], board: Board) -> Position:
    """Make the judged position that `to_value` described, of predictions only the likeliest."""
    priors = np.zeros(board.rows * board.cols + 1)
    names = {
        vertex(point_at(i, board.rows, board.cols), board): i
        for i in range(board.rows * board.cols + 1)
    }
    for guess in value["guesses"]:
        priors[names[guess["move"]]] = guess["probability"]
    owners = value["ownership"]
    return Position(
        board=board,
        winrate=value["winrate"],
        score=value["score"],
        after_score=value["after_score"],
        best=board.point(value["best"]),
        line=tuple(board.point(name) for name in value["line"]),
        spread=value["spread"],
        visits=value["visits"],
        scatter=value.get("scatter", SCATTER),
        ownership=None if owners is None else np.array(owners, np.float64),
        priors=priors if value["guesses"] else None,
    )


def _move_value(move: MoveReview, position: Position) -> dict[str, Any]:
    """Return what is thought of a move as plain values."""
    board = position.board
    return {
        **move.to_dict(board.rows, board.cols),
        "line": vertices(move.line[:LINE], board),
    }


def export_sgf(arguments: dict[str, Any], context: Context) -> str:
    """Write a finished review into its record."""
    return annotate(_rebuilt(arguments), ownership=False).decode("utf-8")


def _rebuilt(arguments: dict[str, Any]) -> Review:
    record = record_of(arguments["sgf"])
    boards = list(boards_of(record))
    parts = arguments["parts"]
    positions = [_from_value(p["position"], b) for p, b in zip(parts, boards, strict=True)]
    summary = arguments["summary"]
    found = assemble(record, positions, player=summary["player"], policy=summary["policy"])
    # Only the likeliest predictions were kept; ranks and chances of the others were told before.
    moves = [
        replace(move, probability=part["move"]["probability"], rank=part["move"]["rank"])
        for move, part in zip(found.moves, parts[1:], strict=True)
    ]
    return replace(found, moves=moves)


COLUMNS = (
    "number",
    "colour",
    "move",
    "lost",
    "error",
    "winrate_lost",
    "best",
    "probability",
    "rank",
    "verdict",
)


def table(parts: list[dict[str, Any]]) -> str:
    """Write the moves of a review as CSV, with Black's win rate and points after each."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow([*COLUMNS, "line", "winrate_black", "score_black"])
    for part in parts[1:]:
        move, position = part["move"], part["position"]
        row = [_cell(move[name]) for name in COLUMNS]
        sheet.writerow(
            [
                *row,
                " ".join(move["line"]),
                _cell(position["winrate"]),
                _cell(position["score"]),
            ]
        )
    return out.getvalue()


def _cell(value: Any) -> Any:
    return "" if value is None else round(value, 4) if isinstance(value, float) else value
