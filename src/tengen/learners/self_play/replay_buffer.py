"""The latest positions of self-play with their targets, as one ring of tensors."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from tengen.learners.network.batches import Batch
from tengen.learners.network.inputs_kernels import HISTORY

_NAMES = Batch._fields[2:]


class ReplayBuffer:
    """The latest positions on boards of one size, on a device."""

    def __init__(self, lines: int, capacity: int, device: torch.device) -> None:
        def zeros(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((capacity, *shape), dtype=dtype, device=device)

        points = lines * lines
        self.capacity, self.device, self.total, self.lost = capacity, device, 0, 0
        """`total` counts all positions ever added, `lost` those that were not kept."""
        self.rows = Batch(
            rows=lines,
            cols=lines,
            codes=zeros(points, dtype=torch.uint8),
            history=zeros(HISTORY, dtype=torch.int16),
            passed=zeros(dtype=torch.bool),
            komi=zeros(dtype=torch.float32),
            territory=zeros(dtype=torch.bool),
            moves=zeros(points + 1, dtype=torch.float16),
            winner=zeros(dtype=torch.float32),
            score=zeros(dtype=torch.float32),
            scored=zeros(dtype=torch.bool),
            owner=zeros(points, dtype=torch.int8),
            owned=zeros(dtype=torch.bool),
        )

    def __len__(self) -> int:
        return min(self.total - self.lost, self.capacity)

    def _batch(self, tensors: Mapping[str, Tensor]) -> Batch:
        return self.rows._replace(**tensors)

    def add(self, batch: Batch) -> None:
        """Add positions; the oldest make room."""
        count = len(batch.codes)
        batch = batch.part(slice(-self.capacity, None))
        kept = len(batch.codes)
        places = torch.arange(self.total + count - kept, self.total + count, device=self.device)
        places %= self.capacity
        for mine, new in zip(self.rows[2:], batch[2:], strict=True):
            mine[places] = new.to(mine.dtype)
        self.total += count

    def blank(self, count: int) -> Batch:
        """Return empty rows, shaped as drawn ones."""
        tensors = zip(_NAMES, self.rows[2:], strict=True)
        return self._batch({n: part.new_zeros((count, *part.shape[1:])) for n, part in tensors})

    def draw(self, count: int, latest: int, generator: torch.Generator) -> Batch:
        """Draw positions by chance from the `latest` ones."""
        span = min(len(self), latest)
        ago = torch.randint(1, span + 1, (count,), generator=generator, device=self.device)
        return self._batch(self._at((self.total - ago) % self.capacity))

    def _at(self, places: Tensor) -> dict[str, Tensor]:
        return {name: getattr(self.rows, name)[places] for name in _NAMES}

    def tensors(self, most: int | None = None) -> dict[str, Tensor]:
        """Return the latest positions (all, or `most`), by name, oldest first."""
        count = len(self) if most is None else min(len(self), most)
        return self._at(
            torch.arange(self.total - count, self.total, device=self.device) % self.capacity
        )

    def restore(self, tensors: Mapping[str, Tensor], total: int) -> None:
        """Take over what `tensors` returned; `total` as it was then."""
        batch = self._batch({name: tensors[name].to(self.device) for name in _NAMES})
        self.total = self.lost = total - len(batch.codes)
        self.add(batch)
