"""Keep many positions of one size as tensors and play moves on them, on a processor or a GPU.

A position is what the network reads of it: a byte a point, seen from the side to move (see
`network.inputs_kernels`; no ladders), the last moves, and a few facts. Nothing else is
needed to go on, for the bytes tell the stones and the ko. On the processor the board's own kernels
play; on a GPU `rules.cu`, which the tests hold against them. Ko is simple, suicide forbidden.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from tengen.learners.network.inputs_kernels import HISTORY, NOWHERE
from tengen.learners.self_play import rules_kernels
from tengen.learners.self_play.rules_kernels import FACTS

SOURCE = Path(__file__).with_name("rules.cu")


class Boards:
    """Slots for positions; slot after slot, a row of each tensor."""

    def __init__(self, lines: int, slots: int, device: torch.device) -> None:
        self.lines, self.points, self.device = lines, lines * lines, device
        self.codes = torch.zeros((slots, self.points), dtype=torch.uint8, device=device)
        self.history = torch.full((slots, HISTORY), NOWHERE, dtype=torch.int16, device=device)
        """Where the last moves were, latest first; NOWHERE for a pass or none."""
        self.facts = torch.zeros((slots, FACTS), dtype=torch.int32, device=device)
        """Columns SIDE, PASSES, PLY and SCORE of `rules_kernels`."""
        self._empty = _empty_codes(lines).to(device)
        self._new = torch.tensor([1, 0, 0, 0], dtype=torch.int32, device=device)
        self._cuda = None
        if device.type == "cuda":
            from tengen.learners.self_play.cuda import Module

            self._cuda = Module(SOURCE.read_text(), [f"-DLINES={lines}"])
            words = 3 * -(-lines * (lines + 1) // 64) + 1
            self._sets = torch.zeros((slots, words), dtype=torch.int64, device=device)
        self.clear(torch.arange(slots, device=device))

    def clear(self, slots: Tensor) -> None:
        """Make empty boards, Black to move."""
        self.codes[slots] = self._empty
        self.history[slots] = NOWHERE
        self.facts[slots] = self._new

    def play(self, source: Tensor, moves: Tensor, target: Tensor) -> None:
        """Play legal moves (row by row, the pass last) from source slots to target slots."""
        if self._cuda is None:
            rules_kernels.play_moves(
                self.codes.numpy(), self.history.numpy(), self.facts.numpy(), source.numpy(),
                moves.numpy(), target.numpy(), self.lines,
            )  # fmt: skip
            return
        n = len(source)
        self._cuda.launch(
            "play_moves", n, self.codes, self.history, self.facts, source, moves, target,
            self._sets, n,
        )  # fmt: skip
        self._cuda.launch("write_bytes", n * self.points, self._sets, target, self.codes, n)

    def owners(self, slots: Tensor) -> Tensor:
        """Say who owns every point by area: 1 the side to move, -1 the other, 0 nobody."""
        found = torch.empty((len(slots), self.points), dtype=torch.int8, device=self.device)
        if self._cuda is None:
            rules_kernels.write_owners(self.codes.numpy(), slots.numpy(), found.numpy(), self.lines)
        elif len(slots):
            self._cuda.launch("write_owners", len(slots), self.codes, slots, found, len(slots))
        return found


def legal(codes: Tensor) -> Tensor:
    """Tell which moves the side to move has; the last column is the pass, always legal."""
    playable = ((codes & 3) == 0) & ((codes & 12) != 0)
    return torch.cat([playable, torch.ones_like(playable[:, :1])], 1)


def _empty_codes(lines: int) -> Tensor:
    """Return the bytes of an empty board: a stone's liberties, at most 3."""
    inside = torch.zeros((lines, lines), dtype=torch.int64)
    for axis in (0, 1):
        side = torch.full((lines,), 2)
        side[0] = side[-1] = 1
        inside = inside + (side[:, None] if axis == 0 else side[None, :])
    return (inside.clamp(max=3) << 2).to(torch.uint8).flatten()
