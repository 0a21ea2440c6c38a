"""Train the predictor of Araki et al. 2007: dictionary, frequencies, maximum-entropy re-ranker.

The games are shuffled and halved. Half A gives the dictionary (patterns seen at least `minimum`
times at experts' moves) and the frequencies (used + 1) / (used + unused + 2) of the largest known
pattern at each legal point. Half B trains the re-ranker on the `top` candidates. With top = 0 all
games go into half A.

The maximum-entropy model with inequality constraints of width W is L1-penalised logistic
regression. FTRL-proximal comes close in a few passes without storing the samples; `optimum` fits
it exactly.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.errors import TengenError
from tengen.papers.move_prediction import kernels, optimum
from tengen.papers.move_prediction.model import PredictionModel, feature_count, hash_tables
from tengen.papers.move_prediction.optimum import mapped
from tengen.papers.move_prediction.settings import PredictionSettings
from tengen.parallel import map_jobs
from tengen.records import Corpus
from tengen.records.arrays import GameArrays, concatenate
from tengen.records.corpus import replay_refusals

if TYPE_CHECKING:
    from tengen.models import Run
    from tengen.records import GameRecord

GAMES_PER_JOB = 250
SAVED_EVERY = 60.0  # seconds, on the way to the optimum

_OnLine = Callable[[str], None]


_Counts = tuple[IntArray, IntArray]  # distinct keys in ascending order, and how often each occurred


def join_counts(parts: Sequence[_Counts]) -> _Counts:
    """Merge counts, adding those of equal keys."""
    keys, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return keys[first], np.add.reduceat(counts[order], first) if len(first) else counts


def expert_keys(games: GameArrays, templates: tuple[int, ...]) -> IntArray:
    """Return the keys of all templates at every move of games of one size; passes are left out."""
    rows, cols = int(games.rows[0]), int(games.cols[0])
    out = np.zeros((len(games.moves), len(templates)), np.int64)
    n = kernels.expert_patterns(
        (games.moves, games.colours, games.offsets, np.arange(len(games))), rows, cols,
        *hash_tables(rows, cols), np.array(templates, np.int64), out,
    )  # fmt: skip
    return out[: int(n)]


def _count(job: tuple[GameArrays, tuple[int, ...]]) -> _Counts:
    """Return the distinct keys of some games and the number of times each occurred."""
    keys, counts = np.unique(expert_keys(*job), return_counts=True)
    return keys, counts.astype(np.int64)


def train(
    games: GameArrays,
    settings: PredictionSettings,
    *,
    run: Run[Any] | None = None,
    workers: int = 1,
    ray: str | None = None,
    on_line: _OnLine = lambda line: None,
) -> PredictionModel:
    """Train on games of one size; `workers` share the counting and the optimum's samples.

    `ray` is a cluster that counts instead. With `run`, a checkpoint is saved after the frequencies,
    after each pass of the re-ranker, and every minute on the way to the optimum.
    """
    part_a, part_b = halves(games, settings)
    if run is not None and run.start is not None:
        saved, size = run.start.arrays, (int(games.rows[0]), int(games.cols[0]))
        model = untrained(saved["keys"], saved["frequency"], settings, size)
    else:
        model = learn_frequencies(
            games, part_a, settings, workers=workers, ray=ray, on_line=on_line
        )
    if settings.top > 0 and settings.solver == "optimum":
        learn_optimum(games, part_b, model, settings, run=run, workers=workers, on_line=on_line)
    elif settings.top > 0:
        learn_reranker(games, part_b, model, settings, run=run, on_line=on_line)
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
    on_line: _OnLine = lambda line: None,
) -> PredictionModel:
    """Learn the dictionary and the frequencies from half A; the model does not re-rank yet."""
    began = time.process_time()
    rows, cols = int(games.rows[0]), int(games.cols[0])
    jobs = (
        (games.take(which[first : first + GAMES_PER_JOB]), settings.templates)
        for first in range(0, len(which), GAMES_PER_JOB)
    )
    parts: list[_Counts] = []
    # A process takes seconds to start, in which it could count two jobs.
    workers = min(workers, max(len(which) // (2 * GAMES_PER_JOB), 1))
    for part in map_jobs(_count, jobs, workers=workers, ray=ray):
        parts.append(part)
        # Join once the new keys outnumber the old ones: each key is sorted only a few times.
        if sum(len(keys) for keys, _ in parts[1:]) > max(len(parts[0][0]), 1_000_000):
            parts = [join_counts(parts)]
    keys, counts = join_counts(parts)
    known = keys[counts >= settings.minimum]
    seconds = time.process_time() - began
    on_line(f"{len(keys)} patterns seen, {len(known)} known, {seconds:.1f} s")
    del parts, keys, counts
    model = untrained(known, np.zeros(len(known) + 1), settings, (rows, cols))
    used, unused = np.zeros(len(known) + 1, np.int64), np.zeros(len(known) + 1, np.int64)
    tables = model.tables(rows, cols)
    for first in range(0, len(which), GAMES_PER_JOB):  # between kernels Ctrl-C is heard
        some = which[first : first + GAMES_PER_JOB]
        kernels.count_games(
            (games.moves, games.colours, games.offsets, some), rows, cols, tables,
            model.frequency, used, unused,
        )  # fmt: skip
    model.frequency = (used + 1) / (used + unused + 2)
    on_line(f"frequencies, {time.process_time() - began:.1f} s")
    return model


def untrained(
    keys: IntArray, frequency: FloatArray, settings: PredictionSettings, size: tuple[int, int]
) -> PredictionModel:
    """Return a model that does not re-rank."""
    weights = np.zeros(feature_count(len(frequency)))
    templates = np.array(settings.templates, np.int64)
    return PredictionModel(keys, frequency, weights, templates, 0, [size])


def learn_reranker(
    games: GameArrays,
    which: IntArray,
    model: PredictionModel,
    settings: PredictionSettings,
    *,
    run: Run[Any] | None = None,
    on_line: _OnLine = lambda line: None,
) -> None:
    """Fit the model's re-ranker on half B, in place; with `run`, resume from its checkpoint."""
    began = time.process_time()
    start = None if run is None else run.start
    memory = np.zeros((len(model.weights), 2)) if start is None else start.arrays["memory"].copy()

    def save(passes: int, loss: float | None) -> None:
        if run is not None:
            run.note(passes, loss=loss)
            arrays = {"keys": model.keys, "frequency": model.frequency, "memory": memory}
            run.save(passes, arrays)

    if start is None:
        save(0, None)
    # The loss is summed over all passes, so the penalty is multiplied by their number.
    penalty = settings.width * settings.passes
    for number in range(1 if start is None else start.step + 1, settings.passes + 1):
        loss = model.rank_games(
            games, which, top=settings.top, memory=memory, penalty=penalty, alpha=settings.alpha
        )
        save(number, loss)
        seconds = time.process_time() - began
        on_line(f"re-ranker pass {number}, loss {loss:.0f}, {seconds:.1f} s")
    z, squares = memory.T
    shrunk = np.sign(z) * np.maximum(np.abs(z) - penalty, 0.0)
    model.weights = -shrunk * settings.alpha / (1 + np.sqrt(squares))
    model.top = settings.top


