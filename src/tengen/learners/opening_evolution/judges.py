"""Judge openings by more than one expert: play on for a while before the verdict, or ask several.

What a network learns is its judge's taste, blind spots included. A judge that lets a good player
play on first sees which stones live, and several judges have fewer blind spots in common. Experts
are the caller's; this module knows no player and no expert by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tengen.board import PASS, Board
from tengen.contracts import Expert, Player
from tengen.errors import SpecError

_PLAYED_ON = re.compile(r"(?P<plies>\d+) plies of (?P<player>.+?) then (?P<expert>.+)")


@dataclass
class PlayedOn:
    """Let a player play both sides for some plies, then ask an expert; fewer if both pass."""

    player: Player
    plies: int
    expert: Expert

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> NDArray[np.float64]:
        """Return the expert's scores for Black, komi included, one per board."""
        later = [self._play(b.copy(), int(s)) for b, s in zip(boards, seeds, strict=True)]
        return np.asarray(self.expert.finish(later, seeds), np.float64)

    def close(self) -> None:
        """Close player and expert."""
        _close(self.player, self.expert)

    def _play(self, board: Board, seed: int) -> Board:
        rng = np.random.default_rng(seed)
        passes = 0
        for _ in range(self.plies):
            move = self.player.choose(board, rng)
            move = move if move >= 0 else PASS
            board.push(move)
            passes = passes + 1 if move == PASS else 0
            if passes == 2:
                break
        return board


@dataclass
class Jury:
    """Several experts; the verdict is the mean of theirs."""

    experts: Sequence[Expert]

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> NDArray[np.float64]:
        """Return the mean score for Black, komi included, one per board."""
        verdicts = np.array([e.finish(boards, seeds) for e in self.experts], np.float64)
        mean: NDArray[np.float64] = verdicts.mean(axis=0)
        return mean

    def close(self) -> None:
        """Close all experts."""
        _close(*self.experts)


def make_judge(
    spec: str, make_player: Callable[[str], Player], make_expert: Callable[[str], Expert]
) -> Expert:
    """Make a judge: an expert's spec, `N plies of PLAYER then EXPERT`, or several by ` + `.

    Raises
    ------
    SpecError
        If a part is neither.
    """
    parts = [_one(part.strip(), make_player, make_expert) for part in spec.split(" + ")]
    return parts[0] if len(parts) == 1 else Jury(parts)


def _one(
    spec: str, make_player: Callable[[str], Player], make_expert: Callable[[str], Expert]
) -> Expert:
    found = _PLAYED_ON.fullmatch(spec)
    if found is None:
        if " plies of " in spec:
            raise SpecError(f"judge {spec!r}: 'N plies of PLAYER then EXPERT' is expected")
        return make_expert(spec)
    player, expert = make_player(found["player"]), make_expert(found["expert"])
    return PlayedOn(player, int(found["plies"]), expert)


def _close(*parts: object) -> None:
    for part in parts:
        getattr(part, "close", lambda: None)()
