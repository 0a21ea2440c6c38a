"""Foresee during a game which blocks will live and who will own what at its end (van der Werf).

`LifeEvaluator` learns from whole games: the blocks of positions on the way, labelled by who owned
their points when the game was counted. It is an evaluator for any moment of a game; for finished
games there is `BlockScorer`, which counts exactly and knows how sure it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray
from tengen.board import BLACK, Board
from tengen.board.symmetry import inverse, transform
from tengen.errors import TengenError
from tengen.learners.scoring import network
from tengen.learners.scoring.ensemble import Ensemble, shapes, train
from tengen.learners.scoring.features import MANY, Described, describe
from tengen.learners.scoring.frames import standard_frame
from tengen.learners.scoring.learner import BlockScorer
from tengen.learners.scoring.life_data import Owners, Samples, collect, moments, truth
from tengen.learners.scoring.life_features import (
    BLOCK_INPUTS,
    POINT_INPUTS,
    block_inputs,
    point_inputs,
    swapped,
)
from tengen.learners.scoring.settings import LifeSettings
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Card, Measurement, load_model, save_model
from tengen.records import GameArrays

_SCALES = np.geomspace(1.0, 60.0, 60)
_ZERO = np.zeros(0)
KIND = "life"
# Under this name files keep how inputs are scaled; `scale_` is that of win probabilities.
_SCALING = "scaling"
_USUAL = LifeSettings()


@dataclass
class Foresight:
    """What is foreseen of a position, as grids in its own frame."""

    alive: FloatArray
    """Probability of every stone to stand or be owned by its colour at the end; 0 where empty."""
    ownership: FloatArray
    """+1 Black to -1 White, expected at the end."""


class LifeEvaluator:
    """An evaluator learned from games: which blocks will live, who will own which point."""

    def __init__(self, *, settings: LifeSettings = _USUAL) -> None:
        self.settings = settings

    def fit(
        self,
        games: GameArrays,
        scorer: BlockScorer | None = None,
        *,
        tell: Callable[[str], None] = lambda line: None,
        advance: Callable[[int], None] = lambda done: None,
    ) -> Self:
        """Learn from `positions` moments of each game with a counted result.

        The scorer (the shipped one by default) says who owned what at the end; games whose
        recorded score it does not explain are left out. A part of the games is held out to learn
        the scale of win probabilities.
        """
        wanted = self.settings
        if wanted.games is not None and wanted.games < len(games):
            games = games.shuffled(wanted.seed).take(range(wanted.games))
        games = games.where(np.isfinite(games.score))
        owners, believed = truth(games, BlockScorer.load("scorer") if scorer is None else scorer)
        tell(f"{int(believed.sum())} of {len(games)} games are explained by their dead stones")
        if not believed.any():
            raise TengenError("no game has a counted result that its dead stones explain")
        games, owners = games.where(believed), owners[believed]
        rng = np.random.default_rng(wanted.seed)
        unseen = rng.random(len(games)) < wanted.held_out
        samples = collect(games, owners, moments(games, wanted.positions, rng), advance)
        seen = np.array([not unseen[sample.game] for sample in samples.found])
        if not seen.any():
            raise TengenError("too few games: all of them were held out")
        alive = self._fit_blocks(samples, seen, tell)
        self._fit_points(samples, seen, alive, owners, rng, tell)
        self._fit_scale(games, samples, seen, alive)
        self.games_ = len(games)
        self.data_ = f"{len(games)} games with counted results"
        return self

    def _fit_blocks(
        self, samples: Samples, seen: BoolArray, tell: Callable[[str], None]
    ) -> FloatArray:
        """Learn the fate of the seen positions' blocks; return the chances of all to live."""
        mine, clear = samples.rows_of(seen), ~samples.unclear
        use = mine & clear
        target = samples.lives.astype(np.float32)
        weight = np.ones(int(use.sum()), np.float32)
        self.blocks_ = self._train(samples.inputs[use], target[use], weight, self.settings.hidden)
        alive = network.sigmoid(self.blocks_.vote(samples.inputs))
        right = (alive >= 0.5) == samples.lives
        for name, part in (("seen", use), ("held-out", ~mine & clear)):
            if part.any():
                share = right[part].mean()
                tell(f"fate of {int(part.sum())} {name} blocks foreseen: {share:.4f}")
        return alive

    def _fit_points(
        self,
        samples: Samples,
        seen: BoolArray,
        alive: FloatArray,
        owners: Owners,
        rng: np.random.Generator,
        tell: Callable[[str], None],
    ) -> None:
        """Learn who will own the empty points of the seen positions."""
        inputs, owned = [], []
        for sample, taken in zip(samples.found, seen, strict=True):
            empty = np.flatnonzero(sample.described.grid.ravel() == 0)
            if not taken or not len(empty):
                continue
            rows, cols = sample.described.grid.shape
            owner = owners[sample.game, :rows, :cols].ravel().astype(np.float64)
            some = rng.choice(empty, min(self.settings.points, len(empty)), replace=False)
            chances = _per_part(sample.described, alive[sample.rows])
            of_points = point_inputs(sample.described, chances, sample.turn)[some]
            # As often seen by White as by Black: the answer must not lean to either.
            sign = 1 if rng.random() < 0.5 else -1
            inputs.append(of_points if sign > 0 else swapped(of_points))
            owned.append((1 + sign * owner[some]) / 2)
        x, target = np.concatenate(inputs), np.concatenate(owned).astype(np.float32)
        tell(f"{len(x)} points")
        weight = np.ones(len(x), np.float32)
        self.points_ = self._train(x, target, weight, self.settings.point_hidden)

    def _train(
        self, x: NDArray[Any], target: NDArray[Any], weight: NDArray[Any], hidden: int
    ) -> Ensemble:
        seed, wanted = self.settings.seed, self.settings
        return train(
            x, target, weight, seeds=range(seed, seed + wanted.members), hidden=hidden,
            epochs=wanted.epochs, decay=wanted.decay,
        )  # fmt: skip

    def _fit_scale(
        self, games: GameArrays, samples: Samples, seen: BoolArray, alive: FloatArray
    ) -> None:
        """Find the scale that makes values win probabilities, on unseen games where there are."""
        values, wins = [], []
        for sample, taken in zip(samples.found, seen, strict=True):
            if taken and not seen.all():
                continue
            chances = _per_part(sample.described, alive[sample.rows])
            owner = self._owner(sample.described, chances, sample.turn)
            values.append(float(owner.sum()) - float(games.komi[sample.game]))
            wins.append(games.score[sample.game] > 0)
        against = np.where(wins, -1.0, 1.0) * np.array(values)
        losses = [float(np.logaddexp(0.0, against / s).sum()) for s in _SCALES]
        self.scale_ = round(float(_SCALES[int(np.argmin(losses))]), 2)

    @property
    def scale(self) -> float:
        """Return the points that turn even chances into 73 %."""
        return float(self.scale_)

    def _owner(self, described: Described, alive: FloatArray, turn: int) -> FloatArray:
        """Return the expected owner of every point as a grid."""
        inputs = point_inputs(described, alive, turn)
        z = 0.5 * (self.points_.vote(inputs) - self.points_.vote(swapped(inputs)))
        grid = described.grid
        life = 2 * alive[described.part_grid] - 1
        empty = np.tanh(0.5 * z).reshape(grid.shape)
        owner: FloatArray = np.where(grid == 0, empty, np.where(grid == BLACK, life, -life))
        return owner

    def foresee(self, grid: NDArray[np.int8], turn: int) -> Foresight:
        """Say of a position what will live and who will own what, given whose turn it is."""
        frame = standard_frame(np.ascontiguousarray(grid, dtype=np.int8))
        described = describe(frame.grid, MANY)
        blocks, part = described.blocks, described.part_grid
        views: dict[int, tuple[FloatArray, FloatArray]] = {}
        alives, owners = [], []
        # A position that looks the same turned has several ways into its frame: all are asked.
        for element, flipped in frame.ways:
            mover = 3 - turn if flipped else turn
            if mover not in views:
                fates = self.blocks_.vote(block_inputs(described, mover)) if len(blocks) else _ZERO
                chances = _per_part(described, network.sigmoid(fates))
                stones = np.where(frame.grid > 0, chances[part], 0.0)
                views[mover] = stones, self._owner(described, chances, mover)
            alive, owner = (
                transform(view, inverse(element)).astype(np.float64) for view in views[mover]
            )
            alives.append(alive)
            owners.append(-owner if flipped else owner)
        return Foresight(np.mean(alives, axis=0), np.mean(owners, axis=0))

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        flat: FloatArray = self.foresee(board.grid(), board.turn).ownership.ravel()
        return flat

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black by area, komi included, one per board."""
        return np.array([float(self.ownership(b).sum()) - b.white_bonus for b in boards])

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        name: str = "life",
        data: str = "",
        results: Sequence[Measurement] = (),
    ) -> None:
        """Write a safetensors file with its card."""
        card = Card(
            name=name,
            kind=KIND,
            what="Foresees in the middle of a game which blocks will live and who will own what.",
            data=data or self.data_,
            recipe=to_plain(self.settings),
            seed=self.settings.seed,
            results=list(results),
            scale=self.scale_,
        )
        tensors = {
            **self.blocks_.tensors(scale=_SCALING),
            **self.points_.tensors("point_", scale=_SCALING),
        }
        save_model(path, {name: array.astype(np.float32) for name, array in tensors.items()}, card)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        expected = {
            **shapes("", BLOCK_INPUTS, scale=_SCALING),
            **shapes("point_", POINT_INPUTS, scale=_SCALING),
        }
        tensors, card = load_model(path, kind=KIND, expect=expected)
        where = os.fspath(path)
        made = cls(settings=from_recipe(LifeSettings, card.recipe, path))
        made.blocks_ = Ensemble.read(tensors, scale=_SCALING, path=where)
        made.points_ = Ensemble.read(tensors, "point_", scale=_SCALING, path=where)
        made.scale_, made.data_ = card.scale or 1.0, card.data
        return made


def _per_part(described: Described, alive: FloatArray) -> FloatArray:
    """Return the chance to live of every part, given those of the blocks; 1 for empty regions."""
    chances = np.ones(len(described.colour))
    chances[described.blocks] = alive
    return chances
