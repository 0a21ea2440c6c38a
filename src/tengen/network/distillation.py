"""Train a network on the outputs of a stronger one, KataGo's.

Positions come from human games and from games that the teacher plays with random mistakes on boards
of several sizes. The teacher evaluates each position once; batches are drawn from its answers
several times while more positions arrive. The network also learns to predict human moves: those
played in human games, and elsewhere the teacher's policy, at a temperature fitted to human play.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tengen.board import PASS, points_at
from tengen.board.kernels import new_state
from tengen.models.runs import Run
from tengen.network.engine import chosen_device
from tengen.network.inputs_kernels import HISTORY, NOWHERE
from tengen.network.katago import Teacher, TeacherPositions, inputs_of
from tengen.network.katago_kernels import (
    LADDER_BIT,
    LEGAL_BIT,
    encode_games_for_teacher,
    encode_states,
    play_states,
)
from tengen.network.settings import DESIGNS, SCORE_SCALE, DistillationSettings
from tengen.network.shards import Shard
from tengen.network.torch_network import Output, network_arrays, planes_of
from tengen.network.training import ReplayBuffer, Trainer, train_steps

_OWNER_SCALE = 127.0
_PHASES = (0.0, 0.02, 0.1, 0.3)  # where phases of a game begin, as moves per point of the board


class TaughtBatch(NamedTuple):
    """The fields of `layers.Positions` with the teacher's answers, from the side to move."""

    rows: int
    cols: int
    codes: Tensor
    history: Tensor
    passed: Tensor
    komi: Tensor
    territory: Tensor
    moves: Tensor  # the move people played, -1 in the teacher's games
    policy: Tensor
    winner: Tensor
    lead: Tensor
    spread: Tensor
    owner: Tensor  # in steps of 1 / 127
    phase: Tensor  # index into `_PHASES`


def teacher_arrays(shard: Shard, pool: ThreadPoolExecutor) -> tuple[NDArray[Any], ...]:
    """Return the position before every move, as in `TeacherPositions` without the board's size.

    Instead of earlier ladders, there are the row numbers of the positions one and two moves before.
    """
    points, at = math.prod(shard.board), np.arange(shard.positions)
    codes = shard.encode(encode_games_for_teacher, ~shard.territory, np.int16, pool)
    last, earlier = shard.last_moves(), np.tile(at[:, None], (1, 2))
    for ago in range(1, HISTORY + 1):
        # Leave out earlier moves whose colours do not alternate.
        before = shard.colours[np.maximum(at - ago, 0)]
        alternates = before == (shard.colours if ago % 2 == 0 else 3 - shard.colours)
        last[~alternates, ago - 1] = NOWHERE
        if ago <= 2:
            earlier[last[:, ago - 1] != NOWHERE, ago - 1 :] -= 1
    # Under territory scoring the teacher gives each side a point per stone of the other.
    stones = np.where(shard.moves != PASS, np.where(shard.colours == 1, 1, -1), 0)
    before_move = np.concatenate([[0], np.cumsum(stones)])
    on_board = np.concatenate([[0], np.cumsum(np.where(shard.setup_colours == 1, 1, -1))])
    game = shard.per_move(np.arange(len(shard)))
    chill = before_move[:-1] - before_move[shard.offsets[game]]
    chill += on_board[shard.setup_offsets[game + 1]] - on_board[shard.setup_offsets[game]]
    territory = shard.territory[game]
    komi = np.where(shard.colours == 1, -1, 1) * (shard.komi[game] + chill * territory)
    history = np.where(last == points, NOWHERE, last)
    return codes, earlier, history, last == points, komi.astype(np.float32), _rules(territory)


