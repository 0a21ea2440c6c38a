"""Keep one opening player: its settings, its weights, what it thinks of positions.

`OpeningTD` is the estimator; how it is trained is in `training`, how openings are played against
others in `matches`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tengen.board import BLACK, Board
from tengen.board.coordinates import index_of
from tengen.contracts import Expert, Player
from tengen.errors import ModelError, TengenError
from tengen.learners.opening_td import candidate_kernels, game_kernels, kernels
from tengen.learners.opening_td.candidate_kernels import Room
from tengen.learners.opening_td.features import FeatureSet, geometry
from tengen.learners.opening_td.game_kernels import Memory
from tengen.learners.opening_td.network import (
    CLIP,
    TARGETS,
    largest_score,
    make_memory,
    make_net,
    make_room,
    output_to_score,
    score_to_output,
)
from tengen.models import Card, Measurement, load_model, save_model

if TYPE_CHECKING:
    from tengen.models import Checkpoints

KIND = "opening-td"
SETTINGS = (
    "features",
    "encoding",
    "hidden",
    "rows",
    "cols",
    "komi",
    "plies",
    "games",
    "alpha",
    "alpha_end",
    "trace",
    "target",
    "explore",
    "explore_end",
    "temperature",
    "random_plies",
    "random_opponent",
    "finishes",
    "seed",
)
"""The names of the parameters, in the order of `__init__`."""


class OpeningTD:
    """An opening player that learned by temporal differences, after Huang 2003.

    It judges positions from the view of the side that has just moved and plays the move after
    which it likes the position best. Values are scores in points for a score or ownership target,
    and log odds times `scale` for a target of winning.

    Parameters
    ----------
    features, encoding
        See `FeatureSet`: A and some of B to E; scalar, binary, mixed or e.g. scalar+CD.
    hidden
        Hidden units.
    rows, cols, komi
        The board; square if `cols` is None.
    plies
        Length of the opening for both sides together.
    games
        Openings to play in training; rates and exploration change over these.
    alpha, alpha_end
        Learning rate at the first and at the last game.
    trace
        The lambda of TD(lambda); 0 is the paper's TD(0).
    target
        `score`, `win` or `ownership`.
    explore, explore_end
        Probability of a move drawn from a softmax, at the first and at the last game.
    temperature
        Of that softmax, in points (for a target of winning: in hundredths).
    random_plies
        Plies drawn at random at the start of training openings: a number up to this one.
    random_opponent
        Share of training openings in which the other side plays at random.
    finishes
        How often the expert finishes each opening; the verdicts are averaged.
    seed
        Every random choice follows from it.
    """

    def __init__(
        self,
        *,
        features: str = "ABCDE",
        encoding: str = "binary",
        hidden: int = 40,
        rows: int = 9,
        cols: int | None = None,
        komi: float = 5.5,
        plies: int = 20,
        games: int = 3000,
        alpha: float = 0.5,
        alpha_end: float | None = None,
        trace: float = 0.0,
        target: str = "score",
        explore: float = 0.1,
        explore_end: float = 0.02,
        temperature: float = 1.0,
        random_plies: int = 0,
        random_opponent: float = 0.0,
        finishes: int = 1,
        seed: int = 0,
    ) -> None:
        self.features, self.encoding, self.hidden = features, encoding, hidden
        self.rows, self.cols, self.komi, self.plies = rows, cols, komi, plies
        self.games, self.alpha, self.alpha_end, self.trace = games, alpha, alpha_end, trace
        self.target, self.explore, self.explore_end = target, explore, explore_end
        self.temperature, self.random_plies = temperature, random_plies
        self.random_opponent, self.finishes, self.seed = random_opponent, finishes, seed
        self.card: Card | None = None
        """The card of the file it was loaded from; None for a new one."""
        self._work: tuple[Room, Memory] | None = None

    # ----- What follows from the settings -----

    @property
    def name(self) -> str:
        """A short name: features and encoding."""
        return f"{self.features} {self.encoding}"

    @property
    def chosen(self) -> FeatureSet:
        """The inputs."""
        return FeatureSet(self.features, self.encoding)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of its board."""
        return self.rows, self.rows if self.cols is None else self.cols

    @property
    def outputs(self) -> int:
        """Number of output units."""
        rows, cols = self.shape
        return rows * cols if self.target == "ownership" else 1

    @property
    def opening_plies(self) -> int:
        """How many plies of a game it has learned to play."""
        return self.plies

    @property
    def largest(self) -> float:
        """The score that an output of 1 stands for."""
        return largest_score(*self.shape, self.komi)

    @property
    def scale(self) -> float:
        """Points that turn even chances into 73 %."""
        return 10.0 if self.card is None or self.card.scale is None else self.card.scale

    @property
    def temperature_in_outputs(self) -> float:
        """The temperature in the units of the mean output."""
        if self.target == "win":
            return self.temperature / 100
        if self.target == "score":
            return self.temperature / (2 * self.largest)
        rows, cols = self.shape
        return self.temperature / (2 * rows * cols)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as they were given."""
        return {name: getattr(self, name) for name in SETTINGS}

    def check(self) -> None:
        """Raise `TengenError` for settings that make no sense."""
        rows, cols = self.shape
        _ = self.chosen
        if not (2 <= rows <= 25 and 2 <= cols <= 25):
            raise TengenError(f"a board of {rows}x{cols} is not between 2x2 and 25x25")
        if self.target not in TARGETS:
            raise TengenError(f"target {self.target!r} is none of {', '.join(TARGETS)}")
        for name, low in (("hidden", 1), ("plies", 1), ("finishes", 1), ("games", 0)):
            if getattr(self, name) < low:
                raise TengenError(f"{name} is {getattr(self, name)}, less than {low}")
        for name in ("explore", "explore_end", "trace", "random_opponent"):
            if not 0 <= getattr(self, name) <= 1:
                raise TengenError(f"{name} is {getattr(self, name)}, not between 0 and 1")
        if not 0 <= self.random_plies < self.plies:
            raise TengenError(f"{self.random_plies} random plies in an opening of {self.plies}")
        if self.temperature <= 0:
            raise TengenError(f"temperature {self.temperature} is not above 0")

    # ----- Learning -----

    def initialise(self) -> Self:
        """Draw the first weights; `fit` does it itself."""
        self.check()
        inputs = self.chosen.n_inputs(*self.shape)
        self.net_: kernels.Net = make_net(inputs, self.hidden, self.outputs, self.seed)
        self.games_: int = 0
        return self

    def fit(
        self,
        expert: Expert,
        opponent: Player | None = None,
        *,
        checkpoints: Checkpoints | None = None,
    ) -> Self:
        """Learn from the start: `games` openings against itself, or against `opponent`.

        With `checkpoints` it goes on from the newest one there, to the same result.
        """
        from tengen.learners.opening_td.training import Trainer

        Trainer(self, expert, opponent, checkpoints=checkpoints).run()
        return self

    # ----- Judging -----

    def outputs_of(self, board: Board) -> NDArray[np.float64]:
        """Return the outputs for a position from Black's view; one a cell for ownership.

        The position is seen by the side that is not to move, under the komi of the training.
        """
        self._check_board(board)
        room, _ = self.work()
        tables, layout = geometry(*self.shape), self.chosen.layout(*self.shape)
        friend = 3 - board.turn
        kernels.position_keys(board.state, friend, tables, room.keys)
        orientation = kernels.best_orientation(room.keys)
        kernels.constant_sums(self.net_, layout, room.fixed)
        candidate_kernels.evaluate(
            board.state, friend, self.komi, orientation, self.net_, tables, layout, room
        )
        out = np.zeros(self.outputs)
        game_kernels.view(room.output, friend, tables.turned[orientation], out)
        return out

    def values(self, boards: Sequence[Board]) -> NDArray[np.float64]:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([self._value(board) for board in boards], np.float64)

    def _value(self, board: Board) -> float:
        out = self.outputs_of(board)
        if self.target == "ownership":
            value = float((2 * out - 1).sum()) - self.komi
        elif self.target == "win":
            chance = min(max(float(out[0]), 1e-9), 1 - 1e-9)
            value = self.scale * math.log(chance / (1 - chance))
        else:
            value = output_to_score(float(out[0]), self.largest)
        # Learned under one komi; another one moves the score by the difference.
        return value - (board.komi - self.komi)

    def priors(self, board: Board) -> NDArray[np.float64]:
        """Return a softmax over the values of legal moves; pass only where there is no other."""
        mask = board.legal_mask()
        cells = np.flatnonzero(mask[:-1])
        out = np.zeros(len(mask))
        if len(cells) == 0:
            out[-1] = 1.0
            return out
        moves = [p for p in board.legal_moves if p]
        values = np.empty(len(moves))
        for i, move in enumerate(moves):
            after = board.copy()
            after.push(move)
            values[i] = self._value(after) * (1 if board.turn == BLACK else -1)
        chances = np.exp((values - values.max()) / self.temperature)
        for move, chance in zip(moves, chances / chances.sum(), strict=True):
            out[index_of(move, board.rows, board.cols)] = chance
        return out

    def target_of(self, score: float) -> NDArray[np.float64]:
        """Return what an expert's score says to the single output, from Black's view."""
        if self.target == "win":
            won = 1.0 if score > 0 else 0.5 if score == 0 else 0.0
            return np.array([min(max(won, CLIP), 1 - CLIP)])
        return np.array([score_to_output(score, self.largest)])

    def work(self) -> tuple[Room, Memory]:
        """Return the arrays that the kernels work in, made when first needed."""
        if self._work is None:
            arguments = (self.chosen, *self.shape, self.hidden, self.outputs)
            self._work = make_room(*arguments), make_memory(*arguments, self.plies)
        return self._work

    def _check_board(self, board: Board) -> None:
        if (board.rows, board.cols) != self.shape:
            raise TengenError(
                f"{self.name} has learned {self.shape[0]}x{self.shape[1]}, "
                f"not {board.rows}x{board.cols}"
            )
        if not hasattr(self, "net_"):
            raise TengenError(f"{self.name} has learned nothing yet: call fit")

    # ----- Files -----

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        what: str = "",
        data: str = "",
        results: Sequence[Measurement] = (),
        scale: float | None = None,
    ) -> None:
        """Write a safetensors file with its card; weights are stored as float32."""
        rows, cols = self.shape
        card = Card(
            name=name or f"td-{self.features.lower()}-{rows}x{cols}",
            kind=KIND,
            what=what or f"Opening player {self.name}, learned by temporal differences.",
            data=data,
            recipe={**self.settings(), "games_played": self.games_},
            seed=self.seed,
            results=list(results),
            scale=scale,
            sizes=[(rows, cols)],
        )
        tensors = {key: array.astype(np.float32) for key, array in self.net_._asdict().items()}
        self.card = save_model(path, tensors, card)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; raise `ModelError` for anything else."""
        tensors, card = load_model(path, kind=KIND)
        try:
            learner = cls(**{name: card.recipe[name] for name in SETTINGS})
            learner.check()
            games = int(card.recipe["games_played"])
        except (KeyError, TypeError, ValueError, TengenError) as failure:
            raise ModelError(f"{os.fspath(path)}: its recipe makes no sense ({failure})") from None
        inputs = learner.chosen.n_inputs(*learner.shape)
        shapes = {
            "w1": (inputs, learner.hidden),
            "b1": (learner.hidden,),
            "w2": (learner.hidden, learner.outputs),
            "b2": (learner.outputs,),
        }
        for key, shape in shapes.items():
            if key not in tensors or tensors[key].shape != shape:
                raise ModelError(f"{os.fspath(path)}: tensor {key!r} has not the shape {shape}")
        learner.net_ = kernels.Net(*(tensors[key].astype(np.float64) for key in shapes))
        learner.games_ = games
        learner.card = card
        return learner
