"""Run a trained network on the processor, without PyTorch.

Tied kernels are laid out once, norms are folded into them where nothing stands between, and the
blocks run by Winograd's method in Numba. Positions lie as positions x rows x columns x maps. One
call uses one thread; several threads may call at once.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  (Numba's products run there; see _THREADS)
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tengen.arrays import Float32Array
from tengen.learners.network.inputs import (
    FIRST_BOARD_PLANE,
    KOMI_PLANE,
    KOMI_SCALE,
    N_PLANES,
    POINT_PLANES,
    TABLE,
    Positions,
)
from tengen.learners.network.layers import Layers, lay_out
from tengen.learners.network.lifting_kernels import lift
from tengen.learners.network.settings import (
    LIFTING_SIZE,
    SCORE_SCALE,
    SIZE_SCALE,
    USUAL_SIZE,
    Design,
)
from tengen.learners.network.winograd import best_tile, transformed
from tengen.learners.network.winograd_kernels import ADD, CLIP, STORE, convolve

_EPSILON = 1e-5
_MOST_AT_ONCE = 32
"""Positions evaluated at once; more would not fit the processor's cache."""

# Limits only the libraries that are loaded when it is made: hence the import of SciPy above.
_THREADS = ThreadpoolController()


class Judgement(NamedTuple):
    """What a network says of some positions, from the side to move."""

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
    def join(cls, parts: Sequence[Judgement]) -> Judgement:
        """Return the judgements of several parts as one."""
        columns: Any = zip(*parts, strict=True)
        joined: Any = (None if c[0] is None else np.concatenate(c) for c in columns)
        return cls(*joined)


@dataclass(frozen=True)
class _Block:
    """One residual block, kernels laid out."""

    before: tuple[Float32Array, Float32Array]
    """Factor and addend of the first norm."""
    first: Float32Array
    """Kernel of the first convolution, with the second norm's factor unless the block pools."""
    between: tuple[Float32Array, Float32Array]
    second: Float32Array


