"""Teach a network from the answers of a stronger one, KataGo's.

Positions come from games of people and from games that the teacher plays with random mistakes on
boards of several sizes. The teacher evaluates each position once; the answers stay on the device
and are drawn from several times while more positions arrive. Besides what is best, the network
keeps learning what people play: their moves in their games, and the teacher's policy, softened
to people's uncertainty, where there are no games of people.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tengen.board import points_at
from tengen.board.kernels import new_state
from tengen.learners.network.batches import Batch
from tengen.learners.network.inputs_kernels import HISTORY, NOWHERE, encode_games
from tengen.learners.network.katago import Teacher, TeacherPositions, inputs_of
from tengen.learners.network.katago_kernels import (
    LADDER_BIT,
    LEGAL_BIT,
    encode_games_for_teacher,
    encode_states,
    play_states,
)
from tengen.learners.network.optimizer import Both
from tengen.learners.network.settings import DESIGNS, SCORE_SCALE, Design
from tengen.learners.network.shards import Shard, bordered
from tengen.learners.network.torch_network import (
    Network,
    network_arrays,
    plane_table,
    planes_of,
)
from tengen.learners.network.training import diverged
from tengen.models.runs import Run
from tengen.models.settings import CheckedSettings, setting

_OWNER_SCALE = 127.0
_PHASES = (0.0, 0.02, 0.1, 0.3)
"""Where phases of a game begin, as moves per point of the board."""
_GRADIENT = 2.0
_GAMES_PER_THREAD = 16


@dataclass(frozen=True)
class DistillationSettings(CheckedSettings):
    """Everything that decides what a network learns from its teacher."""

    design: str = setting("judge", "Shape of the network.", choices=tuple(DESIGNS))
    steps: int = setting(28_000, "Batches to learn from.", least=1)
    batch: int = setting(2048, "Positions per batch.", least=1)
    rate: float = setting(3.5e-3, "Learning rate, before it falls.", least=0)
    decay: float = setting(1e-2, "Weight decay, times the rate.", least=0)
    positions: int = setting(12_000_000, "Positions of people's games to label.", least=1)
    reuse: float = setting(3.0, "Times a position is drawn before more are labelled.", least=0.1)
    chunk: int = setting(1024, "Games that are labelled together.", least=1)
    games_9x9: int = setting(16_384, "Games the teacher plays on 9x9.", least=0)
    games_13x13: int = setting(8192, "Games the teacher plays on 13x13.", least=0)
    continuations: int = setting(8192, "Games it continues from people's positions.", least=0)
    seed: int = setting(1, "Every random choice follows from it.", least=0, most=2**40)


@dataclass
class Encoded:
    """Positions of some games of one size, as both networks read them, on the processor."""

    rows: int
    cols: int
    codes: NDArray[np.uint8]
    teacher_codes: NDArray[np.int16]
    history: NDArray[np.int16]
    passes: NDArray[np.bool_]
    earlier: NDArray[np.int64]
    """Positions x 2: rows of `teacher_codes` of the positions one and two moves before."""
    komi: NDArray[np.float32]
    """Points the side to move receives."""
    chill: NDArray[np.float32]
    """What the teacher adds to that under territory scoring; see `katago.positions_of`."""
    territory: NDArray[np.bool_]
    move: NDArray[np.int16]
    """The move people played, -1 where a machine did."""
    ply: NDArray[np.int16]
    use: NDArray[np.int64]
    """Rows to learn from."""


def encode_shard(
    shard: Shard, *, pool: ThreadPoolExecutor, people: bool, start: NDArray[np.int32] | None = None
) -> Encoded:
    """Encode all positions of a shard; those before ply `start` of a game are not learned from."""
    rows, cols, points = shard.rows, shard.cols, shard.rows * shard.cols
    offsets = np.concatenate([[0], np.cumsum(shard.lengths, dtype=np.int64)])
    setup_offsets = np.concatenate([[0], np.cumsum(shard.setup_lengths, dtype=np.int64)])
    moves, setup = bordered(shard.moves, rows, cols), bordered(shard.setup, rows, cols)
    games = np.arange(len(shard))
    areas = shard.territory == 0
    total = len(moves)
    codes = np.empty((total, points), np.uint8)
    teacher_codes = np.empty((total, points), np.int16)

    def work(first: int) -> None:
        last = min(first + _GAMES_PER_THREAD, len(shard))
        part = slice(offsets[first], offsets[last])
        given = (games, moves, shard.colours, offsets, setup, shard.setup_colours, setup_offsets)
        encode_games(*given, first, last, rows, cols, True, codes[part])
        encode_games_for_teacher(*given, areas, first, last, rows, cols, teacher_codes[part])

    list(pool.map(work, range(0, len(shard), _GAMES_PER_THREAD)))
    game = np.repeat(games, shard.lengths)
    ply = np.arange(total) - offsets[game]
    history = np.full((total, HISTORY), NOWHERE, np.int16)
    passes = np.zeros((total, HISTORY), np.bool_)
    earlier = np.tile(np.arange(total)[:, None], (1, 2))
    for ago in range(1, HISTORY + 1):
        known = ply >= ago
        before = shard.moves[np.maximum(np.arange(total) - ago, 0)]
        # A history that does not alternate is not one.
        colour = shard.colours[np.maximum(np.arange(total) - ago, 0)]
        alternates = colour == (shard.colours if ago % 2 == 0 else 3 - shard.colours)
        known = known & alternates
        history[:, ago - 1] = np.where(known & (before < points), before, NOWHERE)
        passes[:, ago - 1] = known & (before == points)
        if ago <= 2:
            earlier[known, ago - 1 :] -= 1
    sign = np.where(shard.colours == 1, -1.0, 1.0)
    stones = np.where(shard.moves < points, np.where(shard.colours == 1, 1, -1), 0)
    before_game = np.concatenate([[0], np.cumsum(stones)])
    chill = before_game[:-1] - before_game[offsets[game]]
    setup_stones = np.concatenate([[0], np.cumsum(np.where(shard.setup_colours == 1, 1, -1))])
    chill = chill + (setup_stones[setup_offsets[game + 1]] - setup_stones[setup_offsets[game]])
    use = np.arange(total) if start is None else np.flatnonzero(ply >= start[game])
    return Encoded(
        rows, cols, codes, teacher_codes, history, passes, earlier,
        (sign * shard.komi[game]).astype(np.float32), (sign * chill).astype(np.float32),
        shard.territory[game] != 0,
        shard.moves.astype(np.int16) if people else np.full(total, -1, np.int16),
        ply.astype(np.int16), use,
    )  # fmt: skip


def teacher_positions(
    codes: Tensor, earlier: Tensor, history: Tensor, passes: Tensor, komi: Tensor,
    territory: Tensor, rows: int, cols: int,
) -> TeacherPositions:  # fmt: skip
    """Pack tensors for the teacher, under simple ko and without suicide."""
    rules = torch.zeros(len(codes), 6, device=codes.device)
    rules[:, 3] = rules[:, 4] = territory.float()
    return TeacherPositions(rows, cols, codes, earlier, history, passes, komi, rules)


class Answers:
    """Positions of one board size with the teacher's answers, on the device; full ones stay."""

    def __init__(self, rows: int, cols: int, capacity: int, device: torch.device) -> None:
        points = rows * cols
        self.rows, self.cols, self.capacity, self.count = rows, cols, capacity, 0

        def room(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((capacity, *shape), dtype=dtype, device=device)

        self.codes = room(points, dtype=torch.uint8)
        self.history = room(HISTORY, dtype=torch.int16)
        self.passed = room(dtype=torch.bool)
        self.komi = room(dtype=torch.float32)
        self.territory = room(dtype=torch.bool)
        self.move = room(dtype=torch.int16)
        self.ply = room(dtype=torch.int16)
        self.policy = room(points + 1, dtype=torch.float16)
        self.winner = room(dtype=torch.float32)
        self.lead = room(dtype=torch.float32)
        self.spread = room(dtype=torch.float32)
        self.owner = room(points, dtype=torch.int8)

    def add(self, encoded: Encoded, ask: Callable[..., Any], size: int) -> int:
        """Let the teacher answer for encoded positions; return how many there was room for.

        All calls have `size` positions, since another number would compile the teacher again.
        """
        device = self.codes.device
        use = encoded.use[: self.capacity - self.count]
        for start in range(0, len(use), size):
            part = use[start : start + size]
            filled = np.resize(part, size)

            def put(array: NDArray[Any], at: NDArray[np.int64] = filled) -> Tensor:
                return torch.from_numpy(array[at]).to(device, non_blocking=True)

            codes = put(encoded.teacher_codes)
            before = torch.stack(
                [put(encoded.teacher_codes, encoded.earlier[filled, k]) for k in range(2)], 1
            )
            history, passes = put(encoded.history), put(encoded.passes)
            komi, territory = put(encoded.komi), put(encoded.territory)
            packed = teacher_positions(
                codes, (before & LADDER_BIT) > 0, history, passes,
                komi + put(encoded.chill) * territory, territory, self.rows, self.cols,
            )  # fmt: skip
            said = ask(*inputs_of(packed))
            policy = masked(said.moves, codes).softmax(1)
            n = len(part)
            rows = slice(self.count, self.count + n)
            self.codes[rows] = put(encoded.codes)[:n]
            self.history[rows], self.passed[rows] = history[:n], passes[:n, 0]
            self.komi[rows], self.territory[rows] = komi[:n], territory[:n]
            self.move[rows], self.ply[rows] = put(encoded.move)[:n], put(encoded.ply)[:n]
            self.policy[rows] = policy[:n].half()
            self.winner[rows], self.lead[rows] = said.winner[:n], said.lead[:n]
            self.spread[rows] = said.spread[:n]
            self.owner[rows] = (said.ownership[:n] * _OWNER_SCALE).round().to(torch.int8)
            self.count += n
        return len(use)

    def batch(self, at: Tensor) -> tuple[Batch, Targets]:
        """Gather positions and what is to be learned from them."""
        komi = self.komi[at]
        batch = Batch(
            rows=self.rows, cols=self.cols, codes=self.codes[at], history=self.history[at],
            passed=self.passed[at], komi=komi, territory=self.territory[at],
            moves=self.move[at].long(), winner=komi, score=komi, scored=komi, owner=komi,
            owned=komi,
        )  # fmt: skip
        return batch, Targets(
            self.policy[at].float(), self.winner[at], self.lead[at], self.spread[at],
            self.owner[at].float() / _OWNER_SCALE, self.phase(at),
        )  # fmt: skip

    def phase(self, at: Tensor) -> Tensor:
        """Return which of the phases of a game positions belong to."""
        edges = torch.tensor(_PHASES[1:], device=at.device)
        return torch.bucketize(self.ply[at].float() / (self.rows * self.cols), edges, right=True)


@dataclass
class Targets:
    """The teacher's answers for a batch, from the side to move."""

    policy: Tensor
    winner: Tensor
    lead: Tensor
    spread: Tensor
    owner: Tensor
    phase: Tensor


def masked(logits: Tensor, codes: Tensor) -> Tensor:
    """Return logits with illegal moves left out."""
    legal = (codes & LEGAL_BIT) > 0
    legal = torch.cat([legal, torch.ones_like(legal[:, :1])], 1)
    return logits.masked_fill(~legal, -1e4)


def softened(policy: Tensor, temperature: float | Tensor) -> Tensor:
    """Return a policy at another temperature, one for all or one per row."""
    powered = policy.clamp(min=1e-7) ** (1 / temperature) * (policy > 0)
    return powered / powered.sum(1, keepdim=True)


def fit_temperatures(policy: Tensor, move: Tensor, phase: Tensor) -> list[float]:
    """Return, per phase, the temperature at which the teacher's policy explains moves best.

    A phase with few moves takes the temperature of all.
    """

    def fit(chosen: Tensor) -> float:
        found = []
        for step in range(36):
            temperature = 0.5 + step * 0.1
            odds = softened(policy[chosen], temperature).gather(1, move[chosen][:, None])
            found.append((-(odds.clamp(min=1e-6).log()).mean().item(), temperature))
        return min(found)[1]

    everywhere = fit(torch.ones_like(phase, dtype=torch.bool))
    parts = [phase == number for number in range(len(_PHASES))]
    return [fit(part) if int(part.sum()) >= 200 else everywhere for part in parts]


def losses(
    network: Network, batch: Batch, targets: Targets, table: Tensor, temperatures: Tensor,
    dtype: torch.dtype,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the loss, and its parts as one detached tensor."""
    output = network(planes_of(batch, table.to(dtype)))
    assert output.best is not None
    best = -(targets.policy * F.log_softmax(output.best, 1)).sum(1).mean()
    by_people = batch.moves >= 0
    played = F.one_hot(batch.moves.clamp(min=0), targets.policy.shape[1]).float()
    soft = softened(targets.policy, temperatures[targets.phase][:, None])
    expected = torch.where(by_people[:, None], played, soft)
    people = -(expected * F.log_softmax(output.moves, 1)).sum(1).mean()
    winner = F.binary_cross_entropy_with_logits(output.winner, targets.winner)
    lead = F.smooth_l1_loss(output.score, targets.lead, beta=2.0)
    spread = (output.spread - (targets.spread / SCORE_SCALE).clamp(min=0.01).log()).square().mean()
    owner = F.binary_cross_entropy_with_logits(output.ownership, (targets.owner + 1) / 2)
    total = best + people + 0.8 * winner + 0.08 * lead + 0.02 * spread + 0.5 * owner
    parts = torch.stack([best, people, winner, lead, owner]).detach()
    return total, parts


LOSSES = ("best", "people", "winner", "lead", "owners")
"""Names of the parts that `losses` returns."""


class Student:
    """A network in training from a teacher's answers."""

    def __init__(
        self, design: Design, device: torch.device, *, rate: float, decay: float, seed: int
    ) -> None:
        torch.manual_seed(seed)
        self.device, self.rate, self.step = device, rate, 0
        self.network = Network(design).to(device)
        self.optimizer = Both(self.network, rate, decay)
        self.table = plane_table(device)
        self.temperatures = torch.full((len(_PHASES),), 1.5, device=device)
        """How much people's uncertainty softens the teacher's policy, per phase of the game."""
        self.seed, self.generator = seed, torch.Generator(device)
        self.mixed = device.type == "cuda"
        self._loss = (
            torch.compile(self._whole_loss, dynamic=False, mode="reduce-overhead")
            if self.mixed
            else self._whole_loss
        )

    def arrays(self) -> dict[str, Any]:
        """Return the whole state of the training as NumPy arrays."""
        weights = {f"network.{k}": v for k, v in network_arrays(self.network).items()}
        return {**weights, **self.optimizer.arrays()}

    def restore(self, arrays: Mapping[str, Any], step: int) -> None:
        """Take over a state that `arrays` returned."""
        prefix = "network."
        self.start_from(
            {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
        )
        self.optimizer.restore(dict(arrays))
        self.step = step

    def refresh_norms(self, answers: Answers, size: int, batches: int) -> None:
        """Bring the norms' statistics up to date; they lag behind while the rate is high."""
        self.network.train()
        for number in range(batches):
            self.generator.manual_seed(self.seed + number)
            at = torch.randint(answers.count, (size,), generator=self.generator, device=self.device)
            dtype = torch.bfloat16 if self.mixed else torch.float32
            with torch.no_grad(), torch.autocast(self.device.type, dtype, enabled=self.mixed):
                self.network(planes_of(answers.batch(at)[0], self.table.to(dtype)))

    def start_from(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take over the weights of a network of the same tower; missing outputs are copied."""
        state = self.network.state_dict()
        for name, array in weights.items():
            tensor, own = torch.from_numpy(np.asarray(array, np.float32)), state[name]
            if own.shape[0] != tensor.shape[0] and name.startswith(("move.", "pass_move.")):
                tensor = torch.cat([tensor] * own.shape[0])
            if own.shape == tensor.shape:
                own.copy_(tensor)
            else:  # wider outputs: the rest begins at random
                own[tuple(slice(n) for n in tensor.shape)].copy_(tensor)
        self.network.load_state_dict(state)

    def _whole_loss(
        self, batch: Batch, policy: Tensor, winner: Tensor, lead: Tensor, spread: Tensor,
        owner: Tensor, phase: Tensor,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        dtype = torch.bfloat16 if self.mixed else torch.float32
        targets = Targets(policy, winner, lead, spread, owner, phase)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed):
            return losses(self.network, batch, targets, self.table, self.temperatures, dtype)

    def advance(
        self, sources: Sequence[tuple[Answers, float]], size: int, share_done: float
    ) -> Tensor:
        """Make one step; the first source's board sets the norms' statistics.

        The batch follows from the seed and the number of the step alone.
        """
        number = self.seed * 1_000_003 + self.step
        self.generator.manual_seed(number)
        odds = np.array([weight for _, weight in sources])
        chosen = int(np.random.default_rng(number).choice(len(odds), p=odds / odds.sum()))
        answers = sources[chosen][0]
        at = torch.randint(answers.count, (size,), generator=self.generator, device=self.device)
        batch, targets = answers.batch(at)
        self.network.train(answers.rows == sources[0][0].rows)
        rising = min(1.0, (self.step + 1) / 200)
        falling = min(1.0, (1.0 - share_done) / 0.6)
        self.optimizer.set_rate(self.rate * rising * max(falling, 0.001))
        if self.mixed:
            torch.compiler.cudagraph_mark_step_begin()
        total, parts = self._loss(
            batch, targets.policy, targets.winner, targets.lead, targets.spread, targets.owner,
            targets.phase,
        )  # fmt: skip
        total.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), _GRADIENT)
        self.optimizer.step()
        self.step += 1
        return parts.clone()

    @torch.no_grad()
    def measure(self, answers: Answers, size: int = 2048, most: int = 1 << 30) -> dict[str, float]:
        """Compare with people and the teacher, in single precision."""
        self.network.eval()
        sums = torch.zeros(8, device=self.device, dtype=torch.float64)
        count = min(answers.count, most)
        step = max(1, answers.count // count)
        rows = torch.arange(0, answers.count, step, device=self.device)[:count]
        for start in range(0, len(rows), size):
            batch, targets = answers.batch(rows[start : start + size])
            output = self.network(planes_of(batch, self.table))
            assert output.best is not None
            illegal = targets.policy == 0
            moves = output.moves.masked_fill(illegal, -1e9)
            best = output.best.masked_fill(illegal, -1e9)
            first = targets.policy.argmax(1)
            sums += torch.stack([
                (moves.argmax(1) == batch.moves).float().sum(),
                (best.argmax(1) == first).float().sum(),
                (first == batch.moves).float().sum(),
                (output.winner.sigmoid() - targets.winner).abs().sum(),
                (output.score - targets.lead).abs().sum(),
                ((output.ownership > 0) == (targets.owner > 0)).float().mean(1).sum(),
                F.cross_entropy(output.moves, batch.moves.clamp(min=0), reduction="sum"),
                (best.argmax(1) == batch.moves).float().sum(),
            ]).double()  # fmt: skip
        names = (
            "people", "teacher", "teacher_people", "winner_off", "lead_off", "owners", "log_loss",
            "best_people",
        )  # fmt: skip
        return dict(zip(names, (sums / len(rows)).tolist(), strict=True))


@dataclass(frozen=True)
class Play:
    """How the teacher plays games to learn from."""

    games: int
    rows: int
    cols: int
    plies: int


def teacher_games(
    play: Play, ask: Callable[..., Any], *, device: torch.device, seed: int,
    pool: ThreadPoolExecutor, start: Shard | None = None,
) -> tuple[Shard, NDArray[np.int32]]:  # fmt: skip
    """Let the teacher play games with chance moves; return them and where each begins.

    Games differ in how often a move is drawn from a flattened policy or at random, in komi and in
    how they are counted. With `start` each begins at a random ply of one of its games.
    """
    rows, cols, points = play.rows, play.cols, play.rows * play.cols
    chance = np.random.default_rng(seed)
    games = play.games
    states = np.stack([new_state(rows, cols)] * games)
    territory = chance.random(games) < 0.4
    usual = np.where(territory, 6.5, 7.5)
    odd = np.round(chance.normal(7, 5, games) * 2) / 2
    komi = np.where(chance.random(games) < 0.7, usual, odd).astype(np.float32)
    temperature = chance.choice([0.6, 1.0, 1.0, 1.5, 2.5], games).astype(np.float32)
    mistakes = chance.choice([0.0, 0.0, 0.03, 0.1, 0.25], games).astype(np.float32)
    opening = chance.integers(0, 12, games)
    record = np.full((games, 512), -1, np.int16)
    lengths = np.zeros(games, np.int32)
    if start is not None:
        lengths = _take_prefixes(start, states, record, chance)
        mistakes = np.where(chance.random(games) < 0.5, 0.3, 0.05).astype(np.float32)
        opening[:] = 2
    begins = lengths.copy()
    played = (record >= 0) & (record < points)
    stones = played[:, ::2].sum(1) - played[:, 1::2].sum(1)
    codes = np.empty((games, points), np.int16)
    ladders = np.zeros((2, games, points), np.bool_)
    areas = ~territory
    running = np.ones(games, np.bool_)
    put: Callable[[NDArray[Any]], Tensor] = lambda array: torch.from_numpy(array).to(device)  # noqa: E731
    heat, risk = put(temperature), put(mistakes)
    generator = torch.Generator(device).manual_seed(seed)
    parts = [(i, min(i + 256, games)) for i in range(0, games, 256)]
    everyone = np.arange(games)
    for ply in range(play.plies):
        list(pool.map(lambda part: encode_states(states, areas, *part, codes), parts))
        now = (codes & LADDER_BIT) > 0
        if ply == 0:
            ladders[:] = now
        history = np.full((games, HISTORY), NOWHERE, np.int16)
        passes = np.zeros((games, HISTORY), np.bool_)
        for ago in range(1, HISTORY + 1):
            at = lengths - ago
            before = np.where(at >= 0, record[everyone, np.maximum(at, 0)], NOWHERE)
            passes[:, ago - 1] = before == points
            history[:, ago - 1] = np.where(before == points, NOWHERE, before)
        white = lengths % 2 == 1
        whole_komi = komi + stones * territory
        own_komi = np.where(white, whole_komi, -whole_komi).astype(np.float32)
        seen = put(codes)
        packed = teacher_positions(
            seen, put(ladders.transpose(1, 0, 2).copy()), put(history), put(passes),
            put(own_komi), put(territory), rows, cols,
        )  # fmt: skip
        said = ask(*inputs_of(packed))
        logits = masked(said.moves.float(), seen)
        early = put((lengths - begins < opening).astype(np.float32))
        warmth = torch.maximum(heat, early * 1.6)
        odds = (logits / warmth[:, None]).softmax(1)
        legal = (seen & LEGAL_BIT) > 0
        anywhere = torch.cat([legal.float(), torch.full_like(odds[:, :1], 1e-6)], 1)
        anywhere = anywhere / anywhere.sum(1, keepdim=True)
        blunder = (torch.rand(games, device=device, generator=generator) < risk)[:, None]
        odds = torch.where(blunder, anywhere, odds)
        drawn = torch.multinomial(odds, 1, generator=generator)[:, 0].cpu().numpy()
        # Drawing on a GPU can, rarely, return a move of no probability.
        legal_drawn = codes[everyone, np.minimum(drawn, points - 1)] & LEGAL_BIT > 0
        drawn = np.where(running & legal_drawn, drawn, points).astype(np.int16)
        record[everyone[running], lengths[running]] = drawn[running]
        stones += running * (drawn < points) * np.where(white, -1, 1)
        lengths[running] += 1
        over = (drawn == points) & passes[:, 0]
        running &= ~over & (lengths < 511)
        ladders[1], ladders[0] = ladders[0], now
        moves = points_at(drawn, rows, cols).astype(np.int64)
        list(pool.map(lambda part, moves=moves: play_states(states, moves, *part), parts))
        if not running.any():
            break
    kept = [record[i, : lengths[i]] for i in range(games)]
    colours = [(np.arange(n) % 2 + 1).astype(np.int8) for n in lengths]
    nothing = np.zeros(0, np.int16)
    shard = Shard(
        rows=rows, cols=cols, moves=np.concatenate(kept), colours=np.concatenate(colours),
        lengths=lengths, setup=nothing, setup_colours=nothing.astype(np.int8),
        setup_lengths=np.zeros(games, np.int32), komi=komi, territory=territory.astype(np.int8),
        winner=np.zeros(games, np.int8), score=np.zeros(games, np.float32),
        labelled=np.zeros(0, np.int32), ownership=np.zeros((0, points), np.int8),
    )  # fmt: skip
    return shard, begins


def _take_prefixes(
    start: Shard, states: NDArray[Any], record: NDArray[np.int16], chance: np.random.Generator
) -> NDArray[np.int32]:
    """Bring states to random plies of people's games; return the plies."""
    offsets = np.concatenate([[0], np.cumsum(start.lengths, dtype=np.int64)])
    moves = bordered(start.moves, start.rows, start.cols).astype(np.int64)
    lengths = np.zeros(len(states), np.int32)
    for i in range(len(states)):
        game = i % len(start)
        most = int(start.lengths[game]) - 1
        plies = int(chance.integers(0, min(most, 260)))
        first = offsets[game]
        colours = start.colours[first : first + plies]
        if start.setup_lengths[game] or (colours != np.arange(plies) % 2 + 1).any():
            continue
        record[i, :plies] = start.moves[first : first + plies]
        lengths[i] = plies
        for move in moves[first : first + plies]:
            play_states(states[i : i + 1], np.array([move]), 0, 1)
    return lengths


def human_chunks(shards: Sequence[Shard], games: int, seed: int) -> Iterator[Shard]:
    """Cut shards into chunks of some games, in random order, half under each way of counting.

    Most records are of Japanese rules at 6.5 points; counted by area they get a point more.
    """
    chance = np.random.default_rng(seed)
    parts = [(s, i) for s in shards for i in range(0, len(s), games)]
    for number in chance.permutation(len(parts)):
        shard, first = parts[number]
        chunk = shard_part(shard, first, min(first + games, len(shard)))
        area = chance.random(len(chunk)) < 0.5
        komi = np.where(area, np.where(chunk.komi == 6.5, 7.5, chunk.komi), chunk.komi)
        yield dataclasses.replace(
            chunk, komi=komi.astype(np.float32), territory=(~area).astype(np.int8)
        )


def shard_part(shard: Shard, first: int, last: int) -> Shard:
    """Return games `first` to `last` of a shard, without labels of owners."""
    moves = np.concatenate([[0], np.cumsum(shard.lengths, dtype=np.int64)])
    setup = np.concatenate([[0], np.cumsum(shard.setup_lengths, dtype=np.int64)])
    m, s, g = slice(moves[first], moves[last]), slice(setup[first], setup[last]), slice(first, last)
    return Shard(
        shard.rows, shard.cols, shard.moves[m], shard.colours[m], shard.lengths[g],
        shard.setup[s], shard.setup_colours[s], shard.setup_lengths[g], shard.komi[g],
        shard.territory[g], shard.winner[g], shard.score[g], np.zeros(0, np.int32),
        np.zeros((0, shard.rows * shard.cols), np.int8),
    )  # fmt: skip


def asker(teacher: Teacher, device: torch.device) -> Callable[..., Any]:
    """Return the teacher as a function, compiled where there is a GPU."""
    if device.type != "cuda":
        return teacher
    compiled: Callable[..., Any] = torch.compile(teacher, dynamic=False)
    return compiled


_TEACHER_BATCH = 8192
_REPORT_EVERY = 100
_SAVE_SECONDS = 60.0
_NORM_BATCHES = 250
_SHARES = {"people": 0.62, "continued": 0.06, "13x13": 0.14, "9x9": 0.18}
"""How often batches come from each kind of positions."""


def distil(
    shards: Sequence[Shard],
    teacher: Teacher,
    settings: DistillationSettings,
    *,
    device: str = "cpu",
    start: Mapping[str, NDArray[Any]] | None = None,
    run: Run[DistillationSettings] | None = None,
    threads: int | None = None,
    on_report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, NDArray[Any]]:
    """Teach a network by a teacher's answers on people's 19x19 games and games of its own.

    A resumed run labels the same positions again and then goes on as if it had never stopped.
    """
    place = torch.device(device)
    if place.type == "cuda":
        torch.backends.cudnn.benchmark = True
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    ask = asker(teacher.prepare(place).eval(), place)
    student = Student(
        DESIGNS[settings.design], place, rate=settings.rate, decay=settings.decay,
        seed=settings.seed,
    )  # fmt: skip
    if run is not None and run.start is not None:
        student.restore(run.start.arrays, run.start.step)
    elif start is not None:
        student.start_from(start)
    size = min(_TEACHER_BATCH, 4 * settings.batch)
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        people = Answers(19, 19, settings.positions, place)
        chunks = human_chunks(shards, settings.chunk, settings.seed)

        def label_more() -> bool:
            chunk = next(chunks, None)
            if chunk is None or people.count == people.capacity:
                return False
            people.add(encode_shard(chunk, pool=pool, people=True), ask, size)
            return True

        label_more()
        rows = torch.arange(0, people.count, max(1, people.count // 50_000), device=place)
        student.temperatures.copy_(
            torch.tensor(
                fit_temperatures(
                    people.policy[rows].float(), people.move[rows].long(), people.phase(rows)
                )
            )
        )
        sources = [(people, _SHARES["people"])]
        for name, side, games, plies in (
            ("9x9", 9, settings.games_9x9, 120),
            ("13x13", 13, settings.games_13x13, 230),
            ("continued", 19, settings.continuations, 40),
        ):
            if games == 0:
                continue
            begin = shards[0] if name == "continued" else None
            play = Play(games, side, side, plies)
            seed = settings.seed + side + plies
            shard, begins = teacher_games(
                play, ask, device=place, seed=seed, pool=pool, start=begin
            )
            encoded = encode_shard(shard, pool=pool, people=False, start=begins)
            answers = Answers(side, side, len(encoded.use), place)
            answers.add(encoded, ask, min(size, games))
            sources.append((answers, _SHARES[name]))
        drawn = 0

        def keep_labelling(step: int) -> None:
            nonlocal drawn
            drawn = (step + 1) * settings.batch
            while drawn > settings.reuse * people.count and label_more():
                pass

        keep_labelling(student.step - 1)
        sums: Tensor | None = None
        while student.step < settings.steps:
            keep_labelling(student.step)
            parts = student.advance(sources, settings.batch, student.step / settings.steps)
            sums = parts if sums is None else sums + parts
            if student.step % _REPORT_EVERY and student.step < settings.steps:
                continue
            means = dict(zip(LOSSES, (sums / (_REPORT_EVERY)).tolist(), strict=True))
            sums = None
            if not all(map(np.isfinite, means.values())):
                raise diverged(student.step, settings.rate)
            row = {"step": student.step, "positions": people.count, **means}
            on_report(row)
            if run is not None:
                run.note(student.step, **{k: round(v, 6) for k, v in means.items()})
                if run.due(_SAVE_SECONDS) or student.step == settings.steps:
                    run.save(student.step, student.arrays())
        student.refresh_norms(people, settings.batch, min(_NORM_BATCHES, settings.steps))
    return {k: np.ascontiguousarray(v) for k, v in network_arrays(student.network).items()}
