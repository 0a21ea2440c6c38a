"""Ask a teacher, a network of KataGo, about many positions, and keep its answers in a folder.

    FOLDER/people-00000.safetensors   answers for positions of games of people
    FOLDER/9x9-00000.safetensors      for games that the teacher plays with random mistakes, also
                                      13x13, and continued from games of people

Every file is written when it is whole, and those that are there are kept: a stopped labelling goes
on where it was. `distillation` trains from such folders, as often as one likes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.board import PASS, points_at
from tengen.board.kernels import new_state
from tengen.errors import ModelError, RunError
from tengen.files import write_atomic
from tengen.models.settings import fingerprint, from_recipe, to_plain
from tengen.models.store import LARGEST_STATE, pack, unpack
from tengen.network.engine import chosen_device
from tengen.network.inputs_kernels import HISTORY, NOWHERE
from tengen.network.katago import Teacher, TeacherOutput, TeacherPositions, inputs_of
from tengen.network.katago_kernels import (
    LADDER_BIT,
    LEGAL_BIT,
    encode_games_for_teacher,
    encode_states,
    play_states,
)
from tengen.network.settings import LabellingSettings
from tengen.network.shards import Shard, fingerprint_of, main_board
from tengen.network.training import ReplayBuffer, joined

OWNER_SCALE = 127.0
PHASES = (0.0, 0.02, 0.1, 0.3)  # where phases of a game begin, as moves per point of the board
_FORMAT, _VERSION = "tengen.answers", 1
_AT_ONCE, _AT_ONCE_ATTENTION = 8192, 1024  # positions that a teacher is asked about at once
_GAMES_AT_ONCE = 4096  # games of the teacher in one file


# ----- Answers -----


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
    phase: Tensor  # index into `PHASES`


@dataclass(frozen=True)
class Answers:
    """The files of folders of answers, by one teacher."""

    files: tuple[Path, ...]
    about: tuple[dict[str, Any], ...]
    """What the header of each file says: teacher, kind, numbers of games and positions, board."""

    @classmethod
    def find(cls, folders: Sequence[str | os.PathLike[str]]) -> Answers:
        """List the answers in folders; raise `ModelError` if there are none, or other files."""
        files = [file for folder in folders for file in sorted(Path(folder).glob("*.safetensors"))]
        about = [_about(file) for file in files]
        if not files:
            raise ModelError(f"{', '.join(map(str, folders))}: no answers of a teacher in it")
        if len(teachers := sorted({each["teacher"] for each in about})) > 1:
            raise ModelError(f"answers of {len(teachers)} teachers: {', '.join(teachers)}")
        return cls(tuple(files), tuple(about))

    @property
    def teacher(self) -> str:
        """Name, source and licence of the teacher."""
        return str(self.about[0]["teacher"])

    @property
    def games(self) -> int:
        """The number of games of people that the positions are from."""
        return sum(each["games"] for each in self.about if each["kind"] == PEOPLE)

    @property
    def positions(self) -> int:
        """The number of positions."""
        return sum(each["positions"] for each in self.about)

    def settings_with(
        self, settings: LabellingSettings, given: Collection[str]
    ) -> LabellingSettings:
        """Return the settings of this labelling, with those of `settings` that are `given`."""
        there = from_recipe(LabellingSettings, self.about[0]["settings"])
        return replace(there, **{k: v for k, v in vars(settings).items() if k in given})

    @property
    def fingerprint(self) -> str:
        """Tells these answers from others."""
        made = (each["made"] for each in self.about)
        return fingerprint(*(f"{f.stem} {m}" for f, m in zip(self.files, made, strict=True)))

    def buffers(
        self, device: torch.device
    ) -> dict[tuple[str, int, int], ReplayBuffer[TaughtBatch]]:
        """Read all answers to a device, by kind and board, the games of people first."""
        room: dict[tuple[str, int, int], int] = {}
        for each in self.about:
            key = each["kind"], each["rows"], each["cols"]
            room[key] = room.get(key, 0) + each["positions"]
        order = sorted(room, key=lambda key: (key[0] != PEOPLE, -room[key]))
        found: dict[tuple[str, int, int], ReplayBuffer[TaughtBatch]] = {}
        for file, each in zip(self.files, self.about, strict=True):
            key, batch = (each["kind"], each["rows"], each["cols"]), read_answers(file, device)
            if key not in found:
                found[key] = ReplayBuffer(batch, room[key])
            found[key].add(batch)
        return {key: found[key] for key in order if key in found}


PEOPLE = "people"  # the kind of positions from games of people


def is_answers(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder of answers."""
    first = next(iter(sorted(Path(path).glob("*.safetensors"))), None)
    return first is not None and _FORMAT in unpack(first, names=(), limit=LARGEST_STATE)[1]


