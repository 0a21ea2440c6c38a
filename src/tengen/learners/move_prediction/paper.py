"""Follow the recipe of Araki et al. 2007: dictionary, frequencies, maximum-entropy re-ranking.

The games are shuffled and halved. Half A gives the dictionary (patterns seen at least twice at
experts' moves) and the frequencies (used + 1) / (used + unused + 2) of the largest known pattern
at each legal point, with counters of its own for "no pattern". Half B trains the re-ranker on the
`top` candidates. With top = 0 all games go into half A and nothing is re-ranked.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tengen.errors import ModelError
from tengen.learners.move_prediction import paper_kernels
from tengen.learners.move_prediction.dictionary import PatternCounter, cut_into_jobs
from tengen.learners.move_prediction.paper_games_kernels import count_games, learn_games
from tengen.learners.move_prediction.paper_model import PaperModel
from tengen.learners.move_prediction.patterns import PAPER_TEMPLATES
from tengen.learners.move_prediction.tables import Dictionary, Tables
from tengen.models import Checkpoints
from tengen.parallel import map_jobs

if TYPE_CHECKING:
    from tengen.learners.move_prediction.dictionary import Counts, Job
    from tengen.records.arrays import GameArrays

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class PaperSettings:
    """How to train; `width` is the paper's W, `top` its n."""

    seed: int = 0
    games: int | None = None  # the first so many after the shuffle; all by default
    minimum: int = 2
    width: float = 0.9
    top: int = 20
    passes: int = 3  # over half B
    alpha: float = 0.3  # learning rate of FTRL-proximal; 0.1 stays further from the optimum
    templates: tuple[int, ...] = PAPER_TEMPLATES


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
    run: Path | None = None,
    resume: bool = False,
    workers: int = 1,
    ray: str | None = None,
    on_report: Callable[[str], None] = lambda line: None,
) -> PaperModel:
    """Train the paper's recipe on games of one size.

    `workers` and `ray` share the counting of patterns; the result does not depend on them. With
    `run`, a checkpoint is kept there after the frequencies and after each pass of the re-ranker,
    and `resume` goes on from it, with the same result.

    Raises
    ------
    ModelError
        If the checkpoint is of a training with other settings.
    """
    part_a, part_b = halves(games, settings)
    checkpoints = None if run is None else Checkpoints(run / "checkpoints", keep=1)
    found = checkpoints.latest() if checkpoints is not None and resume else None
    told = json.loads(json.dumps(asdict(settings)))
    size = int(games.rows[0]), int(games.cols[0])
    state: ReRankerState | None = None
    if found is not None:
        if found.state.get("settings") != told:
            raise ModelError(f"{run}: was begun with other settings; start afresh or use the same")
        model = untrained(found.arrays["keys"], found.arrays["frequency"], settings, size)
        state = ReRankerState(found.arrays["memory"].copy(), found.step)
    else:
        model = learn_frequencies(
            games, part_a, settings, workers=workers, ray=ray, on_report=on_report
        )

    def keep(state: ReRankerState) -> None:
        if checkpoints is not None:
            arrays = {"keys": model.dictionary.keys, "frequency": model.frequency}
            arrays["memory"] = state.memory
            checkpoints.save(state.passes, arrays, {"settings": told})

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
        state.passes += 1
        keep(state)
        seconds = time.process_time() - began
        on_report(f"re-ranker pass {number + 1}, loss {loss:.0f}, {seconds:.1f} s")
    z, squares = state.memory[:, 0], state.memory[:, 1]
    shrunk = np.sign(z) * np.maximum(np.abs(z) - penalty, 0.0)
    model.weights = -shrunk * settings.alpha / (1 + np.sqrt(squares))
    model.top = settings.top


def samples(
    games: GameArrays, model: PaperModel, which: IntArray
) -> tuple[IntArray, NDArray[np.int64]]:
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
