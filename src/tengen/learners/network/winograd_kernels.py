"""Run 3 x 3 convolutions over boards by Winograd's method, maps last; know no network.

The matrices of the transforms (see `winograd`) are written out as sums, most of which are shared.

Boards lie as positions x rows x columns x maps, so that every inner loop runs over maps, which are
contiguous. A convolution has three steps: tiles of the input are transformed, one matrix product a
place of the tile mixes the maps, and the tiles of the output are transformed back. What the network
does before and after a convolution is done while the numbers are at hand: `before` scales, shifts
and clips what is read; what is written is shifted, and clipped or added to what is there.
"""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from tengen.jit import hot_kernel, kernel

STORE, CLIP, ADD = 0, 1, 2
"""What is done with the result of a convolution."""


@hot_kernel
def _read(x, r, c, scale, shift, before, patch, j, i):
    """Copy one point's maps into a patch, scaled, shifted and clipped if asked."""
    maps = x.shape[2]
    if before:
        for m in range(maps):
            patch[j, i, m] = max(x[r, c, m] * scale[m] + shift[m], np.float32(0))
    else:
        for m in range(maps):
            patch[j, i, m] = x[r, c, m]


@hot_kernel
def _forward(v, k, size, out, i, j):
    """Write B^T times the vectors v[k] to out[i], out[i + 1], ... at j.

    Arrays and places instead of slices: making a slice costs as much as the sums themselves.
    """
    two, three, four, five = np.float32(2), np.float32(3), np.float32(4), np.float32(5)
    if size == 6:
        for m in range(v.shape[2]):
            d1, d2, d3, d4 = v[k, 1, m], v[k, 2, m], v[k, 3, m], v[k, 4, m]
            out[i, j, m] = four * v[k, 0, m] - five * d2 + d4
            even, odd = d4 - four * d2, d3 - four * d1
            out[i + 1, j, m] = even + odd
            out[i + 2, j, m] = even - odd
            even, odd = d4 - d2, two * (d3 - d1)
            out[i + 3, j, m] = even + odd
            out[i + 4, j, m] = even - odd
            out[i + 5, j, m] = four * d1 - five * d3 + v[k, 5, m]
    else:
        for m in range(v.shape[2]):
            d1, d2, d3 = v[k, 1, m], v[k, 2, m], v[k, 3, m]
            out[i, j, m] = two * v[k, 0, m] - d1 - two * d2 + d3
            out[i + 1, j, m] = d3 - d2 - two * d1
            out[i + 2, j, m] = d3 - three * d2 + two * d1
            out[i + 3, j, m] = d3 - d1
            out[i + 4, j, m] = two * d1 - d2 - two * d3 + v[k, 4, m]


@hot_kernel
def _backward(v, k, size, out, j):
    """Write A^T times the vectors v[k] to out[0], out[1], ... at j."""
    two, four, eight = np.float32(2), np.float32(4), np.float32(8)
    if size == 6:
        for m in range(v.shape[2]):
            a, b = v[k, 1, m] + v[k, 2, m], v[k, 3, m] + v[k, 4, m]
            c, d = v[k, 1, m] - v[k, 2, m], v[k, 3, m] - v[k, 4, m]
            out[0, j, m] = v[k, 0, m] + a + b
            out[1, j, m] = c + two * d
            out[2, j, m] = a + four * b
            out[3, j, m] = c + eight * d + v[k, 5, m]
    else:
        for m in range(v.shape[2]):
            a, c, b = v[k, 1, m] + v[k, 2, m], v[k, 1, m] - v[k, 2, m], v[k, 3, m]
            out[0, j, m] = v[k, 0, m] + a + b
            out[1, j, m] = c + two * b
            out[2, j, m] = a + four * b + v[k, 4, m]


@hot_kernel
def _write(done, i, shift, what, y, r, c):
    """Store one point's maps, shifted; clipped or added if asked."""
    maps = y.shape[2]
    if what == ADD:
        for m in range(maps):
            y[r, c, m] += done[i, 0, m] + shift[m]
    elif what == CLIP:
        for m in range(maps):
            y[r, c, m] = max(done[i, 0, m] + shift[m], np.float32(0))
    else:
        for m in range(maps):
            y[r, c, m] = done[i, 0, m] + shift[m]


@kernel
def _input_tiles(x, first, tile, scale, shift, before, patch, half, tiles):
    """Write B^T d B of every tile of one board to tiles[place, first + number of the tile]."""
    rows, cols = x.shape[0], x.shape[1]
    size = tile + 2
    for top in range(0, rows, tile):
        for left in range(0, cols, tile):
            for j in range(size):
                for i in range(size):
                    r, c = top + i - 1, left + j - 1
                    if 0 <= r < rows and 0 <= c < cols:
                        _read(x, r, c, scale, shift, before, patch, j, i)
                    else:
                        for m in range(x.shape[2]):
                            patch[j, i, m] = 0
                _forward(patch, j, size, half, 0, j)
            for a in range(size):
                _forward(half, a, size, tiles, a * size, first)
            first += 1


@kernel
def _output_tiles(products, first, tile, shift, what, patch, half, done, y):
    """Write A^T M A of every tile of one board to `y`."""
    rows, cols, maps = y.shape
    size = tile + 2
    for top in range(0, rows, tile):
        for left in range(0, cols, tile):
            for b in range(size):
                for a in range(size):
                    for m in range(maps):
                        patch[b, a, m] = products[a * size + b, first, m]
                _backward(patch, b, size, half, b)
            for i in range(min(tile, rows - top)):
                _backward(half, i, size, done, 0)
                for j in range(min(tile, cols - left)):
                    _write(done, j, shift, what, y, top + i, left + j)
            first += 1


@kernel
def convolve(x, weights, tile, scale, shift, before, bias, what, y, tiles, products):
    """Convolve boards `x` with transformed weights (places x maps in x maps out) into `y`.

    Tiles of 3 or 4 points a side; `tiles` and `products` are room for places x (positions * tiles
    of a board) x maps.
    """
    positions, rows, cols, maps = x.shape
    size = tile + 2
    each = ((rows + tile - 1) // tile) * ((cols + tile - 1) // tile)
    # Columns first: the vectors that are summed lie together.
    patch = np.empty((size, size, maps), np.float32)
    half = np.empty((size, size, maps), np.float32)
    done = np.empty((size, 1, maps), np.float32)
    for p in range(positions):
        _input_tiles(x[p], p * each, tile, scale, shift, before, patch, half, tiles)
    total = positions * each
    for place in range(weights.shape[0]):
        np.dot(tiles[place, :total], weights[place], products[place, :total])
    for p in range(positions):
        _output_tiles(products, p * each, tile, bias, what, patch, half, done, y[p])
