"""Run a trained network: on the processor, without PyTorch, or on a GPU through PyTorch.

On the processor, tied kernels are laid out once, norms are folded into them where nothing lies in
between, and one kernel runs the layers (see `forward_kernels`). Arrays have the shape positions x
rows x columns x maps. One call uses one thread; several threads may call at once.

A GPU gives the same results up to rounding, by default in half precision.
"""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from tengen.arrays import Float32Array
from tengen.errors import SpecError
from tengen.extras import import_extra
from tengen.network import engine_kernels as kernels
from tengen.network import forward_kernels as forward
from tengen.network.engine_kernels import COLS, LINE, ROWS, WIDTH
from tengen.network.layers import (
    FIRST_BOARD_PLANE,
    KOMI_PLANE,
    KOMI_SCALE,
    N_PLANES,
    POINT_PLANES,
    TABLE,
    Positions,
    lay_out,
)
from tengen.network.settings import (
    LIFTING_SIZE,
    POOL_EVERY,
    SCORE_SCALE,
    Design,
    size_factor,
)

EPSILON = 1e-5
_MOST_AT_ONCE = 32
"""Positions evaluated at once; more would not fit the processor's cache."""
_USUAL_BATCH, _WEIGHTS_COST = 8, 16
"""Positions in a typical search batch, and the cost of loading the weights, in tiles."""
_TRANSFORMS_COST = {3: 1650, 4: 2500, 5: 4330}
"""Cost of transforming a tile of one map and back, in products (on a Xeon), by tile size."""


class EngineOutput(NamedTuple):
    """A network's outputs for some positions, from the perspective of the side to move."""

    moves: Float32Array
    """Positions x (points + 1): logits, the pass last."""
    winner: Float32Array
    """Logits of winning."""
    score: Float32Array
    """Expected final score in points."""
    spread: Float32Array
    """Standard deviation of the score, in points."""
    ownership: Float32Array
    """Positions x points: +1 own to -1 the enemy's."""
    best: Float32Array | None = None
    """Logits of the best move, laid out as `moves`, where the design has several move outputs."""

    @classmethod
    def join(cls, parts: Sequence[EngineOutput]) -> EngineOutput:
        """Concatenate the outputs of several batches."""
        columns: Any = zip(*parts, strict=True)
        joined: Any = (None if c[0] is None else np.concatenate(c) for c in columns)
        return cls(*joined)


