"""Run the experiments of openings by evolution (Kendall 2004) and set them beside the paper's
tables.

The paper let the best networks of every 1,000th (10,000th) generation play a double round robin and
saw a rising line of points, p = 0.34 and 0.18. Here the same is done from random starts, over
several seeds; and a fixed panel of opponents says whether anything was learned at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tengen.arena.ratings import wilson
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_evolution import (
    NetworkPlayer,
    OpeningEvolution,
    Plan,
    Setting,
    Shape,
    match,
)
from tengen.models import Checkpoints
from tengen.parallel import spawn_seeds

PAPER = {
    "dense": {
        "title": "Table I: 169-55-1 with 2-ply minimax",
        "every": 1000,
        "points": [14, 17, 32, -1, 15, 26, 26, 14, 5, 35, 8, 44, 44, 23, 8, 26, 14, 29, 23, 20, 26],
    },
    "spatial": {
        "title": "Table II: spatial network, no look-ahead",
        "every": 10000,
        "points": [-7, 3, 12, 15, 1, 10, 11],
    },
}
"""The points of the paper's tables: win +2, loss -1, draw +1."""

PANEL = ("random", "maxlib", "static")
"""Opponents that stay the same, so that learning can be seen."""


@dataclass(frozen=True)
class Rate:
    """Wins of an opening player over some games, draws counting half."""

    games: int
    win_rate: float
    interval: tuple[float, float]
    mean_score: float

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> Rate:
        """Count games from a side's scores."""
        wins = float((scores > 0).sum() + 0.5 * (scores == 0).sum())
        low, high = wilson(wins, len(scores))
        return cls(len(scores), wins / len(scores), (low, high), float(scores.mean()))


@dataclass(frozen=True)
class Trend:
    """A straight line through points over generations, and whether its slope may be chance."""

    slope: float
    r: float
    p: float

    @classmethod
    def through(cls, x: Sequence[float], y: Sequence[float]) -> Trend:
        """Fit by least squares; p is for a slope of zero."""
        line = stats.linregress(x, y)
        return cls(float(line.slope), float(line.rvalue), float(line.pvalue))


def snapshots(folder: Path) -> dict[int, NDArray[np.float64]]:
    """Return the best weights of each kept generation of a run.

    Raises
    ------
    TengenError
        If the folder has none.
    """
    store = Checkpoints(folder / "snapshots")
    found = {step: store.load(step).arrays["weights"] for step in store.steps()}
    if not found:
        raise TengenError(f"{folder}: no snapshots of a run in there")
    return found


def against(
    player: Player, opponent: Player, expert: Expert, setting: Setting, games: int, seed: int
) -> Rate:
    """Play `games` openings, each start with both colours, and let the expert count them."""
    seeds = spawn_seeds(seed, (games + 1) // 2)
    return Rate.of(match(player, opponent, expert, setting, seeds)[:games])


def round_robin(
    shape: Shape,
    entrants: dict[int, NDArray[np.float64]],
    expert: Expert,
    setting: Setting,
    starts: int,
    seed: int,
    on_match: Callable[[], None] = lambda: None,
) -> dict[int, float]:
    """Let all pairs play both colours from `starts` random starts; return points per 2 games a
    pair.

    Points as in the paper, win +2, loss -1, draw +1, averaged over starts so that the totals can be
    read beside its tables.
    """
    points = dict.fromkeys(entrants, 0.0)
    names = list(entrants)
    players = {name: NetworkPlayer(shape, entrants[name], f"g{name}") for name in names}
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            seeds = spawn_seeds(seed, starts, a, b)
            scores = match(players[a], players[b], expert, setting, seeds)
            gain = np.where(scores > 0, 2.0, np.where(scores < 0, -1.0, 1.0))
            loss = np.where(scores < 0, 2.0, np.where(scores > 0, -1.0, 1.0))
            points[a] += float(gain.sum()) / starts
            points[b] += float(loss.sum()) / starts
            on_match()
    return points


def judge_run(
    folder: Path,
    plan: Plan,
    panel: dict[str, Player],
    expert: Expert,
    *,
    games: int,
    every: int,
    seed: int,
    on_step: Callable[[str], None] = lambda note: None,
) -> dict[str, Any]:
    """Measure a run's snapshots against the panel and against its own first generation."""
    shape = plan.shape()
    setting = Setting(plan.rows, plan.cols, plan.moves, plan.komi, random_plies=4)
    kept = {g: w for g, w in snapshots(folder).items() if g == 1 or g % every == 0}
    first = NetworkPlayer(shape, kept[min(kept)], "generation 0")
    rows = []
    for generation, weights in kept.items():
        me = NetworkPlayer(shape, weights)
        row: dict[str, Any] = {"generation": generation}
        for name, opponent in {**panel, "generation 0": first}.items():
            if name != "generation 0" or generation != min(kept):
                rate = against(me, opponent, expert, setting, games, seed)
                row[name] = asdict(rate)
        rows.append(row)
        on_step(f"generation {generation}")
    trends = {}
    for name in panel:
        trend = Trend.through(
            [row["generation"] for row in rows], [row[name]["win_rate"] for row in rows]
        )
        trends[name] = asdict(trend)
    return {"plan": asdict(plan), "rows": rows, "trends": trends}


def player_of(model: OpeningEvolution) -> Player:
    """Return the model as a player of openings."""
    return NetworkPlayer(model.shape_, model.weights_, model.name)
