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
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tengen.board import points_at
from tengen.board.kernels import new_state
from tengen.learners.network.fitting import train_steps
from tengen.learners.network.inputs_kernels import HISTORY, NOWHERE, encode_games
from tengen.learners.network.katago import Teacher, TeacherPositions, inputs_of
from tengen.learners.network.katago_kernels import (
    LADDER_BIT,
    LEGAL_BIT,
    encode_games_for_teacher,
    encode_states,
    play_states,
)
from tengen.learners.network.settings import DESIGNS, SCORE_SCALE, Design, DistillationSettings
from tengen.learners.network.shards import Shard, bordered
from tengen.learners.network.torch_network import Output, network_arrays, planes_of
from tengen.learners.network.training import Trainer
from tengen.models.runs import Run

_OWNER_SCALE = 127.0
_PHASES = (0.0, 0.02, 0.1, 0.3)
"""Where phases of a game begin, as moves per point of the board."""
_GAMES_PER_THREAD = 16


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

    def batch(self, at: Tensor) -> TaughtBatch:
        """Gather the positions at these places."""
        return TaughtBatch(
            self.rows, self.cols, self.codes[at], self.history[at], self.passed[at],
            self.komi[at], self.territory[at], self.move[at].long(), self.policy[at].float(),
            self.winner[at], self.lead[at], self.spread[at], self.owner[at].float() / _OWNER_SCALE,
            self.phase(at),
        )  # fmt: skip

    def phase(self, at: Tensor) -> Tensor:
        """Return which of the phases of a game positions belong to."""
        edges = torch.tensor(_PHASES[1:], device=at.device)
        return torch.bucketize(self.ply[at].float() / (self.rows * self.cols), edges, right=True)


class TaughtBatch(NamedTuple):
    """Positions with the teacher's answers, from the side to move.

    The first fields are those of `inputs.Positions`.
    """

    rows: int
    cols: int
    codes: Tensor
    history: Tensor
    passed: Tensor
    komi: Tensor
    territory: Tensor
    moves: Tensor
    """The move people played, -1 where a machine did."""
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


