"""Measure the rows of the tables of Araki et al. 2007 on any games, and of tables beyond them.

A row is a dictionary of plain values with the paper's figure beside ours. Accuracies are fractions;
intervals are at 95 % and take positions as independent. How tables are shown is in
`lab.sections.move_prediction`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tengen.errors import TengenError
from tengen.lab import papers
from tengen.learners.move_prediction import FullSettings, MovePredictor, PaperSettings
from tengen.learners.move_prediction.evaluation import TOPS
from tengen.learners.move_prediction.maxent import solve
from tengen.learners.move_prediction.paper_model import PaperModel
from tengen.learners.move_prediction.paper_training import (
    halves,
    learn_frequencies,
    learn_reranker,
    samples,
    train_paper,
)
from tengen.records.arrays import GameArrays

_Row = dict[str, Any]


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


class PaperTables:
    """Rows of the paper's tables, trained on some games and measured on others.

    What rows share is learned once, when the first of them asks for it.
    """

    def __init__(self, train: GameArrays, test: GameArrays, settings: PaperSettings) -> None:
        self.train, self.test, self.settings = train, test, settings

    def width(self, width: float, *, exact: bool = False) -> _Row:
        """Table I: rank-1 accuracy with one width factor.

        With `exact` the optimum is sought by OWL-QN, which holds all samples (90 bytes each, some
        20 a move) in memory, instead of by passes of FTRL-proximal; `violation` tells how far off
        it is.
        """
        told: _Row = {}
        if exact:
            model = replace(self._frequencies, top=self.settings.top)
            features, labels = self._samples
            found = solve(features, labels, len(model.weights), width, tolerance=0.1, limit=300)
            model.weights = found.weights
            told = {"iterations": found.iterations, "violation": found.violation}
        else:
            model = self._reranked(replace(self.settings, width=width))
        row = {"width": width, "features": model.features, **told, **measure(model, self.test)}
        return {**row, "paper": papers.MP_WIDTHS.get(width)}

    def reranked(self, top: int) -> _Row:
        """Table II: cumulative accuracy with so many re-ranked candidates; 0 for none.

        `beyond` is the largest difference that re-ranking makes at ranks from n on: by the paper's
        rule none, but for ties by frequency, which share credit.
        """
        settings = replace(self.settings, top=top)
        row: _Row = {"top": top, "beyond": None}
        if top == 0:
            part_a, _ = halves(self.train, settings)
            row |= measure(learn_frequencies(self.train, part_a, settings), self.test)
        else:
            row |= measure(self._reranked(settings), self.test)
            ranks = [f"top{rank}" for rank in TOPS if rank >= top]
            row["beyond"] = max((abs(row[rank] - self._plain[rank]) for rank in ranks), default=0.0)
        return {**row, "paper": papers.MP_RERANKED.get(top)}

    def size(self, games: int, keep: Path | None = None) -> _Row:
        """Tables III and IV: accuracy after so many training games, and what the training took.

        With `keep`, the model is written into that folder as paper-GAMES.safetensors.
        """
        train_paper(self.train, PaperSettings(games=2, minimum=1, passes=1))  # compiles
        settings = replace(self.settings, games=games)
        began = time.monotonic(), time.process_time()
        model = train_paper(self.train, settings)
        row = {
            "games": min(games, len(self.train)),
            "seconds": time.monotonic() - began[0],
            "processor_seconds": time.process_time() - began[1],
            "memory_gb": _peak_memory(),
        }
        if keep is not None:
            name = f"paper-{games}"
            _estimator(model, settings).save(keep / f"{name}.safetensors", name=name)
        return {**row, **measure(model, self.test), "paper": papers.MP_SIZES.get(games)}

    def history(self, rank: int) -> list[_Row]:
        """Section V's worry: the re-ranker is told other earlier moves than the experts'.

        Rank 0 is the experts' own history. Rank k pretends that the earlier moves were what the
        model itself ranked k-th then: first only those of the side to move, as when it plays
        against an expert, then those of both sides. The stones stay the experts'.
        """
        rows = []
        for whose, sign in (("own", -1), ("both", 1)) if rank else (("nobody's", 0),):
            model = replace(self._usual, history_rank=sign * rank)
            rows.append({"history_rank": rank, "replaced": whose, **measure(model, self.test)})
        return rows

    @cached_property
    def _frequencies(self) -> PaperModel:
        """The dictionary and frequencies of half A, without a re-ranker."""
        part_a, _ = halves(self.train, self.settings)
        return learn_frequencies(self.train, part_a, self.settings)

    @cached_property
    def _plain(self) -> _Row:
        """What the frequencies alone foresee."""
        return measure(self._frequencies, self.test)

    @cached_property
    def _usual(self) -> PaperModel:
        return self._reranked(self.settings)

    @cached_property
    def _samples(self) -> Any:
        """What the re-ranker learns from, for the exact solver."""
        _, part_b = halves(self.train, self.settings)
        return samples(self.train, replace(self._frequencies, top=self.settings.top), part_b)

    def _reranked(self, settings: PaperSettings) -> PaperModel:
        """Return a model with the shared frequencies and a re-ranker of its own."""
        _, part_b = halves(self.train, settings)
        model = replace(self._frequencies)
        learn_reranker(self.train, part_b, model, settings)
        return model


def without_family(
    train: GameArrays, test: GameArrays, settings: FullSettings, family: str = ""
) -> _Row:
    """Beyond the paper: train the full recipe without one family of features, or with all."""
    if family:
        settings = replace(settings, without=(family,))
    if family == "network":
        settings = replace(settings, rate_vectors=0.0, rate_network=0.0)
    measured = MovePredictor(settings=settings).fit(train).evaluate(test)
    return {
        "without": family or "nothing",
        "positions": measured.positions,
        **{f"top{top}": measured.rate(top) for top in (1, 5, 10, 20)},
        "log_loss": measured.loss / max(measured.positions, 1),
        "interval": list(measured.interval(1)),
    }


def measure(model: PaperModel, test: GameArrays) -> _Row:
    """Measure a model at all ranks of the paper's tables."""
    measured = _estimator(model, PaperSettings()).evaluate(test)
    return {
        "positions": measured.positions,
        **{f"top{top}": measured.rate(top) for top in TOPS},
        "interval": list(measured.interval(1)),
        "phases": measured.phases(),
    }


def _estimator(model: PaperModel, settings: PaperSettings) -> MovePredictor:
    """Wrap a trained model as the estimator that saves and measures."""
    return MovePredictor.of(model, settings, model.sizes)


def _peak_memory() -> float:
    """Return the largest memory this process ever had, in GB; 0 where it cannot be told."""
    try:
        import resource
    except ImportError:  # not on Windows
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