class Engine(Layers[Float32Array]):
    """A network laid out for the processor."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], design: Design) -> None:
        super().__init__(design)
        self._weights = {name: np.asarray(w, np.float32) for name, w in weights.items()}
        self._lift = np.ascontiguousarray(self.kernel("lift").transpose(2, 3, 1, 0))
        """Rows x columns of the kernel x planes x maps."""
        by_place = self._lift.reshape(LIFTING_SIZE**2, N_PLANES, -1)
        self._codes = np.einsum("bp,kpm->bkm", TABLE, by_place[:, : len(POINT_PLANES)])
        moves = by_place[:, len(POINT_PLANES) : FIRST_BOARD_PLANE]
        self._last_moves = np.ascontiguousarray(moves.transpose(1, 0, 2))
        self._blocks = {f"blocks.{i}": self._block(i) for i in range(design.blocks)}
        self._heads: dict[str, Float32Array] = {}
        # For two sizes of tiles: those of `tengen-large` take 57 MB each.
        self._transformed = lru_cache(maxsize=2)(self._transform)
        self._constants = lru_cache(maxsize=8)(self._constant_maps)

    def kernel(self, name: str) -> Float32Array:
        """Return a convolution's kernel between all maps."""
        return lay_out(self._weights[f"{name}.weight"], self.design.order)

    def affine(self, name: str) -> tuple[Float32Array, Float32Array]:
        """Return the factor and the addend of each map in a norm."""
        get, order = self._weights.__getitem__, self.design.order
        scale = get(f"{name}.gain") / np.sqrt(get(f"{name}.variance") + np.float32(_EPSILON))
        shift = get(f"{name}.bias") - get(f"{name}.mean") * scale
        return np.repeat(scale, order), np.repeat(shift, order)

    def _block(self, i: int) -> _Block:
        name = f"blocks.{i}"
        between, first = self.affine(f"{name}.norm2"), self.kernel(f"{name}.conv1")
        if not self.design.pools(i):
            first = first * between[0][:, None, None, None]
        return _Block(self.affine(f"{name}.norm1"), first, between, self.kernel(f"{name}.conv2"))

    def _transform(self, tile: int) -> dict[str, tuple[Float32Array, Float32Array]]:
        return {
            name: (transformed(block.first, tile), transformed(block.second, tile))
            for name, block in self._blocks.items()
        }

    def __call__(self, positions: Positions) -> Judgement:
        """Evaluate positions."""
        parts = range(0, len(positions), _MOST_AT_ONCE)
        with _THREADS.limit(limits=1, user_api="blas"):
            return Judgement.join(
                [self._evaluate(positions.part(slice(i, i + _MOST_AT_ONCE))) for i in parts]
            )

    def judge_planes(self, planes: Float32Array) -> Judgement:
        """Evaluate any planes, positions x planes x rows x columns; slower."""
        parts = range(0, len(planes), _MOST_AT_ONCE)
        with _THREADS.limit(limits=1, user_api="blas"):
            return Judgement.join([self._evaluate(planes[i : i + _MOST_AT_ONCE]) for i in parts])

    def _evaluate(self, seen: Positions | Float32Array) -> Judgement:
        """Evaluate a few positions."""
        if isinstance(seen, Positions):
            komi = seen.komi.astype(np.float32)
        else:
            komi = seen[:, KOMI_PLANE].mean((1, 2)) * np.float32(KOMI_SCALE)
        points, passing, owner, values = self.run(seen)
        count, outputs = passing.shape
        # Outputs x positions x moves.
        logits = np.concatenate([points.reshape(count, -1, outputs), passing[:, None, :]], 1)
        logits = np.ascontiguousarray(logits.transpose(2, 0, 1))
        winner, score, spread = values.T
        return Judgement(
            moves=logits[0],
            winner=winner,
            score=score * np.float32(SCORE_SCALE) + komi,
            spread=np.exp(np.clip(spread, -4, 4)) * np.float32(SCORE_SCALE),
            ownership=np.tanh(owner.reshape(count, -1) / 2),
            best=logits[-1] if outputs > 1 else None,
        )

    def lift(self, planes: Any, name: str, fields: int, size: int) -> Float32Array:
        """Convolve planes; of packed positions, by adding rows of a table."""
        if not isinstance(planes, Positions):
            return self._convolve_planes(planes)
        rows, cols = planes.rows, planes.cols
        x = planes.facts() @ self._constants(rows, cols)
        x = x.reshape(len(planes), rows * cols, -1)
        lift(planes.codes, planes.history, self._codes, self._last_moves, rows, cols, x)
        return x.reshape(len(planes), rows, cols, -1)

    def _constant_maps(self, rows: int, cols: int) -> Float32Array:
        """Return what each constant plane adds at all points of a board, one row per plane."""
        count = N_PLANES - FIRST_BOARD_PLANE
        planes = np.zeros((count, N_PLANES, rows, cols), np.float32)
        for i in range(count):
            planes[i, FIRST_BOARD_PLANE + i] = 1
        return self._convolve_planes(planes).reshape(count, -1)

    def _convolve_planes(self, planes: Float32Array) -> Float32Array:
        """Convolve planes by one product, each point beside its neighbourhood."""
        positions, _, rows, cols = planes.shape
        edge = LIFTING_SIZE // 2
        padded = np.zeros((positions, rows + 2 * edge, cols + 2 * edge, N_PLANES), np.float32)
        padded[:, edge:-edge, edge:-edge] = planes.transpose(0, 2, 3, 1)
        windows = np.lib.stride_tricks.sliding_window_view(
            padded, (LIFTING_SIZE, LIFTING_SIZE), axis=(1, 2)
        )
        seen = windows.transpose(0, 1, 2, 4, 5, 3).reshape(positions * rows * cols, -1)
        kernel = self._lift.reshape(seen.shape[1], -1)
        return np.ascontiguousarray((seen @ kernel).reshape(positions, rows, cols, -1))

    def block(self, x: Float32Array, name: str, *, pools: bool) -> Float32Array:
        """Run a residual block; `x` is changed."""
        tile = best_tile(*x.shape[1:3])
        tiles, products, y = _scratch(x, tile)
        block = self._blocks[name]
        first, second = self._transformed(tile)[name]
        nothing = np.zeros(x.shape[3], np.float32)
        scale, shift = block.between
        if pools:
            convolve(x, first, tile, *block.before, True, nothing, STORE, y, tiles, products)
            whole = self.linear(self.pool(self.merge(y)), f"{name}.pool", self.design.fields)
            shift = self.orient(whole) * scale + shift
            y *= scale
            y += shift[:, None, None, :]
            np.maximum(y, 0, out=y)
        else:
            convolve(x, first, tile, *block.before, True, shift, CLIP, y, tiles, products)
        convolve(y, second, tile, *block.before, False, nothing, ADD, x, tiles, products)
        return x

    def convolve(self, x: Float32Array, name: str, fields: int, size: int) -> Float32Array:
        """Convolve by a kernel of one point, as the output layers do."""
        if name not in self._heads:
            self._heads[name] = np.ascontiguousarray(self.kernel(name)[..., 0, 0].T)
        return x @ self._heads[name]

    def norm(self, x: Float32Array, name: str) -> Float32Array:
        """Normalise and clip."""
        scale, shift = self.affine(name)
        return self.relu(x * scale + shift)

    def relu(self, x: Float32Array) -> Float32Array:
        """Clip below at zero."""
        return np.maximum(x, 0)

    def add(self, x: Float32Array, y: Float32Array) -> Float32Array:
        """Add maps to maps."""
        return x + y

    def add_to_maps(self, x: Float32Array, whole: Float32Array) -> Float32Array:
        """Add one number per map."""
        return x + whole[:, None, None, :]

    def orient(self, whole: Float32Array) -> Float32Array:
        """Repeat for each orientation."""
        return np.repeat(whole, self.design.order, axis=1)

    def merge(self, x: Float32Array) -> Float32Array:
        """Average over orientations."""
        order = self.design.order
        return x if order == 1 else np.asarray(x.reshape(*x.shape[:3], -1, order).mean(4))

    def pool(self, x: Float32Array) -> Float32Array:
        """Return three numbers per map."""
        mean, most = x.mean((1, 2)), x.max((1, 2))
        larger = np.float32(((x.shape[1] * x.shape[2]) ** 0.5 - USUAL_SIZE) / SIZE_SCALE)
        return np.concatenate([mean, mean * larger, most], axis=1)

    def linear(self, x: Float32Array, name: str, outputs: int) -> Float32Array:
        """Multiply by a matrix and add a bias."""
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def points(self, x: Float32Array, name: str, outputs: int) -> Float32Array:
        """Combine the maps at each point."""
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return x @ weight.reshape(outputs, -1).T + bias


class _Scratch(threading.local):
    """The arrays that a thread's blocks use in turn."""

    arrays: tuple[Float32Array, Float32Array, Float32Array] | None = None


_SCRATCH = _Scratch()


def _scratch(x: Float32Array, tile: int) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return room for the tiles of a convolution, for their products, and for maps like `x`."""
    positions, rows, cols, maps = x.shape
    shape = (tile + 2) ** 2, positions * -(-rows // tile) * -(-cols // tile), maps
    kept = _SCRATCH.arrays
    if kept is None or kept[0].shape != shape or kept[2].shape != x.shape:
        tiles = np.empty(shape, np.float32)
        kept = _SCRATCH.arrays = tiles, np.empty_like(tiles), np.empty_like(x)
    return kept
