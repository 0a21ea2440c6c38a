"""Tasks of worker processes, on plain values: choose moves, hint, judge and review.

Models and players are loaded once per process and kept.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from tengen.board import PASS, Board, index_of, points_at
from tengen.board.counting import count_both, overruled
from tengen.contracts import Analyser, Status
from tengen.game.session import choose_move, move_generator
from tengen.models import load_policy
from tengen.models.registry import JUDGE, network_for, policy_for
from tengen.players import make_player
from tengen.players.network_search import SEARCHING_JUDGE
from tengen.records import loads
from tengen.reviews import ReviewSettings
from tengen.reviews.annotate import annotate
from tengen.reviews.game import (
    COLUMNS,
    EvaluatedPosition,
    MoveReview,
    Review,
    Reviewer,
    assemble,
    evaluate,
    find_reviewer,
    first_pass,
    legal_part,
    review_last_move,
    review_move,
)
from tengen.reviews.player import Moment, problems_sgf
from tengen.sanitize import csv_text
from tengen.web.positions import (
    counted,
    finite,
    judged_blocks,
    likely_moves,
    position_of,
    to_board,
    to_value,
    vertex,
    vertices,
    whole,
)
from tengen.web.workers import Context, Json

STATIC = Path(__file__).parent / "static"
_HINTS = 5  # candidates that a hint shows
_GUESSES = 10  # predicted moves stored for each position
_LINE = 12  # moves of a line that are shown
_LEVELS = "ABCDEFGHIJKLMNOPQRSTU"  # ownership from -1 (A) to +1 (U) in steps of a tenth


_player = lru_cache(maxsize=8)(make_player)


def choose(arguments: Json, context: Context) -> Json:
    """Choose a move for the side to move, within `seconds` if the player can limit its time."""
    board, player = to_board(arguments["board"]), _player(arguments["player"])
    seed, seconds = arguments["seed"], arguments.get("seconds")
    move = choose_move(player, board, SEARCHING_JUDGE, seed=seed, seconds=seconds)
    return {"move": vertex(move, board)}


def hint(arguments: Json, context: Context) -> Json:
    """Return candidates with win rates and scores for the side to move; report while searching."""
    board, player = to_board(arguments["board"]), _player(arguments["player"])
    assert isinstance(player, Analyser)
    rng = move_generator(arguments["seed"], board)
    result: Json = {"moves": []}
    for info in player.analyse(board, rng, interval=0.25, limited=True, stop=context.stop):
        mine, owners = info.seen_by(board.turn), info.ownership
        result = {
            "by": JUDGE if network_for(board.rows, board.cols) else "",
            "visits": mine.visits,
            "spread": finite(mine.raw_spread),
            "winrate": mine.winrate,
            "score": mine.score,
            "choice": vertex(mine.choice, board),
            "moves": [
                {
                    **{name: getattr(c, name) for name in ("visits", "winrate", "score", "prior")},
                    "move": vertex(c.move, board),
                    "line": vertices(c.pv[:_LINE], board),
                }
                for c in mine.candidates[:_HINTS]
            ],
            "ownership": None if owners is None else [round(float(v), 3) for v in owners],
        }
        context.tell(result)
    return result


def predict(arguments: Json, context: Context) -> Json:
    """Return the moves that people are most likely to play."""
    board = to_board(arguments["board"])
    name = policy_for(board.rows, board.cols)
    priors = load_policy(name, shared=True).priors(board)
    return {"model": name, "moves": likely_moves(priors, board, arguments["top"])}


def score(arguments: Json, context: Context) -> Json:
    """Judge every block, apply the user's corrections, and count territory and area."""
    board = to_board(arguments["board"])
    verdict = SEARCHING_JUDGE.status(board)
    dead = np.zeros((board.rows, board.cols), np.bool_)
    for point in verdict.stones(Status.DEAD):
        dead.flat[index_of(point, board.rows, board.cols)] = True
    dead = overruled(dead, board, dead=arguments["dead"], alive=arguments["alive"])
    territory, area = count_both(board, dead, arguments["captures"])
    sure = verdict.safe or bool(arguments["dead"] or arguments["alive"])
    outlook = None if sure else SEARCHING_JUDGE.outlook(board)
    return {
        "estimate": outlook
        and {"score": outlook.score, "spread": outlook.spread, "by": outlook.by},
        "dead": vertices(points_at(np.flatnonzero(dead), board.rows, board.cols), board),
        "seki": vertices(verdict.stones(Status.SEKI), board),
        "safe": verdict.safe,
        "safe_probability": finite(verdict.safe_probability),
        "blocks": judged_blocks(verdict, board),
        "territory": counted(territory),
        "area": counted(area),
    }


