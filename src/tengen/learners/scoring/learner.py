"""Offer the learned scorer: fit it to scored games, save it, load it, ask it what is dead.

`BlockScorer` judges a position in its standard frame, so turning the board, swapping the colours
or passing changes nothing but the frame. It knows nothing of how the position came about.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, Board, index_of
from tengen.board import counting_kernels as k
from tengen.board.counting import Count, count_area, count_territory, handicap_compensation
from tengen.contracts.values import BlockStatus, FloatArray, ScoreEstimate, Status, Verdict
from tengen.errors import ModelError, TengenError
from tengen.learners.scoring import network
from tengen.learners.scoring.bundle import Bundle, gather, restore
from tengen.learners.scoring.ensemble import Ensemble, shapes
from tengen.learners.scoring.features import FAMILIES, Described, columns, describe, pool
from tengen.learners.scoring.frames import standard_frame
from tengen.learners.scoring.judgement import DOUBTS, Judgement, judge
from tengen.learners.scoring.network import Scaling
from tengen.learners.scoring.training import Labelled, Recipe, bootstrap
from tengen.models.cards import Card, Measurement
from tengen.models.store import load_model, save_model
from tengen.records import GameArrays

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

KIND = "scoring"
# What a card must tell; the families of features came later.
SETTINGS = ("hidden", "members", "epochs", "decay", "rounds", "held_out", "seed")
# Share of unseen finished games that should be called safe; the rest are the most doubtful.
SAFE_SHARE = 0.885
# Share of made games kept back for that: they alone tell how sure counts look on small boards.
MADE_HELD_OUT = 0.5
# How much of their moves games are cut to, to learn what an unfinished game looks like.
UNFINISHED = (0.4, 0.65, 0.85)
# Sides of boards on which it may call a count safe.
SMALLEST, LARGEST = 5, 19


@dataclass(frozen=True)
class Reading:
    """What the scorer sees in a position, as grids in the position's own frame."""

    dead: Bools
    seki: Bools
    alive: Floats
    """Probability of every stone to be alive; zero on empty points."""
    ownership: Floats
    """+1 Black to -1 White."""
    safe: bool
    safe_probability: float


