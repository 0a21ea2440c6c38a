"""Run the network's first convolution over packed positions by adding rows of a table.

A point's byte decides nearly all its planes, so what it adds to the points around it is one row of
a table instead of a product. Knows no network and no board.
"""

# mypy: ignore-errors

from __future__ import annotations

from tengen.jit import kernel


@kernel
def lift(codes, history, table, moves, rows, cols, out):
    """Add to `out` (positions x points x maps) what bytes and last moves say.

    `table` is bytes x places of the kernel x maps, `moves` is moves ago x places x maps; a place
    is counted row by row from the kernel's top left.
    """
    places, maps = table.shape[1], table.shape[2]
    side = 5 if places == 25 else 3
    edge = side // 2
    for n in range(codes.shape[0]):
        for r in range(rows):
            for c in range(cols):
                to = r * cols + c
                for i in range(max(0, edge - r), min(side, rows + edge - r)):
                    for j in range(max(0, edge - c), min(side, cols + edge - c)):
                        code = codes[n, (r + i - edge) * cols + c + j - edge]
                        for m in range(maps):
                            out[n, to, m] += table[code, i * side + j, m]
        for ago in range(history.shape[1]):
            if history[n, ago] < 0:
                continue
            r, c = history[n, ago] // cols, history[n, ago] % cols
            for i in range(side):
                for j in range(side):
                    at, over = r - i + edge, c - j + edge
                    if 0 <= at < rows and 0 <= over < cols:
                        for m in range(maps):
                            out[n, at * cols + over, m] += moves[ago, i * side + j, m]
