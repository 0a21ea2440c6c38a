"""Train the predictor of Araki et al. 2007: dictionary, frequencies, maximum-entropy re-ranker.

The games are shuffled and halved. Half A gives the dictionary (patterns seen at least `minimum`
times at experts' moves) and the frequencies (used + 1) / (used + unused + 2) of the largest known
pattern at each legal point, with a counter for "no known pattern". Half B trains the re-ranker on
the `top` candidates. With top = 0 all games go into half A and nothing is re-ranked.

The maximum-entropy model with inequality constraints of width W is L1-penalised logistic
regression. FTRL-proximal fits it in a few passes without holding the samples in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.learners.move_prediction import kernels, pattern_kernels
from tengen.learners.move_prediction.model import PredictionModel, hash_tables
from tengen.learners.move_prediction.settings import PredictionSettings
from tengen.parallel import map_jobs

if TYPE_CHECKING:
    from tengen.models import Run
    from tengen.records.arrays import GameArrays

GAMES_PER_JOB = 250

_Report = Callable[[str], None]


def _silent(line: str) -> None:
    """Report nothing."""


class PatternCounter:
    """Count 64-bit keys in a hash table that grows."""

    def __init__(self, size: int = 1 << 16) -> None:
        self._table = np.zeros(size, np.int64)
        self._counts = np.zeros(size, np.int64)
        self._used = np.zeros(1, np.int64)

    def add(self, keys: IntArray, amounts: IntArray) -> None:
        """Add amounts to the counts of keys; key 0 is ignored."""
        done = 0
        while done < len(keys):
            done += int(
                pattern_kernels.add_counts(
                    self._table, self._counts, self._used, keys[done:], amounts[done:]
                )
            )
            if done < len(keys):
                self._grow()

    def __len__(self) -> int:
        return int(self._used[0])

    def frequent(self, minimum: int) -> IntArray:
        """Return the keys that occurred at least `minimum` times, in ascending order."""
        return np.sort(self._table[(self._table != 0) & (self._counts >= minimum)])

    def _grow(self) -> None:
        keep = self._table != 0
        keys, counts = self._table[keep], self._counts[keep]
        self._table = np.zeros(4 * len(self._table), np.int64)
        self._counts = np.zeros(4 * len(self._counts), np.int64)
        self._used[0] = 0
        self.add(keys, counts)


def expert_keys(games: GameArrays, templates: tuple[int, ...]) -> IntArray:
    """Return the keys of all templates at every move of games of one size; passes are left out."""
    rows, cols = int(games.rows[0]), int(games.cols[0])
    out = np.zeros((len(games.moves), len(templates)), np.int64)
    n = kernels.expert_patterns(
        games.moves, games.colours, games.offsets, np.arange(len(games)), rows, cols,
        *hash_tables(rows, cols), np.array(templates, np.int64), out,
    )  # fmt: skip
    return out[: int(n)]


def _count(job: tuple[GameArrays, tuple[int, ...]]) -> tuple[IntArray, IntArray]:
    """Return the distinct keys of some games and the number of times each occurred."""
    keys, counts = np.unique(expert_keys(*job), return_counts=True)
    return keys, counts.astype(np.int64)


def jobs_of(games: GameArrays, which: IntArray) -> Iterator[GameArrays]:
    """Yield the chosen games in groups of GAMES_PER_JOB, copying one group at a time."""
    for first in range(0, len(which), GAMES_PER_JOB):
        yield games.take(which[first : first + GAMES_PER_JOB])


def train(
    games: GameArrays,
    settings: PredictionSettings,
    *,
    run: Run[Any] | None = None,
    workers: int = 1,
    ray: str | None = None,
    on_report: _Report = _silent,
) -> PredictionModel:
    """Train on games of one size.

    `workers` and `ray` share the counting of patterns; the result does not depend on them. With
    `run`, a checkpoint is saved after the frequencies and after each pass of the re-ranker, and an
    interrupted training continues from the last one.
    """
    part_a, part_b = halves(games, settings)
    size = int(games.rows[0]), int(games.cols[0])
    state: ReRankerState | None = None
    if run is not None and run.start is not None:
        saved = run.start.arrays
        model = untrained(saved["keys"], saved["frequency"], settings, size)
        state = ReRankerState(saved["memory"].copy(), run.start.step)
    else:
        model = learn_frequencies(
            games, part_a, settings, workers=workers, ray=ray, on_report=on_report
        )

    def save(state: ReRankerState) -> None:
        if run is not None:
            run.note(state.passes, loss=state.loss)
            arrays = {"keys": model.keys, "frequency": model.frequency}
            run.save(state.passes, {**arrays, "memory": state.memory})

    if settings.top > 0:
        learn_reranker(games, part_b, model, settings, state=state, save=save, on_report=on_report)
    return model


def halves(games: GameArrays, settings: PredictionSettings) -> tuple[IntArray, IntArray]:
    """Return the numbers of the games of half A and half B."""
    order = np.random.default_rng(settings.seed).permutation(len(games))[: settings.games]
    half = len(order) if settings.top == 0 else len(order) // 2
    return order[:half], order[half:]


def learn_frequencies(
    games: GameArrays,
    which: IntArray,
    settings: PredictionSettings,
    *,
    workers: int = 1,
    ray: str | None = None,
    on_report: _Report = _silent,
) -> PredictionModel:
    """Learn the dictionary and the frequencies from half A; the model does not re-rank yet."""
    began = time.process_time()
    rows, cols = int(games.rows[0]), int(games.cols[0])
    counter = PatternCounter()
    jobs = ((part, settings.templates) for part in jobs_of(games, which))
    for keys, counts in map_jobs(_count, jobs, workers=workers, ray=ray):
        counter.add(keys, counts)
    known = counter.frequent(settings.minimum)
    seconds = time.process_time() - began
    on_report(f"{len(counter)} patterns seen, {len(known)} known, {seconds:.1f} s")
    del counter
    model = untrained(known, np.zeros(len(known) + 1), settings, (rows, cols))
    used, unused = np.zeros(len(known) + 1, np.int64), np.zeros(len(known) + 1, np.int64)
    kernels.count_games(
        games.moves, games.colours, games.offsets, which, rows, cols, model.tables(rows, cols),
        used, unused,
    )  # fmt: skip
    model.frequency = (used + 1) / (used + unused + 2)
    on_report(f"frequencies, {time.process_time() - began:.1f} s")
    return model


def untrained(
    keys: IntArray, frequency: FloatArray, settings: PredictionSettings, size: tuple[int, int]
) -> PredictionModel:
    """Return a model that does not re-rank."""
    weights = np.zeros(int(kernels.feature_count(len(frequency))))
    templates = np.array(settings.templates, np.int64)
    return PredictionModel(keys, frequency, weights, templates, 0, [size])


@dataclass
class ReRankerState:
    """The state of FTRL-proximal: z and squared gradients per feature, and the finished passes."""

    memory: FloatArray
    passes: int = 0
    loss: float | None = None
    """Sum over the last pass."""


def learn_reranker(
    games: GameArrays,
    which: IntArray,
    model: PredictionModel,
    settings: PredictionSettings,
    *,
    state: ReRankerState | None = None,
    save: Callable[[ReRankerState], None] = lambda state: None,
    on_report: _Report = _silent,
) -> None:
    """Fit the re-ranker of the model on half B, in place.

    Continues from `state`, and calls `save` before the first and after every pass.
    """
    began = time.process_time()
    rows, cols = model.sizes[0]
    tables = model.tables(rows, cols)
    if state is None:
        state = ReRankerState(np.zeros((len(model.weights), 2)))
        save(state)
    # The loss is summed over all passes, which count every sample `passes` times; so must the
    # penalty.
    penalty = settings.width * settings.passes
    for number in range(state.passes, settings.passes):
        loss = kernels.learn_games(
            games.moves, games.colours, games.offsets, which, rows, cols, tables, model.frequency,
            settings.top, state.memory, penalty, settings.alpha, np.zeros((0, 0), np.int64),
        )  # fmt: skip
        state.passes, state.loss = number + 1, float(loss)
        save(state)
        seconds = time.process_time() - began
        on_report(f"re-ranker pass {number + 1}, loss {loss:.0f}, {seconds:.1f} s")
    z, squares = state.memory[:, 0], state.memory[:, 1]
    shrunk = np.sign(z) * np.maximum(np.abs(z) - penalty, 0.0)
    model.weights = -shrunk * settings.alpha / (1 + np.sqrt(squares))
    model.top = settings.top


def samples(
    games: GameArrays, model: PredictionModel, which: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the features and labels of the re-ranker's samples, for solvers that need them all."""
    rows, cols = int(games.rows[0]), int(games.cols[0])
    positions = int(games.lengths()[which].sum())
    out = np.zeros((positions * (model.top + 1), kernels.WIDTH + 1), np.int64)
    n = int(
        kernels.learn_games(
            games.moves, games.colours, games.offsets, which, rows, cols,
            model.tables(rows, cols), model.frequency, model.top, np.zeros((0, 2)), 0.0, 0.1, out,
        )
    )  # fmt: skip
    return out[:n, 1:], out[:n, 0]
