"""The functions of `import tengen`: analyse, score and review games, load networks, play matches.

Win probabilities, scores and ownership are from Black's view.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tengen.arena.match import play_match as play_match
from tengen.arrays import FloatArray
from tengen.board import Board, Point
from tengen.board.coordinates import Move
from tengen.board.counting import format_result
from tengen.board.drawing import Mark
from tengen.contracts import Analyser, TimedPlayer, limit_visits
from tengen.errors import ModelError, SpecError
from tengen.models import load_learner
from tengen.network import DeepNetwork
from tengen.players import make_player
from tengen.records import GameRecord
from tengen.records.from_board import record_of_board
from tengen.reviews import ReviewSettings
from tengen.reviews.game import Review, find_reviewer, review_game
from tengen.sanitize import html_table
from tengen.scoring import BlockScorer
from tengen.scoring.game_score import GameScore, score_record
from tengen.scoring.judging import Judge

_SHOWN = 10  # moves that are printed and drawn
_COLUMNS = {"move": 5, "visits": 6, "Black wins": 10, "score": 6, "prior": 6, "line": 0}


@dataclass(frozen=True)
class AnalysedMove:
    """One move of an analysis; the values are those after it, from Black's view."""

    move: Point
    visits: int
    win_probability: float
    score: float
    prior: float
    """Probability of the move by the network, before the search."""
    line: tuple[Point, ...]
    """The expected continuation, which starts with the move."""


