"""The seven maps of a position as one SVG picture."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import FloatArray
from tengen.board.drawing import format_svg, panels
from tengen.learners.symmetry_network.network import OUTPUTS

TITLES: dict[str, str] = dict(
    zip(
        OUTPUTS,
        (
            "empty point: White's",
            "white stone: lives",
            "black stone: captured",
            "empty point: White's eye",
            "empty point: Black's eye",
            "white stone: dies, Black's eye",
            "black stone: dies, White's eye",
        ),
        strict=True,
    )
)


def format_maps(
    grid: NDArray[np.int8],
    maps: Mapping[str, FloatArray],
    *,
    last: int | None = None,
    title: str = "",
) -> str:
    """Return the position and its maps side by side: red squares, the stronger the likelier.

    `maps` are those of `SymmetryNetwork.heat_maps`, with nan where a map does not apply.
    """
    found = [(title or "position", format_svg(grid, last=last, coordinates=False))]
    for name, values in maps.items():
        picture = format_svg(grid, last=last, heat=np.ravel(values), coordinates=False)
        found.append((TITLES.get(name, name), picture))
    return panels(found, columns=4) + "\n"
