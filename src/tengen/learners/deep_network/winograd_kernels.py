"""Run 3 x 3 convolutions over boards by Winograd's method, maps last; know no network.

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
SIDE = 6
"""Side of the largest input tile; sums have so many vectors, a smaller tile's last are zero."""


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
def _sum(v, k, w, a, out, i, j):
    """Write the sum of the six vectors v[k], weighted by w[a], to out[i, j].

    Arrays and places instead of slices: making a slice costs as much as the sum itself.
    """
    w0, w1, w2, w3, w4, w5 = w[a, 0], w[a, 1], w[a, 2], w[a, 3], w[a, 4], w[a, 5]
    for m in range(v.shape[2]):
        out[i, j, m] = (
            w0 * v[k, 0, m] + w1 * v[k, 1, m] + w2 * v[k, 2, m]
            + w3 * v[k, 3, m] + w4 * v[k, 4, m] + w5 * v[k, 5, m]
        )  # fmt: skip


@hot_kernel
def _write(done, shift, what, y, r, c):
    """Store one point's maps, shifted; clipped or added if asked."""
    maps = y.shape[2]
    if what == ADD:
        for m in range(maps):
            y[r, c, m] += done[0, 0, m] + shift[m]
    elif what == CLIP:
        for m in range(maps):
            y[r, c, m] = max(done[0, 0, m] + shift[m], np.float32(0))
    else:
        for m in range(maps):
            y[r, c, m] = done[0, 0, m] + shift[m]


@kernel
def _input_tiles(x, first, matrix, scale, shift, before, patch, half, tiles):
    """Write B^T d B of every tile of one board to tiles[place, first + number of the tile]."""
    rows, cols = x.shape[0], x.shape[1]
    size = matrix.shape[0]
    for top in range(0, rows, size - 2):
        for left in range(0, cols, size - 2):
            for j in range(size):
                for i in range(size):
                    r, c = top + i - 1, left + j - 1
                    if 0 <= r < rows and 0 <= c < cols:
                        _read(x, r, c, scale, shift, before, patch, j, i)
                    else:
                        for m in range(x.shape[2]):
                            patch[j, i, m] = 0
                for a in range(size):
                    _sum(patch, j, matrix, a, half, a, j)
            for a in range(size):
                for b in range(size):
                    _sum(half, a, matrix, b, tiles, a * size + b, first)
            first += 1


@kernel
def _output_tiles(products, first, size, matrix, shift, what, patch, half, done, y):
    """Write A^T M A of every tile of one board to `y`."""
    rows, cols, maps = y.shape
    tile = matrix.shape[0]
    for top in range(0, rows, tile):
        for left in range(0, cols, tile):
            for b in range(size):
                for a in range(size):
                    for m in range(maps):
                        patch[b, a, m] = products[a * size + b, first, m]
                for i in range(tile):
                    _sum(patch, b, matrix, i, half, i, b)
            for i in range(min(tile, rows - top)):
                for j in range(min(tile, cols - left)):
                    _sum(half, i, matrix, j, done, 0, 0)
                    _write(done, shift, what, y, top + i, left + j)
            first += 1


@kernel
def convolve(x, weights, to_tiles, from_tiles, scale, shift, before, bias, what, y, tiles,
             products):  # fmt: skip
    """Convolve boards `x` with transformed weights (places x maps in x maps out) into `y`.

    The matrices of the transforms are filled up with zeros to SIDE columns. `tiles` and
    `products` are room for places x (positions * tiles of a board) x maps.
    """
    positions, rows, cols, maps = x.shape
    tile, size = from_tiles.shape[0], to_tiles.shape[0]
    each = ((rows + tile - 1) // tile) * ((cols + tile - 1) // tile)
    # Vectors to be summed lie together: columns first. What is not filled stays zero.
    patch = np.zeros((SIDE, SIDE, maps), np.float32)
    half = np.zeros((SIDE, SIDE, maps), np.float32)
    done = np.empty((1, 1, maps), np.float32)
    for p in range(positions):
        _input_tiles(x[p], p * each, to_tiles, scale, shift, before, patch, half, tiles)
    total = positions * each
    for place in range(weights.shape[0]):
        np.dot(tiles[place, :total], weights[place], products[place, :total])
    for p in range(positions):
        _output_tiles(products, p * each, size, from_tiles, bias, what, patch, half, done, y[p])
