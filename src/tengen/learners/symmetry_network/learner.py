"""The symmetry network as an estimator: fit by self-play, evaluate positions, save, load, play.

A round of self-play plays `batch` games with the same weights and adds their gradients in the order
of the games, so the result depends on `batch` but never on the number of workers. Game i draws its
random numbers from stream i of the seed: a training that is stopped and resumed gives the same
weights, bit for bit. Values and maps are Black's here; inside the kernels everything is White's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.board.drawing import format_svg, panels
from tengen.board.kernels import new_state
from tengen.board.layout_kernels import BLACK, WHITE
from tengen.errors import ModelError, RunError, SpecError, TengenError
from tengen.learners.symmetry_network.game_kernels import (
    BEST,
    MAXLIB,
    RANDOM,
    duel,
    judge,
    rate_moves,
    self_play,
)
from tengen.learners.symmetry_network.kernels import (
    CELL,
    FIRST_OUT,
    HIDDEN,
    OUT,
    REACH,
    READS,
    Net,
    Room,
    Side,
    View,
    Work,
)
from tengen.learners.symmetry_network.network import (
    INPUTS,
    OFF_BOARD,
    OUTPUTS,
    SQUARE,
    TITLES,
    Architecture,
    area_table,
    target_table,
    value_table,
)
from tengen.learners.symmetry_network.settings import DEFAULTS, SymmetrySettings
from tengen.models import Card, StoredLearner
from tengen.models.runs import Run, read_run
from tengen.models.store import Tensors

if TYPE_CHECKING:
    from tengen.board import Board

# Points that move the win probability by one unit of its logistic; 5.6 and 6.2 fitted best on
# self-play of the two shipped networks.
_SCALE = 6.0

# Rounds of evaluation and categories for a position whose past is unknown.
_SETTLING = 4

_AREA = area_table().astype(np.float32)

SIMPLE = {"random": RANDOM, "maxlib": MAXLIB}
"""The betas that make a side of `duel` play at random or for liberties."""


# ----- Weights as kernels take them -----

_TABLE = 9 * INPUTS * CELL
_SIZE = _TABLE + CELL + HIDDEN * REACH


class Packing:
    """The map from an architecture's free parameters to the kernels' arrays, and back.

    A `Net` holds every copy of every weight in float32. Its arrays are views of one flat array.
    Cells of fewer than 12 hidden units are padded with zeros.
    """

    size = _SIZE

    def __init__(self, architecture: Architecture) -> None:
        hidden, self._free = architecture.hidden, architecture.size
        if hidden > HIDDEN:
            raise SpecError(f"{hidden} hidden units; at most {HIDDEN} are possible")
        table, bias, oh = split(np.arange(_SIZE, dtype=np.int64))
        table, oh = table.reshape(9, INPUTS, CELL), oh.reshape(HIDDEN, 9, OUT)
        outputs = slice(FIRST_OUT, FIRST_OUT + len(OUTPUTS))
        # Where the dense weights of each part are in the flat array, in their shape.
        places: dict[str, IntArray] = {
            "HI": table[:, :, :hidden].transpose(0, 2, 1),
            "OI": table[:, :, outputs].transpose(0, 2, 1),
            "OH": oh[:hidden, :, : len(OUTPUTS)].transpose(1, 2, 0),
            "BH": bias[:hidden],
            "BO": bias[outputs],
        }
        parts, starts = architecture.parts, architecture.slices
        self._where = np.concatenate([places[n].ravel()[t.where] for n, t in parts.items()])
        self._source = np.concatenate([t.source + starts[n].start for n, t in parts.items()])
        self._sign = np.concatenate([t.sign for t in parts.values()])

    def flat(self, free: FloatArray) -> Float32Array:
        """Return all weights in one array of length `size`."""
        values = self._sign * free[self._source]
        return np.bincount(self._where, weights=values, minlength=_SIZE).astype(np.float32)

    def collect(self, flat: NDArray[np.floating]) -> FloatArray:
        """Return the gradient of the free parameters: the signed sum over their copies."""
        values = self._sign * flat.astype(np.float64)[self._where]
        return np.bincount(self._source, weights=values, minlength=self._free).astype(np.float64)


def split(flat: NDArray[Any]) -> Net:
    """Return a flat array as the arrays of a Net, sharing its memory."""
    table, bias, oh = np.split(flat, (_TABLE, _TABLE + CELL))
    return Net(table.reshape(-1, CELL), bias, oh)


def make_room(rows: int, cols: int) -> Room:
    """Allocate the arrays of a side for a board."""
    n, width = (rows + 2) * (cols + 1) + 1, cols + 1

    def floats(*shape: int) -> Float32Array:
        return np.zeros(shape, np.float32)

    def view() -> View:
        at = np.full((4, n), OFF_BOARD, np.int64)
        return View(at, floats(n, CELL), floats(n, HIDDEN), floats(n, OUT), floats(n))

    work = Work(
        liberty=np.zeros((2, 3, n), np.int64),
        offset=np.array([a - b * width for a, b in SQUARE], np.int64),
        mark=np.zeros((6, n), np.int64),
        count=np.zeros(3, np.int64),
        change=np.zeros((2, 2 * n), np.int64),
        rows=floats(n, CELL),
        tanhs=floats(n, HIDDEN),
        buffer=floats(max(3 * n, REACH)),
    )
    return Room(view(), view(), work, np.zeros(n + 1, np.int64), np.zeros(n + 1))


@dataclass(frozen=True)
class SelfPlayReport:
    """What happened in some games of a training: means over them."""

    games: int  # finished so far
    plies: float
    ended: float  # share that ended by two passes
    score: float  # area for Black
    error: float  # mean squared error of the outputs that apply
    seconds: float  # spent on these games


class SymmetryNetwork(StoredLearner):
    """An internal symmetry network (Blair 2008), the paper's unless settings say otherwise.

    Parameters
    ----------
    settings
        What and how to learn; the paper's by default, see `SymmetrySettings`.
    workers
        Threads for self-play; never changes the result.

    `free_` are the learned parameters, `games_` is the number of games they were learned from.
    """

    kind = "symmetry-network"
    free_: FloatArray
    games_: int
    scale: float = _SCALE
    """Points that turn even chances into 73 %; a model's card may override it."""

    def __init__(self, *, settings: SymmetrySettings = DEFAULTS, workers: int = 1) -> None:
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
        """Learn from scratch by self-play; `games` overrides the settings.

        With a `run` (see `open_run`) training continues from its last checkpoint, writes metrics
        and a checkpoint every `checkpoint_every` games and a model every `snapshot_every` games.
        `watch` gets a report at each checkpoint.
        """
        settings = self.settings
        goal = settings.games if games is None else games
        self.draw()
        if run is not None and run.start is not None:
            self.free_, self.games_ = run.start.arrays["free"].copy(), run.start.step
        elif run is not None:
            self.save(run.snapshot(0))
        with ThreadPoolExecutor(self.workers) as pool:
            rows: list[FloatArray] = []
            begin = time.perf_counter()
            while self.games_ < goal:
                before = self.games_
                rows.append(self.advance(pool))
                kept = self._passed(before, settings.snapshot_every)
                if run is not None and kept:
                    self.save(run.snapshot(kept))
                if self.games_ >= goal or self._passed(before, settings.checkpoint_every):
                    plies, ended, score, square, terms = np.concatenate(rows).T
                    seen = {
                        "plies": float(plies.mean()),
                        "ended": float(ended.mean()),
                        "score": float(score.mean()),
                        "error": float(square.sum() / max(terms.sum(), 1)),
                    }
                    if run is not None:
                        run.note(self.games_, **seen)
                        run.save(self.games_, {"free": self.free_})
                    seconds = time.perf_counter() - begin
                    watch(SelfPlayReport(games=self.games_, seconds=seconds, **seen))
                    rows, begin = [], time.perf_counter()
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
        targets = target_table(s.capture).astype(np.float32)
        first, linear = self.games_, self.games_ < s.linear_games
        grads = np.zeros((s.batch, Packing.size), np.float32)

        def play(i: int) -> tuple[float, ...]:
            found = self_play(
                *(new_state(s.size, s.size), side, make_room(s.size, s.size), targets),
                *(float(s.trace), 3 * s.size**2, s.seed, first + i, split(grads[i])),
            )
            return tuple(float(value) for value in found)

        results = list((pool.map if self.workers > 1 else map)(play, range(s.batch)))
        total = np.zeros(Packing.size)
        for row in grads:
            total += row
        gradient = self._packing.collect(total)
        if linear:
            slices = s.architecture.slices
            for name in ("HI", "OH", "BH"):
                gradient[slices[name]] = 0
        self.free_ = self.free_ + s.rate_at(first) * gradient
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
        if units > free.size:  # before a wrong card makes us build such a large network
            raise SpecError(f"{units} hidden units, but {free.size} free parameters")
        size = settings.architecture.size
        if free.shape != (size,):
            raise SpecError(f"{free.shape} free parameters, not ({size},)")
        self.free_, self.games_ = free.astype(np.float64), games
        return self

    # ----- Evaluating -----

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected area score for Black, komi included, one per board.

        Evaluation and categories are repeated until they fit each other, because a board's past is
        not used. A stone counts by the probability that it lives, an empty point by its owner's.
        """
        side = self.side(BEST, area=True)
        out = np.empty(len(boards))
        for i, board in enumerate(boards):
            room = make_room(board.rows, board.cols)
            out[i] = -judge(board.state, side, room, _SETTLING) - board.white_bonus
        return out

    def ownership(self, board: Board) -> FloatArray:
        """Return for every point +1 (surely Black's) to -1 (surely White's), row-major."""
        grid = board.grid().reshape(-1)
        chosen = self.outputs(board)[np.arange(len(grid)), READS[grid, 0]]
        return np.asarray(1 - 2 * chosen, dtype=np.float64)

    def outputs(self, board: Board) -> FloatArray:
        """Return the seven outputs of every point, (rows x columns, 7), as named in OUTPUTS."""
        room = make_room(board.rows, board.cols)
        judge(board.state, self.side(BEST), room, _SETTLING)
        inside = room.now.out[:-1].reshape(board.rows + 2, board.cols + 1, -1)[1:-1, 1:]
        return np.asarray(inside.reshape(board.rows * board.cols, -1)[:, :7], dtype=np.float64)

    def heat_maps(self, board: Board) -> dict[str, FloatArray]:
        """Return seven maps (rows x columns) by output; nan where an output does not apply."""
        outputs, reads = self.outputs(board), READS[board.grid().reshape(-1)]
        maps = {}
        for k, name in enumerate(OUTPUTS):
            shown = np.where((reads == k).any(1), outputs[:, k], np.nan)
            maps[name] = shown.reshape(board.rows, board.cols)
        return maps

    def move_values(self, board: Board) -> FloatArray:
        """Return what the side to move expects after each move, rows x columns + 1, pass last.

        In the rewards of training (captures and stones 0.4 each, not points of score), by which the
        network plays. Illegal moves are -inf. Much faster than `values` of every successor.
        """
        return self._rated(board, self.side(BEST))

    def move_scores(self, board: Board) -> FloatArray:
        """Return the area score that the side to move expects after each move, komi included.

        Rows x columns + 1, pass last, illegal moves -inf: `values` of all successors at once,
        except that their categories come from the outputs before the move.
        """
        out = self._rated(board, self.side(BEST, area=True))
        return out - board.white_bonus if board.turn == BLACK else out + board.white_bonus

    def priors(self, board: Board, beta: float = 4.0) -> FloatArray:
        """Return the Boltzmann probabilities from which self-play draws moves, pass last."""
        values = self.move_values(board)
        values[:-1][~board.legal_mask()[:-1]] = -np.inf
        weights = np.exp(beta * (values - values.max()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def _rated(self, board: Board, side: Side) -> FloatArray:
        """Return what the side to move expects after each move, by a side's rewards."""
        room, seen = make_room(board.rows, board.cols), np.zeros(1024, np.int64)
        judge(board.state, side, room, _SETTLING)
        count = rate_moves(board.state, seen, side, room)
        points, values = room.points, room.values
        rows = points[1:count] // (board.cols + 1) - 1
        cols = (points[1:count] - 1) % (board.cols + 1)
        out = np.full(board.rows * board.cols + 1, -np.inf)
        sign = 1.0 if board.turn == WHITE else -1.0
        out[rows * board.cols + cols] = sign * values[1:count]
        out[-1] = sign * values[0]
        return out

    def side(self, beta: float, *, area: bool = False) -> Side:
        """Return a side of a game as kernels take it; with `area` it counts area, not rewards."""
        free: FloatArray | None = getattr(self, "free_", None)
        if free is None:
            raise ModelError("this symmetry network has not learned anything yet: call fit")
        if self._packed[0] is not free:
            self._packed = free, split(self._packing.flat(free))
        capture, stone = self.settings.capture, self.settings.stone
        table = _AREA if area else value_table(capture, stone).astype(np.float32)
        # Floats even where an integer was given: another type would be compiled again.
        prize = 0.0 if area else float(capture)
        return Side(self._packed[1], self.settings.sorting, table, prize, float(beta))

    _packed: tuple[FloatArray | None, Net] = (None, split(np.zeros(_SIZE, np.float32)))
    """The parameters that were packed last, and the result."""

    @property
    def architecture(self) -> Architecture:
        """Return what a cell consists of."""
        return self.settings.architecture

    @cached_property
    def _packing(self) -> Packing:
        return Packing(self.architecture)

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