def judge(arguments: Json, context: Context) -> Json:
    """Return the dead stones at the end, and whether the game is still open."""
    board = to_board(arguments["board"])
    dead = vertices(SEARCHING_JUDGE.confident_dead_stones(board), board)
    return {"dead": dead, **is_open(arguments, context)}


def is_open(arguments: Json, context: Context) -> Json:
    """Return whether a side can still gain points, so that a pass would lose some."""
    return {"open": not SEARCHING_JUDGE.is_over(to_board(arguments["board"]))}


def warm(arguments: Json, context: Context) -> None:
    """Load what the first move needs."""
    board = to_board(arguments["board"])
    _player(arguments["player"]).choose(board, np.random.default_rng(0))
    if arguments.get("judge"):
        estimate(arguments, context)
        board.play(PASS)
        SEARCHING_JUDGE.status(board)


# ----- Reviews -----


@lru_cache(maxsize=4)
def _reviewer(rows: int, cols: int, visits: int | None, quick: bool) -> Reviewer:
    return find_reviewer(rows, cols, ReviewSettings(visits=visits, quick=quick))


def review(arguments: Json, context: Context) -> Json:
    """Review a game and report every position when it is evaluated or improved.

    Returns the summary and the annotated game. `known` are the values of positions searched before
    the server was stopped, by number.
    """
    record = loads(arguments["sgf"])[0]
    boards, _ = legal_part(record)
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
    made = assemble(record, list(found.values()), name=reviewer.name)
    moves = [_move_value(move) for move in made.moves]
    sgf = annotate(made).decode("utf-8")
    return {"summary": made.summary(), "annotated": sgf, "moves": moves}


def lessons(arguments: Json, context: Context) -> Json:
    """Return the mistakes of a reviewed game with the boards before them, for problems."""
    boards, _ = legal_part(loads(arguments["sgf"])[0])
    moves = arguments["moves"]
    return {"lessons": [{**m, "board": to_value(boards[m["number"] - 1])} for m in moves]}


def moments(arguments: Json, context: Context) -> Json:
    """Return the positions before moves of several games, and all of them as problems in SGF."""
    found: list[Moment] = []
    for game in arguments["games"]:
        boards, _ = legal_part(loads(game["sgf"])[0])
        row = game["move"]
        found.append(Moment(boards[row["number"] - 1], row, game["title"]))
    positions = [position_of(moment.board) for moment in found]
    return {"positions": positions, "sgf": problems_sgf(found).decode("utf-8")}


def lesson(arguments: Json, context: Context) -> Json:
    """Return a quick review of the last move of a game."""
    board = to_board(arguments["board"])
    reviewer = _reviewer(board.rows, board.cols, None, True)
    return _move_value(review_last_move(board, reviewer))


def estimate(arguments: Json, context: Context) -> Json:
    """Return the evaluation of a position with its ownership, and the network's name."""
    board = to_board(arguments["board"])
    reviewer = _reviewer(board.rows, board.cols, None, True)
    assert reviewer.network is not None
    [found] = first_pass([board], reviewer.network)
    return {**evaluation(found), "by": reviewer.name.partition(",")[0]}


