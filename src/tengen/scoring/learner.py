"""The learned scorer as an estimator: fit to scored games, save, load, find the dead stones.

`BlockScorer` judges the canonical form of a position, so that rotating the board, swapping the
colours or passing does not change the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import BLACK, WHITE, Board, index_of
from tengen.board import counting_kernels as k
from tengen.board.coordinates import N_SYMMETRIES, inverse, transform
from tengen.board.counting import count_board
from tengen.contracts import BlockStatus, ScoreEstimate, Status, Verdict
from tengen.errors import ModelError, TengenError
from tengen.models.params import only_processor
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Card, StoredLearner, Tensors, View
from tengen.records import GameArrays
from tengen.scoring.features import (
    INPUTS,
    BlockTable,
    Described,
    describe,
    describe_games,
    pool,
)
from tengen.scoring.judgement import DOUBTS, Judgement, Safety, judgement_of
from tengen.scoring.network import LIMIT, Ensemble, sigmoid
from tengen.scoring.self_labelling import (
    Evidence,
    LabelledBlocks,
    OnRound,
    fit_safety,
    learn_from_scores,
)
from tengen.scoring.settings import ScorerSettings

_USUAL = ScorerSettings()
_SMALLEST, _LARGEST = 5, 19  # sides of boards on which it may call a count safe
_SWAP = np.array([0, 2, 1], np.int8)
Grid = NDArray[np.int8]


@dataclass(frozen=True)
class Reading:
    """The scorer's answer for a position, as grids."""

    dead: BoolArray
    seki: BoolArray
    alive: FloatArray  # probability that each stone is alive; zero on empty points
    ownership: FloatArray  # +1 Black to -1 White
    safe: bool
    safe_probability: float


class CanonicalPosition:
    """The smallest of a position's eight orientations with and without colours swapped.

    `ways` lists the transformations (element, swapped) that produce it.
    """

    def __init__(self, grid: Grid) -> None:
        forms: dict[tuple[tuple[int, ...], bytes], tuple[Grid, list[tuple[int, bool]]]] = {}
        images = [np.ascontiguousarray(transform(grid, e), np.int8) for e in range(N_SYMMETRIES)]
        for swapped in (False, True):
            for element, image in enumerate(images):
                form = _SWAP[image] if swapped else image
                _, ways = forms.setdefault((form.shape, form.tobytes()), (form, []))
                ways.append((element, swapped))
        self.grid, self.ways = forms[min(forms)]
        self.swapped = self.ways[0][1]

    def back(self, values: NDArray[Any]) -> NDArray[Any]:
        """Transform an array over the canonical points back to the original position."""
        return np.ascontiguousarray(transform(values, inverse(self.ways[0][0])))

    def even_out(self, values: FloatArray) -> FloatArray:
        """Average an array over the symmetries of the position."""
        if len(self.ways) == 1:
            return values
        there = self.ways[0][0]
        turned = [transform(transform(values, inverse(e)), there) for e, _ in self.ways]
        mean: FloatArray = np.mean(np.array(turned, np.float64), axis=0)
        return mean