def open_run(folder: Path, settings: SymmetrySettings, *, resume: bool) -> Run[SymmetrySettings]:
    """Create a run folder for self-play, or continue the run in it, as `Run.open` does.

    Where the learning rate depends on the number of games, a run cannot continue with another one.
    """
    found = read_run(folder)
    if resume and found is not None and settings.anneal > 0:
        there = found.settings.get("games", settings.games)
        if there != settings.games:
            raise RunError(f"{folder}: the rate falls towards game {there}, not {settings.games}")
    return Run.open(folder, SymmetryNetwork.kind, settings, resume=resume)


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
    """Play a match by the paper's rules.

    Returns the score of every game from A's view, komi included, and its plies. A has Black in even
    games. `b` may be "random", a random mover that fills no eyes, or "maxlib". Moves are drawn with
    `beta`; 1e9 and more takes the best that fills no own eye. `openings` random plies come first,
    the same for two games with colours exchanged.
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
        rooms = make_room(size, size), make_room(size, size)
        plies, area = duel(state, black, white, *rooms, openings, 3 * size * size, seed, i)
        return (area - komi) * (-1) ** i, plies

    with ThreadPoolExecutor(workers) as pool:
        rows = list((pool.map if workers > 1 else map)(play, range(games)))
    scores, plies = np.array(rows, np.float64).T
    return scores, plies


def format_maps(
    grid: NDArray[np.int8],
    maps: Mapping[str, FloatArray],
    *,
    last: int | None = None,
    title: str = "",
) -> str:
    """Return the position and its maps side by side: red squares, the stronger the likelier.

    `maps` are those of `SymmetryNetwork.heat_maps`, with nan where a map does not apply.
    """
    found = [(title or "position", format_svg(grid, last=last, coordinates=False))]
    for name, values in maps.items():
        picture = format_svg(grid, last=last, heat=np.ravel(values), coordinates=False)
        found.append((TITLES.get(name, name), picture))
    return panels(found, columns=4) + "\n"
