"""Offer the learned scorer: fit it to scored games, save it, load it, ask it what is dead.

`BlockScorer` judges a position in its standard frame, so turning the board, swapping the colours
or passing changes nothing but the frame. It knows nothing of how the position came about.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import BLACK, Board, index_of
from tengen.board import counting_kernels as k
from tengen.board.counting import count_board
from tengen.contracts.values import BlockStatus, ScoreEstimate, Status, Verdict
from tengen.errors import ModelError, TengenError
from tengen.learners.scoring import network
from tengen.learners.scoring.bootstrap import Labelled, Report, bootstrap
from tengen.learners.scoring.bundle import Bundle, gather
from tengen.learners.scoring.ensemble import Ensemble, shapes
from tengen.learners.scoring.features import Described, columns, describe, pool
from tengen.learners.scoring.frames import standard_frame
from tengen.learners.scoring.judgement import DOUBTS, Judgement, judge
from tengen.learners.scoring.safety import Evidence, Safety, fit_safety
from tengen.learners.scoring.settings import ScorerSettings
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Card, Measurement, load_model, save_model
from tengen.records import GameArrays

KIND = "scoring"
_USUAL = ScorerSettings()
# Sides of boards on which it may call a count safe.
_SMALLEST, _LARGEST = 5, 19


@dataclass(frozen=True)
class Reading:
    """What the scorer sees in a position, as grids in the position's own frame."""

    dead: BoolArray
    seki: BoolArray
    alive: FloatArray
    """Probability of every stone to be alive; zero on empty points."""
    ownership: FloatArray
    """+1 Black to -1 White."""
    safe: bool
    safe_probability: float


