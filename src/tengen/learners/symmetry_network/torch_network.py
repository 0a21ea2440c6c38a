"""Compute internal symmetry networks of any mixture, depth and recurrence with PyTorch, in batches.

Needs the extra `torch`. The free numbers are one parameter vector; autograd reaches them through
the expansion, so a gradient step keeps every symmetry. Slower than the kernels for the paper's
shape, but general, and the reference for their gradients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tengen.arrays import FloatArray, IntArray
from tengen.errors import TengenError
from tengen.learners.symmetry_network.features import OFF_BOARD
from tengen.learners.symmetry_network.network import Architecture
from tengen.learners.symmetry_network.representations import SIDES, SQUARE, Offset
from tengen.learners.symmetry_network.tying import Tying

if TYPE_CHECKING:  # types are judged the same whether or not the extra is installed
    import torch
    from torch.nn import Module, Parameter, functional
else:
    try:
        import torch
        from torch.nn import Module, Parameter, functional
    except ImportError:  # the module stays readable without the extra; only using it needs torch
        torch, Module, Parameter, functional = None, object, None, None


class TorchNetwork(Module):  # type: ignore[misc]
    """An architecture's free numbers as a PyTorch module.

    Called with symbols (boards, rows, columns) it returns the net inputs of the outputs,
    (boards, 7, rows, columns); apply a sigmoid for the outputs themselves. `dtype` is float32
    unless said otherwise.
    """

    def __init__(
        self,
        architecture: Architecture,
        free: FloatArray,
        dtype: Any = None,
    ) -> None:
        if torch is None:
            raise TengenError("TorchNetwork needs PyTorch: pip install 'tengen[torch]'")
        super().__init__()
        dtype = torch.float32 if dtype is None else dtype
        self.architecture = architecture
        self.free = Parameter(torch.as_tensor(np.asarray(free), dtype=dtype))
        self._shapes: dict[str, tuple[int, ...]] = {}
        for name, tying in architecture.parts.items():
            where, self._shapes[name] = _as_image(tying, SIDES if name == "HH" else SQUARE)
            self.register_buffer(f"where_{name}", torch.as_tensor(where))
            self.register_buffer(f"source_{name}", torch.as_tensor(tying.source))
            self.register_buffer(f"sign_{name}", torch.as_tensor(tying.sign, dtype=dtype))

    def dense(self, name: str) -> torch.Tensor:
        """Return the dense weights of a part; kernels as (out, in, 3, 3) for conv2d."""
        part = self.free[self.architecture.slices[name]]
        values = getattr(self, f"sign_{name}") * part[getattr(self, f"source_{name}")]
        shape = self._shapes[name]
        flat = torch.zeros(int(np.prod(shape)), dtype=part.dtype, device=part.device)
        return flat.index_add(0, getattr(self, f"where_{name}"), values).reshape(shape)

    def forward(self, symbols: torch.Tensor) -> torch.Tensor:
        """Return the net inputs of the outputs for boards of input numbers."""
        framed = functional.pad(symbols.int(), (1, 1, 1, 1), value=OFF_BOARD)
        ones = torch.eye(self.architecture.inputs, dtype=self.free.dtype, device=framed.device)
        # A look-up writes the one-hot inputs at once and lays them out with channels last.
        inputs = functional.embedding(framed, ones).permute(0, 3, 1, 2)
        # Both that the inputs reach are computed in one pass over them.
        both = functional.conv2d(
            inputs,
            torch.cat([self.dense("HI"), self.dense("OI")]),
            torch.cat([self.dense("B0"), self.dense("BO")]),
        )
        first, direct = both.split([self.architecture.layers[0].size, len(self.dense("BO"))], 1)
        hidden = torch.tanh(first)
        for _ in range(self.architecture.steps):
            hidden = torch.tanh(first + functional.conv2d(hidden, self.dense("HH"), padding=1))
        for i in range(1, len(self.architecture.layers)):
            weights, bias = self.dense(f"H{i}"), self.dense(f"B{i}")
            hidden = torch.tanh(functional.conv2d(hidden, weights, bias, padding=1))
        return direct + functional.conv2d(hidden, self.dense("OH"), padding=1)


def _as_image(tying: Tying, offsets: tuple[Offset, ...]) -> tuple[IntArray, tuple[int, ...]]:
    """Return where weights lie in (out, in, 3, 3), rows from the north, and that shape."""
    if len(tying.shape) == 1:
        return tying.where, tying.shape
    k, out, source = np.unravel_index(tying.where, tying.shape)
    shape = (*tying.shape[1:], 3, 3)
    a, b = np.array(offsets)[k].T
    return np.ravel_multi_index((out, source, 1 - b, 1 + a), shape).astype(np.int64), shape