def _rules(territory: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the teacher's rule inputs: simple ko, no suicide, area or territory scoring."""
    rules = np.zeros((len(territory), 6), np.float32)
    rules[:, 3] = rules[:, 4] = territory
    return rules


class Labeller:
    """Labels positions with the teacher, always `size` at a time: it may be compiled for one."""

    def __init__(self, teacher: Teacher, device: torch.device, pool: ThreadPoolExecutor) -> None:
        self.device, self.pool = device, pool
        self.ask: Callable[..., Any] = teacher.prepare(device).eval()
        # Compiled by PyTorch 2.11, a transformer failed twice on an H200, for unknown reasons.
        if device.type == "cuda" and not teacher.has_attention:
            self.ask = torch.compile(self.ask, dynamic=False)

    def put(self, array: NDArray[Any]) -> Tensor:
        """Copy an array to the device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device, non_blocking=True)

    def answers(
        self,
        shard: Shard,
        size: int,
        *,
        with_moves: bool,
        begins: NDArray[np.int32] | None = None,
        most: int | None = None,
    ) -> Iterator[TaughtBatch]:
        """Label up to `most` positions, from ply `begins` of each game on."""
        seen = shard.encoded(ladders=True, pool=self.pool)
        codes, earlier, *others = teacher_arrays(shard, self.pool)
        ply, points = shard.plies(), np.float32(math.prod(shard.board))
        use = np.flatnonzero(ply >= (0 if begins is None else shard.per_move(begins)))[:most]
        moves = shard.indices if with_moves else np.full(shard.positions, -1, np.int16)
        phase = np.digitize(ply.astype(np.float32) / points, np.array(_PHASES[1:], np.float32))
        for start in range(0, len(use), size):
            part = use[start : start + size]
            at = np.resize(part, size)
            here, before = self.put(codes[at]), self.put(codes[earlier[at]])
            rest = (self.put(array[at]) for array in others)
            packed = TeacherPositions(*shard.board, here, (before & LADDER_BIT) > 0, *rest)
            answer, n = self.ask(*inputs_of(packed)), len(part)
            arrays = seen.codes, seen.history, seen.passed, seen.komi, seen.territory, moves
            yield TaughtBatch._make([
                *shard.board, *(self.put(array[part]) for array in arrays),
                masked(answer.moves, here).softmax(1)[:n].half(), answer.winner[:n],
                answer.lead[:n], answer.spread[:n],
                (answer.ownership[:n] * _OWNER_SCALE).round().to(torch.int8),
                self.put(phase[part].astype(np.int8)),
            ])  # fmt: skip


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
    """Return the temperature that fits moves best, per phase (of all moves, if it has few)."""

    def fit(chosen: Tensor) -> float:
        def surprise(temperature: float) -> float:
            odds = softened(policy[chosen], temperature).gather(1, move[chosen][:, None])
            return float(-odds.clamp(min=1e-6).log().mean())

        return min((0.5 + step * 0.1 for step in range(36)), key=surprise)

    everywhere = fit(torch.ones_like(phase, dtype=torch.bool))
    parts = [phase == number for number in range(len(_PHASES))]
    return [fit(part) if int(part.sum()) >= 200 else everywhere for part in parts]


class Student(Trainer):
    """A network in training from a teacher's answers."""

    parts = ("best", "people", "winner", "lead", "spread", "owners")

    def __init__(self, settings: DistillationSettings, device: torch.device) -> None:
        super().__init__(DESIGNS[settings.design], settings, device)
        # Temperature per phase that softens the teacher's policy to match human play.
        self.temperatures = torch.full((len(_PHASES),), 1.5, device=device)

    def losses(self, output: Output, batch: TaughtBatch) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        assert output.best is not None
        by_people, policy = batch.moves >= 0, batch.policy.float()
        played = F.one_hot(batch.moves.long().clamp(min=0), policy.shape[1]).float()
        softer = softened(policy, self.temperatures[batch.phase.long()][:, None])
        expected = torch.where(by_people[:, None], played, softer)
        spread = (batch.spread / SCORE_SCALE).clamp(min=0.01).log()
        owner = (batch.owner.float() / _OWNER_SCALE + 1) / 2
        return {
            "best": F.cross_entropy(output.best, policy),
            "people": F.cross_entropy(output.moves, expected),
            "winner": F.binary_cross_entropy_with_logits(output.winner, batch.winner),
            "lead": F.smooth_l1_loss(output.score, batch.lead, beta=2.0),
            "spread": (output.spread - spread).square().mean(),
            "owners": F.binary_cross_entropy_with_logits(output.ownership, owner),
        }

    def draw(self, answers: ReplayBuffer[TaughtBatch], seed: int) -> TaughtBatch:
        """Draw a random batch."""
        generator, size = torch.Generator(self.device).manual_seed(seed), (self.settings.batch,)
        return answers.at(
            torch.randint(len(answers), size, generator=generator, device=self.device)
        )

    def fit_temperatures(self, answers: ReplayBuffer[TaughtBatch]) -> None:
        """Fit the temperatures to a part of people's moves."""
        step = max(1, len(answers) // 50_000)
        known = answers.at(torch.arange(0, len(answers), step, device=self.device))
        found = fit_temperatures(known.policy.float(), known.moves.long(), known.phase)
        self.temperatures.copy_(torch.tensor(found))

    def refresh_norms(self, answers: ReplayBuffer[TaughtBatch]) -> None:
        """Update the norms' statistics, which lag behind while the rate is high."""
        self.network.train()
        for number in range(min(_NORM_BATCHES, self.settings.steps)):
            batch = self.draw(answers, self.settings.seed + number)
            with torch.no_grad(), torch.autocast(self.device.type, self.dtype, enabled=self.mixed):
                self.network(planes_of(batch, self.table.to(self.dtype)))

    def start_from(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Load weights of the same tower; copy missing move outputs, leave wider layers random."""
        state = self.network.state_dict()
        for name, array in weights.items():
            tensor, own = torch.from_numpy(np.asarray(array, np.float32)), state[name]
            if name.startswith(("move.", "pass_move.")):
                tensor = torch.cat([tensor] * (own.shape[0] // tensor.shape[0]))
            own[tuple(slice(n) for n in tensor.shape)].copy_(tensor)
        self.network.load_state_dict(state)

    def learn_from(self, sources: Sequence[tuple[ReplayBuffer[TaughtBatch], float]]) -> None:
        """Make one step; only the first source's board changes the norms' statistics."""
        number = self.settings.seed * 1_000_003 + self.step
        odds = np.array([weight for _, weight in sources])
        chosen = int(np.random.default_rng(number).choice(len(odds), p=odds / odds.sum()))
        batch = self.draw(sources[chosen][0], number)
        main = batch[:2] == sources[0][0].rows[:2]
        self.learn(batch, self.step / self.settings.steps, statistics=main)


def teacher_games(
    labeller: Labeller,
    games: int,
    board: tuple[int, int],
    plies: int,
    *,
    seed: int,
    start: Shard | None = None,
) -> tuple[Shard, NDArray[np.int32]]:
    """Let the teacher play games with random moves; return them and the ply where each begins.

    They differ in temperature, share of random moves, komi and scoring. With `start`, each begins
    at a random ply of one of its games.
    """
    played = _TeacherGames(labeller, games, board, seed, start)
    for _ in range(plies):
        played.go_on()
        if not played.running.any():
            break
    kept = [played.record[i, : played.lengths[i]] for i in range(games)]
    shard = Shard.of_moves(*board, kept, komi=played.komi, territory=played.territory)
    return shard, played.begins


class _TeacherGames:
    """Games that the teacher plays against itself, all at once."""

    def __init__(
        self,
        labeller: Labeller,
        games: int,
        board: tuple[int, int],
        seed: int,
        start: Shard | None,
    ) -> None:
        self.labeller, self.board, self.points = labeller, board, math.prod(board)
        chance = np.random.default_rng(seed)
        self.states = np.stack([new_state(*board)] * games)
        self.territory = chance.random(games) < 0.4
        usual = np.where(self.territory, 6.5, 7.5)
        odd = np.round(chance.normal(7, 5, games) * 2) / 2
        self.komi = np.where(chance.random(games) < 0.7, usual, odd).astype(np.float32)
        temperature = chance.choice([0.6, 1.0, 1.0, 1.5, 2.5], games).astype(np.float32)
        mistakes = chance.choice([0.0, 0.0, 0.03, 0.1, 0.25], games).astype(np.float32)
        self.opening = chance.integers(0, 12, games)
        self.record = np.full((games, 512), -1, np.int16)
        self.lengths = np.zeros(games, np.int32)
        if start is not None:
            self.lengths = _take_prefixes(start, self.states, self.record, chance)
            mistakes = np.where(chance.random(games) < 0.5, 0.3, 0.05).astype(np.float32)
            self.opening[:] = 2
        self.begins = self.lengths.copy()
        played = (self.record >= 0) & (self.record < self.points)
        self.stones = played[:, ::2].sum(1) - played[:, 1::2].sum(1)  # Black's less White's
        self.codes = np.empty((games, self.points), np.int16)
        self.ladders: NDArray[np.bool_] | None = None  # at the two plies before
        self.running = np.ones(games, np.bool_)
        self.heat, self.risk = labeller.put(temperature), labeller.put(mistakes)
        self.generator = torch.Generator(labeller.device).manual_seed(seed)

    def go_on(self) -> None:
        """Play a move in every game that is not over."""
        self._for_parts(lambda part: encode_states(self.states, ~self.territory, *part, self.codes))
        everyone, put = np.arange(len(self.codes)), self.labeller.put
        now = (self.codes & LADDER_BIT) > 0
        before = np.stack([now, now], 1) if self.ladders is None else self.ladders
        at = self.lengths[:, None] - np.arange(1, HISTORY + 1)
        last = np.where(at >= 0, self.record[everyone[:, None], np.maximum(at, 0)], NOWHERE)
        passes, white = last == self.points, self.lengths % 2 == 1
        komi = self.komi + self.stones * self.territory
        own_komi = np.where(white, komi, -komi).astype(np.float32)
        moves = np.where(passes, NOWHERE, last)
        arrays = self.codes, before, moves, passes, own_komi, _rules(self.territory)
        seen = TeacherPositions(*self.board, *map(put, arrays))
        drawn = self._draw(self.labeller.ask(*inputs_of(seen)), seen.codes)
        # Drawing on a GPU can, rarely, return a move of probability zero.
        legal = self.codes[everyone, np.minimum(drawn, self.points - 1)] & LEGAL_BIT > 0
        drawn = np.where(self.running & legal, drawn, self.points).astype(np.int16)
        going = self.running.copy()
        self.record[everyone[going], self.lengths[going]] = drawn[going]
        self.stones += going * (drawn < self.points) * np.where(white, -1, 1)
        self.lengths[going] += 1
        over = (drawn == self.points) & passes[:, 0]
        self.running &= ~over & (self.lengths < 511)
        self.ladders = np.stack([now, before[:, 0]], 1)
        played = points_at(drawn, *self.board).astype(np.int64)
        self._for_parts(lambda part: play_states(self.states, played, *part))

    def _draw(self, answer: Any, codes: Tensor) -> NDArray[Any]:
        """Draw a move for each game, now and then any legal one; returns indices."""
        logits, legal = masked(answer.moves.float(), codes), (codes & LEGAL_BIT) > 0
        early = (self.lengths - self.begins < self.opening).astype(np.float32)
        heat = torch.maximum(self.heat, self.labeller.put(early) * 1.6)
        odds = (logits / heat[:, None]).softmax(1)
        anywhere = torch.cat([legal.float(), torch.full_like(odds[:, :1], 1e-6)], 1)
        anywhere = anywhere / anywhere.sum(1, keepdim=True)
        chance = torch.rand(len(codes), device=codes.device, generator=self.generator)
        odds = torch.where((chance < self.risk)[:, None], anywhere, odds)
        drawn = torch.multinomial(odds, 1, generator=self.generator)[:, 0]
        return np.asarray(drawn.cpu())

    def _for_parts(self, work: Callable[[tuple[int, int]], object]) -> None:
        """Do some work on all games, part by part in threads."""
        games = len(self.codes)
        parts = [(i, min(i + 256, games)) for i in range(0, games, 256)]
        list(self.labeller.pool.map(work, parts))


def _take_prefixes(
    start: Shard, states: NDArray[Any], record: NDArray[np.int16], chance: np.random.Generator
) -> NDArray[np.int32]:
    """Advance states to random plies of human games; return the plies."""
    moves, theirs = start.moves.astype(np.int64), start.lengths()
    lengths = np.zeros(len(states), np.int32)
    for i in range(len(states)):
        game = i % len(start)
        plies = int(chance.integers(0, min(int(theirs[game]) - 1, 260)))
        cut = slice(start.offsets[game], start.offsets[game] + plies)
        stones = start.setup_offsets[game + 1] - start.setup_offsets[game]
        if stones or (start.colours[cut] != np.arange(plies) % 2 + 1).any():
            continue
        record[i, :plies] = start.indices[cut]
        lengths[i] = plies
        for move in moves[cut]:
            play_states(states[i : i + 1], np.array([move]), 0, 1)
    return lengths


def human_chunks(shards: Sequence[Shard], games: int, seed: int) -> Iterator[Shard]:
    """Yield chunks of shards in random order; score half of the games by area (komi 6.5 as 7.5)."""
    chance = np.random.default_rng(seed)
    parts = [(s, i) for s in shards for i in range(0, len(s), games)]
    for number in chance.permutation(len(parts)):
        shard, first = parts[number]
        chunk = shard.take(np.arange(first, min(first + games, len(shard))))
        area = chance.random(len(chunk)) < 0.5
        komi = np.where(area & (chunk.komi == 6.5), 7.5, chunk.komi)
        yield replace(chunk, komi=komi.astype(np.float32), territory=~area)


_TEACHER_BATCH = 8192
_NORM_BATCHES = 250
_SHARES = {"people": 0.62, "continued": 0.06, "13x13": 0.14, "9x9": 0.18}
"""How often batches come from each kind of positions."""


def _own_games(
    labeller: Labeller, settings: DistillationSettings, start: Shard
) -> Iterator[tuple[str, Shard, NDArray[np.int32]]]:
    """Yield the kinds of games that the teacher plays itself, and the ply where each begins."""
    for name, board, games, plies in (
        ("9x9", (9, 9), settings.games_9x9, 120),
        ("13x13", (13, 13), settings.games_13x13, 230),
        ("continued", start.board, settings.continuations, 40),
    ):
        if games > 0:
            shard, begins = teacher_games(
                labeller, games, board, plies, seed=settings.seed + board[0] + plies,
                start=start if name == "continued" else None,
            )  # fmt: skip
            yield name, shard, begins


def _buffered(
    on_row: Callable[[dict[str, Any]], None],
    answers: Iterator[TaughtBatch],
    room: int,
    into: ReplayBuffer[TaughtBatch] | None = None,
) -> ReplayBuffer[TaughtBatch] | None:
    """Add labelled positions to a buffer, made when the first arrive."""
    for batch in answers:
        if into is None:
            into = ReplayBuffer(batch, room)
        into.add(batch)
    if into is not None:
        on_row({"labelled": len(into), "board": f"{into.rows.rows}x{into.rows.cols}"})
    return into


def distil(
    shards: Sequence[Shard],
    teacher: Teacher,
    settings: DistillationSettings,
    *,
    device: str = "cpu",
    start: Mapping[str, NDArray[Any]] | None = None,
    run: Run[DistillationSettings] | None = None,
    threads: int | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, NDArray[Any]]:
    """Train a network on a teacher's answers for human games on one board size and its own games.

    A resumed run labels the same positions again and then continues exactly.
    """
    place = torch.device(chosen_device(device))
    student = Student(settings, place)
    if run is not None and run.start is not None:
        student.restore(run.start.arrays, run.start.step)
    elif start is not None:
        student.start_from(start)
    size = min(_TEACHER_BATCH, 4 * settings.batch)
    capacity = min(settings.positions, sum(shard.positions for shard in shards))

    buffered = partial(_buffered, on_row)
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        labeller = Labeller(teacher, place, pool)
        chunks = human_chunks(shards, settings.chunk, settings.seed)

        def labelled(shard: Shard, known: int) -> Iterator[TaughtBatch]:
            return labeller.answers(shard, size, with_moves=True, most=capacity - known)

        human_games = buffered(labelled(next(chunks), 0), capacity)
        assert human_games is not None, "the first chunk has positions"
        student.fit_temperatures(human_games)
        sources = [(human_games, _SHARES["people"])]
        for name, shard, begins in _own_games(labeller, settings, shards[0]):
            made = labeller.answers(shard, min(size, len(shard)), with_moves=False, begins=begins)
            if answers := buffered(made, shard.positions - int(begins.sum())):
                sources.append((answers, _SHARES[name]))

        def keep_labelling(step: int) -> None:
            """Label as many positions as the batches up to a step need."""
            while (step + 1) * settings.batch > settings.reuse * len(human_games):
                chunk = next(chunks, None)
                if chunk is None or len(human_games) == capacity:
                    return
                buffered(labelled(chunk, len(human_games)), capacity, human_games)

        def learn() -> None:
            keep_labelling(student.step)
            student.learn_from(sources)

        keep_labelling(student.step - 1)
        train_steps(student, learn, run=run, on_row=on_row)
        student.refresh_norms(human_games)
    return network_arrays(student.network)
