"""Measure what is foreseen in the middle of games, by phase, beside other judges and blind trust.

Blocks and points are compared with who owned them when the game was counted (games whose recorded
score the scorer explains); scores and winners with the recorded result of every game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.board import BLACK, Board, playouts, row_col
from tengen.contracts import OwnershipEvaluator
from tengen.errors import SpecError, TengenError
from tengen.learners.scoring.learner import BlockScorer
from tengen.learners.scoring.life import LifeEvaluator
from tengen.learners.scoring.life_data import final_owner, truth
from tengen.learners.scoring.life_features import grids_at
from tengen.records import Corpus, GameArrays
from tengen.statistics import wilson

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Parts of its moves after which each game is looked at."""
_PLAYOUTS = 176
"""Heavy playouts of the baseline: as many as the evaluator runs, light ones included."""
_Way = Callable[[NDArray[np.int8], int], FloatArray]
"""Says who will own each point, given the stones and the side to move."""


@dataclass
class _Phase:
    """What one evaluator foresaw at one moment of all games."""

    blocks: dict[int, int] = field(default_factory=dict)
    """By game, as `blocks_right`: blocks of one game are judged well or badly together."""
    blocks_right: dict[int, int] = field(default_factory=dict)
    points: int = 0
    points_right: int = 0
    values: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    def judge(
        self, game: int, grid: NDArray[np.int8], owner: FloatArray, end: NDArray[np.int8]
    ) -> None:
        """Compare the expected owners with those at the end; nobody's points are left out."""
        counted = end != 0
        self.points += int(counted.sum())
        self.points_right += int((np.sign(owner) == end)[counted].sum())
        for block in Board.from_grid(grid).blocks():
            at = tuple(np.array([row_col(stone, grid.shape[1]) for stone in block.stones]).T)
            sign = 1 if block.colour == BLACK else -1
            fate = sign * int(end[at].sum(dtype=np.int64))
            if fate:
                right = (sign * float(owner[at].sum()) > 0) == (fate > 0)
                self.blocks[game] = self.blocks.get(game, 0) + 1
                self.blocks_right[game] = self.blocks_right.get(game, 0) + right

    def rates(self) -> dict[str, Any]:
        """Return all figures; the correlation is None where one side of it does not vary."""
        value, score = np.array(self.values), np.array(self.scores)
        winners = int((np.sign(value) == np.sign(score)).sum())
        varied = len(value) > 1 and value.std() > 0 and score.std() > 0
        return {
            **block_rates([self]),
            "point_accuracy": self.points_right / self.points if self.points else None,
            "score_correlation": float(np.corrcoef(value, score)[0, 1]) if varied else None,
            "mean_error": float(np.abs(value - score).mean()),
            "winner": winners / len(value),
            "winner_interval": list(wilson(winners, len(value))),
        }


def block_rates(phases: Sequence[_Phase]) -> dict[str, Any]:
    """Return how many blocks some phases have together, and how many of them were foreseen.

    The interval (95 %) is that of a ratio of sums over games, which are drawn, not their blocks.
    """
    games = sorted({game for phase in phases for game in phase.blocks})
    count = np.array([sum(p.blocks.get(g, 0) for p in phases) for g in games], np.float64)
    right = np.array([sum(p.blocks_right.get(g, 0) for p in phases) for g in games], np.float64)
    if not games:
        return {"blocks": 0, "block_accuracy": None, "block_interval": None}
    share = float(right.sum() / count.sum())
    error = 1.96 * float(np.sqrt(np.square(right - share * count).sum()) / count.sum())
    return {
        "blocks": int(count.sum()),
        "block_accuracy": share,
        "block_interval": [max(share - error, 0.0), min(share + error, 1.0)],
    }


def _ours(model: LifeEvaluator) -> _Way:
    return lambda grid, turn: model.foresee(grid, turn).ownership


def _by(model: OwnershipEvaluator) -> _Way:
    """Ask any model that knows owners, without the moves that led to the position."""
    return lambda grid, turn: np.asarray(
        model.ownership(Board.from_grid(grid, to_play=turn)), np.float64
    ).reshape(grid.shape)


def _played_out(grid: NDArray[np.int8], turn: int) -> FloatArray:
    """Return the mean owner after heavy playouts."""
    board = Board.from_grid(grid, to_play=turn)
    found = playouts(board, _PLAYOUTS, seed=1, kind="heavy", threads=1).ownership
    return found.reshape(grid.shape)


def _all_alive(grid: NDArray[np.int8], turn: int) -> FloatArray:
    """Return who owns each point as it stands, every stone alive."""
    return final_owner(grid, np.zeros(grid.shape, np.bool_)).astype(np.float64)


def evaluate_life(
    model: LifeEvaluator,
    files: Sequence[str | Path],
    *,
    scorer: BlockScorer | None = None,
    baselines: bool = False,
    beside: Mapping[str, OwnershipEvaluator] | None = None,
    shares: Sequence[float] = SHARES,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Any]:
    """Look at all games after each of `shares` of their moves; see the module for what is told.

    `beside` names further models to measure on the same positions; none may be called life.
    """
    if "life" in (beside or {}):
        raise SpecError("a model beside it cannot be called life, too: name its file")
    games: GameArrays = Corpus(list(files)).as_arrays()
    games = games.where(np.isfinite(games.score))
    if not len(games):
        raise TengenError(f"{', '.join(map(str, files))}: no games with a counted result")
    owners, believed = truth(games, BlockScorer.load("scorer") if scorer is None else scorer)
    ways = {"life": _ours(model)} | {name: _by(other) for name, other in (beside or {}).items()}
    if baselines:
        ways |= {f"{_PLAYOUTS} heavy playouts": _played_out, "all alive": _all_alive}
    found: dict[str, list[_Phase]] = {name: [] for name in ways}
    done = 0
    for share in shares:
        grids, turns = grids_at(games, np.round(games.lengths() * share).astype(np.int64))
        phases = {name: _Phase() for name in ways}
        for g, padded in enumerate(grids):
            rows, cols = int(games.rows[g]), int(games.cols[g])
            grid = np.ascontiguousarray(padded[:rows, :cols])
            for name, way in ways.items():
                owner = way(grid, int(turns[g]))
                phases[name].values.append(float(owner.sum()) - float(games.komi[g]))
                phases[name].scores.append(float(games.score[g]))
                if believed[g]:
                    phases[name].judge(g, grid, owner, owners[g, :rows, :cols])
            done += 1
            tell(done, len(grids) * len(shares))
        for name, phase in phases.items():
            found[name].append(phase)
    told = [_told(name, shares, phases) for name, phases in found.items()]
    return {
        "games": len(games),
        "labelled": int(believed.sum()),
        "phases": told[0]["phases"],
        "all": told[0]["all"],
        **({"baselines": told[1:]} if len(told) > 1 else {}),
    }


def _told(name: str, shares: Sequence[float], phases: Sequence[_Phase]) -> dict[str, Any]:
    """Return what one judge foresaw, by phase and in all of them together."""
    rows = [{"share": share, **phase.rates()} for share, phase in zip(shares, phases, strict=True)]
    return {"name": name, "phases": rows, "all": block_rates(phases)}
