"""Train the network on batches: positions, loss, learning rate, trainer and training loop.

Positions stay on the device as one byte per point, so that a batch is a gather. Human games come
as sources, drawn from in proportion to the square roots of their sizes; some games of every source
are held out. Positions generated during training go through a replay buffer.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import math
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tengen.errors import ModelError, SpecError
from tengen.models.runs import Run
from tengen.network.engine import chosen_device
from tengen.network.inputs_kernels import HISTORY
from tengen.network.layers import WINNER
from tengen.network.settings import DESIGNS, SCORE_SCALE, Design, NetworkSettings
from tengen.network.shards import Shard, by_board
from tengen.network.torch_network import (
    Network,
    Output,
    network_arrays,
    plane_table,
    planes_of,
)
from tengen.statistics import confidence

_HELD_OUT_EVERY = 100  # one game in this many is held out, to tune on
_LONGEST_GRADIENT = 2.0
CALIBRATION_GAMES = 100  # held-out games that are needed to calibrate the winner's chances
LOG_EVERY = 100  # batches between two rows of metrics
_MEASURE_EVERY = 1000  # batches between two measurements on held-out games
_HELD_OUT_POSITIONS = 24_576
_MEASURED_AT_ONCE = 2048
SAVE_SECONDS = 45.0  # a killed training loses no more than this, and the batches of one row


# ----- Positions -----


class Batch(NamedTuple):
    """The fields of `layers.Positions` with targets, from the side to move; a row per position."""

    rows: int
    cols: int
    codes: Tensor
    history: Tensor
    passed: Tensor
    komi: Tensor
    territory: Tensor
    moves: Tensor  # index of the move played, the pass last; or probabilities of all moves
    winner: Tensor  # 1 won, 0.5 a draw, 0 lost; -1 not known
    score: Tensor  # final score in points; 0 where not `scored`
    scored: Tensor
    owner: Tensor  # batch x points: 1 own, -1 enemy, 0 neither; meaningless where not `owned`
    owned: Tensor

    @classmethod
    def blank(cls, lines: int, count: int, device: torch.device) -> Batch:
        """Return `count` rows of zeros, whose moves are probabilities."""

        def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros((count, *shape), dtype=dtype, device=device)

        points, flags = lines * lines, zeros(dtype=torch.bool)
        return cls(
            lines, lines, codes=zeros(points, dtype=torch.uint8),
            history=zeros(HISTORY, dtype=torch.int16), passed=flags, komi=zeros(),
            territory=flags, moves=zeros(points + 1, dtype=torch.float16), winner=zeros(),
            score=zeros(), scored=flags, owner=zeros(points, dtype=torch.int8), owned=flags,
        )  # fmt: skip


B = TypeVar("B", bound=Any)


def rows_at(batch: B, at: Tensor) -> B:
    """Return some rows of a batch of any kind."""
    found: B = type(batch)(*batch[:2], *(part[at] for part in batch[2:]))
    return found


def joined(parts: Sequence[B]) -> B:
    """Join batches of one size, in their order."""
    columns = zip(*(part[2:] for part in parts), strict=True)
    found: B = type(parts[0])(*parts[0][:2], *map(torch.cat, columns))
    return found


class ReplayBuffer(Generic[B]):
    """The latest positions on boards of one size, on a device."""

    def __init__(self, like: B, capacity: int) -> None:
        """Allocate `capacity` rows with the shapes and types of the batch `like`."""
        self.capacity, self.total, self.lost = capacity, 0, 0
        """`total` counts all positions ever added, `lost` those that a restored buffer lacks."""
        room = (part.new_zeros((capacity, *part.shape[1:])) for part in like[2:])
        self.rows: B = type(like)(*like[:2], *room)

    def __len__(self) -> int:
        return min(self.total - self.lost, self.capacity)

    def add(self, batch: B) -> None:
        """Add positions, overwriting the oldest."""
        count, device = len(batch.codes), self.rows.codes.device
        kept = min(count, self.capacity)
        places = torch.arange(self.total + count - kept, self.total + count, device=device)
        places %= self.capacity
        for mine, new in zip(self.rows[2:], batch[2:], strict=True):
            mine[places] = new[count - kept :].to(mine.dtype)
        self.total += count

    def at(self, places: Tensor) -> B:
        """Return the positions at these places."""
        return rows_at(self.rows, places)

    def draw(self, count: int, latest: int, generator: torch.Generator) -> B:
        """Draw `count` random positions from the `latest` ones."""
        span, device = min(len(self), latest), self.rows.codes.device
        ago = torch.randint(1, span + 1, (count,), generator=generator, device=device)
        return self.at((self.total - ago) % self.capacity)

    def tensors(self, most: int | None = None) -> dict[str, Tensor]:
        """Return the latest positions (all, or `most`), by name, oldest first."""
        count = len(self) if most is None else min(len(self), most)
        places = torch.arange(self.total - count, self.total, device=self.rows.codes.device)
        latest: dict[str, Any] = self.at(places % self.capacity)._asdict()
        return {name: part for name, part in latest.items() if isinstance(part, Tensor)}

    def restore(self, tensors: Mapping[str, Tensor], total: int) -> None:
        """Continue from what `tensors` returned; `total` as it was then."""
        self.total = self.lost = total - len(tensors["codes"])
        self.add(self.rows._replace(**tensors))


@dataclass
class Source:
    """All positions of one source of games, on a device."""

    positions: Batch  # its `owner` holds row numbers of `ownership`
    ownership: Tensor  # two rows per game with known owners: for Black to move and for White
    game: Tensor
    train: Tensor  # positions to learn from
    held_out: Tensor

    @property
    def board(self) -> tuple[int, int]:
        """Rows and columns of all its positions."""
        return self.positions.rows, self.positions.cols

    def decided(self) -> Tensor:
        """Return the held-out positions of games whose winner is known."""
        return self.held_out[self.positions.winner[self.held_out] >= 0]

    def batch(self, at: Tensor) -> Batch:
        """Gather the positions at these places."""
        found = rows_at(self.positions, at)
        return found._replace(moves=found.moves.long(), owner=self.ownership[found.owner.long()])


def gather(
    shards: Sequence[Shard],
    *,
    device: torch.device,
    ladders: bool = True,
    threads: int | None = None,
) -> Source:
    """Replay shards of one size and put everything on the device."""
    sizes = {shard.board for shard in shards}
    if len(sizes) != 1:
        raise ModelError(f"a source holds boards of one size, not {sorted(sizes)}")

    def put(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device)

    total, first, buffer = sum(shard.positions for shard in shards), 0, None
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for shard in shards:
            seen = shard.encoded(ladders=ladders, pool=pool)
            white, score = shard.colours == 2, shard.per_move(shard.score)
            winner, scored = shard.per_move(shard.winner), ~np.isnan(score)
            known = int(shard.labelled.sum())
            row = np.full(len(shard), -1, np.int32)
            row[shard.labelled] = first + 2 * np.arange(known)
            row, first = shard.per_move(row), first + 2 * known
            arrays: tuple[NDArray[Any], ...] = (
                seen.codes, seen.history, seen.passed, seen.komi, seen.territory, shard.indices,
                np.where(winner == 0, -1.0, winner == shard.colours).astype(np.float32),
                np.where(scored, np.where(white, -score, score), 0).astype(np.float32),
                scored, np.where(row < 0, 0, row + white), row >= 0,
            )  # fmt: skip
            part = Batch(*shard.board, *map(put, arrays))
            if buffer is None:
                buffer = ReplayBuffer(part, total)
            buffer.add(part)
    assert buffer is not None
    owners = np.concatenate([shard.ownership[shard.labelled] for shard in shards])
    both = np.stack([owners, -owners], 1).reshape(-1, owners.shape[1])
    lengths = np.concatenate([shard.lengths() for shard in shards])
    game = np.repeat(np.arange(len(lengths)), lengths)
    held = game % _HELD_OUT_EVERY == _HELD_OUT_EVERY - 1
    return Source(
        positions=buffer.rows,
        ownership=put(np.concatenate([both, np.zeros((1, owners.shape[1]), np.int8)])),
        game=put(game.astype(np.int32)),
        train=put(np.flatnonzero(~held)),
        held_out=put(np.flatnonzero(held)),
    )


class Sampler:
    """Draws batches from several sources; a batch holds boards of one size."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)
        self.device = self.sources[0].train.device
        self.generator = torch.Generator(self.device)
        weights = np.sqrt([len(source.train) for source in self.sources])
        self.shares = weights / weights.sum()
        self._boards: dict[tuple[int, int], float] = {}  # how often each board is drawn from
        for source, share in zip(self.sources, self.shares, strict=True):
            self._boards[source.board] = self._boards.get(source.board, 0.0) + float(share)
        # The board that is learned from most; the held-out games of its sources are measured.
        self.main = max(self._boards, key=self._boards.__getitem__)
        self.measured = [source for source in self.sources if source.board == self.main]

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Draw a random batch."""
        # Choose the board by the generator's seed: reading a number from a GPU would stall it.
        chance, odds = np.random.default_rng(generator.initial_seed()), list(self._boards.values())
        board = list(self._boards)[int(chance.choice(len(odds), p=np.array(odds) / sum(odds)))]
        chosen = [i for i, source in enumerate(self.sources) if source.board == board]
        shares = self.shares[chosen] / self.shares[chosen].sum()
        counts = [round(share * size) for share in shares]
        counts[-1] = size - sum(counts[:-1])
        parts = []
        for i, count in zip(chosen, counts, strict=True):
            train = self.sources[i].train
            pick = torch.randint(len(train), (count,), generator=generator, device=self.device)
            parts.append(self.sources[i].batch(train[pick]))
        return joined(parts)

    def held_out(self, size: int) -> Batch:
        """Return a fixed set of held-out positions, evenly from `measured`."""
        parts = []
        for source in self.measured:
            count = min(size // len(self.measured), len(source.held_out))
            step = max(1, len(source.held_out) // max(count, 1))
            parts.append(source.batch(source.held_out[::step][:count]))
        return joined(parts)


# ----- The trainer -----


def rate_at(step: int, progress: float, settings: Any) -> float:
    """Return the rate of a step; `progress` is the share of the training that is done."""
    rising = (step + 1) / settings.warm_up
    left = (1 - progress) / max(settings.falling, 1e-6)
    return float(settings.rate * max(min(rising, left, 1.0), settings.lowest_rate))


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    kept = mask.float()
    return (values * kept).sum() / kept.sum().clamp(min=1)


def use_fast_products(device: torch.device) -> None:
    """Let a GPU choose its fastest convolutions, and use TF32 in products."""
    if device.type == "cuda":
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True
        warnings.filterwarnings("ignore", r"\s*Online softmax is disabled")  # of no use to users


class Trainer:
    """A network in training: make steps, measure, save and restore the whole state."""

    parts: tuple[str, ...] = ("moves", "winner", "ownership", "score")
    """The parts of the loss; the settings have a weight for each."""

    def __init__(
        self, design: Design, settings: Any, device: torch.device, *, graphs: bool = True
    ) -> None:
        """Start with random weights; on a GPU, `graphs` records a step once and replays it."""
        torch.manual_seed(settings.seed)
        use_fast_products(device)
        self.settings, self.device, self.step = settings, device, 0
        self.network = Network(design).to(device)
        self.optimizers = optimizers_of(self.network, settings)
        self.mixed = device.type == "cuda"
        self.dtype = torch.bfloat16 if self.mixed else torch.float32
        self.table = plane_table(device)
        self._graphs = graphs and self.mixed
        self._loss: Any = self._whole_loss
        if self.mixed:
            mode = "reduce-overhead" if self._graphs else None
            self._loss = torch.compile(self._whole_loss, dynamic=False, mode=mode)
        # Sums of the parts of the loss since the last row, and how many steps.
        self._sums = torch.zeros(len(self.parts) + 1, device=device)

    def losses(self, output: Output, batch: Any) -> dict[str, Tensor]:
        """Return the parts of the loss, each a mean over the positions that have the target."""
        winner = F.binary_cross_entropy_with_logits(
            output.winner, batch.winner.clamp(min=0), reduction="none"
        )
        owner = F.binary_cross_entropy_with_logits(
            output.ownership, (batch.owner.float() + 1) / 2, reduction="none"
        ).mean(1)
        spread = output.spread.clamp(-4, 4)
        off = ((batch.score - output.score) / SCORE_SCALE).clamp(-8, 8)
        score = spread + 0.5 * (off * torch.exp(-spread)).square()
        # Moves are indices, or probabilities of all moves.
        moves = batch.moves if batch.moves.dim() == 1 else batch.moves.float()
        return {
            "moves": F.cross_entropy(output.moves, moves),
            "winner": _mean(winner, batch.winner >= 0),
            "ownership": _mean(owner, batch.owned),
            "score": _mean(score, batch.scored),
        }

    def _whole_loss(self, batch: Any) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            output = self.network(planes_of(batch, self.table.to(self.dtype)))
        found = self.losses(output, batch)
        total = sum(getattr(self.settings, f"{name}_weight") * found[name] for name in self.parts)
        assert isinstance(total, Tensor)
        row = [*(found[name] for name in self.parts), torch.ones_like(total)]
        return total, torch.stack(row).detach()

    def learn(self, batch: Any, progress: float, *, statistics: bool = True) -> None:
        """Take one step; with `statistics`, norms use this batch's statistics and track them."""
        self.network.train(statistics)
        rate = rate_at(self.step, progress, self.settings)
        if self._graphs:
            torch.compiler.cudagraph_mark_step_begin()
        total, parts = self._loss(batch)
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), _LONGEST_GRADIENT)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self._sums += parts
        self.step += 1

    def warm_up(self, batch: Batch) -> None:
        """Compile everything that learning from such a batch needs; learn nothing."""
        before = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.network.train()
        self._loss(batch)[0].backward()
        self.network.zero_grad(set_to_none=True)
        self.network.load_state_dict(before)

    def check(self) -> None:
        """Raise `SpecError` if the loss is not finite."""
        if not math.isfinite(float(self._sums.sum())):
            raise SpecError(
                f"the training diverged before batch {self.step} (its loss is not a number); "
                f"try a smaller learning rate than {self.settings.rate}"
            )

    def mean_losses(self) -> dict[str, float]:
        """Return the mean parts of the loss since the last row."""
        *sums, count = self._sums.tolist()
        self._sums.zero_()
        if not count:
            return {}
        return {name: round(value / count, 6) for name, value in zip(self.parts, sums, strict=True)}

    @torch.no_grad()
    def measure(self, batch: Batch) -> dict[str, float]:
        """Return the mean of each of `measures`; in half precision, moves would often be tied."""
        self.network.eval()
        sums: dict[str, Any] = {}
        for part in torch.arange(len(batch.codes), device=self.device).split(_MEASURED_AT_ONCE):
            some = rows_at(batch, part)
            output = self.network(planes_of(some, self.table))
            for name, (hits, mask) in measures(output, some).items():
                counted = np.array([float((hits * mask).sum()), float(mask.sum())])
                sums[name] = sums.get(name, 0.0) + counted
        return {name: float(hits / max(count, 1)) for name, (hits, count) in sums.items()}

    @torch.no_grad()
    def calibrate(self, sampler: Sampler) -> float:
        """Scale the winner's logits to fit held-out games; return the factor."""
        judged = [(source, source.decided()) for source in sampler.measured]
        if sum(len(source.game[at].unique()) for source, at in judged) < CALIBRATION_GAMES:
            return 1.0
        self.network.eval()
        logits, won = [], []
        for source, at in judged:
            for part in at.split(_MEASURED_AT_ONCE):
                batch = source.batch(part)
                output = self.network(planes_of(batch, self.table))
                logits.append(output.winner.cpu().numpy())
                won.append(batch.winner.cpu().numpy() == 1)
        factor = confidence(np.concatenate(logits), np.concatenate(won))
        for name in ("value.weight", "value.bias"):
            self.network.weight(name)[WINNER] *= factor
        return factor

    def arrays(self) -> dict[str, Any]:
        """Return the whole state of the training as NumPy arrays."""
        found = {f"network.{k}": v for k, v in network_arrays(self.network).items()}
        for i, optimizer in enumerate(self.optimizers):
            for number, state in optimizer.state_dict()["state"].items():
                for name, value in state.items():
                    found[f"optimizer.{i}.{number}.{name}"] = value.detach().cpu().numpy()
        return {**found, "sums": self._sums.cpu().numpy()}

    def restore(self, arrays: Mapping[str, Any], step: int) -> None:
        """Continue from a state that `arrays` returned."""
        weights = {k: v for k, v in arrays.items() if k.startswith("network.")}
        self.load_weights({k.removeprefix("network."): v for k, v in weights.items()})
        for i, optimizer in enumerate(self.optimizers):
            state: dict[int, dict[str, Tensor]] = defaultdict(dict)
            for key, value in arrays.items():
                words = key.split(".")
                if words[:2] == ["optimizer", str(i)]:
                    state[int(words[2])][words[3]] = torch.from_numpy(value.copy())
            groups = optimizer.state_dict()["param_groups"]
            optimizer.load_state_dict({"state": dict(state), "param_groups": groups})
        if "sums" in arrays:  # not in states of version 0.2
            self._sums.copy_(torch.tensor(arrays["sums"]))
        self.step = step

    def load_weights(self, arrays: Mapping[str, Any]) -> None:
        """Load weights and statistics, as `network_arrays` returns them."""
        state = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        self.network.load_state_dict(state)