def _part(number: int, position: EvaluatedPosition, move: MoveReview | None) -> Json:
    """Return a position, and the move that led to it, as plain values."""
    value = move and _move_value(move)
    return {"number": number, "position": evaluation(position), "move": value}


def _move_value(move: MoveReview) -> Json:
    values = move.to_dict()
    return {**values, "line": values["line"][:_LINE]}


def evaluation(position: EvaluatedPosition) -> Json:
    """Return an evaluated position as plain values; a stopped review continues with them."""
    board, owners, priors = position.board, position.ownership, position.priors
    return {
        "winrate": float(position.win_probability),
        "score": float(position.score),
        "best": vertex(position.best, board),
        "line": vertices(position.line[:_LINE], board),
        "candidates": [
            {"move": vertex(move, board), "points_lost": lost} for move, lost in position.candidates
        ],
        "spread": position.spread,
        "scatter": position.scatter,
        "visits": position.visits,
        "ownership": None if owners is None else packed(owners),
        "guesses": [] if priors is None else likely_moves(priors, board, _GUESSES),
    }


def packed(ownership: Any) -> str:
    """Pack an ownership map into one letter per point, A (White's) to U (Black's).

    >>> packed([-1.0, 0.0, 0.96])
    'AKU'
    """
    steps = np.clip(np.rint((np.asarray(ownership) + 1) * 10), 0, 20).astype(int)
    return "".join(_LEVELS[step] for step in steps)


def _evaluated(value: Json, board: Board) -> EvaluatedPosition:
    """Restore a position from the result of `evaluation`, without predictions."""
    owners = value["ownership"]
    return EvaluatedPosition(
        **{name: value[name] for name in ("score", "spread", "visits", "scatter")},
        board=board,
        win_probability=value["winrate"],
        best=board.point(value["best"]),
        line=tuple(board.point(name) for name in value["line"]),
        candidates=tuple(
            (board.point(one["move"]), one["points_lost"]) for one in value.get("candidates", ())
        ),
        ownership=None if owners is None else np.array([_LEVELS.index(x) / 10 - 1 for x in owners]),
    )


def table(parts: list[Json]) -> str:
    """Return the moves of a review as CSV; win rate and score are Black's after the move.

    Reviews of older versions lack some columns.
    """
    rows = ([part["move"].get(name) for name in COLUMNS] for part in parts[1:])
    return csv_text(COLUMNS, rows, decimals=4)


def review_page(review: Review, title: str, index: str = "") -> str:
    """Return the page of a review as HTML; `index` is the address of a page with all games."""
    moves = [None, *review.moves]
    parts = [
        _part(number, position, move)
        for number, (position, move) in enumerate(zip(review.positions, moves, strict=True))
    ]
    return page_of(whole(review.record), parts, review.summary(), title, index)


def page_of(game: Json, parts: list[Json], summary: Json, title: str, index: str = "") -> str:
    """Return the page of a review that was made of these parts."""
    value = {
        "id": "",
        "status": "done",
        "trouble": "",
        "summary": summary,
        "progress": None,
        "game": game,
        "parts": parts,
        "title": title,
        "index": index,
    }
    data = json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    page = Template(STATIC.with_name("review.html").read_text(encoding="utf-8"))
    return page.substitute(_built(), title=escape(title), data=data)


@lru_cache(maxsize=1)
def _built() -> dict[str, str]:
    """Return kernels, script and style for a page, and hashes for its content policy."""
    found: dict[str, str] = {}
    for name, file in (("script", "app.js"), ("style", "app.css")):
        text = (STATIC / file).read_text(encoding="utf-8").replace("</", "<\\/")
        digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
        found |= {name: text, f"{name}_hash": f"'sha256-{digest}'"}
    kernels = (STATIC / "tengen.wasm").read_bytes()
    found["kernels"] = base64.b64encode(kernels).decode("ascii")
    return found
