"""Run a trained network on the processor, without PyTorch; know no board and no file.

The tied kernels are laid out once (see `group`), normalisations are folded into them where nothing
stands between, and the tower runs by Winograd's method in Numba. Positions lie as positions x rows
x columns x maps. One call is one thread; several threads may call at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  (Numba's products run there; see _THREADS)
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tengen.arrays import Float32Array
from tengen.learners.deep_network.design import (
    LIFTING_SIZE,
    SCORE_SCALE,
    SIZE_SCALE,
    USUAL_SIZE,
    Design,
)
from tengen.learners.deep_network.group import ORIENTATIONS, group_places, lifting_places
from tengen.learners.deep_network.inputs import (
    BOARD_PLANES,
    KOMI_PLANE,
    KOMI_SCALE,
    N_PLANES,
    POINT_PLANES,
    TABLE,
    Positions,
)
from tengen.learners.deep_network.lifting_kernels import lift
from tengen.learners.deep_network.winograd import best_tile, transformed
from tengen.learners.deep_network.winograd_kernels import ADD, CLIP, STORE, convolve

_EPSILON = 1e-5
_MOST_AT_ONCE = 32
"""Positions of one pass; more would only leave the cache."""


# Knows only the libraries that are loaded when it is made: hence the import of SciPy's above.
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
class _Affine:
    """A factor and an addend of every map."""

    scale: Float32Array
    shift: Float32Array


@dataclass(frozen=True)
class Block:
    """One block of the tower, kernels laid out."""

    before: _Affine
    first: Float32Array
    """Kernel of the first convolution, scaled by what follows where it does not pool."""
    between: _Affine
    pool: tuple[Float32Array, Float32Array] | None
    second: Float32Array


def spread_kernel(free: Float32Array, order: int) -> Float32Array:
    """Lay a free kernel (out x in [x order] x side x side) out over the orientations."""
    side = free.shape[-1]
    if free.ndim == 4:
        fields, planes = free.shape[:2]
        places = lifting_places(side)[:order]
        laid = free.reshape(fields, planes, -1)[:, :, places]
        laid = laid.transpose(0, 2, 1, 3)
        return np.ascontiguousarray(laid.reshape(fields * order, planes, side, side))
    fields_out, fields_in = free.shape[:2]
    places = group_places(side) if order == ORIENTATIONS else lifting_places(side)[:1]
    laid = free.reshape(fields_out, fields_in, -1)[:, :, places]
    laid = laid.reshape(fields_out, fields_in, order, order, side, side).transpose(0, 2, 1, 3, 4, 5)
    return np.ascontiguousarray(laid.reshape(fields_out * order, fields_in * order, side, side))


class Engine:
    """A network laid out for the processor."""

    def __init__(self, weights: Mapping[str, NDArray[Any]], design: Design) -> None:
        self.design, order = design, design.order
        self._weights = {name: np.asarray(w, np.float32) for name, w in weights.items()}
        get = self._weights.__getitem__
        laid = spread_kernel(get("lift.weight"), order)
        self._lift = np.ascontiguousarray(laid.transpose(2, 3, 1, 0))
        """Rows x columns of the kernel x planes x maps."""
        by_place = self._lift.reshape(LIFTING_SIZE**2, N_PLANES, -1)
        self._codes = np.einsum("bp,kpm->bkm", TABLE, by_place[:, : len(POINT_PLANES)])
        moves = by_place[:, len(POINT_PLANES) : N_PLANES - len(BOARD_PLANES)]
        self._last_moves = np.ascontiguousarray(moves.transpose(1, 0, 2))
        self.blocks = [self._block(i) for i in range(design.blocks)]
        self.last = self._norm("norm")
        self._move_fields = spread_kernel(get("move_fields.weight"), order)[..., 0, 0].T.copy()
        self._value_fields = spread_kernel(get("value_fields.weight"), order)[..., 0, 0].T.copy()
        # For two sizes of tiles: those of `tengen-large` take 57 MB each.
        self._tower = lru_cache(maxsize=2)(self._transform)
        self._constants = lru_cache(maxsize=8)(self._whole_board)

    def _norm(self, name: str) -> _Affine:
        get = self._weights.__getitem__
        scale = get(f"{name}.gain") / np.sqrt(get(f"{name}.variance") + _EPSILON)
        shift = get(f"{name}.bias") - get(f"{name}.mean") * scale
        order = self.design.order
        return _Affine(np.repeat(scale, order), np.repeat(shift, order))

    def _block(self, i: int) -> Block:
        get, order = self._weights.__getitem__, self.design.order
        between = self._norm(f"blocks.{i}.norm2")
        first = spread_kernel(get(f"blocks.{i}.conv1.weight"), order)
        pool = None
        if self.design.pools(i):
            pool = get(f"blocks.{i}.pool.weight"), get(f"blocks.{i}.pool.bias")
        else:
            first = first * between.scale[:, None, None, None]
        second = spread_kernel(get(f"blocks.{i}.conv2.weight"), order)
        return Block(self._norm(f"blocks.{i}.norm1"), first, between, pool, second)

    def _transform(self, tile: int) -> list[tuple[Float32Array, Float32Array]]:
        return [(transformed(b.first, tile), transformed(b.second, tile)) for b in self.blocks]

    def __call__(self, positions: Positions) -> Judgement:
        """Judge positions."""
        return self._in_parts(len(positions), lambda i, j: self._seen(positions.part(slice(i, j))))

    def judge_planes(self, planes: Float32Array) -> Judgement:
        """Judge what any planes show, positions x planes x rows x columns; slower."""
        return self._in_parts(len(planes), lambda i, j: self._convolved(planes[i:j]))

    def _in_parts(
        self, total: int, lifted: Callable[[int, int], tuple[Float32Array, Float32Array]]
    ) -> Judgement:
        with _THREADS.limit(limits=1, user_api="blas"):
            parts = [
                self._pass(*lifted(i, min(i + _MOST_AT_ONCE, total)))
                for i in range(0, total, _MOST_AT_ONCE)
            ]
        return Judgement.join(parts)

    def _pass(self, x: Float32Array, komi: Float32Array) -> Judgement:
        """Judge what the first layer made, and the side to move's komi; `x` is changed."""
        positions, rows, cols, _ = x.shape
        self._run_tower(x)
        x = np.maximum(x * self.last.scale + self.last.shift, 0)
        flat = x.reshape(positions * rows * cols, -1)
        get, order = self._weights.__getitem__, self.design.order

        moves = _merged(np.maximum(flat @ self._move_fields, 0), order)
        moves = moves.reshape(positions, rows, cols, -1)
        whole = _pooled(moves)
        bias = whole @ get("move_bias.weight").T + get("move_bias.bias")
        fields = np.maximum(moves + bias[:, None, None, :], 0)
        outputs = self.design.move_outputs
        points = fields @ get("move.weight").reshape(outputs, -1).T + get("move.bias")
        passing = whole @ get("pass_move.weight").T + get("pass_move.bias")
        # Outputs x positions x moves.
        logits = np.concatenate([points.reshape(positions, -1, outputs), passing[:, None, :]], 1)
        logits = np.ascontiguousarray(logits.transpose(2, 0, 1))

        values = _merged(np.maximum(flat @ self._value_fields, 0), order)
        values = values.reshape(positions, rows, cols, -1)
        owner = values @ get("owner.weight").reshape(-1) + get("owner.bias")
        hidden = np.maximum(
            _pooled(values) @ get("value_hidden.weight").T + get("value_hidden.bias"), 0
        )
        winner, score, spread = (hidden @ get("value.weight").T + get("value.bias")).T
        return Judgement(
            moves=logits[0],
            winner=winner,
            score=score * np.float32(SCORE_SCALE) + komi,
            spread=np.exp(np.clip(spread, -4, 4)) * np.float32(SCORE_SCALE),
            ownership=np.tanh(owner.reshape(positions, -1) / 2),
            best=logits[-1] if outputs > 1 else None,
        )

    def _seen(self, positions: Positions) -> tuple[Float32Array, Float32Array]:
        """Return the first layer's maps of packed positions, and their komi."""
        rows, cols = positions.rows, positions.cols
        whole = [positions.komi / KOMI_SCALE, positions.territory, positions.passed]
        constants = self._constants(rows, cols)
        x = np.array(whole, np.float32).T @ constants.reshape(len(whole), -1)
        x = x.reshape(len(positions), rows * cols, -1)
        lift(positions.codes, positions.history, self._codes, self._last_moves, rows, cols, x)
        return x.reshape(len(positions), rows, cols, -1), positions.komi.astype(np.float32)

    def _whole_board(self, rows: int, cols: int) -> Float32Array:
        """Return what each of the constant planes adds at every point of a board."""
        planes = np.zeros((len(BOARD_PLANES), N_PLANES, rows, cols), np.float32)
        for i in range(len(BOARD_PLANES)):
            planes[i, N_PLANES - len(BOARD_PLANES) + i] = 1
        return self._convolved(planes)[0]

    def _convolved(self, planes: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Convolve planes by one product, every point beside its neighbourhood; komi too."""
        positions, _, rows, cols = planes.shape
        edge = LIFTING_SIZE // 2
        padded = np.zeros((positions, rows + 2 * edge, cols + 2 * edge, N_PLANES), np.float32)
        padded[:, edge:-edge, edge:-edge] = planes.transpose(0, 2, 3, 1)
        windows = np.lib.stride_tricks.sliding_window_view(
            padded, (LIFTING_SIZE, LIFTING_SIZE), axis=(1, 2)
        )
        seen = windows.transpose(0, 1, 2, 4, 5, 3).reshape(positions * rows * cols, -1)
        kernel = self._lift.reshape(seen.shape[1], -1)
        komi = planes[:, KOMI_PLANE].mean((1, 2)) * np.float32(KOMI_SCALE)
        return np.ascontiguousarray((seen @ kernel).reshape(positions, rows, cols, -1)), komi

    def _run_tower(self, x: Float32Array) -> None:
        """Pass through all blocks; `x` is changed."""
        positions, rows, cols, maps = x.shape
        tile = best_tile(rows, cols)
        room = positions * -(-rows // tile) * -(-cols // tile)
        tiles = np.empty(((tile + 2) ** 2, room, maps), np.float32)
        products, y = np.empty_like(tiles), np.empty_like(x)
        nothing = np.zeros(maps, np.float32)
        for block, (first, second) in zip(self.blocks, self._tower(tile), strict=True):
            head = block.before.scale, block.before.shift
            if block.pool is None:
                shift = block.between.shift
                convolve(x, first, tile, *head, True, shift, CLIP, y, tiles, products)
            else:
                convolve(x, first, tile, *head, True, nothing, STORE, y, tiles, products)
                self._look_around(y, block)
            convolve(y, second, tile, *head, False, nothing, ADD, x, tiles, products)

    def _look_around(self, y: Float32Array, block: Block) -> None:
        """Add what the whole board says to every point, then normalise; `y` is changed."""
        assert block.pool is not None
        weight, bias = block.pool
        positions, rows, cols, maps = y.shape
        order = self.design.order
        merged = _merged(y.reshape(-1, maps), order).reshape(positions, rows, cols, -1)
        told = np.repeat(_pooled(merged) @ weight.T + bias, order, axis=1)
        shift = told * block.between.scale + block.between.shift
        y *= block.between.scale
        y += shift[:, None, None, :]
        np.maximum(y, 0, out=y)


def _merged(x: Float32Array, order: int) -> Float32Array:
    """Return the mean over orientations of maps (points x maps)."""
    return x if order == 1 else x.reshape(len(x), -1, order).mean(2)


def _pooled(x: Float32Array) -> Float32Array:
    """Return what maps (positions x rows x columns x maps) say of the whole board."""
    mean, most = x.mean((1, 2)), x.max((1, 2))
    larger = np.float32(((x.shape[1] * x.shape[2]) ** 0.5 - USUAL_SIZE) / SIZE_SCALE)
    return np.concatenate([mean, mean * larger, most], axis=1)
