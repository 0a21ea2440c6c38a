"""Toy players and an engine to talk to, without a process and without the players package."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tengen.board import PASS, Board, point_at
from tengen.contracts import Candidate, SearchInfo
from tengen.errors import SpecError
from tengen.gtp.commands import commands_of
from tengen.gtp.engine import GtpEngine
from tengen.gtp.protocol import Dispatcher


class FirstFree:
    """Play the first legal point from the top left; pass when there is none."""

    name = "first"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        legal = np.flatnonzero(board.legal_mask()[:-1])
        return point_at(int(legal[0]), board.rows, board.cols) if len(legal) else PASS


class AnyFree(FirstFree):
    """Play a random legal point, think aloud, and keep to a clock."""

    name = "any"
    asked: float | None = None

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        legal = np.flatnonzero(board.legal_mask()[:-1])
        return point_at(int(rng.choice(legal)), board.rows, board.cols) if len(legal) else PASS

    def within(self, seconds: float) -> AnyFree:
        AnyFree.asked = seconds
        return self

    def explain(self, board: Board, move: int) -> str:
        return f"point {move} looked nice"

    def analyse(
        self, board: Board, rng: np.random.Generator, **how: object
    ) -> Iterator[SearchInfo]:
        move, owners = self.choose(board, rng), np.linspace(-1, 1, board.rows * board.cols)
        for visits in (10, 20):
            candidates = (Candidate(move, visits, 0.25, -3.5, 0.5, (move, PASS)),)
            yield SearchInfo(candidates, move, visits, 0.25, -3.5, owners)


def make_toy(spec: str) -> FirstFree:
    try:
        return {"first": FirstFree, "any": AnyFree}[spec]()
    except KeyError:
        raise SpecError(f"no player called {spec!r}") from None


class Talk:
    """An engine and what it has answered."""

    def __init__(self, spec: str = "first", **options: object) -> None:
        self.engine = GtpEngine(make_toy, spec, **options)  # type: ignore[arg-type]
        self.written: list[str] = []
        self.dispatcher = Dispatcher(commands_of(self.engine), self.written.append)

    def raw(self, line: str) -> str:
        """Send a line and return everything that is written."""
        self.written.clear()
        self.dispatcher.handle(line, lambda: True)
        return "".join(self.written)

    def __call__(self, *lines: str) -> str:
        """Send lines that must succeed and return the text of the last answer."""
        text = ""
        for line in lines:
            answer = self.raw(line)
            assert answer.startswith("=") and answer.endswith("\n\n"), f"{line}: {answer}"
            text = answer[1:].strip()
        return text

    def refused(self, line: str) -> str:
        """Send a line that must fail and return why."""
        answer = self.raw(line)
        assert answer.startswith("?") and answer.endswith("\n\n"), f"{line}: {answer}"
        return answer[1:].strip()


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def any_talk() -> Talk:
    """An analyser on 5x5."""
    talk = Talk("any")
    talk("boardsize 5")
    return talk


@pytest.fixture
def make_talk() -> type[Talk]:
    return Talk