@dataclass(frozen=True)
class Analysis:
    """The analysis of a position: moves, best first, and the position as a whole."""

    board: Board = field(repr=False)
    best: Point
    """The most visited move."""
    win_probability: float
    """Probability that Black wins."""
    score: float
    """Expected final score for Black, komi included."""
    visits: int
    """Positions that were evaluated."""
    moves: tuple[AnalysedMove, ...] = field(repr=False)
    ownership: FloatArray | None = field(repr=False)
    """Rows x columns, from +1 (Black's) to -1 (White's)."""

    def __str__(self) -> str:
        head = (
            f"Black wins with {self.win_probability:.0%}, expected score "
            f"{format_result(round(self.score, 1))}, {self.visits} visits"
        )
        widths = _COLUMNS.values()
        lines = [
            "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in [[*_COLUMNS], *self._rows()]
        ]
        return "\n".join([head, *lines])

    def _rows(self) -> list[list[str]]:
        shown = self.moves[:_SHOWN]
        values = [f"{m.win_probability:.1%} {m.score:+.1f} {m.prior:.1%}".split() for m in shown]
        return [
            [str(m.move), str(m.visits), *numbers, " ".join(map(str, m.line[:6]))]
            for m, numbers in zip(shown, values, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON, points by their names."""
        plain = ("visits", "win_probability", "score", "prior")
        return {
            "best": str(self.best),
            **{name: getattr(self, name) for name in ("win_probability", "score", "visits")},
            "moves": [
                {
                    "move": str(found.move),
                    **{name: getattr(found, name) for name in plain},
                    "line": [str(point) for point in found.line],
                }
                for found in self.moves
            ],
            "ownership": None if self.ownership is None else self.ownership.tolist(),
        }

    def svg(self) -> str:
        """Draw the board with the owner of each point and the visits of each move."""
        most = max((found.visits for found in self.moves), default=1) or 1
        marks: dict[Move, str | Mark] = {
            found.move: Mark(str(found.visits), found.visits / most)
            for found in self.moves[:_SHOWN]
            if found.move and found.visits
        }
        owners = None if self.ownership is None else self.ownership.ravel()
        return self.board.svg(marks=marks, ownership=owners)

    def _repr_html_(self) -> str:
        title = f"<p>{str(self).splitlines()[0]}</p>"
        return f"{title}{self.svg()}{html_table([*_COLUMNS], self._rows())}"


def analyse(
    board: Board,
    *,
    visits: int | None = None,
    seconds: float | None = None,
    player: str = "tengen",
    seed: int = 0,
) -> Analysis:
    """Search a position and return moves, win probability, score and ownership.

    >>> analysis = analyse(Board(9, moves="B E5"), visits=8)
    >>> analysis.visits, analysis.best == analysis.moves[0].move
    (8, True)

    Parameters
    ----------
    visits
        Positions to evaluate; chosen by board size if neither this nor `seconds` is given.
    seconds
        Seconds to search, instead of `visits`.
    player
        Spec of the player that searches: `tengen`, or `search:model=NAME` for a specific network.
    """
    if visits is not None and seconds is not None:
        raise SpecError("give visits or seconds, not both")
    if visits is not None and visits < 1:
        raise SpecError(f"visits: {visits} is below 1")
    made = make_player(player)
    if visits is not None:
        made = limit_visits(made, visits)
    if seconds is not None and isinstance(made, TimedPlayer):
        made = made.within(seconds)
    if not isinstance(made, Analyser):
        raise SpecError(f"{player} cannot analyse positions; tengen, search and mcts can")
    [info] = deque(made.analyse(board, np.random.default_rng(seed), limited=True), maxlen=1)
    owners = info.ownership
    moves = tuple(
        AnalysedMove(
            board.to_point(found.move), found.visits, found.winrate, found.score, found.prior,
            tuple(board.to_point(move) for move in found.pv),
        )
        for found in info.candidates
    )  # fmt: skip
    return Analysis(
        board=board.copy(),
        best=moves[0].move if moves else board.to_point(info.choice),
        win_probability=info.winrate,
        score=info.score,
        visits=info.visits,
        moves=moves,
        ownership=None if owners is None else owners.reshape(board.rows, board.cols),
    )


def load_network(name: str | os.PathLike[str]) -> DeepNetwork:
    """Load a network by its name (`tengen models` lists them) or from a file.

    >>> network = load_network("tengen-small")
    >>> [evaluation] = network.evaluate([Board(9)])
    >>> 0 < evaluation.win_probability < 1, evaluation.priors.shape, evaluation.ownership.shape
    (True, (82,), (81,))
    """
    model = load_learner(name)
    if not isinstance(model, DeepNetwork):
        raise ModelError(f"{os.fspath(name)}: is a model of another kind, not a network")
    return model


def score(
    game: GameRecord | Board,
    *,
    dead: list[str] | None = None,
    alive: list[str] | None = None,
    model: str = "scorer",
) -> GameScore:
    """Count a game, or estimate it if it is not finished.

    >>> end = Board.from_ascii('''
    ... . X O . .
    ... X X O O .
    ... . X O . O
    ... O X O O .
    ... . X O . .
    ... ''')
    >>> print(*score(end).dead)
    A2

    The last position of a record is scored. The blocks at the vertices `dead` and `alive` are so
    regardless of the scorer; `model` is the scorer's name or file.
    """
    record = record_of_board(game) if isinstance(game, Board) else game
    scorer, judge = _scoring(model)
    return score_record(scorer, record, dead=dead or (), alive=alive or (), judge=judge)


@lru_cache(maxsize=2)
def _scoring(model: str) -> tuple[BlockScorer, Judge]:
    scorer = BlockScorer.load(model)
    return scorer, Judge(scorer)


def review(
    game: GameRecord | Board, *, quick: bool = False, visits: int | None = None, seed: int = 0
) -> Review:
    """Review a game: the points that each move lost, better moves, surprises.

    `quick` evaluates each position once and searches only to confirm mistakes; otherwise `visits`
    is the number per searched position, chosen by board size if not given.
    """
    record = record_of_board(game) if isinstance(game, Board) else game
    settings = replace(ReviewSettings(), quick=quick, visits=visits, seed=seed)
    return review_game(record, find_reviewer(record.rows, record.cols, settings), seed=seed)