def measures(output: Output, batch: Batch) -> dict[str, tuple[Tensor, Tensor]]:
    """Return, per figure, its values and a mask of the positions that count; ties share hits."""
    chosen = output.moves.gather(1, batch.moves[:, None])
    before = (output.moves > chosen).sum(1)
    equal = (output.moves == chosen).sum(1)
    every = torch.ones_like(batch.scored)
    decided = batch.owner != 0
    owner = ((output.ownership > 0) == (batch.owner > 0)) & decided
    right = (output.winner > 0) == (batch.winner == 1)
    return {
        "top1": (((1 - before) / equal).clamp(0, 1), every),
        "top5": (((5 - before) / equal).clamp(0, 1), every),
        "log_loss": (F.cross_entropy(output.moves, batch.moves, reduction="none"), every),
        "winner": (right, batch.winner >= 0),
        "ownership": (owner.sum(1) / decided.sum(1).clamp(min=1), batch.owned),
        "score_error": ((output.score - batch.score).abs(), batch.scored),
    }


def fit(
    sources: Sequence[Sequence[Shard]],
    settings: NetworkSettings,
    *,
    device: str = "cpu",
    start: Mapping[str, NDArray[Any]] | None = None,
    run: Run[NetworkSettings] | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, NDArray[Any]]:
    """Train a network on games and return its weights, by name."""
    place = torch.device(chosen_device(device))
    design = DESIGNS[settings.design]
    boards = [same for source in sources for same in by_board(source)]
    sampler = Sampler([gather(same, device=place, ladders=design.ladders) for same in boards])
    trainer = Trainer(design, settings, place)
    if run is not None and run.start is not None:
        trainer.restore(run.start.arrays, run.start.step)
    elif start is not None:
        trainer.load_weights(dict(start))
    held_out = sampler.held_out(_HELD_OUT_POSITIONS)

    def measure() -> dict[str, Any]:
        due = trainer.step % _MEASURE_EVERY == 0 or trainer.step == settings.steps
        if not due or not len(held_out.codes):  # with few games, none may be held out
            return {}
        return {"held_out": {k: round(v, 6) for k, v in trainer.measure(held_out).items()}}

    train_steps(
        trainer, lambda: learn_one(trainer, sampler), run=run, measure=measure, on_row=on_row
    )
    trainer.calibrate(sampler)  # not in checkpoints: a resumed run trains without it
    return network_arrays(trainer.network)


