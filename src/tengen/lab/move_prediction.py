"""Repeat the tables of Araki et al. 2007 on games of one's own, beside the paper's figures.

Every function yields rows as dictionaries, so that a caller can print or store them as they come.
Accuracies are fractions; intervals are at 95 % and take positions as independent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import TengenError
from tengen.lab import papers
from tengen.learners.move_prediction.evaluation import TOPS
from tengen.learners.move_prediction.learner import MovePredictor, usable_games
from tengen.learners.move_prediction.maxent import solve
from tengen.learners.move_prediction.paper import (
    PaperSettings,
    halves,
    learn_frequencies,
    learn_reranker,
    samples,
    train_paper,
)
from tengen.learners.move_prediction.paper_model import PaperModel
from tengen.records.arrays import GameArrays

Row = dict[str, Any]

ALPHA = PaperSettings().alpha


def hold_out(games: GameArrays, count: int, seed: int) -> tuple[GameArrays, GameArrays]:
    """Keep `count` games back to measure on; return (the others, those).

    Raises
    ------
    TengenError
        If fewer than two games would be left to train on.
    """
    if len(games) < count + 2:
        raise TengenError(f"{len(games)} games: too few to keep {count} back")
    order = np.random.default_rng([seed, 1]).permutation(len(games))
    return games.take(order[count:]), games.take(order[:count])


def widths(
    train: GameArrays, test: GameArrays, *, games: int = 2000, seed: int = 0,
    values: Sequence[float] = tuple(papers.MP_WIDTHS), exact: bool = False, alpha: float = ALPHA,
) -> Iterator[Row]:  # fmt: skip
    """Table I: rank-1 accuracy for every width factor.

    With `exact` the optimum is sought by OWL-QN, which holds all samples (90 bytes each, some 20 a
    move) in memory, instead of by passes of FTRL-proximal; `violation` tells how far off it is.
    """
    train, _ = usable_games(train)
    settings = PaperSettings(seed=seed, games=games, alpha=alpha)
    part_a, part_b = halves(train, settings)
    model = learn_frequencies(train, part_a, settings)
    model.top = settings.top
    held = samples(train, model, part_b) if exact else None
    for width in values:
        told: Row = {}
        if held is None:
            learn_reranker(train, part_b, model, replace(settings, width=width))
        else:
            found = solve(*held, len(model.weights), width, tolerance=0.1, limit=300)
            model.weights = found.weights
            told = {"iterations": found.iterations, "violation": found.violation}
        row = {"width": width, "features": model.features, **told, **measure(model, test)}
        yield {**row, "paper": papers.MP_WIDTHS.get(width)}


def reranked(
    train: GameArrays, test: GameArrays, *, games: int = 2000, seed: int = 0,
    values: Sequence[int] = tuple(papers.MP_RERANKED), alpha: float = ALPHA,
) -> Iterator[Row]:  # fmt: skip
    """Table II: cumulative accuracy for every number of re-ranked candidates; 0 for none.

    `beyond` is the largest difference that re-ranking makes at ranks from n on: by the paper's
    rule none, but for ties by frequency, which share credit.
    """
    train, _ = usable_games(train)
    shared: PaperModel | None = None
    plain: Row = {}
    for top in values:
        settings = PaperSettings(seed=seed, games=games, top=top, alpha=alpha)
        part_a, part_b = halves(train, settings)
        row: Row = {"top": top, "beyond": None}
        if top == 0:
            row |= measure(learn_frequencies(train, part_a, settings), test)
        else:
            if shared is None:
                shared = learn_frequencies(train, part_a, settings)
                plain = measure(shared, test)
            learn_reranker(train, part_b, shared, settings)
            row |= measure(shared, test)
            ranks = [f"top{rank}" for rank in TOPS if rank >= top]
            row["beyond"] = max((abs(row[rank] - plain[rank]) for rank in ranks), default=0.0)
        yield {**row, "paper": papers.MP_RERANKED.get(top)}


def sizes(
    train: GameArrays,
    test: GameArrays,
    *,
    values: Sequence[int],
    seed: int = 0,
    keep: Path | None = None,
    alpha: float = ALPHA,
) -> Iterator[Row]:
    """Tables III and IV: accuracy by the number of training games, and what the training took.

    With `keep`, the models are written into that folder as paper-GAMES.safetensors.
    """
    train, _ = usable_games(train)
    train_paper(train, PaperSettings(games=2, minimum=1, passes=1))  # compiles before the clock
    for games in values:
        settings = PaperSettings(seed=seed, games=games, alpha=alpha)
        began = time.monotonic(), time.process_time()
        part_a, part_b = halves(train, settings)
        model = learn_frequencies(train, part_a, settings)
        learn_reranker(train, part_b, model, settings)
        row = {
            "games": len(part_a) + len(part_b),
            "seconds": time.monotonic() - began[0],
            "processor_seconds": time.process_time() - began[1],
            "memory_gb": _peak_memory(),
        }
        if keep is not None:
            name = f"paper-{games}"
            estimator(model, settings).save(keep / f"{name}.safetensors", name=name)
        yield {**row, **measure(model, test), "paper": papers.MP_SIZES.get(games)}


def weak_history(
    train: GameArrays, test: GameArrays, *, games: int = 2000, seed: int = 0,
    ranks: Sequence[int] = (0, 1, 5, 20), alpha: float = ALPHA,
) -> Iterator[Row]:  # fmt: skip
    """Section V's worry: the re-ranker is told other earlier moves than the experts'.

    Rank 0 is the experts' own history. Rank k pretends that the earlier moves were what the model
    itself ranked k-th then: first only those of the side to move, as when it plays against an
    expert, then those of both sides. The stones stay the experts'.
    """
    train, _ = usable_games(train)
    settings = PaperSettings(seed=seed, games=games, alpha=alpha)
    part_a, part_b = halves(train, settings)
    model = learn_frequencies(train, part_a, settings)
    learn_reranker(train, part_b, model, settings)
    for rank in ranks:
        for whose, sign in (("own", -1), ("both", 1)) if rank else (("nobody's", 0),):
            model.history_rank = sign * rank
            yield {"history_rank": rank, "replaced": whose, **measure(model, test)}


def families(
    train: GameArrays, test: GameArrays, *, games: int = 2000, share: float = 0.3, seed: int = 0,
    values: Sequence[str] = (),
) -> Iterator[Row]:  # fmt: skip
    """Beyond the paper: train the full recipe without each family of features, by turns."""
    from tengen.learners.move_prediction.ablation import GROUPS

    for name in ("", *(values or GROUPS)):
        settings: dict[str, Any] = {"games": games, "share": share, "seed": seed}
        settings["dictionary_games"] = games
        settings["without"] = (name,) if name else ()
        if name == "network":
            settings |= {"rate_vectors": 0.0, "rate_network": 0.0}
        predictor = MovePredictor(settings=settings).fit(train)
        measured = predictor.evaluate(test)
        yield {
            "without": name or "nothing",
            "positions": measured.positions,
            **{f"top{top}": measured.rate(top) for top in (1, 5, 10, 20)},
            "log_loss": measured.loss / max(measured.positions, 1),
            "interval": list(measured.interval(1)),
        }


def measure(model: PaperModel, test: GameArrays) -> Row:
    """Measure a model at all ranks of the paper's tables."""
    measured = estimator(model).evaluate(test)
    return {
        "positions": measured.positions,
        **{f"top{top}": measured.rate(top) for top in TOPS},
        "interval": list(measured.interval(1)),
        "phases": measured.phases(),
    }


def estimator(model: PaperModel, settings: PaperSettings | None = None) -> MovePredictor:
    """Wrap a trained model of the paper's recipe as the estimator that saves and measures."""
    predictor = MovePredictor(recipe="paper", settings=asdict(settings) if settings else None)
    predictor.model_ = model
    predictor.sizes_ = model.sizes
    return predictor


def _peak_memory() -> float:
    """Return the largest memory this process ever had, in GB; 0 where it cannot be told."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
