"""Name the colours of stones and points; know no board."""

from __future__ import annotations

from tengen.board import kernels as k

Colour = int
"""BLACK = 1 or WHITE = 2; EMPTY = 0 and BORDER = 3 on the board itself."""

EMPTY, BLACK, WHITE, BORDER = k.EMPTY, k.BLACK, k.WHITE, k.BORDER
COLOUR_NAMES = {BLACK: "Black", WHITE: "White"}
