"""What worker processes do: choose moves, hint, judge and review; plain values only.

Models and players are loaded once per process and kept.
"""

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

from tengen.board import PASS, Board, index_of, points_at
from tengen.board.counting import count_both, overruled
from tengen.contracts import Analyser, Player, Report, Status
from tengen.game.judging import Judge
from tengen.game.session import choose_move, move_generator
from tengen.models import load_policy
from tengen.models.registry import JUDGE, network_for, policy_for
from tengen.players import make_player
from tengen.records import GameRecord, loads
from tengen.reviews.annotate import annotate
from tengen.reviews.batch import plain_cell
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
from tengen.web.positions import (
    counted,
    finite,
    judged_blocks,
    likely_moves,
    to_board,
    vertex,
    vertices,
    whole,
)
from tengen.web.workers import Context, Json

STATIC = Path(__file__).parent / "static"
_HINTS = 5
"""Candidates that a hint shows."""
_GUESSES = 10
"""Predicted moves stored for each position."""
_LINE = 12
"""Moves of a line that are shown."""
_LEVELS = "ABCDEFGHIJKLMNOPQRSTU"
"""Ownership from -1 (A) to +1 (U) in steps of a tenth."""


@lru_cache(maxsize=8)
def _player(spec: str) -> Player:
    return make_player(spec)


@lru_cache(maxsize=1)
def _judge() -> Judge:
    return Judge()


def choose(arguments: Json, context: Context) -> Json:
    """Choose a move for the side to move; at most `seconds` where the player can keep time."""
    board, player = to_board(arguments["board"]), _player(arguments["player"])
    seed, seconds = arguments["seed"], arguments.get("seconds")
    move = choose_move(player, board, _judge(), seed=seed, seconds=seconds)
    return {"move": vertex(move, board)}


def hint(arguments: Json, context: Context) -> Json:
    """Return a player's candidates with lines, win rates and points; report as it searches."""
    board = to_board(arguments["board"])
    player = _player(arguments["player"])
    rng = move_generator(arguments["seed"], board)
    if not isinstance(player, Analyser):
        return {"moves": [{"move": vertex(int(player.choose(board, rng)), board)}]}
    told: Json = {"moves": []}
    for report in player.analyse(board, rng, interval=0.25, limited=True, stop=context.stop):
        told = _describe(report, board)
        context.tell(told)
    return told


def predict(arguments: Json, context: Context) -> Json:
    """Return the moves people most likely play."""
    board = to_board(arguments["board"])
    name = policy_for(board.rows, board.cols)
    priors = load_policy(name, shared=True).priors(board)
    return {"model": name, "moves": likely_moves(priors, board, arguments["top"])}


def score(arguments: Json, context: Context) -> Json:
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


def _describe(report: Report, board: Board) -> Json:
    """Write an analysis in plain values; win rates and points are those of the side to move."""
    owners, report = report.ownership, report.seen_by(board.turn)
    return {
        "by": JUDGE if network_for(board.rows, board.cols) else "",
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
                "line": vertices(c.pv[:_LINE], board),
            }
            for c in report.candidates[:_HINTS]
        ],
        "ownership": None if owners is None else [round(float(v), 3) for v in owners],
    }


def judge(arguments: Json, context: Context) -> Json:
    """Say which stones are dead at the end."""
    board = to_board(arguments["board"])
    dead = vertices(_judge().dead_for_sure(board), board)
    return {"dead": dead, **is_open(arguments, context)}


def is_open(arguments: Json, context: Context) -> Json:
    """Tell whether somebody can still gain a point, so that a pass would lose some."""
    return {"open": _judge().over(to_board(arguments["board"])) is None}


def warm(arguments: Json, context: Context) -> None:
    """Load what the first move needs."""
    board = to_board(arguments["board"])
    _player(arguments["player"]).choose(board, np.random.default_rng(0))
    if arguments.get("judge"):
        estimate(arguments, context)
        board.play(PASS)
        _judge().status(board)


# ----- Reviews -----


@lru_cache(maxsize=4)
def _reviewer(rows: int, cols: int, visits: int | None, quick: bool) -> Reviewer:
    return find_reviewer(rows, cols, ReviewSettings(visits=visits, quick=quick))


