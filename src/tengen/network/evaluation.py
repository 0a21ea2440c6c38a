"""Measure a network on games it has not seen: moves, winner, score and ownership.

Passes are not predicted; only legal moves compete, and ties share credit. The winner is
measured at every move of decided games, score and ownership once per game with a confirmed score.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.network.engine import EngineOutput
from tengen.network.layers import Positions
from tengen.network.learner import DeepNetwork
from tengen.network.shards import Shard

_CALIBRATION_BINS = 10
TOPS = (1, 5, 10)
_AT_ONCE = 32
HALF = 0.5  # where in a game score and ownership are measured: after this share of its moves


def calibration(chances: FloatArray, won: FloatArray | BoolArray) -> float:
    """Return the expected calibration error over ten bins, weighted by their sizes.

    >>> calibration(np.array([0.75, 0.75, 0.75, 0.75]), np.array([True, True, True, False]))
    0.0
    """
    bins = np.minimum((chances * _CALIBRATION_BINS).astype(np.int64), _CALIBRATION_BINS - 1)
    gap = 0.0
    for b in np.unique(bins):
        here = bins == b
        gap += here.mean() * abs(float(chances[here].mean()) - float(won[here].mean()))
    return float(gap)


def evaluate(
    network: DeepNetwork,
    shards: Sequence[Shard],
    *,
    every: int = 1,
    threads: int = 1,
    on_game: Callable[[dict[str, float]], None] = lambda row: None,
) -> dict[str, Any]:
    """Measure a network on one position in `every`; figures without data are None.

    `on_game` is given the row of each game, see `game_row`.
    """
    figures: dict[str, list[FloatArray]] = defaultdict(list)
    games, seconds = 0, 0.0
    for spent, found in measure_games(network, shards, every=every, threads=threads):
        games, seconds = games + 1, seconds + spent
        for name, values in found.items():
            figures[name].append(values)
        on_game(game_row(found))
    whole = {name: np.concatenate(parts) for name, parts in figures.items()}
    means = {name: float(values.mean()) for name, values in whole.items() if len(values)}
    positions = len(whole.get("log_loss", ()))
    return {
        "games": games,
        "positions": positions,
        **{name: means.get(name) for name in (*(f"top{n}" for n in TOPS), "log_loss", "winner")},
        "calibration": calibration(whole["chances"], whole["won"]) if "won" in whole else None,
        "score_error": means.get("score_error"),
        "ownership": means.get("ownership"),
        "milliseconds_per_position": 1000 * seconds / positions if positions else None,
    }


def game_row(found: Mapping[str, FloatArray]) -> dict[str, float]:
    """Return how many moves of a game were measured, and the sums of their figures.

    `winner` is a sum over the `decided` ones. Score and owners are not numbers (NaN) where they
    are unknown.
    """
    sums = {name: float(found[name].sum()) for name in (*(f"top{n}" for n in TOPS), "log_loss")}
    won = found.get("winner", np.zeros(0))
    row = {"moves": len(found["log_loss"]), **sums, "decided": len(won), "winner": float(won.sum())}
    for name in ("score_error", "ownership"):
        row[name] = float(found[name][0]) if name in found else np.nan
    return row


def measure_games(
    network: DeepNetwork, shards: Sequence[Shard], *, every: int = 1, threads: int = 1
) -> Iterator[tuple[float, dict[str, FloatArray]]]:
    """Yield the seconds of processor time and the figures of each game."""
    evaluate = network.measured()
    with ThreadPoolExecutor(threads) as pool:
        for shard in shards:
            positions = shard.encoded(ladders=network.design_.ladders, pool=pool)
            work = partial(_measure_game, evaluate, shard, positions, every)
            yield from pool.map(work, range(len(shard)))


def _measure_game(
    evaluate: Callable[[Positions], EngineOutput],
    shard: Shard,
    positions: Positions,
    every: int,
    game: int,
) -> tuple[float, dict[str, FloatArray]]:
    first, end = shard.offsets[game : game + 2]
    # Start games at different plies; otherwise openings would count too much.
    cut = slice(first + min(game % every, end - first - 1), end, every)
    seen = positions.part(cut)
    moves, black = shard.indices[cut].astype(np.int64), shard.colours[cut] == 1
    began = time.thread_time()
    starts = range(0, len(seen), _AT_ONCE)
    output = EngineOutput.join([evaluate(seen.part(slice(i, i + _AT_ONCE))) for i in starts])
    seconds = time.thread_time() - began
    points = positions.rows * positions.cols
    legal = (seen.codes & 3 == 0) & (seen.codes >> 2 & 3 > 0)
    logits = np.where(legal, output.moves[:, :points].astype(np.float64), -np.inf)
    played = moves < points
    figures = _rank_moves(logits[played], moves[played])
    if shard.winner[game]:
        won, winner = black == (shard.winner[game] == 1), output.winner.astype(np.float64)
        figures["winner"] = ((winner > 0) == won).astype(np.float64)
        figures["chances"], figures["won"] = 1 / (1 + np.exp(-winner)), won.astype(np.float64)
    if shard.labelled[game] and not np.isnan(shard.score[game]):
        half = min(int(len(seen) * HALF), len(seen) - 1)
        sign = 1.0 if black[half] else -1.0
        figures["score_error"] = np.abs(
            [sign * float(output.score[half]) - float(shard.score[game])]
        )
        truth = shard.ownership[game]
        decided = truth != 0
        right = (sign * output.ownership[half][decided] > 0) == (truth[decided] > 0)
        figures["ownership"] = np.array([right.mean()])
    return seconds, figures


def _rank_moves(rows: FloatArray, moves: IntArray) -> dict[str, FloatArray]:
    """Rank the moves that were played; a move that the inputs call illegal is never a hit."""
    chosen = rows[np.arange(len(moves)), moves]
    better = (rows > chosen[:, None]).sum(1)
    equal = np.maximum((rows == chosen[:, None]).sum(1), 1)
    most = rows.max(1)
    total = np.log(np.exp(rows - most[:, None]).sum(1)) + most
    found: dict[str, FloatArray] = {
        f"top{n}": np.clip((n - better) / equal, 0, 1) * np.isfinite(chosen) for n in TOPS
    }
    return {**found, "log_loss": np.minimum(total - chosen, 50.0)}
