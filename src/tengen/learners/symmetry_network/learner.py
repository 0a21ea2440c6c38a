"""The symmetry network as an estimator: fit by self-play, evaluate positions, save, load, play.

Values and maps are Black's here; inside the kernels everything is White's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import Float32Array, FloatArray
from tengen.board.drawing import format_svg, panels
from tengen.board.kernels import new_state
from tengen.board.layout_kernels import BLACK, WHITE
from tengen.errors import ModelError, SpecError
from tengen.learners.symmetry_network.game_kernels import duel, open_at_random, rate_moves, settle
from tengen.learners.symmetry_network.kernels import Net, Side, make_view, make_work
from tengen.learners.symmetry_network.network import (
    OUTPUTS,
    Architecture,
    area_table,
    value_table,
)
from tengen.learners.symmetry_network.settings import SymmetrySettings
from tengen.learners.symmetry_network.training import Packing, SelfPlay, SelfPlayReport
from tengen.models import Card, StoredLearner
from tengen.models.runs import Run
from tengen.models.store import Tensors
from tengen.statistics import Rate

if TYPE_CHECKING:
    from tengen.board import Board


# Points that move the win probability by one unit of its logistic; 5.6 and 6.2 fitted best on
# self-play of the two shipped networks.
_SCALE = 6.0

# Rounds of evaluation and categories for a position whose past is unknown.
_SETTLING = 4

_READ = {0: (0, 3, 4), 1: (2, 6), 2: (1, 5)}
"""The outputs that apply to an empty point, a black and a white stone."""

_AREA = area_table().astype(np.float32)

SIMPLE = {"random": -1.0, "maxlib": -2.0}
"""The betas that make a side of `duel` play at random or for liberties."""


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
    scale: float = _SCALE
    """Points that turn even chances into 73 %; a model's card may override it."""

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
        """Learn from scratch by self-play; `games` overrides the settings.

        With a `run` (see `training.open_run`) training continues there and keeps snapshots.
        """
        training = SelfPlay(self._chosen, workers=self.workers)

        def keep(so_far: SelfPlay, path: Path) -> None:
            type(self).from_free(so_far.free, so_far.settings, so_far.done).save(path)

        training.train(until=games, run=run, keep=keep, watch=watch)
        self.__dict__.pop("_net", None)
        self.free_, self.games_ = training.free.copy(), training.done
        return self

    @classmethod
    def from_free(
        cls, free: FloatArray, settings: SymmetrySettings | None = None, games: int = 0
    ) -> Self:
        """Make a network from free parameters, without learning."""
        self = cls(settings=settings)
        units = sum(max(count, 0) for count in dict(self._chosen.mixture).values())
        if units > free.size:  # before a wrong card makes us build such a large network
            raise SpecError(f"{units} hidden units, but {free.size} free parameters")
        size = self._chosen.architecture.size
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
        out = np.empty(len(boards))
        for i, board in enumerate(boards):
            view, work = _scratch(board)
            total = settle(board.state, self._net, self._sorting, _AREA, view, work, _SETTLING)
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
        view, work = _scratch(board)
        settle(board.state, self._net, self._sorting, self._table, view, work, _SETTLING)
        inside = view.out[:-1].reshape(board.rows + 2, board.cols + 1, -1)[1:-1, 1:]
        return np.asarray(inside.reshape(board.rows * board.cols, -1)[:, :7], dtype=np.float64)

    def heat_maps(self, board: Board) -> dict[str, FloatArray]:
        """Return seven maps (rows x columns) by output; nan where an output does not apply."""
        outputs = self.outputs(board)
        grid = board.grid().reshape(-1)
        maps = {}
        for k, name in enumerate(OUTPUTS):
            applies = np.array([k in _READ[int(c)] for c in grid])
            maps[name] = np.where(applies, outputs[:, k], np.nan).reshape(board.rows, board.cols)
        return maps

    def move_values(self, board: Board) -> FloatArray:
        """Return what the side to move expects after each move, rows x columns + 1, pass last.

        In the rewards of training (captures and stones 0.4 each, not points of score), by which the
        network plays. Illegal moves are -inf. Much faster than `values` of every successor.
        """
        return self._rated(board, self._table, self._chosen.capture)

    def move_scores(self, board: Board) -> FloatArray:
        """Return the area score that the side to move expects after each move, komi included.

        Rows x columns + 1, pass last, illegal moves -inf: `values` of all successors at once,
        except that their categories come from the outputs before the move.
        """
        out = self._rated(board, _AREA, 0.0)
        return out - board.white_bonus if board.turn == BLACK else out + board.white_bonus

    def priors(self, board: Board, beta: float = 4.0) -> FloatArray:
        """Return the Boltzmann probabilities from which self-play draws moves, pass last."""
        values = self.move_values(board)
        values[:-1][~board.legal_mask()[:-1]] = -np.inf
        weights = np.exp(beta * (values - values.max()))
        return np.asarray(weights / weights.sum(), dtype=np.float64)

    def _rated(self, board: Board, table: Float32Array, prize: float) -> FloatArray:
        """Return what the side to move expects after each move, by a table of vertex values."""
        state = board.state
        now, work = _scratch(board)
        base = make_view(state.shape[1])
        settle(state, self._net, self._sorting, self._table, now, work, _SETTLING)
        points = np.zeros(state.shape[1] + 1, np.int64)
        values = np.zeros(state.shape[1] + 1)
        seen = np.zeros(1024, np.int64)
        count = rate_moves(
            *(state, seen, self._net, self._sorting, table, float(prize)),
            *(now, base, work, points, values),
        )
        rows = points[1:count] // (board.cols + 1) - 1
        cols = (points[1:count] - 1) % (board.cols + 1)
        out = np.full(board.rows * board.cols + 1, -np.inf)
        sign = 1.0 if board.turn == WHITE else -1.0
        out[rows * board.cols + cols] = sign * values[1:count]
        out[-1] = sign * values[0]
        return out

    def side(self, beta: float) -> Side:
        """Return a side of a game as kernels take it."""
        prize = float(self._chosen.capture)
        return Side(self._net, self._sorting, self._table, prize, float(beta))

    @property
    def architecture(self) -> Architecture:
        """Return what a cell consists of."""
        return self._chosen.architecture

    @cached_property
    def _net(self) -> Net:
        return Packing(self.architecture).net(self._learned)

    @cached_property
    def _sorting(self) -> Any:
        return self._chosen.sorting

    @cached_property
    def _table(self) -> Float32Array:
        return value_table(self._chosen.capture, self._chosen.stone).astype(np.float32)

    # ----- Files -----

    def _about(self) -> dict[str, Any]:
        settings = self._chosen
        return {
            "what": f"Internal symmetry network, {settings.architecture.weights} weights",
            "data": f"{self.games_} games of self-play on {settings.size}x{settings.size}",
            "recipe": settings.recipe,
            "seed": settings.seed,
            "scale": self.scale,
            "games": self.games_,
        }

    def _tensors(self) -> Tensors:
        return {"free": self._learned}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        games = int((card.model_extra or {}).get("games", 0))
        network = cls.from_free(tensors["free"], SymmetrySettings.from_recipe(card.recipe), games)
        network.scale = card.scale or _SCALE
        return network

    @property
    def _chosen(self) -> SymmetrySettings:
        """Return the settings, the paper's by default."""
        return self.settings if self.settings is not None else SymmetrySettings()

    @property
    def _learned(self) -> FloatArray:
        """Return the learned parameters.

        Raises
        ------
        ModelError
            If there are none yet.
        """
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


