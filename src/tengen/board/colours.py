"""Name the colours of stones and points; know no board."""

from __future__ import annotations

from tengen.board import layout_kernels as layout

Colour = int
"""BLACK = 1 or WHITE = 2; EMPTY = 0 and BORDER = 3 on the board itself."""

EMPTY, BLACK, WHITE, BORDER = layout.EMPTY, layout.BLACK, layout.WHITE, layout.BORDER
COLOUR_NAMES = {BLACK: "Black", WHITE: "White"}