class Student(Trainer):
    """A network in training from a teacher's answers."""

    weights: ClassVar[dict[str, float]] = {
        "best": 1.0, "people": 1.0, "winner": 0.8, "lead": 0.08, "spread": 0.02, "owners": 0.5,
    }  # fmt: skip
    parts = tuple(weights)

    def __init__(self, design: Design, settings: Any, device: torch.device) -> None:
        super().__init__(design, settings, device)
        self.temperatures = torch.full((len(_PHASES),), 1.5, device=device)
        """How much people's uncertainty softens the teacher's policy, per phase of the game."""

    def weight_of(self, part: str) -> float:
        """Return the weight of a part of the loss."""
        return self.weights[part]

    def losses(self, output: Output, batch: TaughtBatch) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        assert output.best is not None
        by_people = batch.moves >= 0
        played = F.one_hot(batch.moves.clamp(min=0), batch.policy.shape[1]).float()
        softer = softened(batch.policy, self.temperatures[batch.phase][:, None])
        expected = torch.where(by_people[:, None], played, softer)
        spread = (batch.spread / SCORE_SCALE).clamp(min=0.01).log()
        return {
            "best": F.cross_entropy(output.best, batch.policy),
            "people": F.cross_entropy(output.moves, expected),
            "winner": F.binary_cross_entropy_with_logits(output.winner, batch.winner),
            "lead": F.smooth_l1_loss(output.score, batch.lead, beta=2.0),
            "spread": (output.spread - spread).square().mean(),
            "owners": F.binary_cross_entropy_with_logits(output.ownership, (batch.owner + 1) / 2),
        }

    def refresh_norms(self, answers: Answers, size: int, batches: int) -> None:
        """Bring the norms' statistics up to date; they lag behind while the rate is high."""
        self.network.train()
        generator = torch.Generator(self.device)
        for number in range(batches):
            generator.manual_seed(self.settings.seed + number)
            at = torch.randint(answers.count, (size,), generator=generator, device=self.device)
            with torch.no_grad(), torch.autocast(self.device.type, self.dtype, enabled=self.mixed):
                self.network(planes_of(answers.batch(at), self.table.to(self.dtype)))

    def start_from(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take over the weights of a network of the same tower; see `fitting.check_design`.

        Missing move outputs are copied; the rest of wider outputs begins at random.
        """
        state = self.network.state_dict()
        for name, array in weights.items():
            tensor, own = torch.from_numpy(np.asarray(array, np.float32)), state[name]
            if name.startswith(("move.", "pass_move.")):
                tensor = torch.cat([tensor] * (own.shape[0] // tensor.shape[0]))
            own[tuple(slice(n) for n in tensor.shape)].copy_(tensor)
        self.network.load_state_dict(state)

    def learn_from(self, sources: Sequence[tuple[Answers, float]], settings: Any) -> None:
        """Make one step; the first source's board sets the norms' statistics.

        The batch follows from the seed and the number of the step alone.
        """
        number = settings.seed * 1_000_003 + self.step
        odds = np.array([weight for _, weight in sources])
        chosen = int(np.random.default_rng(number).choice(len(odds), p=odds / odds.sum()))
        answers = sources[chosen][0]
        generator = torch.Generator(self.device).manual_seed(number)
        shape = (settings.batch,)
        at = torch.randint(answers.count, shape, generator=generator, device=self.device)
        main = (answers.rows, answers.cols) == (sources[0][0].rows, sources[0][0].cols)
        self.learn(answers.batch(at), self.step / settings.steps, statistics=main)


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
    """Teach a network by a teacher's answers on people's games of one board and games of its own.

    A resumed run labels the same positions again and then goes on as if it had never stopped.
    """
    place = torch.device(device)
    student = Student(DESIGNS[settings.design], settings, place)
    if run is not None and run.start is not None:
        student.restore(run.start.arrays, run.start.step)
    elif start is not None:
        student.start_from(start)
    ask = asker(teacher.prepare(place).eval(), place)
    size = min(_TEACHER_BATCH, 4 * settings.batch)
    rows, cols = shards[0].rows, shards[0].cols
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        capacity = min(settings.positions, sum(shard.positions for shard in shards))
        people = Answers(rows, cols, capacity, place)
        chunks = human_chunks(shards, settings.chunk, settings.seed)

        def label_more() -> bool:
            chunk = next(chunks, None)
            if chunk is None or people.count == people.capacity:
                return False
            people.add(encode_shard(chunk, pool=pool, people=True), ask, size)
            on_report({"labelled": people.count, "board": f"{rows}x{cols}"})
            return True

        label_more()
        some = torch.arange(0, people.count, max(1, people.count // 50_000), device=place)
        policy, moves = people.policy[some].float(), people.move[some].long()
        found = fit_temperatures(policy, moves, people.phase(some))
        student.temperatures.copy_(torch.tensor(found))
        sources = [(people, _SHARES["people"])]
        for name, shape, games, plies in (
            ("9x9", (9, 9), settings.games_9x9, 120),
            ("13x13", (13, 13), settings.games_13x13, 230),
            ("continued", (rows, cols), settings.continuations, 40),
        ):
            if games == 0:
                continue
            begin = shards[0] if name == "continued" else None
            seed = settings.seed + shape[0] + plies
            play = Play(games, *shape, plies)
            shard, begins = teacher_games(
                play, ask, device=place, seed=seed, pool=pool, start=begin
            )
            encoded = encode_shard(shard, pool=pool, people=False, start=begins)
            answers = Answers(*shape, len(encoded.use), place)
            answers.add(encoded, ask, min(size, games))
            if answers.count:
                sources.append((answers, _SHARES[name]))
            on_report({"labelled": answers.count, "board": f"{shape[0]}x{shape[1]}"})

        def keep_labelling(step: int) -> None:
            drawn = (step + 1) * settings.batch
            while drawn > settings.reuse * people.count and label_more():
                pass

        def learn() -> None:
            keep_labelling(student.step)
            student.learn_from(sources, settings)

        keep_labelling(student.step - 1)
        train_steps(student, learn, settings.steps, settings.batch, run=run, on_report=on_report)
        student.refresh_norms(people, settings.batch, min(_NORM_BATCHES, settings.steps))
    return {k: np.ascontiguousarray(v) for k, v in network_arrays(student.network).items()}
