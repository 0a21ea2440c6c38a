"""Run a trained network on a GPU through PyTorch, where there is one; know no board and no file.

It says the same as `engine.Engine` up to rounding, to half precision unless that is refused.
A GPU that fails while it is asked is given up for the rest of the process, with one warning.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

from numpy.typing import NDArray

from tengen.arrays import Float32Array
from tengen.errors import SpecError
from tengen.learners.network.engine import Judgement
from tengen.learners.network.inputs import Positions
from tengen.learners.network.settings import SCORE_SCALE, Design

VARIABLE = "TENGEN_DEVICE"
"""Names the device of all networks that are asked: cpu, cuda, or auto, which is usual."""
AT_ONCE = 4
"""Times as many positions as a processor likes are worth asking a GPU together."""
_MOST_AT_ONCE = 1024
_ONE_AT_A_TIME = Lock()
"""Threads share the GPU, and PyTorch's settings of it."""
_FILES = (Path("/dev/nvidia0"), Path("/dev/dxg"))
"""Where a system without these has no GPU of the kind we use, PyTorch need not be loaded."""


@cache
def gpu_wanted() -> str | None:
    """Name the GPU to ask networks on, or None for the processor.

    Raises
    ------
    SpecError
        If the environment asks for a device that there is not.
    """
    wanted = os.environ.get(VARIABLE, "auto")
    if wanted == "cpu":
        return None
    if wanted == "auto":
        may = os.name == "nt" or any(file.exists() for file in _FILES)
        if not may or find_spec("torch") is None:
            return None
    from tengen.learners.network.fitting import chosen_device

    try:
        chosen = chosen_device(wanted)
    except SpecError as mistake:
        raise SpecError(f"{VARIABLE}: {mistake}") from None
    return None if chosen == "cpu" else chosen


class GpuEngine:
    """A network laid out for a device of PyTorch."""

    def __init__(
        self,
        weights: Mapping[str, NDArray[Any]],
        design: Design,
        device: str,
        *,
        half: bool = True,
    ) -> None:
        import torch

        from tengen.learners.network.torch_network import network_of

        self.design, self.device = design, torch.device(device)
        self._network = network_of(weights, design).eval().to(self.device)
        self._half = half and self.device.type == "cuda"

    def __call__(self, positions: Positions) -> Judgement:
        """Judge positions."""
        return self.judge_planes(positions.planes())

    def judge_planes(self, planes: Float32Array) -> Judgement:
        """Judge what any planes show, positions x planes x rows x columns."""
        parts = [
            self._pass(planes[i : i + _MOST_AT_ONCE]) for i in range(0, len(planes), _MOST_AT_ONCE)
        ]
        return Judgement.join(parts)

    def _pass(self, planes: Float32Array) -> Judgement:
        import torch

        half = torch.autocast(self.device.type, torch.float16, enabled=self._half)
        # Single precision is to be what it says: these GPUs round products to ten bits otherwise.
        products = torch.backends.cudnn.flags(enabled=True, allow_tf32=self._half)
        with _ONE_AT_A_TIME, torch.inference_mode(), half, products:
            said = self._network(torch.from_numpy(planes).to(self.device))
            spread = torch.exp(said.spread.clamp(-4, 4)) * SCORE_SCALE
            owners = torch.tanh(said.ownership / 2)
            parts = said.moves, said.winner, said.score, spread, owners, said.best
            arrays: Any = (None if p is None else p.float().cpu().numpy() for p in parts)
            return Judgement(*arrays)


class GuardedEngine:
    """A GPU that answers, or the processor once the GPU has failed."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], design: Design, device: str) -> None:
        self._weights, self.design, self.name = weights, design, device
        self._engine: Any = None

    def __call__(self, positions: Positions) -> Judgement:
        """Judge positions."""
        from tengen.learners.network.engine import Engine

        if self._engine is None:
            self._engine = GpuEngine(self._weights, self.design, self.name)
        try:
            judged: Judgement = self._engine(positions)
        except RuntimeError as failure:
            if isinstance(self._engine, Engine):
                raise
            line = str(failure).splitlines()[0]
            warnings.warn(f"{self.name} failed ({line}): going on without it", stacklevel=2)
            self._engine = Engine(self._weights, self.design)
            judged = self._engine(positions)
        return judged