def learn_optimum(
    games: GameArrays,
    which: IntArray,
    model: PredictionModel,
    settings: PredictionSettings,
    *,
    run: Run[Any] | None = None,
    workers: int = 1,
    on_line: _OnLine = lambda line: None,
) -> None:
    """Fit the model's re-ranker to the optimum on half B, in place; with `run`, resume."""
    start = None if run is None else run.start
    learned = {"keys": model.keys, "frequency": model.frequency}
    samples = optimum.gather(games, which, model, settings.top, workers=workers)
    on_line(f"{len(samples)} samples")

    def on_step(step: int, at: optimum.Optimum, state: Callable[[], Any]) -> None:
        if run is not None:
            run.note(step, objective=at.objective, violation=at.violation)
            if step == 0 or run.due(SAVED_EVERY):
                run.save(step, {**learned, **state()})

    found = optimum.fit(
        samples, len(model.weights), settings.width, workers=workers, limit=settings.iterations,
        start=None if start is None else start.arrays, on_step=on_step,
    )  # fmt: skip
    on_line(f"{found.iterations} iterations, violation {found.violation:.2g}")
    model.weights, model.top = found.weights, settings.top


_SHORTEST = 10  # minimum number of moves of a game
MERGE = 512  # batches to join at once: a folder of single games yields many small ones