# ----- Matches inside kernels -----


def play_match(
    a: SymmetryNetwork,
    b: SymmetryNetwork | str | None,
    *,
    games: int = 10,
    size: int = 9,
    komi: float = 3.5,
    beta: float = 20.0,
    seed: int = 0,
    openings: int = 0,
    workers: int = 1,
) -> Rate:
    """Play a match by the paper's rules; see `play_games` for the arguments."""
    options: dict[str, Any] = {"size": size, "komi": komi, "beta": beta, "openings": openings}
    scores, _ = play_games(a, b, games=games, seed=seed, workers=workers, **options)
    return Rate.of(scores)


def play_games(
    a: SymmetryNetwork,
    b: SymmetryNetwork | str | None,
    *,
    games: int,
    size: int,
    komi: float,
    beta: float,
    seed: int,
    openings: int,
    workers: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Return the score of every game from A's view, komi included, and its plies.

    A has Black in even games. `b` may be "random" (also None), a random mover that fills no eyes,
    or "maxlib". Moves are drawn with `beta`; 1e9 and more takes the best that fills no own eye.
    `openings` random plies come first, the same for two games with colours exchanged.
    """
    if b is None or isinstance(b, str):
        if (b or "random") not in SIMPLE:
            raise SpecError(f"opponent {b!r}: a network, or one of {', '.join(SIMPLE)}")
        other, other_beta = a, SIMPLE[b or "random"]
    else:
        other, other_beta = b, beta

    sides = a.side(beta), other.side(other_beta)

    def play(i: int) -> tuple[int, float]:
        state = new_state(size, size)
        open_at_random(state, openings, seed, i // 2)
        moves = np.zeros(3 * size * size, np.int64)
        black, white = sides if i % 2 == 0 else sides[::-1]
        plies, area = duel(black, white, state, len(moves), seed, i, moves)
        score = area - komi
        return plies, score if i % 2 == 0 else -score

    if workers > 1:
        with ThreadPoolExecutor(workers) as pool:
            rows = list(pool.map(play, range(games)))
    else:
        rows = [play(i) for i in range(games)]
    return np.array([score for _, score in rows]), np.array([float(plies) for plies, _ in rows])


TITLES: dict[str, str] = dict(
    zip(
        OUTPUTS,
        (
            "empty point: White's",
            "white stone: lives",
            "black stone: captured",
            "empty point: White's eye",
            "empty point: Black's eye",
            "white stone: dies, Black's eye",
            "black stone: dies, White's eye",
        ),
        strict=True,
    )
)


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
