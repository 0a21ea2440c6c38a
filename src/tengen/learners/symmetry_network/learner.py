"""Offer the network as an estimator: fit by self-play, judge positions, save and load.

Values and maps are turned to Black's view at this edge; inside, everything is White's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.board.layout_kernels import BLACK, WHITE
from tengen.errors import ModelError, SpecError
from tengen.learners.symmetry_network.evaluation_kernels import (
    HIDDEN,
    Net,
    Side,
    make_view,
    make_work,
)
from tengen.learners.symmetry_network.features import (
    EXCHANGED_OUTPUTS,
    EXCHANGED_SIGNS,
    OUTPUTS,
)
from tengen.learners.symmetry_network.game_kernels import rate_moves, settle
from tengen.learners.symmetry_network.network import Architecture
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.rewards import value_table
from tengen.learners.symmetry_network.settings import SymmetrySettings
from tengen.learners.symmetry_network.training import SelfPlay, SelfPlayReport
from tengen.learners.symmetry_network.wide import WideNetwork, WidePosition
from tengen.models import Card, load_model, save_model
from tengen.models.runs import Run

if TYPE_CHECKING:
    from tengen.board import Board


KIND = "symmetry-network"

# Points that move the win probability by one unit of its logistic; 5.6 and 6.2 fitted best on
# self-play of the two shipped networks.
_SCALE = 6.0

# Rounds of evaluation and categories for a position whose past is not known.
_SETTLING = 4


class SymmetryNetwork:
    """An internal symmetry network (Blair 2008), the paper's unless settings say otherwise.

    Parameters
    ----------
    settings
        What and how to learn; the paper's by default, see `SymmetrySettings`.
    workers
        Threads for self-play; never changes the result.

    `free_` are the learned numbers, `games_` how many games they were learned from.
    """

    scale: float = _SCALE
    """Points that turn even chances into 73 %; a file's card may say otherwise."""

    def __init__(self, *, settings: SymmetrySettings | None = None, workers: int = 1) -> None:
        self.settings = settings
        self.workers = workers

    # ----- Learning -----

    def fit(
        self,
        *,
        games: int | None = None,
        run: Run[SymmetrySettings] | None = None,
        watch: Callable[[SelfPlayReport], None] = lambda _: None,
    ) -> Self:
        """Learn from scratch by self-play; `games` overrides the settings' number.

        In a `run` (see `training.open_run`) it goes on where that stands, and keeps snapshots.
        """
        training = SelfPlay(self._chosen, workers=self.workers)

        def keep(so_far: SelfPlay, path: Path) -> None:
            type(self).from_free(so_far.free, so_far.settings, so_far.done).save(path)

        training.train(until=games, run=run, keep=keep, watch=watch)
        for name in ("_nets", "wide"):
            self.__dict__.pop(name, None)
        self.free_, self.games_ = training.free.copy(), training.done
        return self

    @classmethod
    def from_free(
        cls, free: FloatArray, settings: SymmetrySettings | None = None, games: int = 0
    ) -> Self:
        """Make a network from free numbers, without learning."""
        self = cls(settings=settings)
        counts = dict(self._chosen.mixture).values()
        units = self._chosen.layers * sum(max(count, 0) for count in counts)
        if units > free.size:  # told before a card that lies makes us build so large a network
            raise SpecError(f"{units} hidden units, but {free.size} free numbers")
        size = self._chosen.architecture.size
        if free.shape != (size,):
            raise SpecError(f"{free.shape} free numbers, not ({size},)")
        self.free_, self.games_ = free.astype(np.float64), games
        return self

    # ----- Judging -----

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected area score for Black, komi included, one per board.

        The past of a board is not asked: evaluation and categories are repeated until they fit
        each other. A stone counts by the likelihood that it lives, an empty point by who gets it.
        """
        table = self._area_table
        out = np.empty(len(boards))
        for i, board in enumerate(boards):
            if self.wide is not None:
                value, _ = self._seen(board, 3 - board.turn).value(table)
                out[i] = (value if board.turn == WHITE else -value) - board.white_bonus
                continue
            view, work = _scratch(board)
            net = self._net_after(3 - board.turn)
            total = settle(board.state, net, self.cats, table, view, work, _SETTLING)
            out[i] = -total - board.white_bonus
        return out

    def ownership(self, board: Board) -> FloatArray:
        """Return for every point +1 (surely Black's) to -1 (surely White's), row-major."""
        outputs = self.outputs(board)
        grid = board.grid().reshape(-1)
        chosen = np.array([0, 2, 1])[grid]
        return np.asarray(1 - 2 * outputs[np.arange(len(grid)), chosen], dtype=np.float64)

    def outputs(self, board: Board) -> FloatArray:
        """Return the seven outputs of every point, (rows x columns, 7), as named in OUTPUTS."""
        if self.wide is not None:
            found = self._seen(board, 3 - board.turn).outputs
            if board.turn == WHITE:  # Black has moved and was seen as White
                signs = np.array(EXCHANGED_SIGNS)
                found = found[:, list(EXCHANGED_OUTPUTS)] * signs + (signs < 0)
        else:
            view, work = _scratch(board)
            net = self._net_after(3 - board.turn)
            settle(board.state, net, self.cats, self.table, view, work, _SETTLING)
            found = view.out
        inside = found[:-1].reshape(board.rows + 2, board.cols + 1, -1)[1:-1, 1:]
        return np.asarray(inside.reshape(board.rows * board.cols, -1)[:, :7], dtype=np.float64)

    def heat_maps(self, board: Board) -> dict[str, FloatArray]:
        """Return seven maps (rows x columns) by the names of the outputs; nan where one is mute."""
        outputs = self.outputs(board)
        grid = board.grid().reshape(-1)
        speaks = {0: (0, 3, 4), 1: (2, 6), 2: (1, 5)}
        maps = {}
        for k, name in enumerate(OUTPUTS):
            mute = np.array([k not in speaks[int(c)] for c in grid])
            maps[name] = np.where(mute, np.nan, outputs[:, k]).reshape(board.rows, board.cols)
        return maps

    def move_values(self, board: Board) -> FloatArray:
        """Return what the side to move expects after each move, rows x columns + 1, pass last.

        In the rewards it was trained on (captures and stones 0.4 each, not points of score), which
        is what it plays by. Illegal moves are -inf. Much faster than `values` of every successor.
        """
        return self._rated(board, self.table, self._chosen.rewards[0])

    def move_scores(self, board: Board) -> FloatArray:
        """Return the area score that the side to move expects after each move, komi included.

        Rows x columns + 1, pass last, illegal moves -inf: `values` of all successors at once, but
        for their categories, which come from the outputs before the move.
        """
        out = self._rated(board, self._area_table, 0.0)
        return out - board.white_bonus if board.turn == BLACK else out + board.white_bonus

    def priors(self, board: Board, beta: float = 4.0) -> FloatArray:
        """Return the Boltzmann probabilities of moves that self-play draws from, pass last."""
        values = self.move_values(board)
        values[:-1][~board.legal_mask()[:-1]] = -np.inf
        weights = np.exp(beta * (values - values.max()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def _rated(self, board: Board, table: Float32Array, prize: float) -> FloatArray:
        """Return what the side to move expects after each move, by a table of vertices' worth."""
        state = board.state
        if self.wide is not None:
            return self._rated_wide(board, table, prize)
        now, work = _scratch(board)
        base = make_view(state.shape[1])
        before, after = self._net_after(3 - board.turn), self._net_after(board.turn)
        settle(state, before, self.cats, self.table, now, work, _SETTLING)
        points = np.zeros(state.shape[1] + 1, np.int64)
        values = np.zeros(state.shape[1] + 1)
        seen = np.zeros(1024, np.int64)
        count = rate_moves(
            *(state, seen, after, self.cats, table, prize),
            *(now, base, work, points, values),
        )
        rows = points[1:count] // (board.cols + 1) - 1
        cols = (points[1:count] - 1) % (board.cols + 1)
        out = np.full(board.rows * board.cols + 1, -np.inf)
        sign = 1.0 if board.turn == WHITE else -1.0
        out[rows * board.cols + cols] = sign * values[1:count]
        out[-1] = sign * values[0]
        return out

    def _rated_wide(self, board: Board, table: Float32Array, prize: float) -> FloatArray:
        """Do what `_rated` does with a wide stack."""
        seen = self._seen(board, board.turn)
        where = np.flatnonzero(board.legal_mask()[:-1])
        points = (where // board.cols + 1) * (board.cols + 1) + where % board.cols + 1
        values, captured = seen.after(points, table)
        out = np.full(board.rows * board.cols + 1, -np.inf)
        out[where] = values + prize * captured
        out[-1] = seen.value(table)[0]
        return out

    def _seen(self, board: Board, mover: int) -> WidePosition:
        """Return a position as a wide stack sees it when this colour has just moved."""
        assert self.wide is not None
        return WidePosition(self.wide, board.state, mover, board.cols + 1)

    # ----- What the kernels take -----

    @cached_property
    def wide(self) -> WideNetwork | None:
        """Return the weights of a stack sorted by liberties that is wide or deep, else nothing."""
        architecture, told = self.architecture, self._chosen.turn or self._chosen.colour
        sizes = [layer.size for layer in architecture.layers]
        small = len(sizes) == 1 and sizes[0] <= HIDDEN
        if small or architecture.steps or self._chosen.categories != "liberties" or not told:
            return None
        return WideNetwork(architecture, self._learned, self.cats)

    @cached_property
    def _nets(self) -> tuple[Net, Net]:
        """Return the weights as the kernels take them: after White's moves, after Black's."""
        packing = Packing(self.architecture)
        flat = packing.flat(self._learned)
        other = packing.exchanged(flat) if self._chosen.turn else flat
        return packing.split(flat), packing.split(other)

    def side(self, beta: float) -> Side:
        """Return what the kernels want to know of a side that plays by this network."""
        return Side(self._nets, self.cats, self.table, self._chosen.rewards[0], float(beta))

    def _net_after(self, mover: int) -> Net:
        """Return the weights for positions in which this colour has just moved."""
        return self._nets[1 if mover == BLACK else 0]

    @property
    def architecture(self) -> Architecture:
        """Return what a cell consists of."""
        return self._chosen.architecture

    @cached_property
    def cats(self) -> IntArray:
        """Return how blocks are sorted, as the kernels take it."""
        return self._chosen.sorting.packed()

    @cached_property
    def table(self) -> Float32Array:
        """Return what a vertex is worth in the rewards of the training."""
        return value_table(*self._chosen.rewards).astype(np.float32)

    @cached_property
    def _area_table(self) -> Float32Array:
        """Return what a vertex is worth in area: 2 Z - 1, whoever stands there."""
        table = np.zeros((3, 9), np.float32)
        for state, z in ((0, 0), (1, 2), (2, 1)):
            table[state, z], table[state, 8] = 2, -1
        return table

    # ----- Files -----

    def save(self, path: str | os.PathLike[str], card: Card | None = None) -> None:
        """Write the model; `card` overrides what is said of it."""
        settings = self._chosen
        how = "of experts" if settings.experts else "of self-play"
        if card is None:
            card = Card(
                name=Path(path).stem,
                kind=KIND,
                what=f"Internal symmetry network, {settings.architecture.weights} weights",
                data=f"{self.games_} games {how} on {settings.size}x{settings.size}",
                recipe=settings.recipe,
                seed=settings.seed,
                scale=self.scale,
            )
        card = card.model_copy(update={"games": self.games_})
        save_model(path, {"free": self._learned}, card)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        ModelError
            For a file that is damaged or of another kind.
        """
        tensors, card = load_model(path, kind=KIND, expect={"free": (None,)})
        try:
            settings = SymmetrySettings.from_recipe(card.recipe)
            extra = card.model_extra or {}
            network = cls.from_free(tensors["free"], settings, int(extra.get("games", 0)))
        except (KeyError, OverflowError, TypeError, ValueError) as failure:
            raise ModelError(f"{os.fspath(path)}: its recipe makes no sense ({failure})") from None
        network.scale = card.scale or _SCALE
        return network

    @property
    def _chosen(self) -> SymmetrySettings:
        """Return the settings, the paper's by default."""
        return self.settings if self.settings is not None else SymmetrySettings()

    @property
    def _learned(self) -> FloatArray:
        """Return the learned numbers, or say that there are none."""
        free: FloatArray | None = getattr(self, "free_", None)
        if free is None:
            raise ModelError("this symmetry network has not learned anything yet: call fit")
        return free


def _scratch(board: Board) -> tuple[Any, Any]:
    """Return a view and scratch space for a board."""
    n = board.state.shape[1]
    return make_view(n), make_work(n, board.cols + 1)


def load_snapshots(folder: str | os.PathLike[str]) -> list[SymmetryNetwork]:
    """Load the snapshots of a run's folder in the order of their games.

    Raises
    ------
    ModelError
        If there are none.
    """
    files = sorted((Path(folder) / "snapshots").glob("*.safetensors"))
    if not files:
        raise ModelError(f"{os.fspath(folder)}: no snapshots in it")
    return [SymmetryNetwork.load(file) for file in files]
