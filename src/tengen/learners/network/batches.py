"""Positions to learn from, on the device where the network learns, and batches drawn from them.

A position is one byte per point, so that a batch is a gather. Games of people come as sources,
drawn from in proportion to the square roots of their sizes; some games of every source are held
out. Positions that are made while the network learns go through a replay buffer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.errors import ModelError
from tengen.learners.network.inputs_kernels import HISTORY
from tengen.learners.network.shards import NO_SCORE, Shard

_HELD_OUT_EVERY = 100
"""One game of so many is held out, to tune on."""


class Batch(NamedTuple):
    """Positions of one size with their targets, from the side to move; one row per position.

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
    """Index of the move played, points for a pass; or the probabilities of all moves, pass last."""
    winner: Tensor
    """1 won, 0.5 a draw, 0 lost; -1 not known."""
    score: Tensor
    """Final score in points; 0 where not `scored`."""
    scored: Tensor
    owner: Tensor
    """Batch x points: 1 own, -1 enemy, 0 nobody; meaningless where not `owned`."""
    owned: Tensor

    def part(self, cut: slice | Tensor) -> Batch:
        """Return some of the positions."""
        return Batch(self.rows, self.cols, *(tensor[cut] for tensor in self[2:]))

    @classmethod
    def join(cls, parts: Sequence[Batch]) -> Batch:
        """Join batches of one size, in their order."""
        columns = zip(*(part[2:] for part in parts), strict=True)
        return cls(*parts[0][:2], *map(torch.cat, columns))

    @classmethod
    def blank(cls, lines: int, count: int, device: torch.device) -> Batch:
        """Return empty rows whose moves are probabilities."""

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


class ReplayBuffer(Generic[B]):
    """The latest positions on boards of one size, on a device."""

    def __init__(self, like: B, capacity: int) -> None:
        """Make room for rows of the types that a batch has."""
        self.capacity, self.total, self.lost = capacity, 0, 0
        """`total` counts all positions ever added, `lost` those that a restored buffer lacks."""
        self._names: tuple[str, ...] = like._fields[2:]
        room = [part.new_zeros((capacity, *part.shape[1:])) for part in like[2:]]
        self.rows: B = like._replace(**dict(zip(self._names, room, strict=True)))

    def __len__(self) -> int:
        return min(self.total - self.lost, self.capacity)

    def add(self, batch: B) -> None:
        """Add positions; the oldest make room."""
        count, device = len(batch.codes), self.rows.codes.device
        kept = min(count, self.capacity)
        places = torch.arange(self.total + count - kept, self.total + count, device=device)
        places %= self.capacity
        for mine, new in zip(self.rows[2:], batch[2:], strict=True):
            mine[places] = new[count - kept :].to(mine.dtype)
        self.total += count

    def at(self, places: Tensor) -> B:
        """Return the positions at these places."""
        found: B = self.rows._replace(**{n: getattr(self.rows, n)[places] for n in self._names})
        return found

    def draw(self, count: int, latest: int, generator: torch.Generator) -> B:
        """Draw positions by chance from the `latest` ones."""
        span = min(len(self), latest)
        device = self.rows.codes.device
        ago = torch.randint(1, span + 1, (count,), generator=generator, device=device)
        return self.at((self.total - ago) % self.capacity)

    def tensors(self, most: int | None = None) -> dict[str, Tensor]:
        """Return the latest positions (all, or `most`), by name, oldest first."""
        count = len(self) if most is None else min(len(self), most)
        places = torch.arange(self.total - count, self.total, device=self.rows.codes.device)
        latest = self.at(places % self.capacity)
        return {name: getattr(latest, name) for name in self._names}

    def restore(self, tensors: Mapping[str, Tensor], total: int) -> None:
        """Take over what `tensors` returned; `total` as it was then."""
        self.total = self.lost = total - len(tensors["codes"])
        self.add(self.rows._replace(**tensors))


@dataclass
class Source:
    """All positions of one source of games, on a device."""

    positions: Batch
    """Its `owner` holds rows of `ownership`."""
    ownership: Tensor
    """Two rows per game with known owners: for Black to move and for White."""
    game: Tensor
    train: Tensor
    """Positions to learn from."""
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
        found = self.positions.part(at)
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
            white = shard.colours == 2
            winner = np.repeat(shard.winner, shard.lengths)
            score = np.repeat(shard.score, shard.lengths)
            scored = score != NO_SCORE
            row = np.full(len(shard), -1, np.int32)
            row[shard.labelled] = first + 2 * np.arange(len(shard.labelled))
            row = np.repeat(row, shard.lengths)
            first += 2 * len(shard.labelled)
            arrays: tuple[NDArray[Any], ...] = (
                seen.codes, seen.history, seen.passed, seen.komi, seen.territory, shard.moves,
                np.where(winner == 0, -1.0, winner == shard.colours).astype(np.float32),
                np.where(scored, np.where(white, -score, score), 0).astype(np.float32),
                scored, np.where(row < 0, 0, row + white), row >= 0,
            )  # fmt: skip
            part = Batch(*shard.board, *map(put, arrays))
            if buffer is None:
                buffer = ReplayBuffer(part, total)
            buffer.add(part)
    assert buffer is not None
    owners = np.concatenate([shard.ownership for shard in shards])
    both = np.stack([owners, -owners], 1).reshape(-1, owners.shape[1])
    lengths = np.concatenate([shard.lengths for shard in shards])
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
        """How much of all that is drawn comes from each source."""
        self._boards: dict[tuple[int, int], float] = {}
        """How often each board is drawn from."""
        for source, share in zip(self.sources, self.shares, strict=True):
            self._boards[source.board] = self._boards.get(source.board, 0.0) + float(share)
        self.main = max(self._boards, key=self._boards.__getitem__)
        """Rows and columns of the board that is learned from most."""
        self.judging = [source for source in self.sources if source.board == self.main]
        """The sources whose held-out games are measured."""

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Draw a batch by chance."""
        # The board follows from the generator's seed: for a drawn number a GPU would have to wait.
        chance, odds = np.random.default_rng(generator.initial_seed()), list(self._boards.values())
        board = list(self._boards)[int(chance.choice(len(odds), p=np.array(odds) / sum(odds)))]
        chosen = [i for i, source in enumerate(self.sources) if source.board == board]
        shares = self.shares[chosen] / self.shares[chosen].sum()
        counts = [round(share * size) for share in shares]
        counts[-1] = size - sum(counts[:-1])
        parts = []
        for i, count in zip(chosen, counts, strict=True):
            source = self.sources[i]
            pick = torch.randint(
                len(source.train), (count,), generator=generator, device=self.device
            )
            parts.append(source.batch(source.train[pick]))
        return Batch.join(parts)

    def held_out(self, size: int) -> Batch:
        """Return always the same positions of held-out games, evenly from `judging`."""
        parts = []
        for source in self.judging:
            count = min(size // len(self.judging), len(source.held_out))
            step = max(1, len(source.held_out) // max(count, 1))
            parts.append(source.batch(source.held_out[::step][:count]))
        return Batch.join(parts)