def train_steps(
    trainer: Trainer,
    learn: Callable[[], None],
    *,
    run: Run[Any] | None,
    measure: Callable[[], dict[str, Any]] = dict,
    on_row: Callable[[dict[str, Any]], None],
) -> None:
    """Call `learn` until the last step; log metrics and save checkpoints on the way."""
    steps, batch = trainer.settings.steps, trainer.settings.batch
    began, first = time.perf_counter(), trainer.step
    while trainer.step < steps:
        learn()
        last = trainer.step == steps
        due = last or trainer.step % LOG_EVERY == 0
        save = run is not None and (last or run.due(SAVE_SECONDS))
        if due or save:
            trainer.check()
        if due:
            row = {**trainer.mean_losses(), **measure()}
            rate = (trainer.step - first) * batch / (time.perf_counter() - began)
            left = (steps - trainer.step) * batch / rate
            on_row({"step": trainer.step, **row, "positions_per_second": rate, "left": left})
            if run is not None:
                run.note(trainer.step, **row)
        if run is not None and save:
            run.save(trainer.step, trainer.arrays())


def learn_one(trainer: Trainer, sampler: Sampler) -> None:
    """Train on the next batch, which depends only on the seed and the step."""
    settings, generator = trainer.settings, sampler.generator
    generator.manual_seed(settings.seed * 1_000_003 + trainer.step)
    batch = sampler.draw(settings.batch, generator)
    # Play uses one set of statistics for all board sizes, so other boards train with it.
    main = (batch.rows, batch.cols) == sampler.main
    trainer.learn(batch, trainer.step / settings.steps, statistics=main)