def read_answers(file: Path, device: torch.device) -> TaughtBatch:
    """Read one file of answers."""
    about, (arrays, _) = _about(file), unpack(file, limit=LARGEST_STATE)
    fields, count = TaughtBatch._fields[2:], about["positions"]
    if sorted(arrays) != sorted(fields) or {len(array) for array in arrays.values()} != {count}:
        raise ModelError(f"{file}: damaged: its arrays do not fit each other")
    tensors = (torch.from_numpy(arrays[name]).to(device) for name in fields)
    return TaughtBatch(about["rows"], about["cols"], *tensors)


def _about(file: Path) -> dict[str, Any]:
    """Return what the header of a file says."""
    text = unpack(file, names=(), limit=LARGEST_STATE)[1].get(_FORMAT)
    if text is None:
        raise ModelError(f"{file}: no answers of a teacher")
    about: dict[str, Any] = json.loads(text)
    if about["version"] != _VERSION:
        raise ModelError(f"{file}: answers of version {about['version']}: make them again")
    return about


def _write(file: Path, batch: TaughtBatch, about: dict[str, Any]) -> None:
    arrays = {
        name: part.cpu().numpy() for name, part in batch._asdict().items() if name not in _SIZE
    }
    told = {
        "version": _VERSION,
        "rows": batch.rows,
        "cols": batch.cols,
        "positions": len(batch.codes),
    }
    write_atomic(file, pack(arrays, {_FORMAT: json.dumps(told | about)}))


_SIZE = ("rows", "cols")


# ----- Positions as the teacher reads them -----


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


def masked(logits: Tensor, codes: Tensor) -> Tensor:
    """Return logits with illegal moves left out."""
    legal = (codes & LEGAL_BIT) > 0
    legal = torch.cat([legal, torch.ones_like(legal[:, :1])], 1)
    return logits.masked_fill(~legal, -1e4)


class Prepared(NamedTuple):
    """The positions of a shard as the teacher reads them, and as the student does."""

    teacher: tuple[NDArray[Any], ...]
    student: tuple[NDArray[Any], ...]


class Labeller:
    """Labels positions with the teacher, always as many at a time: it may be compiled for that."""

    def __init__(self, teacher: Teacher, device: torch.device, pool: ThreadPoolExecutor) -> None:
        self.device, self.pool = device, pool
        self.ask: Callable[..., Any] = teacher.prepare(device).eval()
        self.at_once = _AT_ONCE_ATTENTION if teacher.has_attention else _AT_ONCE
        # Compiled by PyTorch 2.11, a transformer failed twice on an H200, for unknown reasons.
        if device.type == "cuda" and not teacher.has_attention:
            self.ask = torch.compile(self.ask, dynamic=False)

    def put(self, array: NDArray[Any]) -> Tensor:
        """Copy an array to the device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device, non_blocking=True)

    def prepare(self, shard: Shard) -> Prepared:
        """Return what the teacher and the student read, by the processor's work alone."""
        return Prepared(teacher_arrays(shard, self.pool), self._student_arrays(shard))

    def answers(
        self,
        shard: Shard,
        size: int,
        *,
        chosen: NDArray[Any] | None = None,
        prepared: Prepared | None = None,
    ) -> Iterator[TaughtBatch]:
        """Label the positions of a shard, all or those chosen by number, `size` at a time."""
        (codes, earlier, *others), student = prepared or self.prepare(shard)
        use = np.arange(shard.positions) if chosen is None else chosen
        for start in range(0, len(use), size):
            part = use[start : start + size]
            at = np.resize(part, size)
            here, before = self.put(codes[at]), self.put(codes[earlier[at]])
            rest = (self.put(array[at]) for array in others)
            packed = TeacherPositions(*shard.board, here, (before & LADDER_BIT) > 0, *rest)
            policy, *answer = shortened(self.ask(*inputs_of(packed)), here)
            yield self._batch(shard, student, part, [a[: len(part)] for a in (policy, *answer)])

    def _student_arrays(self, shard: Shard) -> tuple[NDArray[Any], ...]:
        """Return the first fields of `TaughtBatch`, with the phase: what the student reads."""
        seen = shard.encoded(ladders=True, pool=self.pool)
        share = shard.plies().astype(np.float32) / np.float32(math.prod(shard.board))
        phase = np.digitize(share, np.array(PHASES[1:], np.float32)).astype(np.int8)
        return (
            seen.codes, seen.history, seen.passed, seen.komi, seen.territory, shard.indices, phase
        )  # fmt: skip

    def _batch(
        self, shard: Shard, student: tuple[NDArray[Any], ...], part: Any, answer: Sequence[Tensor]
    ) -> TaughtBatch:
        *seen, phase = (self.put(array[part]) for array in student)
        return TaughtBatch._make([*shard.board, *seen, *answer, phase])

    def played(self, games: TeacherGames) -> TaughtBatch:
        """Return the teacher's own games with the answers that it gave while it played."""
        shard = games.shard()
        ply = shard.plies()
        use = np.flatnonzero(ply >= shard.per_move(games.begins))
        game = shard.per_move(np.arange(len(shard)))[use]
        place = self.put((ply[use] - games.begins[game]).astype(np.int64)), self.put(game)
        answer = [torch.stack(column)[place] for column in zip(*games.answers, strict=True)]
        made = self._batch(shard, self._student_arrays(shard), use, answer)
        return made._replace(moves=torch.full_like(made.moves, -1))


