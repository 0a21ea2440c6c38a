"""The paper's classifiers as models: their files, and what they say of a position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, index_of
from tengen.contracts import BlockStatus, Status, Verdict
from tengen.models import Card, StoredLearner
from tengen.models.params import only_processor
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Tensors
from tengen.papers.scoring_failure.games import PaperGames, Scaling, described, paper_games
from tengen.papers.scoring_failure.network import VERSIONS, Trained, train
from tengen.papers.scoring_failure.settings import ClassifierSettings
from tengen.records import GameArrays
from tengen.scoring import BlockScorer
from tengen.scoring.features import Parts

_DEFAULTS = ClassifierSettings()
_LEAST_DEVIATION = 1e-9  # half precision stores it as 0


class ScoreClassifier(StoredLearner):
    """One of the classifiers of Burzillo's paper, or the repaired one."""

    kind = "scoring-classifier"
    trained_: Trained

    def __init__(self, *, settings: ClassifierSettings = _DEFAULTS) -> None:
        self.settings = settings

    def fit(self, games: GameArrays | PaperGames, *, device: str = "auto") -> Self:
        """Learn from the scores of finished games."""
        only_processor(device)
        settings, version = self.settings, VERSIONS[self.settings.classifier]
        if isinstance(games, GameArrays):
            scorer = BlockScorer.load("scorer") if version.checked else None
            games = paper_games(games, scorer)
        self.trained_ = train(
            games, version, steps=settings.steps, passes=settings.passes, seed=settings.seed
        )
        return self

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the predicted scores for Black; there is no limit to them."""
        return -self._predict(boards)[0]

    def status(self, board: Board) -> Verdict:
        """Return which blocks it takes for dead; it knows neither seki nor doubt."""
        _, dead = self._predict([board])
        position = Parts(np.ascontiguousarray(board.grid(), np.int8))
        dead_parts = np.zeros(len(position.size), np.bool_)
        dead_parts[position.blocks] = dead
        cells = dead_parts[position.part].ravel()
        blocks = []
        for block in board.blocks():
            lost = cells[index_of(block.stones[0], board.rows, board.cols)]
            status = Status.DEAD if lost else Status.ALIVE
            blocks.append(BlockStatus(block.stones, block.colour, status, 1.0))
        return Verdict(tuple(blocks), safe=False)

    def _predict(self, boards: Sequence[Board]) -> tuple[FloatArray, Any]:
        grids = [np.ascontiguousarray(board.grid(), np.int8) for board in boards]
        offsets = [board.komi - board.prisoners[0] + board.prisoners[1] for board in boards]
        games = described(grids, np.array(offsets, np.float64), np.zeros(len(boards)))
        return self.trained_.predict(games)

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        recipe, seed = to_plain(self.settings), self.settings.seed
        what = "One of the classifiers of Burzillo's paper."
        return {"what": what, "recipe": recipe, "seed": seed}

    def _tensors(self) -> Tensors:
        trained = self.trained_
        tensors = {f"parameter_{n}": array for n, array in enumerate(trained.parameters)}
        if trained.scaling is not None:
            tensors |= {"mean": trained.scaling.mean, "deviation": trained.scaling.deviation}
        return tensors

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        made = cls(settings=from_recipe(ClassifierSettings, card.recipe))
        count = sum(name.startswith("parameter_") for name in tensors)
        full = {name: array.astype(np.float64) for name, array in tensors.items()}
        scaling = None
        if "mean" in full:
            scaling = Scaling(full["mean"], np.maximum(full["deviation"], _LEAST_DEVIATION))
        parameters = [full[f"parameter_{n}"] for n in range(count)]
        made.trained_ = Trained(VERSIONS[made.settings.classifier], parameters, [], scaling)
        return made