def optimizers_of(network: Network, settings: Any) -> list[torch.optim.Optimizer]:
    """Return AdamW and, for the kernels of convolutions, Muon."""
    kernels: list[Tensor] = []
    others: list[Tensor] = []
    for w in network.parameters():
        large = settings.muon and w.ndim >= 4 and w.numel() > w.shape[0]
        (kernels if large else others).append(w)
    rate, decay = settings.rate, settings.decay
    adam: Any = {"betas": (0.9, 0.99), "weight_decay": decay, "fused": others[0].is_cuda}
    found: list[torch.optim.Optimizer] = [torch.optim.AdamW(others, rate, **adam)]
    return [*found, Muon(kernels, rate, decay=decay)] if kernels else found


# Coefficients of the quintic iteration: slope at zero as steep as the bound on its maximum allows.
_A, _B, _C = 3.4445, -4.7750, 2.0315
_STEPS = 5
_ADAM_SIZE = 0.2  # root mean square of a typical AdamW step, as a multiple of the rate


def _orthogonalised(matrices: Tensor) -> Tensor:
    """Return matrices (stack x rows x columns) with all singular values brought near one."""
    x = matrices.bfloat16() if matrices.is_cuda else matrices.float()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.transpose(1, 2)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_STEPS):
        square = x @ x.transpose(1, 2)
        inner = torch.baddbmm(square, square, square, beta=_B, alpha=_C)
        x = torch.baddbmm(x, inner, x, beta=_A)
    if tall:
        x = x.transpose(1, 2)
    return x.to(matrices.dtype)