class BlockScorer(StoredLearner):
    """Find which blocks are alive, dead or in seki, with probabilities; learned from scores."""

    kind = "scoring"
    view = View(
        "Scorer",
        "Learned from final scores alone which stones live and which are dead. Shades say who "
        "owns a point, faint stones are dead.",
        {"": "scorer"}, order=5,
    )  # fmt: skip

    def __init__(self, *, settings: ScorerSettings = _USUAL) -> None:
        self.settings = settings

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        table: BlockTable | None = None,
        *,
        made: Sequence[LabelledBlocks] = (),
        grown: bool = False,
        device: str = "auto",
        on_round: OnRound = lambda row: None,
    ) -> Self:
        """Learn from games with counted results; `table` is `describe_games(games)` if known.

        `made` are further positions with known dead stones; if `grown` the labels of the games grow
        from them instead of from playouts. Networks trained on the other folds
        judge each fold, to learn how often an answer is right; the final ones train on all games.
        """
        only_processor(device)
        fold, rng = self.folds(games)
        described = describe_games(games) if table is None else table
        made_folds = [rng.integers(0, self.settings.folds, len(m.table)) for m in made]
        evidence = Evidence()
        for number in range(self.settings.folds):
            lessons = [
                lesson.take(np.flatnonzero(of != number))
                for lesson, of in zip(made, made_folds, strict=True)
            ]
            part = learn_from_scores(
                described, self.settings, chosen=fold != number, made=lessons, grown=grown,
                on_round=on_round,
            )  # fmt: skip
            unseen = np.flatnonzero(fold == number)
            evidence.add(_size(described), described, part, unseen)
            evidence.add_unfinished(games, part, unseen)
            for lesson, of in zip(made, made_folds, strict=True):
                held_out, kind = np.flatnonzero(of == number), f"made {_size(lesson.table)}"
                evidence.add(kind, lesson.table, part, held_out)
        self.safety_, self.calibration_ = fit_safety(evidence, seed=self.settings.seed)
        on_round(self.calibration_)
        whole = learn_from_scores(
            described, self.settings, made=made, grown=grown, on_round=on_round
        )
        self.networks_, self.history_ = whole.networks, whole.history
        self.games_ = len(described)
        self.data_ = f"{len(described)} games with counted results, scores alone"
        self.made_ = {len(lesson.table.grids[0]): len(lesson.table) for lesson in made}
        return self

    def folds(self, games: GameArrays) -> tuple[IntArray, np.random.Generator]:
        """Draw the fold of every game; return the folds and the generator."""
        if not len(games) or len({*games.rows.tolist(), *games.cols.tolist()}) > 1:
            raise TengenError("training needs games on square boards of one size")
        rng = np.random.default_rng(self.settings.seed)
        fold = rng.integers(0, self.settings.folds, len(games))
        if len(np.unique(fold)) < self.settings.folds:
            raise TengenError(
                f"too few games ({len(games)}): {self.settings.folds} folds are needed to learn "
                "when a count is safe"
            )
        return fold, rng

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        learned = {"history": self.history_, "calibration": self.calibration_}
        return {
            "name": "scorer",
            "what": "Tells which blocks of a finished game are alive, dead or in seki.",
            "data": self.data_,
            "recipe": {**to_plain(self.settings), **learned},
            "seed": self.settings.seed,
        }

    def _tensors(self) -> Tensors:
        tensors = {**self.networks_.tensors(), **self.safety_.votes.tensors("safe_")}
        return {**tensors, "safe_from": np.array([self.safety_.least])}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        if card.recipe.get("cascade"):
            raise ModelError("has a second round of networks, which is gone")
        made = cls(settings=from_recipe(ScorerSettings, card.recipe))
        made.networks_ = Ensemble.read(tensors, INPUTS)
        votes = Ensemble.read(tensors, DOUBTS, "safe_")
        made.safety_ = Safety(votes, float(tensors["safe_from"][0]))
        made.data_ = card.data
        made.history_ = card.recipe.get("history", [])
        made.calibration_ = card.recipe.get("calibration", {})
        return made

    # ----- Use -----

    def logits(self, described: Described) -> FloatArray:
        """Return the logit of being alive per part; empty regions get a large one."""
        blocks, size = described.position.blocks, described.position.size
        out = np.full(len(size), LIMIT)
        if len(blocks):
            votes = self.networks_.vote(np.asfortranarray(described.features[blocks]))
            out[blocks] = pool(votes, size[blocks], described.bond[blocks])
        return out

    def read(self, grid: Grid) -> Reading:
        """Judge a position given as a grid of EMPTY, BLACK, WHITE."""
        form = CanonicalPosition(np.ascontiguousarray(grid, dtype=np.int8))
        described = describe(form.grid)
        logit, part = self.logits(described), described.position.part
        if len(form.ways) > 1:
            even = form.even_out(logit[part])
            for block in described.position.blocks:
                logit[block] = even[part == block].mean()
        found = judgement_of(described, logit)
        chance = float(self.safety_.chances(found.doubts[None, :])[0])
        # No basis for an answer without playouts or without stones of both colours.
        if not described.sound or not ((grid == BLACK).any() and (grid == WHITE).any()):
            chance = 0.0
        # Accuracy was never measured on such boards.
        if min(grid.shape) < _SMALLEST or max(grid.shape) > _LARGEST:
            chance = min(chance, 0.5)
        alive = np.where(form.grid > 0, sigmoid(logit)[part], 0.0)
        owner = form.even_out(_ownership(described, found, alive))
        return Reading(
            dead=form.back(found.dead),
            seki=form.back(found.seki),
            alive=form.back(alive),
            ownership=form.back(-owner if form.swapped else owner),
            safe=self.safety_.trusts(chance),
            safe_probability=chance,
        )

    def status(self, board: Board) -> Verdict:
        """Judge every block (alive, dead or seki, with probability) and whether that is safe."""
        reading = self.read(board.grid())
        blocks = []
        for block in board.blocks():
            at = index_of(block.stones[0], board.rows, board.cols)
            chance, status = float(reading.alive.flat[at]), Status.ALIVE
            if reading.dead.flat[at]:
                chance, status = 1 - chance, Status.DEAD
            elif reading.seki.flat[at]:
                status = Status.SEKI
            blocks.append(BlockStatus(block.stones, block.colour, status, chance))
        ownership: FloatArray = reading.ownership.ravel()
        return Verdict(tuple(blocks), reading.safe, reading.safe_probability, ownership)

    def score(self, board: Board) -> ScoreEstimate:
        """Count the position under its own rules after removing dead stones."""
        reading = self.read(board.grid())
        count = count_board(board, reading.dead)
        return ScoreEstimate(
            count.score, count.black, count.white, reading.ownership.ravel(), reading.safe
        )

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included; meant for late positions."""
        return np.array([float(self.ownership(b).sum()) - b.white_bonus for b in boards])

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        flat: FloatArray = self.read(board.grid()).ownership.ravel()
        return flat


def _size(table: BlockTable) -> str:
    return f"{table.grids.shape[1]}x{table.grids.shape[2]}"


def _ownership(described: Described, found: Judgement, alive: FloatArray) -> FloatArray:
    """Return the owner of each point: living stones and their territory, else the playouts."""
    grid, kinds = described.position.grid, found.kinds
    playouts = described.ownership.reshape(grid.shape)
    colour = np.where(grid == BLACK, 1.0, -1.0)
    owner = np.where(grid > 0, colour * (2 * alive - 1), playouts)
    for kind, sign in ((k.BLACK_TERRITORY, 1.0), (k.WHITE_TERRITORY, -1.0)):
        mine = (kinds == kind) & (grid == 0)
        owner[mine] = np.maximum(sign * playouts[mine], 0.5) * sign
    owner[(kinds == k.DAME) & (grid == 0)] *= 0.5
    return owner