def review(arguments: Json, context: Context) -> Json:
    """Review a game; report every position when it is evaluated or improved; return the summary.

    `known` are the values of positions searched before the server was stopped, by number.
    """
    record = loads(arguments["sgf"])[0]
    boards = list(boards_of(record))
    reviewer = _reviewer(record.rows, record.cols, arguments["visits"], arguments["quick"])
    known = {number: _evaluated(value, boards[number]) for number, value in arguments["known"]}
    found: dict[int, EvaluatedPosition] = {}
    for stage, number, position, (done, total) in evaluate(record, reviewer, known=known):
        found[number] = position
        progress = {"stage": stage, "done": done, "total": total}
        # A position ends one move and starts the next.
        for end in (number, number + 1):
            if end in found:
                move = None
                if end:
                    move = review_move(end, record.moves[end - 1], found[end - 1], found[end])
                context.tell({**_part(end, found[end], move), "progress": progress})
        if context.stop():
            return {}
    return _assembled(record, found, reviewer.name).summary()


def lesson(arguments: Json, context: Context) -> Json:
    """Say at once what the last move of a game lost, and what the position after it comes to."""
    board = to_board(arguments["board"])
    move, after = review_last_move(board, _reviewer(board.rows, board.cols, None, True))
    return {**_move_value(move, board), "after": evaluation(after)}


def estimate(arguments: Json, context: Context) -> Json:
    """Say what a position comes to, who owns what, and which network says so."""
    board = to_board(arguments["board"])
    reviewer = _reviewer(board.rows, board.cols, None, True)
    return {**evaluation(glance(board, reviewer)), "by": reviewer.name.partition(",")[0]}


def _assembled(record: GameRecord, found: dict[int, EvaluatedPosition], name: str) -> Review:
    return assemble(record, [found[number] for number in sorted(found)], name=name)


def _part(number: int, position: EvaluatedPosition, move: MoveReview | None) -> Json:
    """Return a position, and the move that led to it, as plain values."""
    told = move and _move_value(move, position.board)
    return {"number": number, "position": evaluation(position), "move": told}


def evaluation(position: EvaluatedPosition) -> Json:
    """Return an evaluated position as plain values."""
    board = position.board
    return {
        "winrate": round(position.winrate, 5),
        "score": round(position.score, 3),
        "first": position.first and list(position.first),
        "best": vertex(position.best, board),
        "line": vertices(position.line[:_LINE], board),
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


def _evaluated(value: Json, board: Board) -> EvaluatedPosition:
    """Make the position that `evaluation` described; of the predictions only the likeliest."""
    priors = np.zeros(board.rows * board.cols + 1)
    for guess in value["guesses"]:
        place = index_of(board.point(guess["move"]), board.rows, board.cols)
        priors[place] = guess["probability"]
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


def _move_value(move: MoveReview, board: Board) -> Json:
    return {**move.to_dict(board.rows, board.cols), "line": vertices(move.line[:_LINE], board)}


def export_sgf(arguments: Json, context: Context) -> Json:
    """Return the annotated SGF of a finished review."""
    record = loads(arguments["sgf"])[0]
    parts = arguments["parts"]
    found = {
        number: _evaluated(part["position"], board)
        for number, (part, board) in enumerate(zip(parts, boards_of(record), strict=True))
    }
    rebuilt = _assembled(record, found, arguments["summary"]["judge"])
    own = ("points_lost", "probability", "rank")
    # Rounded ownership and the few stored predictions would change the moves' own figures.
    moves = [
        replace(move, **{name: part["move"][name] for name in own})
        for move, part in zip(rebuilt.moves, parts[1:], strict=True)
    ]
    return {"sgf": annotate(replace(rebuilt, moves=moves)).decode("utf-8")}


_COLUMNS = (
    *("number", "colour", "move", "points_lost", "error", "verdict", "best", "line"),
    *("winrate", "score", "visits", "probability", "rank"),
)


def table(parts: list[Json]) -> str:
    """Return the moves of a review as CSV; win rate and score are Black's after the move."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(_COLUMNS)
    for part in parts[1:]:
        sheet.writerow([plain_cell(part["move"][name]) for name in _COLUMNS])
    return out.getvalue()


def review_page(review: Review, title: str, index: str = "") -> str:
    """Return the page of a review as HTML; `index` is the address of a page with all games."""
    moves = [None, *review.moves]
    value = {
        "id": "",
        "status": "done",
        "trouble": "",
        "summary": review.summary(),
        "progress": None,
        "game": whole(review.record),
        "parts": [
            _part(number, position, move)
            for number, (position, move) in enumerate(zip(review.positions, moves, strict=True))
        ],
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