class Engine:
    """A network laid out for the processor."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], design: Design) -> None:
        self.design = design
        self._weights = {name: np.asarray(w, np.float32) for name, w in weights.items()}
        self._maps = _rounded(design.fields * design.order, COLS)
        """Number of maps, padded with zero maps so that vectors are full."""
        laid = self.kernel("lift").transpose(2, 3, 1, 0)
        self._lift = _widened(laid.reshape(LIFTING_SIZE**2, N_PLANES, -1), self._maps)
        """Places of the kernel x planes x maps."""
        points = self._lift[:, : len(POINT_PLANES)]
        self._codes = np.ascontiguousarray(np.einsum("bp,kpm->bkm", TABLE, points))
        moves = self._lift[:, len(POINT_PLANES) : FIRST_BOARD_PLANE]
        self._last_moves = np.ascontiguousarray(moves.transpose(1, 0, 2))
        step = max(WIDTH, COLS // design.order)
        self._plan = np.array(
            [design.fields, design.order, design.blocks, POOL_EVERY, design.head_fields,
             _rounded(design.head_fields, step), design.move_outputs, design.value_hidden, 1],
            np.int64,
        )  # fmt: skip
        # Keep two tile sizes: the kernels of `tengen-large` take 57 MB each.
        self._layers = lru_cache(maxsize=2)(self._laid_out)
        self._constants = lru_cache(maxsize=8)(self._constant_maps)

    def kernel(self, name: str) -> Float32Array:
        """Return a convolution's kernel between all maps."""
        return lay_out(self._weights[f"{name}.weight"], self.design.order)

    def affine(self, name: str) -> tuple[Float32Array, Float32Array]:
        """Return the factor and the addend of each map in a norm."""
        get, order = self._weights.__getitem__, self.design.order
        scale = get(f"{name}.gain") / np.sqrt(get(f"{name}.variance") + np.float32(EPSILON))
        shift = get(f"{name}.bias") - get(f"{name}.mean") * scale
        return np.repeat(scale, order), np.repeat(shift, order)

    def _norm(self, name: str) -> Float32Array:
        """Return both, padded with zeros for the zero maps."""
        return np.stack([_widened(part, self._maps) for part in self.affine(name)])

    def _laid_out(self, tile: int) -> Float32Array:
        """Return all layers after the first, as `forward_kernels.evaluate` reads them."""
        design, parts = self.design, [self._norm("blocks.0.norm1")]
        for i in range(design.blocks):
            between, ones = self._norm(f"blocks.{i}.norm2"), np.ones(self._maps, np.float32)
            pools = design.pools(i)
            first = self._transformed(f"blocks.{i}.conv1", tile, ones if pools else between[0])
            parts += [first, between]
            if pools:
                parts += self._linear(f"blocks.{i}.pool")
            following = "norm" if i + 1 == design.blocks else f"blocks.{i + 1}.norm1"
            parts += [self._transformed(f"blocks.{i}.conv2", tile, ones), self._norm(following)]
        parts += [self._head("move_fields"), *self._linear("move_bias"), *self._linear("move")]
        parts += [*self._linear("pass_move"), self._head("value_fields"), *self._linear("owner")]
        parts += [*self._linear("value_hidden"), *self._linear("value")]
        laid = _zeros(sum(_rounded(part.size, LINE) for part in parts))
        at = 0
        for part in parts:
            laid[at : at + part.size] = part.ravel()
            at += _rounded(part.size, LINE)
        return laid

    def _transformed(self, name: str, tile: int, scale: Float32Array) -> Float32Array:
        """Return a kernel as `convolve` reads it, with a factor for each map that it writes."""
        kernel = self.kernel(name)
        plain = strips(kernel * scale[: len(kernel), None, None, None], self._maps)
        _, size, half = kernels.tiling_sizes(self._maps, tile, 1)
        found = _zeros(size)
        kernels.transform_kernels(plain, self._maps, tile + 2, _zeros(half), found)
        return found

    def _linear(self, name: str) -> list[Float32Array]:
        return [self._weights[f"{name}.{part}"] for part in ("weight", "bias")]

    def _head(self, name: str) -> Float32Array:
        """Return the kernel of an output layer, its columns grouped by orientation."""
        fields, order = self.design.head_fields, self.design.order
        matrix = self.kernel(name)[..., 0, 0].reshape(fields, order, -1).transpose(2, 1, 0)
        matrix = _widened(matrix, int(self._plan[forward.HEAD_WIDTH]))
        return packed(matrix.reshape(1, len(matrix), -1), self._maps)

    def __call__(self, positions: Positions) -> EngineOutput:
        """Evaluate positions."""
        cuts = [slice(i, i + _MOST_AT_ONCE) for i in range(0, len(positions), _MOST_AT_ONCE)]
        return EngineOutput.join([self._evaluate(positions.part(cut)) for cut in cuts])

    def _evaluate(self, positions: Positions) -> EngineOutput:
        """Evaluate a few positions."""
        rows, cols = positions.rows, positions.cols
        x, scratch = self._space(len(positions), rows, cols)
        kernels.lift(
            positions.codes, positions.history, positions.facts(), self._codes, self._last_moves,
            self._constants(rows, cols), rows, cols, np.empty(LIFTING_SIZE**2, np.int64),
            x.reshape(len(positions), rows * cols, -1),
        )  # fmt: skip
        return self._finish(x, scratch, positions.komi.astype(np.float32))

    def evaluate_planes(self, planes: Float32Array) -> EngineOutput:
        """Evaluate any planes, positions x planes x rows x columns; slower."""
        found = []
        for i in range(0, len(planes), _MOST_AT_ONCE):
            part = planes[i : i + _MOST_AT_ONCE]
            rows, cols = part.shape[2:]
            x, scratch = self._space(len(part), rows, cols)
            x[:] = self._convolve_planes(part)
            komi = part[:, KOMI_PLANE].mean((1, 2)) * np.float32(KOMI_SCALE)
            found.append(self._finish(x, scratch, komi))
        return EngineOutput.join(found)

    def _space(self, count: int, rows: int, cols: int) -> tuple[Float32Array, Float32Array]:
        """Return memory for the first layer's maps, and scratch space for the others."""
        tile = best_tile(rows, cols, self._maps)
        size = count * rows * cols * self._maps
        more = forward.scratch_size(self._plan, count, rows, cols, self._maps, tile)
        space = _scratch(size + more)
        return space[:size].reshape(count, rows, cols, self._maps), space[size:]

    def _finish(self, x: Float32Array, scratch: Float32Array, komi: Float32Array) -> EngineOutput:
        """Evaluate positions after the first layer, which is in `x`."""
        count, rows, cols, maps = x.shape
        tile = best_tile(rows, cols, maps)
        outputs = self.design.move_outputs
        logits = np.empty((outputs, count, rows * cols + 1), np.float32)
        owner = np.empty((count, rows * cols), np.float32)
        values = np.empty((count, forward.VALUES), np.float32)
        forward.evaluate(
            x, self._plan, self._layers(tile), tile,
            np.float32(size_factor(rows * cols)), scratch, (logits, owner, values),
        )  # fmt: skip
        winner, score, spread = values.T
        return EngineOutput(
            moves=logits[0],
            winner=winner,
            score=score * np.float32(SCORE_SCALE) + komi,
            spread=np.exp(np.clip(spread, -4, 4)) * np.float32(SCORE_SCALE),
            ownership=np.tanh(owner / 2),
            best=logits[-1] if outputs > 1 else None,
        )

    def _constant_maps(self, rows: int, cols: int) -> Float32Array:
        """Return what each constant plane adds at all points of a board, one row per plane."""
        ones = np.pad(np.ones((rows, cols), np.float32), LIFTING_SIZE // 2)
        reach = sliding_window_view(ones, (LIFTING_SIZE,) * 2).reshape(rows * cols, -1)
        # Not by BLAS, whose rounding depends on its number of threads.
        found = np.einsum("pk,kfm->fpm", reach, self._lift[:, FIRST_BOARD_PLANE:])
        return np.ascontiguousarray(found)

    def _convolve_planes(self, planes: Float32Array) -> Float32Array:
        """Convolve planes by one matrix product over all points' neighbourhoods."""
        positions, _, rows, cols = planes.shape
        edge = LIFTING_SIZE // 2
        padded = np.zeros((positions, rows + 2 * edge, cols + 2 * edge, N_PLANES), np.float32)
        padded[:, edge:-edge, edge:-edge] = planes.transpose(0, 2, 3, 1)
        windows = sliding_window_view(padded, (LIFTING_SIZE,) * 2, axis=(1, 2))
        seen = windows.transpose(0, 1, 2, 4, 5, 3).reshape(positions * rows * cols, -1)
        kernel = self._lift.reshape(seen.shape[1], -1)
        return (seen @ kernel).reshape(positions, rows, cols, -1)


@cache
def best_tile(rows: int, cols: int, maps: int) -> int:
    """Return the fastest tile size for a small batch of boards of this size.

    >>> best_tile(19, 19, 128), best_tile(19, 19, 64), best_tile(9, 9, 64)
    (5, 4, 3)
    """

    def cost(tile: int) -> int:
        tiles = _USUAL_BATCH * -(-rows // tile) * -(-cols // tile)
        products = (tile + 2) ** 2 * (_rounded(tiles, ROWS) + _WEIGHTS_COST) * maps
        return products + tiles * _TRANSFORMS_COST[tile]

    return min(_TRANSFORMS_COST, key=cost)


def strips(kernel: Float32Array, maps: int) -> Float32Array:
    """Return a 3 x 3 kernel (out x in x 3 x 3) as `transform_kernels` reads it."""
    matrix = kernel.transpose(1, 2, 3, 0).reshape(1, -1, len(kernel))
    return packed(_widened(matrix, maps), 9 * maps).ravel()


def packed(matrices: Float32Array, maps: int) -> Float32Array:
    """Return matrices of `maps` rows, in strips of COLS columns, as `multiply` reads them."""
    count, rows, columns = matrices.shape
    out = _zeros(count, _rounded(columns, COLS) // COLS, maps, COLS)
    wide = _widened(matrices, _rounded(columns, COLS)).reshape(count, rows, -1, COLS)
    out[:, :, :rows] = wide.transpose(0, 2, 1, 3)
    return out


def _rounded(number: int, step: int) -> int:
    """Round up to a multiple."""
    return -(-number // step) * step


def _widened(array: Float32Array, width: int) -> Float32Array:
    """Add zeros to the last axis."""
    wide = np.zeros((*array.shape[:-1], width), np.float32)
    wide[..., : array.shape[-1]] = array
    return wide


def _zeros(*shape: int) -> Float32Array:
    """Return zeros aligned to a cache line, so that no vector crosses one."""
    size = int(np.prod(shape))
    raw = np.zeros(size + LINE, np.float32)
    start = -raw.ctypes.data // raw.itemsize % LINE
    return raw[start : start + size].reshape(shape)


_SPACES = threading.local()


def _scratch(size: int) -> Float32Array:
    """Return this thread's memory; reallocate only if that is too small."""
    space: Float32Array | None = getattr(_SPACES, "space", None)
    if space is None or len(space) < size:
        space = _SPACES.space = _zeros(size)
    return space[:size]


# ----- GPUs -----

VARIABLE = "TENGEN_DEVICE"
"""Environment variable for the device that runs networks: cpu, cuda, or auto (the default)."""
AT_ONCE = 4
"""How many times larger the batches of a search should be on a GPU than on a processor."""
_MOST_AT_ONCE_ON_GPU = 1024
_ONE_AT_A_TIME = threading.Lock()
"""Threads share the GPU, and PyTorch's settings of it."""
GPU_FILES = (Path("/dev/nvidia0"), Path("/dev/dxg"))
"""Without these a system has no GPU that PyTorch could use here, so PyTorch need not be loaded."""


def torch_or_refuse() -> Any:
    """Import PyTorch; raise `SpecError` with install instructions if it is missing."""
    return import_extra("torch", "torch")


def chosen_device(device: str) -> str:
    """Check the name of a device; `auto` is a GPU where there is one."""
    torch = torch_or_refuse()
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise SpecError(f"device {device}: PyTorch finds no GPU here; use cpu")
    if device.split(":")[0] not in ("cpu", "cuda"):
        raise SpecError(f"device {device}: there are cpu, cuda and auto")
    return device


@cache
def gpu_wanted() -> str | None:
    """Return the name of the GPU to run networks on, or None for the processor."""
    wanted = os.environ.get(VARIABLE, "auto")
    if wanted == "auto":
        may = os.name == "nt" or any(file.exists() for file in GPU_FILES)
        if not may or find_spec("torch") is None:
            return None
    try:
        chosen = "cpu" if wanted == "cpu" else chosen_device(wanted)
    except SpecError as mistake:
        raise SpecError(f"{VARIABLE}: {mistake}") from None
    return None if chosen == "cpu" else chosen


class GpuEngine:
    """A network on a PyTorch device.

    If the GPU fails, it warns once and continues on the processor.
    """

    def __init__(
        self, weights: Mapping[str, NDArray[Any]], design: Design, device: str, *, half: bool = True
    ) -> None:
        import torch

        from tengen.network.torch_network import network_of

        self.design, self.device, self._weights = design, torch.device(device), weights
        self._network = network_of(weights, design).eval().to(self.device)
        self._half = half and self.device.type == "cuda"
        self._processor: Engine | None = None

    def __call__(self, positions: Positions) -> EngineOutput:
        """Evaluate positions."""
        if self._processor is None:
            try:
                return self.evaluate_planes(positions.planes())
            except RuntimeError as failure:
                line = str(failure).splitlines()[0]
                warnings.warn(f"{self.device} failed ({line}): going on without it", stacklevel=2)
                self._processor = Engine(self._weights, self.design)
        return self._processor(positions)

    def evaluate_planes(self, planes: Float32Array) -> EngineOutput:
        """Evaluate any planes, positions x planes x rows x columns."""
        starts = range(0, len(planes), _MOST_AT_ONCE_ON_GPU)
        return EngineOutput.join([self._pass(planes[i : i + _MOST_AT_ONCE_ON_GPU]) for i in starts])

    def _pass(self, planes: Float32Array) -> EngineOutput:
        import torch

        half = torch.autocast(self.device.type, torch.float16, enabled=self._half)
        # TF32 would round the factors of single-precision products to ten bits.
        products = torch.backends.cudnn.flags(enabled=True, allow_tf32=self._half)
        with _ONE_AT_A_TIME, torch.inference_mode(), half, products:
            output = self._network(torch.from_numpy(planes).to(self.device))
            spread = torch.exp(output.spread.clamp(-4, 4)) * SCORE_SCALE
            owners = torch.tanh(output.ownership / 2)
            parts = output.moves, output.winner, output.score, spread, owners, output.best
            arrays: Any = (None if p is None else p.float().cpu().numpy() for p in parts)
            return EngineOutput(*arrays)
