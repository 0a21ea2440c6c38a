"""The coach of `tengen play --teach`: reviews moves and keeps mistakes as problems."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from tengen.board import Board
from tengen.errors import IllegalMoveError, TengenError
from tengen.reviews import ReviewSettings
from tengen.reviews.game import MoveReview, find_reviewer, review_last_move
from tengen.web import store as web_store
from tengen.web.positions import to_board, to_value


@dataclass
class Coach:
    """Review each move of the person, and keep the most expensive ones in the web database."""

    threshold: float  # points that a move must lose for the game to stop
    found: MoveReview | None = None  # the move that the person has to decide about
    problem: dict[str, Any] | None = None  # the problem that waits for an answer
    _lessons: list[dict[str, Any]] = field(default_factory=list)

    def look(self, board: Board) -> str:
        """Review the last move; return a message if it lost too much, else an empty string."""
        move = _reviewed(board)
        if not move.verdict:
            return ""
        before = board.copy()
        before.undo()
        values = move.to_dict()
        self._lessons.append({**values, "board": to_value(before)})
        if move.points_lost < self.threshold:
            return ""
        self.found = move
        return (
            f"{values['move']} lost about {move.points_lost:.1f} points (± {move.error:.1f}). "
            "Type undo to try again, better for a better move, or go to go on."
        )

    def summary(self, game: str) -> list[str]:
        """Return a list of the most expensive moves, and keep them as problems."""
        if not self._lessons:
            return ["No move of yours lost much."]
        kept = "Kept as problems: type problem on another day, or open tengen web."
        try:
            with _database() as store:
                web_store.keep_problems(store, game, self._lessons, time.time())
        except TengenError as failure:
            kept = f"Not kept as problems: {failure}"
        dear = web_store.worst_lessons(self._lessons)
        return [
            "Your most expensive moves:",
            *(f"move {d['number']}, {d['move']}: lost {d['points_lost']:.1f} points" for d in dear),
            kept,
        ]

    def ask(self) -> tuple[Board, str]:
        """Return the board of a problem that is due, and the question."""
        with _database() as store:
            first = next(iter(web_store.list_problems(store)), None)
            if first is None or first["due"] > time.time():
                raise IllegalMoveError("no problem is due today")
            self.problem = store.get(web_store.PROBLEM, first["id"])
        lost, move = self.problem["points_lost"], self.problem["move"]
        return to_board(self.problem["board"]), (
            f"You played {move} here, which lost about {lost:.1f} points. Type a better move."
        )

    def answer(self, move: str) -> str:
        """Judge an answer to the problem."""
        assert self.problem is not None
        board = to_board(self.problem["board"])
        board.play(move)
        found = _reviewed(board)
        name = str(found.move)
        with _database() as store:
            rating = web_store.rate_answer(
                store, self.problem, found.points_lost, name, time.time()
            )
        self.problem = None
        if rating["solved"]:
            return f"Solved with {name}."
        return f"{name} loses about {found.points_lost:.1f} points; {rating['best']} is better."


def _reviewed(board: Board) -> MoveReview:
    reviewer = find_reviewer(board.rows, board.cols, ReviewSettings(quick=True))
    return review_last_move(board, reviewer)


def _database() -> closing[web_store.Store]:
    """Open the database of `tengen web` for a moment."""
    return closing(web_store.Store(web_store.default_database(), server=False))