class BlockScorer:
    """A scorer learned from scores: which blocks are alive, dead or in seki, and how surely."""

    def __init__(self, *, settings: ScorerSettings = _USUAL) -> None:
        self.settings = settings

    # ----- Learning -----

    def fit(
        self,
        games: GameArrays,
        bundle: Bundle | None = None,
        *,
        made: Sequence[Labelled] = (),
        report: Report = lambda row: None,
    ) -> Self:
        """Learn from games with counted results; `bundle` is `gather(games)` where it exists.

        `made` are positions with known dead stones, of any size, to learn from as well. First each
        fold of all games is judged by networks that learned from the others: from that it is
        learned how often the answer is right. Then all of them teach the scorer that is kept.
        `report` hears of every round.
        """
        fold, rng = self.folds(games)
        described = gather(games) if bundle is None else bundle
        made_folds = [rng.integers(0, self.settings.folds, len(m.bundle)) for m in made]
        evidence = Evidence()
        for number in range(self.settings.folds):
            lessons = [
                lesson.take(np.flatnonzero(of != number))
                for lesson, of in zip(made, made_folds, strict=True)
            ]
            part = bootstrap(
                described, self.settings, chosen=fold != number, made=lessons, report=report
            )
            evidence.add_games(games, described, part, np.flatnonzero(fold == number))
            for lesson, of in zip(made, made_folds, strict=True):
                evidence.add_made(lesson.bundle, part, np.flatnonzero(of == number))
        self.safety_, self.calibration_ = fit_safety(evidence, seed=self.settings.seed)
        report(self.calibration_)
        whole = bootstrap(described, self.settings, made=made, report=report)
        self.columns_, self.networks_ = whole.columns, whole.first
        self.history_ = whole.history
        self.games_ = len(described)
        self.data_ = f"{len(described)} games with counted results, scores alone"
        self.made_ = {len(lesson.bundle.grids[0]): len(lesson.bundle) for lesson in made}
        return self

    def folds(self, games: GameArrays) -> tuple[IntArray, np.random.Generator]:
        """Draw the fold of every game; also return the generator.

        Raises
        ------
        TengenError
            If the games are too few for that, or not of one square size.
        """
        if not len(games) or len({*games.rows.tolist(), *games.cols.tolist()}) > 1:
            raise TengenError("training needs games on square boards of one size")
        rng = np.random.default_rng(self.settings.seed)
        fold = rng.integers(0, self.settings.folds, len(games))
        if len(np.unique(fold)) < self.settings.folds:
            raise TengenError(
                f"too few games ({len(games)}): {self.settings.folds} parts of them are needed to "
                "learn when a count is safe"
            )
        return fold, rng

    # ----- Files -----

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "scorer",
        data: str = "",
        results: Sequence[Measurement] = (),
    ) -> None:
        """Write a safetensors file with its card."""
        card = Card(
            name=name,
            kind=KIND,
            what="Says which blocks of a finished game are alive, dead or in seki, on any board.",
            data=data or self.data_,
            recipe={
                **to_plain(self.settings),
                "history": self.history_,
                "calibration": self.calibration_,
            },
            seed=self.settings.seed,
            results=list(results),
        )
        tensors = {**self.networks_.tensors(), **self.safety_.votes.tensors("safe_")}
        save_model(path, {**tensors, "safe_from": np.array([self.safety_.least])}, card)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else.

        A card that names no families is that of an older model, which knows all of them.
        """
        expected = {**shapes(), **shapes("safe_", DOUBTS), "safe_from": (1,)}
        tensors, card = load_model(path, kind=KIND, expect=expected)
        where = os.fspath(path)
        if card.recipe.get("cascade"):
            raise ModelError(f"{where}: was trained with a second round, which is no longer known")
        settings = from_recipe(ScorerSettings, card.recipe, path)
        made = cls(settings=settings)
        made.columns_ = columns(settings.families)
        made.networks_ = Ensemble.read(tensors, path=where)
        votes = Ensemble.read(tensors, "safe_", path=where)
        made.safety_ = Safety(votes, float(tensors["safe_from"][0]))
        if made.networks_.inputs != len(made.columns_):
            raise ModelError(f"{where}: its tensors do not fit the families its card names")
        made.data_ = card.data
        made.history_ = card.recipe.get("history", [])
        made.calibration_ = card.recipe.get("calibration", {})
        return made

    # ----- Use -----

    def logits(self, described: Described) -> FloatArray:
        """Return every part's logit of being alive; empty regions get a large one."""
        blocks = described.blocks
        out = np.full(len(described.colour), network.LIMIT)
        if len(blocks):
            votes = self.networks_.vote(described.features[blocks][:, self.columns_])
            out[blocks] = pool(votes, described.size[blocks], described.bond[blocks])
        return out

    def read(self, grid: NDArray[np.int8]) -> Reading:
        """Judge a position given as a grid of EMPTY, BLACK, WHITE."""
        frame = standard_frame(np.ascontiguousarray(grid, dtype=np.int8))
        described = describe(frame.grid)
        logit = self.logits(described)
        part = described.part_grid
        if len(frame.ways) > 1:
            even = frame.even_out(logit[part])
            for block in described.blocks:
                logit[block] = even[part == block].mean()
        found = judge(described, logit)
        chance = self.safety_.chance(found.doubts)
        # Without stones of both colours, or where nothing could be played out, nobody can know.
        colours = np.bincount(frame.grid.ravel(), minlength=3)
        if not described.sound or min(colours[1], colours[2]) == 0:
            chance = 0.0
        # It was never tried on such boards.
        if min(grid.shape) < _SMALLEST or max(grid.shape) > _LARGEST:
            chance = min(chance, 0.5)
        sign = -1.0 if frame.swapped else 1.0
        seki = (found.kinds >= k.BLACK_SEKI_STONE) & (found.kinds <= k.WHITE_SEKI_STONE)
        alive = np.where(frame.grid > 0, network.sigmoid(logit)[part], 0.0)
        owner = sign * frame.even_out(_ownership(described, found, alive))
        return Reading(
            dead=frame.back(found.dead).astype(np.bool_),
            seki=frame.back(seki).astype(np.bool_),
            alive=frame.back(alive).astype(np.float64),
            ownership=frame.back(owner).astype(np.float64),
            safe=self.safety_.trusts(chance),
            safe_probability=chance,
        )

    def status(self, board: Board) -> Verdict:
        """Judge every block: alive, dead or seki, with probability; and whether it is safe."""
        reading = self.read(board.grid())
        blocks = []
        for block in board.blocks():
            at = index_of(block.stones[0], board.rows, board.cols)
            alive = float(reading.alive.flat[at])
            if reading.dead.flat[at]:
                blocks.append(BlockStatus(block.stones, block.colour, Status.DEAD, 1 - alive))
            else:
                status = Status.SEKI if reading.seki.flat[at] else Status.ALIVE
                blocks.append(BlockStatus(block.stones, block.colour, status, alive))
        ownership: FloatArray = reading.ownership.ravel()
        return Verdict(tuple(blocks), reading.safe, reading.safe_probability, ownership)

    def score(self, board: Board) -> ScoreEstimate:
        """Count the position under its own rules after taking off what is dead."""
        reading = self.read(board.grid())
        count = count_board(board, reading.dead)
        return ScoreEstimate(
            count.score, count.black, count.white, reading.ownership.ravel(), reading.safe
        )

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included: who owns what, by chance.

        Meant for positions late in a game; an open board is worth little more than its komi.
        """
        return np.array([float(self.ownership(b).sum()) - b.white_bonus for b in boards])

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        flat: FloatArray = self.read(board.grid()).ownership.ravel()
        return flat


def _ownership(described: Described, found: Judgement, alive: FloatArray) -> FloatArray:
    """Return who owns each point: living stones and what they enclose, else what playouts say."""
    grid, kinds = described.grid, found.kinds
    playouts = described.ownership.reshape(grid.shape)
    colour = np.where(grid == BLACK, 1.0, np.where(grid > 0, -1.0, 0.0))
    owner = np.where(grid > 0, colour * (2 * alive - 1), playouts)
    for kind, sign in ((k.BLACK_TERRITORY, 1.0), (k.WHITE_TERRITORY, -1.0)):
        mine = (kinds == kind) & (grid == 0)
        owner[mine] = np.maximum(sign * playouts[mine], 0.5) * sign
    owner[(kinds == k.DAME) & (grid == 0)] *= 0.5
    return owner
