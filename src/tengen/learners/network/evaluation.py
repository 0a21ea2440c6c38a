"""Measure a network on games it has not seen: moves, winner, score, ownership; train nothing.

Passes are not predicted; only legal moves compete, and ties share credit. The winner is asked
before every move of games with a known one; score and ownership where the record has a score and
the scorer that was handed in confirms it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, Float32Array, FloatArray, IntArray
from tengen.board import Board
from tengen.board.playouts import play_random
from tengen.board.symmetry import elements, transform
from tengen.learners.network import inputs
from tengen.learners.network.engine import Engine, Judgement
from tengen.learners.network.inputs import of_boards
from tengen.learners.network.inputs_kernels import HISTORY, NOWHERE
from tengen.learners.network.layers import operations
from tengen.learners.network.learner import DeepNetwork
from tengen.learners.network.shards import NO_SCORE, Shard, encode_games

_CALIBRATION_BINS = 10
TOPS = (1, 5, 10)
_AT_ONCE = 32
HALF = 0.5
"""Where in a game score and ownership are measured: after this share of its moves."""


@dataclass
class Evaluation:
    """Sums over positions, ready to be added up."""

    games: int = 0
    positions: int = 0
    hits: dict[int, float] = field(default_factory=lambda: dict.fromkeys(TOPS, 0.0))
    log_loss: float = 0.0
    asked: int = 0
    winner: float = 0.0
    chances: list[FloatArray] = field(default_factory=list)
    won: list[BoolArray] = field(default_factory=list)
    score_error: list[float] = field(default_factory=list)
    ownership: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def summary(self) -> dict[str, Any]:
        """Return the figures as plain values; None where nothing could be measured."""
        chances = np.concatenate(self.chances) if self.chances else np.zeros(0)
        won = np.concatenate(self.won) if self.won else np.zeros(0, np.bool_)
        return {
            "games": self.games,
            "positions": self.positions,
            **{f"top{n}": _share(self.hits[n], self.positions) for n in TOPS},
            "log_loss": _share(self.log_loss, self.positions),
            "winner": _share(self.winner, self.asked),
            "calibration": calibration(chances, won),
            "score_error": float(np.mean(self.score_error)) if self.score_error else None,
            "ownership": float(np.mean(self.ownership)) if self.ownership else None,
            "milliseconds_per_position": _share(1000 * self.seconds, self.positions),
        }


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def calibration(chances: FloatArray, won: BoolArray) -> float | None:
    """Return how far chances are from what happened: the mean over ten bins, by their size.

    >>> calibration(np.array([0.75, 0.75, 0.75, 0.75]), np.array([True, True, True, False]))
    0.0
    """
    if not len(chances):
        return None
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
    on_game: Callable[[int], None] = lambda games: None,
) -> Evaluation:
    """Measure a network on all positions of some shards, or on one of `every` so many."""
    whole = Evaluation()
    judge = network.measured()
    for shard in shards:
        codes = encode_games(shard, ladders=network.design_.ladders, threads=threads)
        starts = np.concatenate([[0], np.cumsum(shard.lengths, dtype=np.int64)])
        parts = [codes[starts[g] : starts[g + 1]] for g in range(len(shard))]
        labels = {int(game): row for row, game in enumerate(shard.labelled)}
        work = partial(_game, judge, shard, labels, every)
        with ThreadPoolExecutor(threads) as pool:
            for part in pool.map(work, range(len(shard)), parts):
                _add(whole, part)
                on_game(1)
    return whole


def _add(whole: Evaluation, part: Evaluation) -> None:
    whole.games += part.games
    whole.positions += part.positions
    whole.log_loss += part.log_loss
    whole.asked += part.asked
    whole.winner += part.winner
    whole.seconds += part.seconds
    for n in TOPS:
        whole.hits[n] += part.hits[n]
    whole.chances += part.chances
    whole.won += part.won
    whole.score_error += part.score_error
    whole.ownership += part.ownership


def _game(
    judge: Callable[[inputs.Positions], Judgement],
    shard: Shard,
    labels: dict[int, int],
    every: int,
    game: int,
    codes: NDArray[np.uint8],
) -> Evaluation:
    """Measure the network on positions of one game."""
    first = int(shard.lengths[:game].sum())
    moves = shard.moves[first : first + len(codes)].astype(np.int64)
    black = shard.colours[first : first + len(codes)] == 1
    # Games begin to be looked at here and there, or else openings would count too much.
    cut = slice(min(game % every, len(codes) - 1), len(codes), every)
    positions = positions_of(shard, game, codes, moves, black).part(cut)
    codes, moves, black = codes[cut], moves[cut], black[cut]
    result = Evaluation(games=1)
    began = time.thread_time()
    parts = [
        judge(part)
        for start in range(0, len(codes), _AT_ONCE)
        for part in [positions.part(slice(start, start + _AT_ONCE))]
    ]
    result.seconds = time.thread_time() - began
    logits = np.concatenate([part.moves for part in parts]).astype(np.float64)
    winner = np.concatenate([part.winner for part in parts]).astype(np.float64)
    points = shard.rows * shard.cols
    legal = (codes & 3 == 0) & (codes >> 2 & 3 > 0)
    _measure_moves(result, np.where(legal, logits[:, :points], -np.inf), moves, points)
    if shard.winner[game]:
        won = black == (shard.winner[game] == 1)
        result.asked = len(codes)
        result.winner = float(((winner > 0) == won).sum())
        result.chances.append(1 / (1 + np.exp(-winner)))
        result.won.append(won)
    if game in labels and shard.score[game] != NO_SCORE:
        half = min(int(len(codes) * HALF), len(codes) - 1)
        sign = 1.0 if black[half] else -1.0
        score = np.concatenate([part.score for part in parts])[half]
        owner = np.concatenate([part.ownership for part in parts])[half]
        result.score_error.append(abs(sign * float(score) - float(shard.score[game])))
        truth = shard.ownership[labels[game]]
        decided = truth != 0
        right = (sign * owner[decided] > 0) == (truth[decided] > 0)
        result.ownership.append(float(right.mean()))
    return result


def _measure_moves(result: Evaluation, logits: FloatArray, moves: IntArray, points: int) -> None:
    """Rank the moves that were played; a move that the inputs call illegal never counts as hit."""
    played = np.flatnonzero(moves < points)
    result.positions = len(played)
    rows = logits[played]
    chosen = rows[np.arange(len(played)), moves[played]]
    better = (rows > chosen[:, None]).sum(1)
    equal = np.maximum((rows == chosen[:, None]).sum(1), 1)
    for n in TOPS:
        hit = np.clip((n - better) / equal, 0, 1) * np.isfinite(chosen)
        result.hits[n] = float(hit.sum())
    most = rows.max(1)
    total = np.log(np.exp(rows - most[:, None]).sum(1)) + most
    result.log_loss = float(np.minimum(total - chosen, 50.0).sum())


def positions_of(
    shard: Shard,
    game: int,
    codes: NDArray[np.uint8],
    moves: IntArray,
    black: BoolArray,
) -> inputs.Positions:
    """Pack the positions before every move of a game."""
    points = shard.rows * shard.cols
    history = np.full((len(codes), HISTORY), NOWHERE, np.int16)
    for ago in range(1, HISTORY + 1):
        earlier = moves[:-ago] if ago < len(moves) else moves[:0]
        history[ago:, ago - 1] = np.where(earlier < points, earlier, NOWHERE)
    passed = np.zeros(len(codes), np.bool_)
    passed[1:] = moves[:-1] == points
    komi = np.where(black, -shard.komi[game], shard.komi[game]).astype(np.float32)
    territory = np.full(len(codes), bool(shard.territory[game]))
    return inputs.Positions(shard.rows, shard.cols, codes, history, passed, komi, territory)


SIZES = ((5, 5), (6, 6), (7, 7), (9, 9), (13, 13), (19, 19), (25, 25), (5, 9), (13, 8))
"""Boards on which the symmetry is measured."""


def equivariance_error(engine: Engine, *, seed: int = 1) -> float:
    """Return the largest difference between judging a turned board and turning the judgement.

    Positions are those of random games half way, on boards of many sizes in all their symmetries.
    """
    rng = np.random.default_rng(seed)
    worst = 0.0
    for rows, cols in SIZES:
        board = play_random(Board(rows, cols), rows * cols // 2, rng)
        planes = of_boards([board]).planes()
        plain = engine.judge_planes(planes)
        for element in elements(rows, cols)[1:]:
            turned = np.stack([transform(plane, element) for plane in planes[0]])[None]
            said = engine.judge_planes(np.ascontiguousarray(turned))
            expected = {
                **plain._asdict(),
                "moves": _turned_moves(plain.moves, element, rows, cols),
                "ownership": _turned(plain.ownership[0], element, rows, cols),
            }
            if plain.best is not None:
                expected["best"] = _turned_moves(plain.best, element, rows, cols)
            for name, there in said._asdict().items():
                if there is None:
                    continue
                # Numbers beyond one (points, mostly) are held to the same number of digits.
                size = np.maximum(1, np.abs(expected[name]))
                worst = max(worst, float((np.abs(there - expected[name]) / size).max()))
    return worst


def _turned(flat: Float32Array, element: int, rows: int, cols: int) -> Float32Array:
    """Return numbers of a board's points, row by row, as they lie when the board is turned."""
    return np.asarray(transform(flat.reshape(rows, cols), element), np.float32).ravel()


def _turned_moves(logits: Float32Array, element: int, rows: int, cols: int) -> Float32Array:
    return np.append(_turned(logits[0, :-1], element, rows, cols), logits[0, -1])


def describe(network: DeepNetwork) -> dict[str, Any]:
    """Return the size of a network and how exactly it keeps the symmetries."""
    design = network.design_
    return {
        "free_parameters": network.free_parameters,
        "fields": design.fields,
        "channels": design.channels,
        "blocks": design.blocks,
        "symmetric": design.symmetric,
        "ladders": design.ladders,
        "operations": operations(design),
        "equivariance_error": equivariance_error(network.engine),
    }
