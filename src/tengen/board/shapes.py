"""List the small shapes that playouts like, as pictures, and expand them into a table.

The shapes are the ones published with MoGo (Gelly, Wang, Munos, Teytaud 2006): ways to hane, cut
and play along the edge next to the last move. X and O are the two colours in either order, `.` is
empty, `x` anything but X, `o` anything but O, `?` anything, `-` the edge. The centre is the move.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from tengen.arrays import BoolArray

SHAPES = (
    # Hane: around a stone, thin, and the turn.
    "XOX/.../???",
    "XO./.../?.?",
    "XO?/X../x.?",
    ".O./X../...",
    # Cuts: open, peeped at, from both sides, at a knight's move.
    "XO?/O.o/?o?",
    "XO?/O.X/???",
    "?X?/O.O/ooo",
    "OX?/o.O/???",
    # The edge: chase, block a cut, block a connection, stretch down, cut.
    "X.?/O.?/---",
    "OX?/X.O/---",
    "?X?/x.O/---",
    "?XO/x.x/---",
    "?OX/X.O/---",
)

# Which colours (0 empty, 1 X, 2 O, 3 edge) a character of a picture allows.
_ALLOWS = {
    "X": (1,),
    "O": (2,),
    ".": (0,),
    "x": (0, 2, 3),
    "o": (0, 1, 3),
    "?": (0, 1, 2, 3),
    "-": (3,),
}


@cache
def shape_table() -> BoolArray:
    """Return for each 3x3 neighbourhood (see `heavy_kernels.shape_index`) whether it is a shape."""
    table = np.zeros(1 << 16, np.bool_)
    for picture in SHAPES:
        cells = np.array([list(row) for row in picture.split("/")])
        for element in range(8):
            turned = np.rot90(np.fliplr(cells) if element >= 4 else cells, element % 4)
            around = [turned[i // 3, i % 3] for i in range(9) if i != 4]
            for colours in product(*(_ALLOWS[str(mark)] for mark in around)):
                code = sum(c << (2 * i) for i, c in enumerate(colours))
                swapped = sum(
                    (3 - c if c in (1, 2) else c) << (2 * i) for i, c in enumerate(colours)
                )
                table[code] = table[swapped] = True
    table.setflags(write=False)
    return table