class Muon(torch.optim.Optimizer):
    """The Muon optimizer: orthogonalised momentum, for kernels of any number of dimensions."""

    def __init__(self, weights: Iterable[Tensor], rate: float, *, decay: float = 0.0) -> None:
        super().__init__(weights, {"lr": rate, "momentum": 0.95, "decay": decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        """Step all kernels that have gradients, those of one shape together."""
        for group in self.param_groups:
            shapes: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for weight in group["params"]:
                if weight.grad is not None:
                    shapes[tuple(weight.shape)].append(weight)
                    if "momentum" not in self.state[weight]:
                        self.state[weight]["momentum"] = torch.zeros_like(weight)
            rate, momentum, decay = group["lr"], group["momentum"], group["decay"]
            for weights in shapes.values():
                speeds = [self.state[weight]["momentum"] for weight in weights]
                gradients = [weight.grad for weight in weights]
                torch._foreach_lerp_(speeds, gradients, 1 - momentum)
                ahead = torch._foreach_lerp(gradients, speeds, momentum)  # Nesterov's look ahead
                stack = torch.stack(ahead).flatten(2)
                steps = zip(_orthogonalised(stack), weights, strict=True)
                scale = rate * _ADAM_SIZE * max(stack.shape[1:]) ** 0.5
                torch._foreach_mul_(weights, 1 - rate * decay)
                torch._foreach_add_(weights, [step.view_as(w) for step, w in steps], alpha=-scale)
