"""Rows of the tables of Araki et al. 2007, measured on any games.

A row is a dictionary of plain values with the paper's figure beside ours. Accuracies are fractions;
intervals are at 95 % and treat positions as independent. `lab.sections.move_prediction` shows the
tables.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.errors import TengenError
from tengen.lab import papers
from tengen.learners.move_prediction import MovePredictor, PredictionSettings
from tengen.learners.move_prediction.model import TOPS, PredictionModel
from tengen.learners.move_prediction.training import (
    halves,
    learn_frequencies,
    learn_reranker,
    samples,
    train,
)
from tengen.records.arrays import GameArrays

Row = dict[str, Any]


def hold_out(games: GameArrays, count: int, seed: int) -> tuple[GameArrays, GameArrays]:
    """Hold out `count` games for evaluation; return (the others, those).

    Raises
    ------
    TengenError
        If fewer than two games would be left to train on.
    """
    if len(games) < count + 2:
        raise TengenError(f"{len(games)} games: too few to hold out {count}")
    order = np.random.default_rng([seed, 1]).permutation(len(games))
    return games.take(order[count:]), games.take(order[:count])


class TableRows:
    """Rows of the paper's tables, trained on some games and evaluated on others.

    Rows share what they can: frequencies and samples are computed once, when first needed.
    """

    def __init__(self, train: GameArrays, test: GameArrays, settings: PredictionSettings) -> None:
        self.train, self.test, self.settings = train, test, settings

    def width(self, width: float, *, exact: bool = False) -> Row:
        """Table I: rank-1 accuracy with one width factor.

        With `exact` the re-ranker is fitted to the optimum with all samples in memory (about 20
        per move, 170 bytes each) instead of by passes of FTRL-proximal; `violation` is 0 at the
        optimum.
        """
        extra: Row = {}
        if exact:
            model = replace(self._frequencies, top=self.settings.top)
            features, labels = self._samples
            model.weights, violation = fit_exactly(features, labels, len(model.weights), width)
            extra = {"violation": violation}
        else:
            model = self._reranked(replace(self.settings, width=width))
        row = {"width": width, "features": model.features, **extra, **measure(model, self.test)}
        return {**row, "paper": papers.MP_WIDTHS.get(width)}

    def reranked(self, top: int) -> Row:
        """Table II: cumulative accuracy with this many re-ranked candidates; 0 for none.

        `beyond` is the largest difference that re-ranking makes at ranks from n on. By the paper's
        rule there is none, except that moves of equal frequency share credit.
        """
        settings = replace(self.settings, top=top)
        row: Row = {"top": top, "beyond": None}
        if top == 0:
            part_a, _ = halves(self.train, settings)
            row |= measure(learn_frequencies(self.train, part_a, settings), self.test)
        else:
            row |= measure(self._reranked(settings), self.test)
            ranks = [f"top{rank}" for rank in TOPS if rank >= top]
            row["beyond"] = max((abs(row[rank] - self._plain[rank]) for rank in ranks), default=0.0)
        return {**row, "paper": papers.MP_RERANKED.get(top)}

    def size(self, games: int, keep: Path | None = None) -> Row:
        """Tables III and IV: accuracy by the number of training games, and the cost of training.

        With `keep`, the model is saved in that folder as paper-GAMES.safetensors.
        """
        train(self.train, PredictionSettings(games=2, minimum=1, passes=1))  # compiles
        settings = replace(self.settings, games=games)
        began = time.monotonic(), time.process_time()
        model = train(self.train, settings)
        row = {
            "games": min(games, len(self.train)),
            "seconds": time.monotonic() - began[0],
            "processor_seconds": time.process_time() - began[1],
            "memory_gb": _peak_memory(),
        }
        if keep is not None:
            name = f"paper-{games}"
            MovePredictor.of(model, settings).save(keep / f"{name}.safetensors", name=name)
        return {**row, **measure(model, self.test), "paper": papers.MP_SIZES.get(games)}

    def history(self, rank: int) -> list[Row]:
        """Section V: give the re-ranker other earlier moves than the experts'.

        Rank 0 is the experts' own history. Rank k replaces the earlier moves by those that the
        model itself ranked k-th: first only the moves of the side to move, as when it plays against
        an expert, then those of both sides. The stones stay the experts'.
        """
        rows = []
        for whose, sign in (("own", -1), ("both", 1)) if rank else (("nobody's", 0),):
            model = replace(self._usual, history_rank=sign * rank)
            rows.append({"history_rank": rank, "replaced": whose, **measure(model, self.test)})
        return rows

    @cached_property
    def _frequencies(self) -> PredictionModel:
        """The dictionary and frequencies of half A, without a re-ranker."""
        part_a, _ = halves(self.train, self.settings)
        return learn_frequencies(self.train, part_a, self.settings)

    @cached_property
    def _plain(self) -> Row:
        """The accuracy of the frequencies alone."""
        return measure(self._frequencies, self.test)

    @cached_property
    def _usual(self) -> PredictionModel:
        return self._reranked(self.settings)

    @cached_property
    def _samples(self) -> Any:
        """The samples of the re-ranker, for the exact solver."""
        _, part_b = halves(self.train, self.settings)
        return samples(self.train, replace(self._frequencies, top=self.settings.top), part_b)

    def _reranked(self, settings: PredictionSettings) -> PredictionModel:
        """Return a model with the shared frequencies and a re-ranker of its own."""
        _, part_b = halves(self.train, settings)
        model = replace(self._frequencies)
        learn_reranker(self.train, part_b, model, settings)
        return model


def fit_exactly(
    features: IntArray, labels: IntArray, count: int, width: float, *, limit: int = 300
) -> tuple[FloatArray, float]:
    """Minimise the logistic loss plus `width` times the L1 norm over `count` weights.

    `features` are the active features of each sample, `labels` are 0 or 1. Splits the weights into
    positive and negative parts, which makes the penalty linear, and calls L-BFGS-B. Returns the
    weights and the largest entry of the projected gradient, which is 0 at the optimum.
    """
    from scipy.optimize import Bounds, minimize
    from scipy.sparse import csr_matrix
    from scipy.special import expit

    samples, active = features.shape
    places = np.arange(0, samples * active + 1, active)
    matrix = csr_matrix((np.ones(features.size), features.ravel(), places), (samples, count))

    def objective(parts: FloatArray) -> tuple[float, FloatArray]:
        margin = matrix @ (parts[:count] - parts[count:])
        slope = matrix.T @ (expit(margin) - labels)
        value = np.logaddexp(0, margin).sum() - labels @ margin + width * parts.sum()
        return float(value), np.concatenate([slope + width, width - slope])

    found = minimize(
        objective, np.zeros(2 * count), jac=True, method="L-BFGS-B", bounds=Bounds(0, np.inf),
        options={"maxiter": limit, "maxfun": 3 * limit, "ftol": 0.0, "gtol": 1e-6},
    )  # fmt: skip
    slope = objective(found.x)[1]
    movable = (found.x > 0) | (slope < 0)
    return found.x[:count] - found.x[count:], float(np.abs(slope[movable]).max(initial=0.0))


def measure(model: PredictionModel, test: GameArrays) -> Row:
    """Measure a model at all ranks of the paper's tables."""
    measured = MovePredictor.of(model, PredictionSettings()).evaluate(test)
    return {
        "positions": measured.positions,
        **{f"top{top}": measured.rate(top) for top in TOPS},
        "interval": list(measured.interval(1)),
        "phases": measured.phases(),
    }


def _peak_memory() -> float:
    """Return the largest memory this process ever had, in GB; 0 where unknown."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