def read_games(
    paths: Sequence[str], size: int, *, keep: Callable[[GameRecord], bool] | None = None
) -> tuple[GameArrays, Counter[str]]:
    """Read all usable games on boards of `size` lines; count the others by reason.

    With `keep`, only games for which it is true. The moves are in a temporary file that disappears
    with the arrays.
    """
    corpus = Corpus(list(paths))
    if keep is not None:
        corpus = corpus.filter(keep)
    skipped: Counter[str] = Counter()
    parts: list[GameArrays] = []
    small: list[GameArrays] = []
    nothing = np.zeros(0, np.int16), np.zeros(0, np.int8)
    with tempfile.TemporaryFile() as moves, tempfile.TemporaryFile() as colours:
        for batch in corpus.batches():
            part = _usable(batch, size, skipped)
            if len(part):
                # Not `tofile`: it ignores a full disk.
                moves.write(part.moves.tobytes())
                colours.write(part.colours.tobytes())
                rules = [sys.intern(str(rule)) for rule in part.rules]
                light = replace(part, moves=nothing[0], colours=nothing[1])
                small.append(replace(light, rules=np.array(rules, dtype=np.object_)))
            if len(small) == MERGE:
                parts.append(concatenate(small))
                small = []
        if corpus.damaged:
            first = next((fault for fault in corpus.faults if not fault.repaired), "")
            skipped[f"damaged, first: {first}"] = corpus.damaged
        parts += small
        if not parts:
            reasons = "".join(f"; skipped: {n} {reason}" for reason, n in (+skipped).items())
            raise TengenError(f"{' '.join(paths)}: no games of size {size}{reasons}")
        games = replace(
            concatenate(parts), moves=mapped(moves, np.int16), colours=mapped(colours, np.int8)
        )
    return games, +skipped


def refuse_unsuitable(games: GameArrays) -> None:
    """Raise `TengenError` if a game has setup stones or too few moves; legality is not checked."""
    good = int(_suitable(games).sum())
    if good < len(games) or not good:
        raise TengenError(
            f"{len(games) - good} of {len(games)} games have setup stones or fewer than "
            f"{_SHORTEST} moves; a predictor cannot use them"
        )


def _suitable(games: GameArrays) -> BoolArray:
    """Return which games begin on the empty board and are long enough."""
    bare = (np.diff(games.setup_offsets) == 0) & (games.handicap == 0)
    return np.asarray(bare & (games.lengths() >= _SHORTEST), dtype=np.bool_)


def _usable(games: GameArrays, size: int, skipped: Counter[str]) -> GameArrays:
    """Return the usable games of a batch, and count the others."""
    tests: dict[str, Callable[[GameArrays], BoolArray]] = {
        "of other sizes": lambda games: (games.rows == size) & (games.cols == size),
        f"with setup stones or fewer than {_SHORTEST} moves": _suitable,
        "with illegal moves": lambda games: ~replay_refusals(games),
    }
    for reason, test in tests.items():
        good = test(games)
        skipped[reason] += int(len(games) - good.sum())
        games = games if good.all() else games.where(good)
    return games
