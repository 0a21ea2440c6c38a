"""The teacher of `tengen play --teach`: what a move lost, and problems made of mistakes."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tengen.errors import IllegalMoveError

if TYPE_CHECKING:
    from tengen.board import Board
    from tengen.reviews.game import MoveReview, Reviewer
    from tengen.web.store import Store

_WORST = 3


@dataclass
class Teacher:
    """Review each move of the person, and keep the most expensive ones in the web database."""

    threshold: float
    """Points that a move must lose for the game to stop."""
    found: MoveReview | None = None
    """The move that the person has to decide about."""
    problem: dict[str, Any] | None = None
    """The problem that waits for an answer."""
    _lessons: list[dict[str, Any]] = field(default_factory=list)

    def look(self, board: Board) -> str:
        """Review the last move; return what to say if it lost too much, else nothing."""
        from tengen.reviews.game import review_last_move
        from tengen.web.positions import to_value

        move, _ = review_last_move(board, _reviewer(board))
        if not move.verdict:
            return ""
        before = board.copy()
        before.undo()
        told = move.to_dict(board.rows, board.cols)
        self._lessons.append({**told, "board": to_value(before)})
        if move.points_lost < self.threshold:
            return ""
        self.found = move
        return (
            f"{told['move']} lost about {move.points_lost:.1f} points (± {move.error:.1f}). "
            "Type undo to try again, better for a better move, or go to go on."
        )

    def summary(self, game: str) -> list[str]:
        """Name the most expensive moves and keep them as problems."""
        from tengen.web.store import keep_problems

        dear = sorted(self._lessons, key=lambda one: -one["points_lost"])[:_WORST]
        if not dear:
            return ["No move of yours lost much."]
        with _Opened() as store:
            keep_problems(store, game, dear, time.time())
        lines = [
            f"move {one['number']}, {one['move']}: lost {one['points_lost']:.1f} points"
            for one in dear
        ]
        told = "Kept as problems: type problem on another day, or open tengen web."
        return ["Your most expensive moves:", *lines, told]

    def ask(self) -> tuple[Board, str]:
        """Return the board of a problem that is due, and the question."""
        from tengen.web.positions import to_board
        from tengen.web.store import PROBLEM, list_problems

        with _Opened() as store:
            first = next(iter(list_problems(store)), None)
            if first is None or first["due"] > time.time():
                raise IllegalMoveError("no problem is due today")
            self.problem = store.get(PROBLEM, first["id"])
        lost, move = self.problem["points_lost"], self.problem["move"]
        return to_board(self.problem["board"]), (
            f"You played {move} here, which lost about {lost:.1f} points. Type a better move."
        )

    def answer(self, move: str) -> str:
        """Judge an answer to the problem."""
        from tengen.reviews.game import review_last_move
        from tengen.web.positions import to_board
        from tengen.web.store import rate_answer

        assert self.problem is not None
        board = to_board(self.problem["board"])
        board.play(move)
        found, _ = review_last_move(board, _reviewer(board))
        name = found.to_dict(board.rows, board.cols)["move"]
        with _Opened() as store:
            told = rate_answer(store, self.problem, found.points_lost, name, time.time())
        self.problem = None
        if told["solved"]:
            return f"Solved with {name}."
        return f"{name} loses about {found.points_lost:.1f} points; {told['best']} is better."


def _reviewer(board: Board) -> Reviewer:
    from tengen.reviews.game import find_reviewer
    from tengen.reviews.settings import ReviewSettings

    return find_reviewer(board.rows, board.cols, ReviewSettings(quick=True))


class _Opened:
    """The database of `tengen web`, open for a moment."""

    def __enter__(self) -> Store:
        from tengen.web.store import Store, default_database

        self._store = Store(default_database())
        return self._store

    def __exit__(self, *failure: object) -> None:
        self._store.close()
