"""What a paper's `paper.toml` says for visitors: its machine, where that fails, its players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tengen.board import Board


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A position where a paper's machine goes wrong; a test checks that it does."""

    title: str
    why: str
    size: int
    stones: Sequence[str] = ()  # rows of the board: `.` empty, `X` black, `O` white
    moves: str = ""  # as `Board` takes them
    right: str  # the move of a good player, or the score for a machine that only counts
    loses: float  # points that the machine is wrong by at least

    def board(self) -> Board:
        """Return the position."""
        return Board(self.size, setup="/".join(self.stones), moves=self.moves)


@dataclass(frozen=True, kw_only=True)
class PaperOpponent:
    """A player of a paper that people can choose to play against."""

    id: str
    name: str
    spec: str
    about: str
    sizes: Sequence[int] = ()  # boards it plays on; empty for all


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """How a paper's machine is shown."""

    size: int  # of the board
    model: str = ""  # the finished machine, if it is a model
    player: str = ""  # spec of the machine as a player; {} stands for the model
    counted: str = ""  # what the snapshots are counted by, as "games"
    claimed: int = 0  # how many of them the paper's own training had, where it says so
    start: Sequence[str] = ()  # rows of the position to begin with; an empty board by default
    failures: Sequence[Failure] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Exhibit:
        """Make an exhibit from a table of `paper.toml`."""
        failures = [Failure(**{"size": said["size"], **each}) for each in said.get("failures", [])]
        return cls(**{**said, "failures": failures})