def shortened(answer: TeacherOutput, codes: Tensor) -> tuple[Tensor, ...]:
    """Return policy, winner, lead, spread and owners as they are kept."""
    return (
        masked(answer.moves, codes).softmax(1).half(), answer.winner, answer.lead, answer.spread,
        (answer.ownership * OWNER_SCALE).round().to(torch.int8),
    )  # fmt: skip


# ----- Games that the teacher plays -----


class TeacherGames:
    """Games that the teacher plays against itself with random moves, all at once.

    They differ in temperature, share of random moves, komi, scoring and handicap. With `start`,
    each begins at a random ply of one of its games.
    """

    def __init__(
        self,
        labeller: Labeller,
        games: int,
        board: tuple[int, int],
        *,
        seed: int,
        start: Shard | None = None,
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
        # In a tenth of the games White passes first, as in handicap games.
        self.handicap = np.where(chance.random(games) < 0.1, chance.integers(2, 6, games), 1)
        self.record = np.full((games, 512), -1, np.int16)
        self.lengths = np.zeros(games, np.int32)
        if start is not None:
            self.lengths = _take_prefixes(start, self.states, self.record, chance)
            mistakes = np.where(chance.random(games) < 0.5, 0.3, 0.05).astype(np.float32)
            self.opening[:] = 2
            self.handicap[:] = 1
        self.begins = self.lengths.copy()
        played = (self.record >= 0) & (self.record < self.points)
        self.stones = played[:, ::2].sum(1) - played[:, 1::2].sum(1)  # Black's less White's
        self.codes = np.empty((games, self.points), np.int16)
        self.ladders: NDArray[np.bool_] | None = None  # at the two plies before
        self.running = np.ones(games, np.bool_)
        self.answers: list[tuple[Tensor, ...]] = []
        """The teacher's answers at each ply since `begins`, as `shortened`."""
        self.heat, self.risk = labeller.put(temperature), labeller.put(mistakes)
        self.generator = torch.Generator(labeller.device).manual_seed(seed)

    def play(self, plies: int) -> TeacherGames:
        """Play so many plies in every game that is not over."""
        for _ in range(plies):
            self._go_on()
            if not self.running.any():
                break
        return self

    def shard(self) -> Shard:
        """Return the games as far as they were played."""
        kept = [self.record[i, :length] for i, length in enumerate(self.lengths)]
        return Shard.of_moves(*self.board, kept, komi=self.komi, territory=self.territory)

    def _go_on(self) -> None:
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
        drawn = self._draw(self._ask(seen), seen.codes)
        # Drawing on a GPU can, rarely, return a move of probability zero.
        legal = self.codes[everyone, np.minimum(drawn, self.points - 1)] & LEGAL_BIT > 0
        waits = white & (self.lengths < 2 * (self.handicap - 1))
        drawn = np.where(self.running & legal & ~waits, drawn, self.points).astype(np.int16)
        going = self.running.copy()
        self.record[everyone[going], self.lengths[going]] = drawn[going]
        self.stones += going * (drawn < self.points) * np.where(white, -1, 1)
        self.lengths[going] += 1
        over = (drawn == self.points) & passes[:, 0]
        self.running &= ~over & (self.lengths < 511)
        self.ladders = np.stack([now, before[:, 0]], 1)
        played = points_at(drawn, *self.board).astype(np.int64)
        self._for_parts(lambda part: play_states(self.states, played, *part))

    def _ask(self, seen: TeacherPositions) -> Tensor:
        """Keep the teacher's answers; return its logits of moves."""
        planes, whole = inputs_of(seen)
        parts = [
            self.labeller.ask(*part)
            for part in zip(
                planes.split(self.labeller.at_once), whole.split(self.labeller.at_once), strict=True
            )
        ]
        answer = TeacherOutput(*map(torch.cat, zip(*parts, strict=True)))
        self.answers.append(shortened(answer, seen.codes))
        return answer.moves

    def _draw(self, moves: Tensor, codes: Tensor) -> NDArray[Any]:
        """Draw a move for each game, now and then any legal one; returns indices."""
        logits, legal = masked(moves.float(), codes), (codes & LEGAL_BIT) > 0
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


# ----- Labelling -----


def human_chunks(shards: Sequence[Shard], games: int, seed: int) -> Iterator[Shard]:
    """Yield chunks of shards in random order; score half of the games by area (komi 6.5 as 7.5).

    A sixth of the games gets another komi: the teacher says what that changes.
    """
    chance = np.random.default_rng(seed)
    parts = [(s, i) for s in shards for i in range(0, len(s), games)]
    for number in chance.permutation(len(parts)):
        shard, first = parts[number]
        chunk = shard.take(np.arange(first, min(first + games, len(shard))))
        area = chance.random(len(chunk)) < 0.5
        komi = np.where(area & (chunk.komi == 6.5), 7.5, chunk.komi)
        other = np.round(chance.normal(7, 10, len(chunk)) * 2) / 2
        komi = np.where(chance.random(len(chunk)) < 1 / 6, other, komi)
        yield replace(chunk, komi=komi.astype(np.float32), territory=~area)


def label(
    shards: Sequence[Shard],
    teacher: Teacher,
    settings: LabellingSettings,
    folder: str | os.PathLike[str],
    *,
    device: str = "cpu",
    threads: int | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
) -> Answers:
    """Write a teacher's answers for its own games and games of people, on boards of any size.

    Files that are there are kept; those of another labelling are refused.
    """
    place, target = torch.device(chosen_device(device)), Path(folder)
    made = fingerprint(teacher.fingerprint, to_plain(settings), fingerprint_of(shards))
    if is_answers(target) and {each["made"] for each in Answers.find([target]).about} != {made}:
        raise RunError(
            f"{folder}: has answers of another teacher, or for other games or settings; choose "
            "another folder"
        )
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool, ThreadPoolExecutor(1) as ahead:
        parts = [
            (target / f"{part.kind}-{part.number:05d}.safetensors", part)
            for part in _parts(Labeller(teacher, place, pool), shards, settings)
        ]
        todo = [(file, part) for file, part in parts if not file.exists()]
        # The processor prepares a part while a GPU works on the one before.
        coming = [ahead.submit(part.prepare) for _, part in todo[:1]]
        for (file, part), after in zip_longest(todo, todo[1:]):
            prepared = coming.pop().result()
            if after is not None:
                coming.append(ahead.submit(after[1].prepare))
            batch = part.ask(prepared)
            told = {"kind": part.kind, "games": part.games, "teacher": teacher.about, "made": made}
            _write(file, batch, told | {"settings": to_plain(settings)})
            on_row({"labelled": len(batch.codes), "board": f"{batch.rows}x{batch.cols}"})
    return Answers.find([target])


class _Part(NamedTuple):
    """What becomes one file."""

    kind: str
    number: int
    games: int
    prepare: Callable[[], Any]
    ask: Callable[[Any], TaughtBatch]


def _parts(
    labeller: Labeller, shards: Sequence[Shard], settings: LabellingSettings
) -> Iterator[_Part]:
    main = main_board(shards)[0]
    for kind, board, games, plies, start in (
        ("9x9", (9, 9), settings.games_9x9, 120, None),
        ("13x13", (13, 13), settings.games_13x13, 230, None),
        ("continued", main.board, settings.continuations, 40, main),
    ):
        for number, first in enumerate(range(0, games, _GAMES_AT_ONCE)):
            count = min(_GAMES_AT_ONCE, games - first)
            seed = settings.seed + 1000 * number + board[0] + plies
            play = partial(_played, labeller, count, board, plies, seed, start)
            yield _Part(kind, number, count, lambda: None, play)
    left = settings.positions
    for number, chunk in enumerate(human_chunks(shards, settings.chunk, settings.seed)):
        chance = np.random.default_rng([settings.seed, number])
        use = np.flatnonzero(chance.random(chunk.positions) < settings.share)[:left]
        left -= len(use)
        if len(use):
            prepare, ask = partial(labeller.prepare, chunk), partial(_asked, labeller, chunk, use)
            yield _Part(PEOPLE, number, len(chunk), prepare, ask)


def _played(
    labeller: Labeller,
    count: int,
    board: tuple[int, int],
    plies: int,
    seed: int,
    start: Shard | None,
    _: None,
) -> TaughtBatch:
    games = TeacherGames(labeller, count, board, seed=seed, start=start)
    return labeller.played(games.play(plies))


def _asked(
    labeller: Labeller, shard: Shard, chosen: NDArray[Any], prepared: Prepared
) -> TaughtBatch:
    size = min(labeller.at_once, len(chosen))
    return joined(list(labeller.answers(shard, size, chosen=chosen, prepared=prepared)))
