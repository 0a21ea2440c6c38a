"""Positions to learn from, where the network learns, and batches drawn from them.

Games are replayed once by the same kernels that serve playing; the positions stay on the device
as one byte per point, so that a batch is a gather. A source is drawn from in proportion to the
square root of its size. Some games of every source are held out, never drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.errors import ModelError
from tengen.learners.network.inputs_kernels import HISTORY, NOWHERE
from tengen.learners.network.shards import NO_SCORE, Shard, encode_games

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

    def part(self, cut: slice) -> Batch:
        """Return some of the positions."""
        return Batch(self.rows, self.cols, *(tensor[cut] for tensor in self[2:]))

    @classmethod
    def join(cls, parts: Sequence[Batch]) -> Batch:
        """Join batches of one size, in their order."""
        first = parts[0]
        columns = zip(*(part[2:] for part in parts), strict=True)
        return cls(first.rows, first.cols, *map(torch.cat, columns))


@dataclass
class Source:
    """All positions of one source of games, on a device."""

    rows: int
    cols: int
    codes: Tensor
    move: Tensor
    colour: Tensor
    game: Tensor
    ply: Tensor
    komi: Tensor
    territory: Tensor
    winner: Tensor
    score: Tensor
    label: Tensor
    """Row of `ownership` of every game, -1 without."""
    ownership: Tensor
    train: Tensor
    """Positions to learn from."""
    held_out: Tensor

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def board(self) -> tuple[int, int]:
        """Rows and columns of all its positions."""
        return self.rows, self.cols

    def decided(self) -> Tensor:
        """Return the held-out positions of games whose winner is known."""
        return self.held_out[self.winner[self.game[self.held_out].long()] != 0]

    def batch(self, at: Tensor) -> Batch:
        """Gather the positions at these places."""
        game, ply = self.game[at].long(), self.ply[at]
        black = self.colour[at] == 1
        points = self.rows * self.cols
        history, passed = [], None
        for ago in range(1, HISTORY + 1):
            earlier = self.move[(at - ago).clamp(min=0)]
            known = ply >= ago
            if ago == 1:
                passed = known & (earlier == points)
            history.append(torch.where(known & (earlier < points), earlier, NOWHERE))
        assert passed is not None
        sign = torch.where(black, 1.0, -1.0)
        winner = self.winner[game]
        mine = torch.where(black, 1, 2).to(winner.dtype)
        score = self.score[game]
        label = self.label[game].long()
        return Batch(
            rows=self.rows,
            cols=self.cols,
            codes=self.codes[at],
            history=torch.stack(history, 1).to(torch.int16),
            passed=passed,
            komi=-sign * self.komi[game],
            territory=self.territory[game],
            moves=self.move[at].long(),
            winner=torch.where(winner == 0, -1.0, (winner == mine).float()),
            score=torch.where(score == NO_SCORE, 0.0, sign * score),
            scored=score != NO_SCORE,
            owner=self.ownership[label.clamp(min=0)] * sign[:, None].to(self.ownership.dtype),
            owned=label >= 0,
        )


def gather(
    shards: Sequence[Shard],
    *,
    device: torch.device,
    ladders: bool = True,
    threads: int | None = None,
    on_positions: Callable[[int], None] = lambda done: None,
) -> Source:
    """Replay shards of one size and put everything on the device."""
    sizes = {(shard.rows, shard.cols) for shard in shards}
    if len(sizes) != 1:
        raise ModelError(f"a source holds boards of one size, not {sorted(sizes)}")
    rows, cols = sizes.pop()
    threads = threads or os.cpu_count() or 1
    total = sum(shard.positions for shard in shards)
    codes = torch.empty((total, rows * cols), dtype=torch.uint8, device=device)
    done = 0
    for shard in shards:
        part = encode_games(shard, ladders=ladders, threads=threads)
        codes[done : done + len(part)] = torch.from_numpy(part).to(device)
        done += len(part)
        on_positions(len(part))
    lengths = np.concatenate([shard.lengths for shard in shards]).astype(np.int64)
    game = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    label, rows_before, games_before = np.full(len(lengths), -1, np.int32), 0, 0
    for shard in shards:
        label[games_before + shard.labelled] = rows_before + np.arange(len(shard.labelled))
        rows_before += len(shard.labelled)
        games_before += len(shard)
    ownership = np.concatenate(
        [shard.ownership for shard in shards] + [np.zeros((1, rows * cols), np.int8)]
    )
    held = game % _HELD_OUT_EVERY == _HELD_OUT_EVERY - 1

    def put(array: NDArray[np.generic]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device)

    def joined(name: str) -> Tensor:
        return put(np.concatenate([getattr(shard, name) for shard in shards]))

    return Source(
        rows=rows,
        cols=cols,
        codes=codes,
        move=joined("moves"),
        colour=joined("colours"),
        game=put(game.astype(np.int32)),
        ply=put((np.arange(total) - starts).astype(np.int16)),
        komi=joined("komi"),
        territory=joined("territory"),
        winner=joined("winner"),
        score=joined("score"),
        label=put(label),
        ownership=put(ownership),
        train=put(np.flatnonzero(~held)),
        held_out=put(np.flatnonzero(held)),
    )


class Sampler:
    """Draws batches from several sources; a batch holds boards of one size."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = list(sources)
        self.generator = torch.Generator(self.sources[0].codes.device)
        weights = np.sqrt([len(source.train) for source in self.sources])
        self.shares = weights / weights.sum()
        """How much of all that is drawn comes from each source."""

    @property
    def main(self) -> tuple[int, int]:
        """Rows and columns of the board that is learned from most."""
        weights = self._weights()
        return max(weights, key=weights.__getitem__)

    def _weights(self) -> dict[tuple[int, int], float]:
        """Return how often each board is drawn from."""
        found: dict[tuple[int, int], float] = {}
        for source, share in zip(self.sources, self.shares, strict=True):
            found[source.board] = found.get(source.board, 0.0) + float(share)
        return found

    def _next_board(self, generator: torch.Generator) -> tuple[int, int]:
        """Choose a board by chance; by the generator's seed, since a GPU would have to wait."""
        weights = self._weights()
        if len(weights) == 1:
            return self.sources[0].board
        chance = np.random.default_rng(generator.initial_seed())
        odds = np.array(list(weights.values()))
        return list(weights)[int(chance.choice(len(odds), p=odds / odds.sum()))]

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """Draw a batch by chance."""
        board = self._next_board(generator)
        chosen = [i for i, source in enumerate(self.sources) if source.board == board]
        shares = self.shares[chosen] / self.shares[chosen].sum()
        counts = [round(share * size) for share in shares]
        counts[-1] = size - sum(counts[:-1])
        parts = []
        for i, count in zip(chosen, counts, strict=True):
            source = self.sources[i]
            device = source.codes.device
            pick = torch.randint(len(source.train), (count,), generator=generator, device=device)
            parts.append(source.batch(source.train[pick]))
        return Batch.join(parts)

    def judging(self) -> list[Source]:
        """Return the sources whose held-out games tell how well it goes: of the main board."""
        return [source for source in self.sources if source.board == self.main]

    def held_out(self, size: int) -> Batch:
        """Return always the same positions of held-out games, evenly from those sources."""
        parts, sources = [], self.judging()
        for source in sources:
            count = min(size // len(sources), len(source.held_out))
            step = max(1, len(source.held_out) // max(count, 1))
            parts.append(source.batch(source.held_out[::step][:count]))
        return Batch.join(parts)
