"""The symmetry network as an estimator: fit by self-play, evaluate positions, save, load, play.

A round plays `batch` games with the same weights and adds their gradients in the order of the
games, and game i draws from stream i of the seed: neither the number of workers nor stopping and
resuming changes the weights. Values are Black's here; inside the kernels everything is White's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.board.coordinates import indices_of
from tengen.board.kernels import new_state
from tengen.board.layout_kernels import BLACK, WHITE
from tengen.errors import ModelError, SpecError, TengenError
from tengen.models import Card, StoredLearner, View
from tengen.models.params import only_processor
from tengen.models.runs import Run
from tengen.models.store import Tensors
from tengen.papers.symmetry_network import kernels
from tengen.papers.symmetry_network import network as definition
from tengen.papers.symmetry_network.kernels import CELL, FIRST_OUT, HIDDEN, OUT, REACH, READS
from tengen.papers.symmetry_network.network import Architecture, Tying
from tengen.papers.symmetry_network.settings import DEFAULTS, SymmetrySettings

if TYPE_CHECKING:
    from tengen.board import Board

_SCALE = 6.0
"""Points per unit of the logistic; 5.6 and 6.2 fitted best on self-play of the shipped networks."""
_SETTLING = 4  # rounds of evaluation and categories for a position whose past is unknown
_AREA = definition.area_table().astype(np.float32)
SIMPLE = {"random": kernels.RANDOM, "maxlib": kernels.MAXLIB}
"""The betas that make a side of `duel` play at random or for liberties."""


# ----- Weights as kernels take them -----

_TABLE = 9 * definition.INPUTS * CELL
SIZE = _TABLE + CELL + HIDDEN * REACH
"""Length of the flat array that holds every copy of every weight, without recurrent ones."""
_RECURRENT = len(definition.SIDES) * HIDDEN * HIDDEN


def packing(architecture: Architecture) -> Tying:
    """Return the map from free parameters to the flat array, padded with zeros to 12 units."""
    hidden = architecture.hidden
    if hidden > HIDDEN:
        raise SpecError(f"{hidden} hidden units; at most {HIDDEN} are possible")
    size = SIZE + (_RECURRENT if architecture.recurrent else 0)
    table, bias, oh, hh = split(np.arange(size, dtype=np.int64))
    table, oh = table.reshape(9, definition.INPUTS, CELL), oh.reshape(HIDDEN, 9, OUT)
    outputs = slice(FIRST_OUT, FIRST_OUT + len(definition.OUTPUTS))
    # Where the dense weights of each part are in the flat array, in their shape.
    places: dict[str, IntArray] = {
        "HI": table[:, :, :hidden].transpose(0, 2, 1),
        "OI": table[:, :, outputs].transpose(0, 2, 1),
        "OH": oh[:hidden, :, : len(definition.OUTPUTS)].transpose(1, 2, 0),
        "BH": bias[:hidden],
        "BO": bias[outputs],
    }
    if architecture.recurrent:
        states = hh.reshape(-1, HIDDEN, HIDDEN)[:, :hidden, :hidden]
        places["HH"] = states.transpose(0, 2, 1)
    parts, starts = architecture.parts, architecture.slices
    return Tying(
        (size,),
        architecture.size,
        np.concatenate([places[n].ravel()[t.where] for n, t in parts.items()]),
        np.concatenate([t.source + starts[n].start for n, t in parts.items()]),
        np.concatenate([t.sign for t in parts.values()]),
    )


def split(flat: NDArray[Any]) -> kernels.Net:
    """Return a flat array as the arrays of a Net, sharing its memory."""
    table, bias, oh, hh = np.split(flat, (_TABLE, _TABLE + CELL, SIZE))
    return kernels.Net(table.reshape(-1, CELL), bias, oh, hh.reshape(-1, HIDDEN))


def make_scratch(rows: int, cols: int) -> kernels.Scratch:
    """Allocate the arrays of a side for a board."""
    n, width = (rows + 2) * (cols + 1) + 1, cols + 1

    def floats(*shape: int) -> Float32Array:
        return np.zeros(shape, np.float32)

    def view() -> kernels.View:
        at = np.full((4, n), definition.OFF_BOARD, np.int64)
        states = floats(n, HIDDEN), floats(n, HIDDEN)
        return kernels.View(at, floats(n, CELL), *states, floats(n, OUT), floats(n))

    work = kernels.Work(
        liberty=np.zeros((2, 3, n), np.int64),
        offset=np.array([a - b * width for a, b in definition.SQUARE], np.int64),
        mark=np.zeros((6, n), np.int64),
        count=np.zeros(3, np.int64),
        change=np.zeros((2, 2 * n), np.int64),
        rows=floats(n, CELL),
        tanhs=floats(n, HIDDEN),
        buffer=floats(max(3 * n, REACH)),
    )
    return kernels.Scratch(view(), view(), work, np.zeros(n + 1, np.int64), np.zeros(n + 1))


class SymmetryNetwork(StoredLearner):
    """An internal symmetry network (Blair 2008); `workers` are threads for self-play."""

    kind = "symmetry-network"
    view = View(
        "Symmetry network",
        "714 weights, tied by the symmetries of the square, evaluate every point: who will own it, "
        "which stones die, where eyes will be.",
        {"": "isn-9x9"}, order=1,
    )  # fmt: skip
    free_: FloatArray  # the learned parameters
    games_: int  # the number of games they were learned from
    scale: float = _SCALE  # lead in points that means a 73 % chance to win; a card may override it

    def __init__(self, *, settings: SymmetrySettings = DEFAULTS, workers: int = 1) -> None:
        self.settings = settings
        self.workers = workers

    # ----- Learning -----

    def fit(
        self,
        *,
        games: int | None = None,
        device: str = "auto",
        run: Run[SymmetrySettings] | None = None,
        watch: Callable[[int, dict[str, float]], None] = lambda games, means: None,
    ) -> Self:
        """Learn by self-play, from scratch or from the state of `run`; `games` overrides settings.

        `watch` gets the number of games at each checkpoint and means over those since the last:
        plies, share ended by two passes, area for Black, squared error of the outputs that apply.
        """
        only_processor(device)
        settings = self.settings
        goal = settings.games if games is None else games
        self.draw()
        if run is not None and run.start is not None:
            self.free_, self.games_ = run.start.arrays["free"].copy(), run.start.step
        elif run is not None:
            self.save(run.snapshot(0))
        with ThreadPoolExecutor(self.workers) as pool:
            rows: list[FloatArray] = []
            while self.games_ < goal:
                before = self.games_
                rows.append(self.advance(pool))
                kept = self._passed(before, settings.snapshot_every)
                if run is not None and kept:
                    self.save(run.snapshot(kept))
                if self.games_ >= goal or self._passed(before, settings.checkpoint_every):
                    plies, ended, score, square, terms = np.concatenate(rows).T
                    means = {
                        "plies": float(plies.mean()),
                        "ended": float(ended.mean()),
                        "score": float(score.mean()),
                        "error": float(square.sum() / max(terms.sum(), 1)),
                    }
                    if run is not None:
                        run.note(self.games_, **means)
                        run.save(self.games_, {"free": self.free_})
                    watch(self.games_, means)
                    rows = []
        return self

    def draw(self) -> Self:
        """Draw the initial weights; training does so itself."""
        settings = self.settings
        self.__dict__.pop("_packing", None)
        self.free_ = settings.architecture.initial(settings.seed, settings.hidden_scale)
        self.games_ = 0
        return self

    def advance(self, pool: ThreadPoolExecutor) -> FloatArray:
        """Play one round and learn from it; return plies, ended, score, error, terms per game."""
        s = self.settings
        side = self.side(s.beta)
        targets = definition.target_table(s.capture).astype(np.float32)
        first, linear = self.games_, self.games_ < s.linear_games
        grads = np.zeros((s.batch, *self._packing.shape), np.float32)

        def play(i: int) -> tuple[float, ...]:
            found = kernels.self_play(
                *(new_state(s.size, s.size), side, make_scratch(s.size, s.size), targets),
                *(float(s.trace), 3 * s.size**2, s.seed, first + i, split(grads[i])),
            )
            return tuple(float(value) for value in found)

        results = list((pool.map if self.workers > 1 else map)(play, range(s.batch)))
        gradient = self._packing.collect(grads.sum(axis=0, dtype=np.float64))
        if linear:
            slices = s.architecture.slices
            for name in {"HI", "OH", "HH", "BH"} & slices.keys():
                gradient[slices[name]] = 0
        self.free_ = self.free_ + s.rate * gradient
        self.free_[: s.architecture.weights] *= s.decay**s.batch
        if not np.all(np.isfinite(self.free_)):
            raise TengenError(f"training diverged at game {first}: lower the rate")
        self.games_ += s.batch
        return np.array(results)

    def _passed(self, before: int, every: int) -> int:
        """Return the multiple of `every` that the last round reached or passed, else 0."""
        mark = self.games_ // every
        return mark * every if mark > before // every else 0

    @classmethod
    def from_free(
        cls, free: FloatArray, settings: SymmetrySettings = DEFAULTS, games: int = 0
    ) -> Self:
        """Make a network from free parameters, without learning."""
        self = cls(settings=settings)
        units = sum(max(count, 0) for count in settings.mixture.values())
        if units > free.size:  # a wrong card must not make us build a huge network
            raise SpecError(f"{units} hidden units, but {free.size} free parameters")
        size = settings.architecture.size
        if free.shape != (size,):
            raise SpecError(f"{free.shape} free parameters, not ({size},)")
        self.free_, self.games_ = free.astype(np.float64), games
        return self

    def describe(self) -> dict[str, Any]:
        """Return the size of the network and how exactly it keeps the symmetries."""
        shape, sizes = self.architecture, (5, 9, 19)
        errors = (definition.equivariance_error(shape, self.free_, size=n) for n in sizes)
        return {
            "free_parameters": shape.weights,
            "biases": shape.size - shape.weights,
            "hidden": shape.hidden,
            "inputs": definition.INPUTS,
            "outputs": len(definition.OUTPUTS),
            "equivariance_error": max(errors),
            "connections_per_cell": shape.connections,
            "parts": {name: tying.free for name, tying in shape.parts.items()},
            "mixture": shape.cell.counts,
            "games": self.games_,
        }

    # ----- Evaluating -----

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected area score for Black, komi included, one per board."""
        side = self.side(kernels.BEST, area=True)
        out = np.empty(len(boards))
        for i, board in enumerate(boards):
            scratch = make_scratch(board.rows, board.cols)
            out[i] = (
                -kernels.evaluate_afresh(board.state, side, scratch, _SETTLING) - board.white_bonus
            )
        return out

    def ownership(self, board: Board) -> FloatArray:
        """Return for every point +1 (surely Black's) to -1 (surely White's), row-major."""
        grid = board.grid().reshape(-1)
        chosen = self.outputs(board)[np.arange(len(grid)), READS[grid, 0]]
        return np.asarray(1 - 2 * chosen, dtype=np.float64)

    def outputs(self, board: Board) -> FloatArray:
        """Return the seven outputs of every point, (rows x columns, 7), as named in OUTPUTS."""
        scratch = make_scratch(board.rows, board.cols)
        kernels.evaluate_afresh(board.state, self.side(kernels.BEST), scratch, _SETTLING)
        inside = scratch.now.out[:-1].reshape(board.rows + 2, board.cols + 1, -1)[1:-1, 1:]
        return np.asarray(inside.reshape(board.rows * board.cols, -1)[:, :7], dtype=np.float64)

    def heat_maps(self, board: Board) -> dict[str, FloatArray]:
        """Return seven maps (rows x columns) by output; nan where an output does not apply."""
        outputs, reads = self.outputs(board), READS[board.grid().reshape(-1)]
        maps = {}
        for k, name in enumerate(definition.OUTPUTS):
            shown = np.where((reads == k).any(1), outputs[:, k], np.nan)
            maps[name] = shown.reshape(board.rows, board.cols)
        return maps

    def move_values(self, board: Board) -> FloatArray:
        """Return the value of each move for the side to move, in training rewards.

        There are rows x columns + 1 entries, pass last; illegal moves have -inf.
        """
        return self._rated(board, self.side(kernels.BEST))

    def move_scores(self, board: Board) -> FloatArray:
        """Return the area score that the side to move expects after each move, komi included.

        Like `values` of all successors, but their categories come from the outputs before the move.
        """
        out = self._rated(board, self.side(kernels.BEST, area=True))
        return out - board.white_bonus if board.turn == BLACK else out + board.white_bonus

    def priors(self, board: Board, beta: float = 4.0) -> FloatArray:
        """Return the Boltzmann probabilities from which self-play draws moves, pass last."""
        values = self.move_values(board)
        values[:-1][~board.legal_mask()[:-1]] = -np.inf
        weights = np.exp(beta * (values - values.max()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def _rated(self, board: Board, side: kernels.Side) -> FloatArray:
        """Return the value of each move for the side to move, by the rewards of `side`."""
        scratch, seen = make_scratch(board.rows, board.cols), np.zeros(1024, np.int64)
        kernels.evaluate_afresh(board.state, side, scratch, _SETTLING)
        count = kernels.rate_moves(board.state, seen, side, scratch)
        points, values = scratch.points, scratch.values
        places = indices_of(points[1:count], board.rows, board.cols)
        out = np.full(board.rows * board.cols + 1, -np.inf)
        sign = 1.0 if board.turn == WHITE else -1.0
        out[places] = sign * values[1:count]
        out[-1] = sign * values[0]
        return out

    def side(self, beta: float, *, area: bool = False) -> kernels.Side:
        """Return a side of a game as kernels take it; with `area` it counts area, not rewards."""
        free: FloatArray | None = getattr(self, "free_", None)
        if free is None:
            raise ModelError("this symmetry network has not learned anything yet: call fit")
        if self._packed[0] is not free:
            self._packed = free, split(self._packing.expand(free).astype(np.float32))
        capture, stone = self.settings.capture, self.settings.stone
        table = _AREA if area else definition.value_table(capture, stone).astype(np.float32)
        # Floats even where an integer was given: another type would be compiled again.
        prize = 0.0 if area else float(capture)
        return kernels.Side(self._packed[1], self.settings.sorting, table, prize, float(beta))

    _packed: tuple[FloatArray | None, kernels.Net] = (None, split(np.zeros(SIZE, np.float32)))
    """The parameters that were packed last, and the result."""

    @property
    def architecture(self) -> Architecture:
        """The structure of a cell."""
        return self.settings.architecture

    @cached_property
    def _packing(self) -> Tying:
        return packing(self.architecture)

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "what": f"Internal symmetry network, {settings.architecture.weights} weights",
            "data": f"{self.games_} games of self-play on {settings.size}x{settings.size}",
            "recipe": settings.recipe,
            "seed": settings.seed,
            "scale": self.scale,
            "games": self.games_,
        }

    def _tensors(self) -> Tensors:
        return {"free": self.free_}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        games = int((card.model_extra or {}).get("games", 0))
        network = cls.from_free(tensors["free"], SymmetrySettings.from_recipe(card.recipe), games)
        network.scale = card.scale or _SCALE
        return network


def load_snapshots(folder: str | os.PathLike[str]) -> list[SymmetryNetwork]:
    """Load the snapshots of a run's folder in the order of their games."""
    files = sorted((Path(folder) / "snapshots").glob("*.safetensors"))
    if not files:
        raise ModelError(f"{os.fspath(folder)}: no snapshots in it")
    return [SymmetryNetwork.load(file) for file in files]


def play_games(
    a: SymmetryNetwork,
    b: SymmetryNetwork | str,
    *,
    games: int = 10,
    size: int = 9,
    komi: float = 3.5,
    beta: float = 20.0,
    seed: int = 0,
    openings: int = 0,
    workers: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Play a match by the paper's rules; return each game's score from A's view, and its plies.

    A has Black in even games. `b` may be "random" or "maxlib". Moves are drawn with `beta`; 1e9
    takes the best. `openings` random plies come first, the same for both colours.
    """
    if isinstance(b, SymmetryNetwork):
        sides = a.side(beta), b.side(beta)
    elif b in SIMPLE:
        sides = a.side(beta), a.side(SIMPLE[b])
    else:
        raise SpecError(f"opponent {b!r}: a network, or one of {', '.join(SIMPLE)}")

    def play(i: int) -> tuple[float, float]:
        state = new_state(size, size)
        black, white = sides if i % 2 == 0 else sides[::-1]
        scratches = make_scratch(size, size), make_scratch(size, size)
        plies, area = kernels.duel(
            state, black, white, *scratches, openings, 3 * size * size, seed, i
        )
        return (area - komi) * (-1) ** i, plies

    with ThreadPoolExecutor(workers) as pool:
        rows = list((pool.map if workers > 1 else map)(play, range(games)))
    scores, plies = np.array(rows, np.float64).T
    return scores, plies