class BlockScorer:
    """A scorer learned from scores: which blocks are alive, dead or in seki, and how surely."""

    def __init__(
        self,
        *,
        hidden: int = 16,
        members: int = 4,
        epochs: int = 100,
        decay: float = 1e-4,
        rounds: int = 3,
        held_out: float = 0.18,
        families: Sequence[str] = tuple(FAMILIES),
        seed: int = 0,
    ) -> None:
        self.hidden, self.members, self.epochs = hidden, members, epochs
        self.decay, self.rounds, self.held_out, self.seed = decay, rounds, held_out, seed
        self.families = tuple(families)

    def fit(
        self,
        games: GameArrays,
        bundle: Bundle | None = None,
        *,
        made: Sequence[Labelled] = (),
        tell: Callable[[str], None] = lambda line: None,
    ) -> Self:
        """Learn from games with counted results; `bundle` is `gather(games)` where it exists.

        `made` are positions with known dead stones, of any size, to learn from as well. First a
        part of the games is held out, to learn from it how often the answer is right; then all of
        them teach the scorer that is kept.
        """
        described = gather(games) if bundle is None else bundle
        recipe = self.recipe()
        rng = np.random.default_rng(self.seed)
        unseen = rng.random(len(described)) < self.held_out
        if not unseen.any() or unseen.all():
            raise TengenError(
                f"too few games ({len(described)}): {int(unseen.sum())} of them would be held "
                "out to learn when a count is safe"
            )
        kept_back = [rng.random(len(lesson.bundle)) < MADE_HELD_OUT for lesson in made]
        pairs = list(zip(made, kept_back, strict=True))
        lessons = [lesson.take(np.flatnonzero(~back)) for lesson, back in pairs]
        tests = [lesson.take(np.flatnonzero(back)) for lesson, back in pairs]
        part = bootstrap(described, recipe, chosen=~unseen, made=lessons, tell=tell)
        self.columns_, self.first_ = part.columns, part.first
        self._fit_safety(games, described, np.flatnonzero(unseen), tests, tell)
        whole = bootstrap(described, recipe, made=made, tell=tell)
        self.first_ = whole.first
        self.history_ = whole.history
        self.games_ = len(described)
        return self

    def recipe(self) -> Recipe:
        """Return the settings of its training."""
        return Recipe(
            self.hidden, self.members, self.epochs, self.decay, self.rounds, self.seed,
            self.families,
        )  # fmt: skip

    def _fit_safety(
        self,
        games: GameArrays,
        bundle: Bundle,
        unseen: NDArray[np.int64],
        made: Sequence[Labelled],
        tell: Callable[[str], None],
    ) -> None:
        """Learn from unseen games, made ones too, and unfinished ones, when to trust a count."""
        doubts, right = self._doubts(bundle, unseen)
        tell(f"exact on {len(unseen)} held-out games: {np.mean(right):.4f}")
        finished = np.array(doubts)
        right_ones = np.array(right)
        for lesson in made:
            more, also_right = self._doubts(lesson.bundle, np.arange(len(lesson.bundle)))
            doubts += more
            right += also_right
        counted = len(doubts)
        some = unseen[:: max(1, len(unseen) // 120)]
        for share in UNFINISHED:
            cut = gather(games.take(some), share)
            for game in range(len(cut)):
                position = restore(cut, game)
                doubts.append(judge(position, self.logits(position)).doubts)
                right.append(False)
        inputs = np.array(doubts)
        scaling = Scaling.of(inputs)
        members = [
            network.train(
                scaling.apply(inputs), np.array(right, np.float64), np.ones(len(right)),
                hidden=4, epochs=60, decay=1e-3, seed=self.seed + i,
            )[0]
            for i in range(4)
        ]  # fmt: skip
        self.safety_ = Ensemble.of(scaling, members)
        chances = np.array([self._chance(d) for d in finished])
        threshold = float(np.quantile(chances, 1 - SAFE_SHARE))
        self.safe_from_ = np.array([threshold])
        called = chances >= threshold
        cut_called = np.mean([self._chance(d) >= threshold for d in inputs[counted:]])
        tell(
            f"safe from {threshold:.3f}: {called.mean():.3f} of finished games, right in "
            f"{right_ones[called].mean():.4f}; {cut_called:.3f} of unfinished ones"
        )
        self.calibration_ = {
            "held_out_games": len(unseen),
            "held_out_exact": float(right_ones.mean()),
            "held_out_exact_when_safe": float(right_ones[called].mean()),
            "unfinished_called_safe": float(cut_called),
        }

    def _doubts(self, bundle: Bundle, games: NDArray[np.int64]) -> tuple[list[Floats], list[bool]]:
        """Return the doubts about some games' counts, and whether these are right."""
        doubts, right = [], []
        for game in games:
            position = restore(bundle, int(game))
            found = judge(position, self.logits(position))
            margin = k.territory_margin(
                position.grid, found.dead, True, np.zeros(position.grid.shape, np.int8)
            )
            doubts.append(found.doubts)
            right.append(bool(margin == bundle.target[game]))
        return doubts, right

    def logits(self, described: Described) -> Floats:
        """Return every part's logit of being alive; empty regions get a large one."""
        blocks = described.blocks
        out = np.full(len(described.colour), network.LIMIT)
        if len(blocks):
            x = described.features[blocks][:, self.columns_]
            out[blocks] = pool(self.first_.vote(x), described.size[blocks], described.bond[blocks])
        return out

    def _chance(self, doubts: Floats) -> float:
        """Return the probability that the count is right."""
        return float(network.sigmoid(self.safety_.vote(doubts[None, :]))[0])

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
        chance = self._chance(found.doubts)
        # Without stones of both colours, or where nothing could be played out, nobody can know.
        colours = np.bincount(frame.grid.ravel(), minlength=3)
        if not described.sound or min(colours[1], colours[2]) == 0:
            chance = 0.0
        # It was never tried on such boards.
        if min(grid.shape) < SMALLEST or max(grid.shape) > LARGEST:
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
            safe=bool(chance > 0.5 and chance >= self.safe_from_[0]),
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
        return np.array([float(self.ownership(b).sum()) - b.komi for b in boards])

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        flat: FloatArray = self.read(board.grid()).ownership.ravel()
        return flat

    def settings(self) -> dict[str, Any]:
        """Return the arguments it was made with."""
        made = {name: getattr(self, name) for name in SETTINGS}
        return {**made, "families": list(self.families)}

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
            data=data or f"{getattr(self, 'games_', 0)} games with counted results, scores alone",
            recipe={
                **self.settings(),
                "history": getattr(self, "history_", []),
                "calibration": getattr(self, "calibration_", {}),
            },
            seed=self.seed,
            results=list(results),
        )
        tensors = {**self.first_.tensors(), **self.safety_.tensors("safe_")}
        save_model(path, {**tensors, "safe_from": self.safe_from_}, card)

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
        try:
            made = cls(
                **{name: card.recipe[name] for name in SETTINGS},
                families=card.recipe.get("families", tuple(FAMILIES)),
            )
            made.columns_ = columns(made.families)
        except KeyError as missing:
            raise ModelError(f"{where}: lacks {missing}") from None
        except TengenError as wrong:
            raise ModelError(f"{where}: {wrong}") from None
        made.first_ = Ensemble.read(tensors, path=where)
        made.safety_ = Ensemble.read(tensors, "safe_", path=where)
        made.safe_from_ = tensors["safe_from"].astype(np.float64)
        if made.first_.inputs != len(made.columns_):
            raise ModelError(f"{where}: its tensors do not fit the families its card names")
        made.history_ = card.recipe.get("history", [])
        made.calibration_ = card.recipe.get("calibration", {})
        return made


def _ownership(described: Described, found: Judgement, alive: Floats) -> Floats:
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


def count_board(board: Board, dead: Bools) -> Count:
    """Count a position under its rules, given the mask of its dead stones."""
    bonus = handicap_compensation(board.handicap, board.rules.handicap_bonus)
    if board.rules.scoring == "area":
        return count_area(board.grid(), dead, komi=board.komi, handicap=bonus)
    return count_territory(board.grid(), dead, komi=board.komi, prisoners=board.prisoners)
