"""The network as a learner: fit it to games (with PyTorch), save, load, evaluate positions."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tengen.arrays import Float32Array, FloatArray
from tengen.board import BLACK, Board
from tengen.board.coordinates import elements, transform
from tengen.board.playouts import play_random
from tengen.errors import ModelError, SpecError
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Card, StoredLearner, Tensors, View, check_shapes
from tengen.network import layers
from tengen.network.engine import (
    AT_ONCE,
    Engine,
    EngineOutput,
    GpuEngine,
    chosen_device,
    gpu_wanted,
    torch_or_refuse,
)
from tengen.network.layers import operations, weights_of
from tengen.network.settings import (
    DESIGNS,
    Design,
    DistillationSettings,
    NetworkSettings,
    check_design,
)
from tengen.network.shards import LARGEST, SMALLEST, Shard

if TYPE_CHECKING:
    from tengen.models.runs import Run
    from tengen.network.labelling import Answers

_Settings = NetworkSettings | DistillationSettings


@dataclass(frozen=True)
class Evaluation:
    """The network's outputs for one position, from Black's perspective."""

    priors: FloatArray
    """Row-major, the pass last; zero where illegal; sum 1."""
    win_probability: float
    score: float
    """Expected final score, komi included."""
    spread: float
    """Its standard deviation."""
    ownership: FloatArray
    """+1 Black to -1 White."""
    best: FloatArray | None = None
    """Probability that each move is the best, laid out as `priors`; None without this output."""

    @property
    def proposals(self) -> FloatArray:
        """The probabilities that guide a search: `best` where there is such an output."""
        return self.priors if self.best is None else self.best


class DeepNetwork(StoredLearner):
    """A residual network tied by the symmetries of the board."""

    kind = "network"
    view = View(
        "Deep network",
        "Residual blocks tied by the symmetries of the square, learned from experts' games: the "
        "moves they would play, who will own each point, and the score with its spread.",
        {"": "tengen-large"}, order=6, id="deep-network", instead_of=("tengen-small",),
    )  # fmt: skip
    weights_: Tensors
    design_: Design
    teacher_: str = ""
    """Name, source and licence of its teacher; empty if it learned from games alone."""

    def __init__(self, *, settings: _Settings | None = None) -> None:
        self.settings = settings
        self._engine: Engine | None = None
        self._on_gpu: GpuEngine | None = None

    def fit(
        self,
        data: Sequence[Sequence[Shard]] | Answers,
        *,
        device: str = "auto",
        start: DeepNetwork | None = None,
        run: Run[Any] | None = None,
        on_row: Callable[[dict[str, Any]], None] = lambda row: None,
    ) -> Self:
        """Train on sources of games, each a list of shards, or on a teacher's answers.

        It starts from the weights of `start`, if given. `labelling` gets answers.
        """
        torch_or_refuse()
        from tengen.network.distillation import distil
        from tengen.network.labelling import Answers
        from tengen.network.training import fit

        default: _Settings = NetworkSettings()
        if isinstance(data, Answers):
            default = DistillationSettings()
        settings = self.settings or default
        if type(settings) is not type(default):
            raise SpecError("NetworkSettings are for games, DistillationSettings for a teacher")
        check_design(settings, None if start is None else start.design_)
        first = None if start is None else start.weights_
        options: Any = {"device": chosen_device(device), "run": run, "on_row": on_row}
        if isinstance(data, Answers):
            assert isinstance(settings, DistillationSettings)
            self.weights_ = distil(data, settings, start=first, **options)
            self.teacher_ = data.teacher
        else:
            assert isinstance(settings, NetworkSettings)
            self.weights_ = fit(data, settings, start=first, **options)
        self.design_ = DESIGNS[settings.design]
        self._engine = self._on_gpu = None
        return self

    @classmethod
    def average(cls, networks: Sequence[DeepNetwork]) -> Self:
        """Return a network with the mean weights of several networks of one design."""
        first = networks[0]
        for number, network in enumerate(networks, 1):
            if network.design_ != first.design_:
                raise SpecError(f"network {number} of {len(networks)} has another design")
        last = next((one for one in reversed(networks) if one.teacher_), networks[-1])
        made = cls(settings=last.settings)
        made.design_, made.teacher_ = first.design_, last.teacher_
        made.weights_ = {
            name: np.stack([network.weights_[name] for network in networks]).mean(0)
            for name in first.weights_
        }
        return made

    @property
    def engine(self) -> Engine:
        """The network laid out for the processor."""
        if self._engine is None:
            self._engine = Engine(self.weights_, self.design_)
        return self._engine

    @property
    def at_once(self) -> int:
        """How many times larger than usual the batches of a search should be."""
        return 1 if gpu_wanted() is None else AT_ONCE

    def measured(self) -> Engine | GpuEngine:
        """Return an engine of single precision: in half precision, moves are often tied."""
        device = gpu_wanted()
        if device is None:
            return self.engine
        return GpuEngine(self.weights_, self.design_, device, half=False)

    @property
    def free_parameters(self) -> int:
        """How many weights were learned."""
        return sum(math.prod(w.shape) for w in weights_of(self.design_).values() if w.learned)

    def describe(self) -> dict[str, Any]:
        """Return the size of the network and how exactly it keeps the symmetries."""
        design = self.design_
        return {
            "free_parameters": self.free_parameters,
            "fields": design.fields,
            "channels": design.channels,
            "blocks": design.blocks,
            "symmetric": design.symmetric,
            "ladders": design.ladders,
            "operations": operations(design),
            "equivariance_error": equivariance_error(self.engine),
        }

    def outputs(self, boards: Sequence[Board]) -> EngineOutput:
        """Evaluate boards of one size, each from its side to move."""
        check_size(boards[0].rows, boards[0].cols)
        positions = layers.pack_boards(boards, ladders=self.design_.ladders)
        device = gpu_wanted()
        if device is None:
            return self.engine(positions)
        if self._on_gpu is None:
            self._on_gpu = GpuEngine(self.weights_, self.design_, device)
        return self._on_gpu(positions)

    def evaluate(self, boards: Sequence[Board]) -> list[Evaluation]:
        """Evaluate boards of any sizes, for Black."""
        if isinstance(boards, Board):  # type: ignore[unreachable]
            raise SpecError("evaluate takes a list of boards: write [board] for one")
        found: dict[int, Evaluation] = {}
        for shape in {(board.rows, board.cols) for board in boards}:
            chosen = [i for i, board in enumerate(boards) if (board.rows, board.cols) == shape]
            alike = [boards[i] for i in chosen]
            found.update(zip(chosen, _evaluations(alike, self.outputs(alike)), strict=True))
        return [found[i] for i in range(len(boards))]

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the expected final score for Black, komi included, one per board."""
        return np.array([view.score for view in self.evaluate(boards)])

    def priors(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns + 1, pass last; zero where illegal; sum 1."""
        return self.evaluate([board])[0].priors

    def ownership(self, board: Board) -> FloatArray:
        """Return a flat array of rows * columns numbers, +1 (Black's) to -1 (White's)."""
        return self.evaluate([board])[0].ownership

    def supports(self, rows: int, cols: int) -> bool:
        """Return whether it evaluates boards of this size."""
        return min(rows, cols) >= SMALLEST and max(rows, cols) <= LARGEST

    def save(self, path: str | os.PathLike[str], **card: Any) -> None:
        """Write a safetensors file with its card, which names the teacher, too."""
        if self.teacher_ and card.get("data"):
            card["data"] += f"; taught by {self.teacher_}"
        super().save(path, **card)

    def _about(self) -> dict[str, Any]:
        about: dict[str, Any] = {"design": asdict(self.design_)}
        if self.settings is not None:
            about["settings"] = to_plain(self.settings)
        if self.teacher_:
            about["teacher"] = self.teacher_
        return {
            "what": "Says how likely moves are, who wins, by how much, and who owns what.",
            "recipe": about,
            "seed": None if self.settings is None else self.settings.seed,
        }

    def _tensors(self) -> Tensors:
        return self.weights_

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        try:
            design = Design(**card.recipe["design"])
            stored, teacher = card.recipe.get("settings"), str(card.recipe.get("teacher", ""))
            kind: type[_Settings] = DistillationSettings if teacher else NetworkSettings
            settings = None if stored is None else from_recipe(kind, stored)
        except (KeyError, TypeError, SpecError) as wrong:
            raise ModelError(f"its card names no design we know ({wrong})") from None
        made = cls(settings=settings)
        made.design_, made.weights_, made.teacher_ = design, tensors, teacher
        expected = {name: weight.shape for name, weight in weights_of(design).items()}
        check_shapes(tensors, expected)
        for name in sorted(set(tensors) - set(expected)):
            raise ModelError(f"has a tensor {name!r} that its design does not")
        return made


def check_size(rows: int, cols: int) -> None:
    """Raise `SpecError` for boards of a size that the network does not support."""
    if min(rows, cols) < SMALLEST or max(rows, cols) > LARGEST:
        sizes = f"{SMALLEST} to {LARGEST} lines, not {rows}x{cols}"
        raise SpecError(f"the network judges boards of {sizes}")


def _evaluations(boards: Sequence[Board], output: EngineOutput) -> list[Evaluation]:
    """Return each row of an output from Black's perspective, with illegal moves masked out."""
    legal = np.stack([board.legal_mask() for board in boards])

    def shares(logits: Float32Array) -> FloatArray:
        allowed = np.where(legal, logits.astype(np.float64), -np.inf)
        odds = np.exp(allowed - allowed.max(1, keepdims=True))
        return np.asarray(odds / odds.sum(1, keepdims=True))

    signs = np.array([1.0 if board.turn == BLACK else -1.0 for board in boards])
    chances = 1.0 / (1.0 + np.exp(-signs * output.winner.astype(np.float64)))
    ownership = signs[:, None] * output.ownership.astype(np.float64)
    priors = shares(output.moves)
    best = None if output.best is None else shares(output.best)
    return [
        Evaluation(
            priors[row], float(chances[row]), sign * float(output.score[row]),
            float(output.spread[row]), ownership[row], None if best is None else best[row],
        )
        for row, sign in enumerate(signs.tolist())
    ]  # fmt: skip


SIZES = ((5, 5), (6, 6), (7, 7), (9, 9), (13, 13), (19, 19), (25, 25), (5, 9), (13, 8))
"""Boards on which the symmetry is measured."""


def equivariance_error(engine: Engine, *, seed: int = 1) -> float:
    """Return the largest difference between evaluating a turned board and turning the answer."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for rows, cols in SIZES:
        board = play_random(Board(rows, cols), rows * cols // 2, rng)
        planes = layers.pack_boards([board]).planes()
        plain = engine.evaluate_planes(planes)
        for element in elements(rows, cols)[1:]:
            turned = np.stack([transform(plane, element) for plane in planes[0]])[None]
            output = engine.evaluate_planes(np.ascontiguousarray(turned))
            for here, there in zip(plain, output, strict=True):
                if here is None or there is None:
                    continue
                expected = here.ravel().copy()
                if len(expected) > 1:  # one number per point, then one for a pass
                    board_part = expected[: rows * cols].reshape(rows, cols)
                    expected[: rows * cols] = transform(board_part, element).ravel()
                # For numbers above one (scores, mostly) the relative error counts.
                size = np.maximum(1, np.abs(expected))
                worst = max(worst, float((np.abs(there[0] - expected) / size).max()))
    return worst


def untrained(design: Design, *, seed: int = 1) -> DeepNetwork:
    """Return a network of random weights, for tests and for compiling."""
    rng = np.random.default_rng(seed)
    network = DeepNetwork()
    network.design_ = design
    network.weights_ = {
        name: rng.normal(0, math.prod(w.shape[1:]) ** -0.5, w.shape).astype(np.float32)
        for name, w in weights_of(design).items()
    }
    for name, weights in network.weights_.items():
        if name.endswith((".gain", ".variance")):
            network.weights_[name] = np.abs(weights) + np.float32(0.5)
    return network
