"""Follow the recipe of Araki et al. 2007: dictionary, frequencies, maximum-entropy re-ranking.

The games are shuffled and halved. Half A gives the dictionary (patterns seen at least twice at
experts' moves) and the frequencies (used + 1) / (used + unused + 2) of the largest known pattern
at each legal point, with counters of its own for "no pattern". Half B trains the re-ranker on the
`top` candidates. With top = 0 all games go into half A and nothing is re-ranked.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.learners.move_prediction import paper_kernels
from tengen.learners.move_prediction.dictionary import PatternCounter, cut_into_jobs
from tengen.learners.move_prediction.paper_games_kernels import count_games, learn_games
from tengen.learners.move_prediction.paper_model import PaperModel
from tengen.learners.move_prediction.settings import PaperSettings
from tengen.learners.move_prediction.tables import Dictionary, Tables
from tengen.parallel import map_jobs

if TYPE_CHECKING:
    from tengen.learners.move_prediction.dictionary import Counts, Job
    from tengen.models import Run
    from tengen.records.arrays import GameArrays


def count_job(job: tuple[Job, tuple[int, ...]]) -> Counts:
    """Count the paper's patterns at the experts' moves of one job's games."""
    games, templates = job
    tables = Tables.of(games.rows, games.cols)
    out = np.zeros((len(games.points), len(templates)), np.int64)
    n = paper_kernels.expert_patterns(
        games.points, games.colours, games.offsets, np.arange(len(games.offsets) - 1),
        games.rows, games.cols, tables.empty, tables.hash_keys, tables.ring_of,
        np.array(templates, np.int64), out,
    )  # fmt: skip
    keys, counts = np.unique(out[:n], return_counts=True)
    return keys, counts.astype(np.int64)


def train_paper(
    games: GameArrays,
    settings: PaperSettings,
    *,
    run: Run[Any] | None = None,
    workers: int = 1,
    ray: str | None = None,
    on_report: Callable[[str], None] = lambda line: None,
) -> PaperModel:
    """Train the paper's recipe on games of one size.

    `workers` and `ray` share the counting of patterns; the result does not depend on them. With
    `run`, a state is kept after the frequencies and after each pass of the re-ranker, and a
    training that was stopped goes on from it.
    """
    part_a, part_b = halves(games, settings)
    size = int(games.rows[0]), int(games.cols[0])
    state: ReRankerState | None = None
    if run is not None and run.start is not None:
        kept = run.start.arrays
        model = untrained(kept["keys"], kept["frequency"], settings, size)
        state = ReRankerState(kept["memory"].copy(), run.start.step)
    else:
        model = learn_frequencies(
            games, part_a, settings, workers=workers, ray=ray, on_report=on_report
        )

    def keep(state: ReRankerState) -> None:
        if run is not None:
            run.note(state.passes, loss=state.loss)
            arrays = {"keys": model.dictionary.keys, "frequency": model.frequency}
            run.save(state.passes, {**arrays, "memory": state.memory})

    if settings.top > 0:
        learn_reranker(games, part_b, model, settings, state=state, keep=keep, on_report=on_report)
    return model


def halves(games: GameArrays, settings: PaperSettings) -> tuple[IntArray, IntArray]:
    """Return the numbers of the games of half A and half B."""
    order = np.random.default_rng(settings.seed).permutation(len(games))[: settings.games]
    half = len(order) if settings.top == 0 else len(order) // 2
    return order[:half], order[half:]


def learn_frequencies(
    games: GameArrays,
    which: IntArray,
    settings: PaperSettings,
    *,
    workers: int = 1,
    ray: str | None = None,
    on_report: Callable[[str], None] = lambda line: None,
) -> PaperModel:
    """Make the dictionary and the frequencies from half A; the model does not re-rank yet."""
    began = time.process_time()
    rows, cols = int(games.rows[0]), int(games.cols[0])
    counter = PatternCounter()
    jobs = ((job, settings.templates) for job in cut_into_jobs(games, which, rows, cols))
    for keys, counts in map_jobs(count_job, jobs, workers=workers, ray=ray):
        counter.add(keys, counts)
    keys, _ = counter.chosen(settings.minimum)
    seconds = time.process_time() - began
    on_report(f"{len(counter)} patterns met, {len(keys)} known, {seconds:.1f} s")
    del counter
    model = untrained(keys, np.zeros(len(keys) + 1), settings, (rows, cols))
    used, unused = np.zeros(len(keys) + 1, np.int64), np.zeros(len(keys) + 1, np.int64)
    count_games(
        games.moves, games.colours, games.offsets, which, rows, cols, model.tables(rows, cols),
        used, unused,
    )  # fmt: skip
    model.frequency = (used + 1) / (used + unused + 2)
    on_report(f"frequencies, {time.process_time() - began:.1f} s")
    return model


def untrained(
    keys: IntArray, frequency: FloatArray, settings: PaperSettings, size: tuple[int, int]
) -> PaperModel:
    """Make a model that does not re-rank."""
    weights = np.zeros(int(paper_kernels.feature_count(len(frequency))))
    templates = np.array(settings.templates, np.int64)
    return PaperModel(Dictionary.of(keys, 1), frequency, weights, templates, 0, [size])


@dataclass
class ReRankerState:
    """What FTRL-proximal remembers of each feature (z, squares), and the passes made."""

    memory: FloatArray
    passes: int = 0
    loss: float | None = None
    """Of the last pass."""


def learn_reranker(
    games: GameArrays,
    which: IntArray,
    model: PaperModel,
    settings: PaperSettings,
    *,
    state: ReRankerState | None = None,
    keep: Callable[[ReRankerState], None] = lambda state: None,
    on_report: Callable[[str], None] = lambda line: None,
) -> None:
    """Fit the model's re-ranker on half B, in place, by FTRL-proximal.

    Goes on from `state`, and calls `keep` before the first and after every pass.
    """
    began = time.process_time()
    rows, cols = model.sizes[0]
    if state is None:
        state = ReRankerState(np.zeros((len(model.weights), 2)))
        keep(state)
    # The sum of losses over all passes counts every sample `passes` times; so must the penalty.
    penalty = settings.width * settings.passes
    for number in range(state.passes, settings.passes):
        loss = learn_games(
            games.moves, games.colours, games.offsets, which, rows, cols,
            model.tables(rows, cols), model.frequency, settings.top, state.memory, penalty,
            settings.alpha, np.zeros((0, 0), np.int64),
        )  # fmt: skip
        state.passes, state.loss = number + 1, float(loss)
        keep(state)
        seconds = time.process_time() - began
        on_report(f"re-ranker pass {number + 1}, loss {loss:.0f}, {seconds:.1f} s")
    z, squares = state.memory[:, 0], state.memory[:, 1]
    shrunk = np.sign(z) * np.maximum(np.abs(z) - penalty, 0.0)
    model.weights = -shrunk * settings.alpha / (1 + np.sqrt(squares))
    model.top = settings.top


def samples(games: GameArrays, model: PaperModel, which: IntArray) -> tuple[IntArray, IntArray]:
    """Return (features, labels) of the re-ranker's samples for some games, for the exact solver."""
    rows, cols = int(games.rows[0]), int(games.cols[0])
    positions = int(games.lengths()[which].sum())
    room = np.zeros((positions * (model.top + 1), paper_kernels.WIDTH + 1), np.int64)
    n = int(
        learn_games(
            games.moves, games.colours, games.offsets, which, rows, cols,
            model.tables(rows, cols), model.frequency, model.top, np.zeros((0, 2)), 0.0, 0.1, room,
        )
    )  # fmt: skip
    return room[:n, 1:], room[:n, 0]
