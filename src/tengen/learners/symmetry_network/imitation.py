"""Learn to rank experts' moves by the value of the board after them, with PyTorch; play nothing.

The network stays an evaluator: it sees the stones after a move and whose they are, never the move.
Of a position, the board after the expert's move and boards after other legal moves, drawn by
chance, are valued from the mover's view; the cross entropy of exp(beta * value) against the
expert's is made small by Adam. Needs the extra `torch`.

What batch k holds follows from the seed and k alone, so that a training that was stopped and goes
on ends with the same numbers.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray, IntArray
from tengen.errors import SpecError, TengenError
from tengen.learners.symmetry_network.imitation_kernels import choices
from tengen.learners.symmetry_network.network import Architecture
from tengen.learners.symmetry_network.settings import ImitationSettings
from tengen.learners.symmetry_network.torch_network import TorchNetwork
from tengen.models.runs import Run
from tengen.models.settings import fingerprint

if TYPE_CHECKING:
    import torch

    from tengen.records.arrays import GameArrays
else:
    try:
        import torch
    except ImportError:  # only using it needs torch; `TorchNetwork` says so
        torch = None

_Batch = tuple[NDArray[np.uint8], IntArray]

_FIRST_BETA = 2.0
"""What a point of value counts in the softmax before training; learned along."""

_SCALE = 64.0
"""By which losses are multiplied on the way back, so that small gradients survive rounding."""


@dataclass(frozen=True)
class Ranking:
    """How well a network ranks the moves of experts among all legal ones."""

    positions: int
    top1: float
    top5: float
    loss: float  # nats a move


@dataclass(frozen=True)
class ImitationReport:
    """What some steps of a training showed: means over their positions, before learning."""

    step: int
    positions: int
    loss: float
    top1: float  # the expert's move above all drawn ones
    beta: float
    seconds: float


def _initial(architecture: Architecture, seed: int) -> FloatArray:
    """Draw first numbers that neither let signals die nor saturate, whatever the depth."""
    rng = np.random.default_rng(seed)
    free = np.zeros(architecture.size)
    for name, at in architecture.slices.items():
        if name[0] == "B" or name == "OI":
            continue
        drawn = rng.normal(size=at.stop - at.start)
        dense = architecture.parts[name].expand(drawn)
        # One input of a neighbour is 1 and the others 0; hidden units have squares of about 0.4.
        energy = 1 / architecture.inputs if name == "HI" else 0.4
        wanted = 1e-4 if name == "OH" else 1.0
        power = (dense**2).sum((0, 2)).mean() * energy
        free[at] = drawn * np.sqrt(wanted / power)
    return free


class Imitator:
    """A training under way: `step` learns from one batch, `arrays` is all that it remembers.

    On a GPU `exact` makes the same numbers every time and is slower.
    """

    def __init__(
        self,
        settings: ImitationSettings,
        games: GameArrays,
        *,
        device: str = "cpu",
        workers: int = 1,
        exact: bool = True,
    ) -> None:
        if len(games) == 0 or np.any((games.rows != settings.size) | (games.cols != settings.size)):
            raise SpecError(f"imitation wants games of size {settings.size}, all of them")
        self.settings, self.games = settings, games
        self.workers, self.steps = max(1, workers), 0
        self.half = settings.half and device.startswith("cuda")
        architecture = settings.network.architecture
        start = _initial(architecture, settings.seed)
        self.network = TorchNetwork(architecture, start).to(_device(device))
        if device.startswith("cuda"):
            # The products of convolutions are rounded to 11 bits, sums are not.
            torch.backends.cudnn.allow_tf32 = True
            torch.backends.cudnn.deterministic = exact
            torch.backends.cudnn.benchmark = not exact
        self.free = self.network.free
        self.log_beta = torch.nn.Parameter(torch.tensor(np.log(_FIRST_BETA)).to(self.free))
        size = len(self.free) + 1
        self._mean, self._square = self.free.new_zeros(size), self.free.new_zeros(size)

    # ----- Batches -----

    def batches(self, until: int) -> Iterator[_Batch]:
        """Yield the batches from the step at hand, made by the workers ahead of their use."""
        with ThreadPoolExecutor(self.workers) as pool:
            waiting: deque[Future[_Batch]] = deque()
            following = self.steps
            while waiting or following < until:
                while following < until and len(waiting) < 2 * self.workers + 1:
                    waiting.append(pool.submit(self.batch, following))
                    following += 1
                yield waiting.popleft().result()

    def batch(self, step: int) -> _Batch:
        """Return the boards of a step, (positions, 1 + negatives, points), and how many count."""
        visits = self.settings.batch // self.settings.draws
        first = step * visits
        which = [self._visited(first + i) for i in range(visits)]
        draws, others = self.settings.draws, self.settings.negatives
        return self._choices(self.games, which, draws, others, False, first)

    def _visited(self, visit: int) -> int:
        """Return the game of a visit: every game once in a new order, and again."""
        epoch, place = divmod(visit, len(self.games))
        return int(_order(self.settings.seed, epoch, len(self.games))[place])

    def _choices(
        self, games: GameArrays, which: list[int], draws: int, others: int, every: bool, first: int
    ) -> _Batch:
        size = self.settings.size
        boards = np.zeros((len(which) * draws, 1 + others, size * size), np.uint8)
        counts = np.zeros(len(which) * draws, np.int64)
        choices(
            *(games.moves, games.colours, games.offsets, np.array(which, np.int64), size, size),
            *(draws, every, self.settings.network.sorting.packed(), self.settings.seed, first),
            *(boards, counts),
        )
        return boards, counts

    # ----- Learning -----

    def step(self, batch: _Batch, rate: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Take one step of Adam; return the mean loss and share of hits, still on the device."""
        logits, sound = self._logits(batch)
        losses = -torch.log_softmax(logits, 1)[:, 0]
        loss = (losses * sound).sum() / sound.sum().clamp(min=1)
        gradients = torch.autograd.grad(_SCALE * loss, [self.free, self.log_beta])
        gradient = torch.cat([gradients[0], gradients[1].reshape(1)]) / _SCALE
        gradient = torch.nan_to_num(gradient, 0.0, 0.0, 0.0)  # half precision overflows rarely
        self.steps += 1
        self._mean.lerp_(gradient, 0.1)
        self._square.lerp_(gradient**2, 0.001)
        root = (self._square / (1 - 0.999**self.steps)).sqrt() + 1e-9
        change = rate / (1 - 0.9**self.steps) * self._mean / root
        with torch.no_grad():
            self.free -= change[:-1]
            self.log_beta -= change[-1]
            hits = (logits[:, :1] > logits[:, 1:]).all(1) * sound
        return loss.detach(), hits.sum() / sound.sum().clamp(min=1)

    def _logits(self, batch: _Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return beta * value of all boards, -inf where there is none, and which rows count."""
        boards, counts = (torch.as_tensor(part) for part in batch)
        device = self.free.device
        if device.type == "cuda":
            boards = boards.pin_memory()
        boards, counts = boards.to(device, non_blocking=True), counts.to(device)
        n, choices_, _ = boards.shape
        size = self.settings.size
        values = self.values(boards.reshape(n * choices_, size, size)).reshape(n, choices_)
        there = torch.arange(choices_, device=device)[None] < counts[:, None]
        sound = counts > 1
        there = there | ~sound[:, None]  # a row that does not count must not give nan
        return (self.log_beta.exp() * values).masked_fill(~there, -torch.inf), sound

    def values(self, symbols: torch.Tensor) -> torch.Tensor:
        """Return the mover's value of boards of input numbers: the sum of 2 Z - 1."""
        with torch.autocast("cuda", torch.float16, enabled=self.half):
            found = self.network(symbols)
        return torch.tanh(found.float() / 2).sum((1, 2, 3))

    def rank(self, games: GameArrays, positions: int, *, seed: int = 0) -> Ranking:
        """Measure the ranking among all legal moves in positions drawn from games."""
        rng = np.random.default_rng([seed, 7])
        ranks: list[int] = []
        losses: list[float] = []
        for k in range(positions):
            which = [int(rng.integers(len(games)))]
            most = self.settings.size**2
            boards, counts = self._choices(games, which, 1, most - 1, True, (1 << 40) + k)
            if counts[0] < 1:
                continue
            with torch.no_grad():
                logits, _ = self._logits((boards, counts))  # always of one shape
            row = logits[0, : counts[0]].double()
            ranks.append(int((row[1:] >= row[0]).sum()))
            losses.append(float(torch.logsumexp(row, 0) - row[0]))
        if not ranks:
            raise TengenError("none of the positions drawn has an expert's move to rank")
        order = np.array(ranks)
        top5 = float((order < 5).mean())
        return Ranking(len(ranks), float((order < 1).mean()), top5, float(np.mean(losses)))

    # ----- What is remembered -----

    @property
    def learned(self) -> FloatArray:
        """Return the free numbers."""
        return np.asarray(self.free.detach().cpu().numpy(), np.float64)

    @property
    def beta(self) -> float:
        """Return what a point of value counts in the softmax."""
        return float(self.log_beta.detach().exp())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint must hold."""
        tensors = {"free": self.free, "log_beta": self.log_beta.reshape(1)}
        tensors |= {"mean": self._mean, "square": self._square}
        return {name: value.detach().cpu().numpy().copy() for name, value in tensors.items()}

    def restore(self, arrays: dict[str, NDArray[Any]], steps: int) -> None:
        """Go on from the arrays of a checkpoint."""
        self.steps = steps
        with torch.no_grad():
            self.free.copy_(torch.as_tensor(arrays["free"]))
            self.log_beta.copy_(torch.as_tensor(arrays["log_beta"])[0])
            self._mean.copy_(torch.as_tensor(arrays["mean"]))
            self._square.copy_(torch.as_tensor(arrays["square"]))


def open_run(
    folder: Path, settings: ImitationSettings, games: GameArrays, *, resume: bool
) -> Run[ImitationSettings]:
    """Claim a folder for learning from these games, or go on with the run in it: as `Run.open`."""
    data = {"games": fingerprint(games.moves, games.colours, games.offsets)}
    return Run.open(folder, "symmetry-network imitate", settings, data=data, resume=resume)


def imitate(
    trainer: Imitator,
    *,
    run: Run[ImitationSettings] | None = None,
    checkpoint_every: int = 500,
    report_every: int = 100,
    watch: Callable[[ImitationReport], None] = lambda _: None,
) -> FloatArray:
    """Train to the end and return the free numbers; in a run it goes on where that stands."""
    settings = trainer.settings
    if run is not None and run.start is not None:
        trainer.restore(run.start.arrays, run.start.step)
    begin, sums = time.perf_counter(), np.zeros(3)
    for batch in trainer.batches(settings.steps):
        loss, hits = trainer.step(batch, settings.rate_at(trainer.steps))
        sums += [float(loss), float(hits), 1]
        last = trainer.steps == settings.steps
        if not np.isfinite(sums[0]):
            raise TengenError(f"training diverged at step {trainer.steps}: lower the rate")
        if last or trainer.steps % report_every == 0:
            done, (mean, top1) = trainer.steps * settings.batch, (sums[:2] / sums[2]).tolist()
            seconds = time.perf_counter() - begin
            if run is not None:
                run.note(trainer.steps, positions=done, loss=mean, top1=top1, beta=trainer.beta)
            watch(ImitationReport(trainer.steps, done, mean, top1, trainer.beta, seconds))
            begin, sums = time.perf_counter(), np.zeros(3)
        if run is not None and (last or trainer.steps % checkpoint_every == 0):
            run.save(trainer.steps, trainer.arrays())
    return trainer.learned


def _device(name: str) -> torch.device:
    """Return a device that is there."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SpecError(f"device {name!r}: choose cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SpecError(f"device {name!r}: PyTorch finds no such GPU here")
    return device


@lru_cache(maxsize=4)
def _order(seed: int, epoch: int, games: int) -> IntArray:
    """Return the order of the games in an epoch."""
    return np.random.default_rng([seed, epoch]).permutation(games)
