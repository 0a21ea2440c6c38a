"""Write answers of KataGo's JSON analysis protocol from what a player reports; ask nobody.

Reports are the mover's; answers are of the side that the query names. What a player does not know
(a spread, ownership of single moves) is left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, format_gtp, index_of
from tengen.contracts.values import Analysis, Candidate
from tengen.gtp.analysis_protocol import Query, Turn
from tengen.gtp.words import RESIGN


def format_result(
    query: Query,
    turn: Turn,
    report: Analysis,
    *,
    during: bool = False,
    policy: FloatArray | None = None,
) -> dict[str, Any]:
    """Write one answer; `policy` (flat, pass last) is added when it is given."""
    board = turn.board
    view = _View(query.perspective, board.turn)
    shown = wanted(query, board.turn, report)
    answer: dict[str, Any] = {
        "id": query.id,
        "isDuringSearch": during,
        "turnNumber": turn.number,
        "moveInfos": [_move_info(query, board, view, c, i, policy) for i, c in enumerate(shown)],
        "rootInfo": _root_info(board, view, report),
    }
    if query.wishes.ownership and report.ownership is not None:
        answer["ownership"] = view.points(report.ownership)
    if query.wishes.ownership_spread and report.ownership_spread is not None:
        answer["ownershipStdev"] = view.spreads(report.ownership_spread)
    if policy is not None:
        answer["policy"] = _legal(policy, board)
    human = report.raw_policy if report.human_policy is None else report.human_policy
    if (query.wishes.policy or query.human) and human is not None:
        answer["humanPolicy"] = _legal(human, board)
    return answer


def _root_info(board: Board, view: _View, report: Analysis) -> dict[str, Any]:
    """Write what holds for the whole position."""
    winrate = view.winrate(report.winrate)
    found = {
        "currentPlayer": "B" if board.turn == BLACK else "W",
        "visits": report.visits,
        "weight": float(report.visits),
        "winrate": round(winrate, 6),
        "scoreLead": round(view.score(report.score), 4),
        "scoreSelfplay": round(view.score(report.score), 4),
        "utility": round(winrate * 2 - 1, 6),
        "thisHash": f"{board.hash:032X}",
        "symHash": f"{board.hash:032X}",
    }
    known = {
        "scoreStdev": report.spread,
        "rawWinrate": view.winrate(report.raw_winrate),
        "rawLead": view.score(report.raw_score),
        "rawScoreSelfplay": view.score(report.raw_score),
        "rawScoreSelfplayStdev": report.raw_spread,
    }
    return found | {name: round(v, 6) for name, v in known.items() if not math.isnan(v)}


def _move_info(
    query: Query, board: Board, view: _View, c: Candidate, order: int, policy: FloatArray | None
) -> dict[str, Any]:
    """Write one candidate."""
    prior = c.prior if policy is None else float(policy[index_of(c.move, board.rows, board.cols)])
    winrate, score = round(view.winrate(c.winrate), 6), round(view.score(c.score), 4)
    line = (c.pv or (c.move,))[: query.pv_length]
    utility = winrate * 2 - 1 if math.isnan(c.utility) else view.score(c.utility)
    found = {
        "move": format_gtp(c.move, board.rows, board.cols),
        "visits": c.visits,
        "edgeVisits": c.visits,
        "weight": float(c.visits),
        "winrate": winrate,
        "lcb": winrate,
        "scoreLead": score,
        "scoreMean": score,
        "scoreSelfplay": score,
        "utility": round(utility, 6),
        "prior": round(prior, 8),
        "order": order,
        "pv": [format_gtp(move, board.rows, board.cols) for move in line],
    }
    if not math.isnan(c.spread):
        found["scoreStdev"] = round(c.spread, 4)
    if query.human:
        found["humanPrior"] = round(c.prior, 8)
    if query.wishes.pv_visits and c.pv_visits:
        found["pvVisits"] = list(c.pv_visits[: query.pv_length])
        found["pvEdgeVisits"] = found["pvVisits"]
    if query.wishes.moves_ownership and c.owners is not None:
        found["ownership"] = view.points(c.owners[0])
    if query.wishes.moves_ownership_spread and c.owners is not None:
        found["ownershipStdev"] = view.spreads(c.owners[1])
    return found


def _legal(policy: FloatArray, board: Board) -> list[float]:
    """Write a policy as KataGo does: -1 where a move is illegal."""
    legal = board.legal_mask()
    return [round(float(p), 8) if ok else -1.0 for p, ok in zip(policy, legal, strict=True)]


def visit_shares(report: Analysis, board: Board) -> FloatArray:
    """Make a policy of a search's visits, for want of a model."""
    shares = np.zeros(board.rows * board.cols + 1)
    for c in report.candidates:
        if c.move != RESIGN:
            shares[index_of(c.move, board.rows, board.cols)] = max(c.visits, 0)
    total = shares.sum()
    if total == 0:
        shares[-1] = total = 1.0
    return np.asarray(shares / total, np.float64)


class _View:
    """Turn values of the side to move into those of the side that was asked for."""

    def __init__(self, perspective: str, turn: int) -> None:
        black = perspective == "BLACK" or (perspective == "SIDETOMOVE" and turn == BLACK)
        self._sign = 1.0 if black else -1.0
        self._same = black == (turn == BLACK)

    def winrate(self, mover: float) -> float:
        return mover if self._same else 1.0 - mover

    def score(self, mover: float) -> float:
        return mover if self._same else -mover

    def points(self, black: FloatArray) -> list[float]:
        return [round(self._sign * float(x), 4) for x in black.ravel()]

    def spreads(self, values: FloatArray) -> list[float]:
        return [round(float(x), 4) for x in values.ravel()]


def wanted(query: Query, colour: int, report: Analysis) -> list[Candidate]:
    """Return the candidates that a query wants to see."""
    return [c for c in report.candidates if is_wanted(query, colour, c.move)]


def is_wanted(query: Query, colour: int, move: int) -> bool:
    """Tell whether a query wants to hear of a move of one side."""
    if move == RESIGN or move in query.avoid.get(colour, ()):
        return False
    return colour not in query.allow or move in query.allow[colour]
