"""Say what worker processes do: choose moves, hint, judge, review, look; plain values only.

Runs in child processes. Models and players are loaded once a process and kept.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tengen.board import PASS, index_of, points_at
from tengen.board.counting import count_both, overruled
from tengen.contracts import Analyser, Player, Report, Status
from tengen.game.judging import Judge
from tengen.game.session import choose_move, move_generator
from tengen.models import load_policy
from tengen.models.registry import networks_for, policy_for
from tengen.players import make_player
from tengen.web import openings, review_tasks, shelves, sights
from tengen.web.positions import (
    counted,
    finite,
    judged_blocks,
    likely_moves,
    to_board,
    vertex,
    vertices,
)
from tengen.web.workers import Context, Task

_HINTS = 5
"""Candidates that a hint shows."""


@lru_cache(maxsize=8)
def _player(spec: str) -> Player:
    return make_player(spec)


@lru_cache(maxsize=1)
def _judge() -> Judge:
    return Judge()


def choose(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Choose a move for the side to move; at most `seconds` where the player can keep time."""
    board, player = to_board(arguments["board"]), _player(arguments["player"])
    seed, seconds = arguments["seed"], arguments.get("seconds")
    return {"move": vertex(choose_move(player, board, _judge(), seed=seed, seconds=seconds), board)}


def hint(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Say which moves the player would think of, with lines, win rates and points."""
    board = to_board(arguments["board"])
    player = _player(arguments["player"])
    rng = move_generator(arguments["seed"], board)
    if not isinstance(player, Analyser):
        return {"moves": [{"move": vertex(int(player.choose(board, rng)), board)}]}
    report: Report | None = None
    reports = player.analyse(board, rng, interval=0.25, limited=True, stop=context.stop)
    for report in reports:
        context.tell(describe(report, board))
    return {"moves": []} if report is None else describe(report, board)


def analyse(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Search a position with a number of visits and report as it goes."""
    spec = f"{arguments['player']}:visits={arguments['visits']}"
    return hint({**arguments, "player": spec, "seed": 0}, context)


def predict(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return the moves people most likely play."""
    board = to_board(arguments["board"])
    name = policy_for(board.rows, board.cols)
    priors = load_policy(name, shared=True).priors(board)
    return {"model": name, "moves": likely_moves(priors, board, arguments["top"])}


def score(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Judge every block, let the visitor overrule it, and count under both rules."""
    board = to_board(arguments["board"])
    verdict = _judge().status(board)
    fallen = np.zeros((board.rows, board.cols), np.bool_)
    for point in verdict.stones(Status.DEAD):
        fallen.flat[index_of(point, board.rows, board.cols)] = True
    fallen = overruled(fallen, board, dead=arguments["dead"], alive=arguments["alive"])
    territory, area = count_both(board, fallen, arguments["captures"])
    sure = verdict.safe or bool(arguments["dead"] or arguments["alive"])
    outlook = None if sure else _judge().outlook(board)
    return {
        "estimate": outlook
        and {"score": outlook.score, "spread": outlook.spread, "by": outlook.by},
        "dead": vertices(points_at(np.flatnonzero(fallen), board.rows, board.cols), board),
        "seki": vertices(verdict.stones(Status.SEKI), board),
        "safe": verdict.safe,
        "safe_probability": finite(verdict.safe_probability),
        "blocks": judged_blocks(verdict, board),
        "territory": counted(territory),
        "area": counted(area),
    }


def describe(report: Report, board: Any) -> dict[str, Any]:
    """Write an analysis in plain values; win rates and points are those of the side to move."""
    owners, report = report.ownership, report.seen_by(board.turn)
    return {
        "by": networks.plays if (networks := networks_for(board.rows, board.cols)) else "",
        "visits": report.visits,
        "spread": finite(report.raw_spread),
        "winrate": report.winrate,
        "score": report.score,
        "choice": vertex(report.choice, board),
        "moves": [
            {
                "move": vertex(c.move, board),
                "visits": c.visits,
                "winrate": c.winrate,
                "score": c.score,
                "prior": c.prior,
                "line": vertices(c.pv[: review_tasks.LINE], board),
            }
            for c in report.candidates[:_HINTS]
        ],
        "ownership": None if owners is None else [round(float(v), 3) for v in owners],
    }


def judge(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Say which stones are dead at the end."""
    board = to_board(arguments["board"])
    judge = _judge()
    open_ = judge.over(board) is None
    return {"dead": vertices(judge.dead_for_sure(board), board), "open": open_}


def is_open(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Tell whether somebody can still gain a point, so that a pass would lose some."""
    return {"open": _judge().over(to_board(arguments["board"])) is None}


def warm(arguments: dict[str, Any], context: Context) -> None:
    """Load what the first move needs."""
    board = to_board(arguments["board"])
    _player(arguments["player"]).choose(board, np.random.default_rng(0))
    if arguments.get("judge"):
        review_tasks.estimate(arguments, context)
        board.play(PASS)
        _judge().status(board)


TASKS: dict[str, Task] = {
    "choose": choose,
    "hint": hint,
    "judge": judge,
    "is_open": is_open,
    "warm": warm,
    "analyse": analyse,
    "predict": predict,
    "score": score,
    "see": sights.see,
    "tables": shelves.tables,
    "explore": openings.ask,
    "index": openings.index_upload,
    "review": review_tasks.review,
    "export_sgf": review_tasks.export_sgf,
    "lesson": review_tasks.lesson,
    "estimate": review_tasks.estimate,
}
