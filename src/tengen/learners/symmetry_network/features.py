"""Name a cell's fourteen inputs and seven outputs and the categories of blocks; compute nothing.

Inputs are one-hot: 0 to 5 a white stone whose block has category C1 to C6, 6 to 11 a black one,
12 an empty point, 13 off the board. A block's category comes from the network's own outputs one
step earlier, summed over the block's liberties: `eyes` = sum of the likelihoods of an own eye,
`openings` = sum of the likelihoods of own territory minus `eyes`.

    eyes < e1:        C1 openings < o1    C2 o1 <= openings < o2    C3 openings >= o2
    e1 <= eyes < e2:  C4 openings < o1    C5 openings >= o1
    eyes >= e2:       C6

The paper's table of thresholds is lost; (e1, e2, o1, o2) = (0.5, 1.5, 0.5, 1.5) rounds to whole
eyes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.errors import SpecError
from tengen.learners.symmetry_network.representations import (
    Irreducible,
    Representation,
    T,
    odd,
    swapped_pair,
)

_WHITE_STONE, _BLACK_STONE, _EMPTY_POINT, OFF_BOARD = 0, 6, 12, 13
INPUTS = 14
CATEGORIES = 6

OUTPUTS = (
    "territory",  # Z+: an empty point becomes White's
    "white_lives",  # Zo: a white stone avoids capture
    "black_dies",  # Zb: White captures a black stone
    "white_eye",  # Aw: an empty point becomes White's eye
    "black_eye",  # Ab: an empty point becomes Black's eye
    "black_eye_by_capture",  # Ao: a white stone is captured and leaves Black an eye
    "white_eye_by_capture",  # Abk: a black stone is captured and leaves White an eye
)

# Output biases before training: few eyes, stones mostly live. With 0.5 for a stone's life an own
# stone would be worth less than nothing to its owner, and an untrained network would only pass.
INITIAL_BIASES = (0.0, 1.0, -1.0, -2.0, -2.0, -2.0, -2.0)

CATEGORY_MODES = {"eyes": 0, "liberties": 1, "none": 2, "mixed": 3, "both": 4}
_WIDE = 12
"""Categories of `both`; their inputs beyond the paper's follow its fourteen."""


@dataclass(frozen=True)
class Categories:
    """Say how blocks are sorted into six categories.

    mode `eyes` is the paper's; `liberties` the one it tried first (1, 2, 3, 4, 5, 6 or more
    liberties); `none` puts every block into C1; `mixed` is ours: C6 two eyes, else C1 one liberty,
    C2 two, else C5 one eye, else C3 three liberties, C4 more. `both` has twelve: no eye and 1 to 6
    liberties, one eye and 1 to 4 or more, two eyes and up to 3 or more.
    """

    mode: str = "eyes"
    eyes: tuple[float, ...] = (0.5, 1.5)
    openings: tuple[float, ...] = (0.5, 1.5)

    def __post_init__(self) -> None:
        """Refuse a way of sorting that does not exist."""
        if self.mode not in CATEGORY_MODES:
            raise SpecError(f"categories {self.mode!r}: choose from {', '.join(CATEGORY_MODES)}")

    @property
    def count(self) -> int:
        """Return how many categories there are."""
        return _WIDE if self.mode == "both" else CATEGORIES

    def packed(self) -> np.ndarray:
        """Return mode and thresholds as the five whole numbers the kernels take."""
        limits = [round(v * 2**20) for v in (*self.eyes, *self.openings)]
        return np.array([CATEGORY_MODES[self.mode], *limits], np.int64)


def input_type(*, colour: bool, categories: int = CATEGORIES) -> Representation:
    """Return how the inputs turn: not at all, or white and black of a category exchanged."""
    if not colour:
        return Representation.trivial(2 * categories + 2)
    # Pairs (white Ck, black Ck) do not lie side by side; `input_order` says where they lie.
    return Representation((swapped_pair(),) * categories + (T, T))


def output_type(*, colour: bool, single: bool = False) -> Representation:
    """Return how the outputs' net inputs turn; with colours Z+ is odd and Zo becomes -Zb.

    A `single` output says who gets a point, whatever stands there now.
    """
    if single:
        return Representation((odd(T),) if colour else (T,))
    if not colour:
        return Representation.trivial(len(OUTPUTS))
    return Representation((odd(T), swapped_pair(-1), swapped_pair(), swapped_pair()))


def input_order(*, colour: bool, categories: int = CATEGORIES) -> list[int]:
    """Return which input each number of `input_type` is."""
    if not colour:
        return list(range(2 * categories + 2))
    pairs = [i for k in range(categories) for i in stone_inputs(k)]
    return [*pairs, _EMPTY_POINT, OFF_BOARD]


def stone_inputs(category: int) -> tuple[int, int]:
    """Return the inputs of a white and of a black stone of a category, counted from 0."""
    if category < CATEGORIES:
        return _WHITE_STONE + category, _BLACK_STONE + category
    return INPUTS + category - CATEGORIES, INPUTS + category


def exchanged_inputs(categories: int = CATEGORIES) -> list[int]:
    """Return for every input the one that it becomes when the colours are exchanged."""
    out = list(range(2 * categories + 2))
    for k in range(categories):
        white, black = stone_inputs(k)
        out[white], out[black] = black, white
    return out


EXCHANGED_OUTPUTS = (0, 2, 1, 4, 3, 6, 5)
"""The output that each becomes when the colours are exchanged."""
EXCHANGED_SIGNS = (-1, -1, -1, 1, 1, 1, 1)
"""And the sign that its net input takes: Z becomes 1 - Z."""


def hidden_type(mixture: dict[str, int], *, colour: bool) -> Representation:
    """Return hidden units of a mixture of types; with colours, every second of a type is odd."""
    plain = Representation.mixture(**mixture)
    if not colour:
        return plain
    blocks: list[Irreducible] = []
    for block in plain.blocks:
        before = sum(b.name.rstrip("-") == block.name for b in blocks)
        blocks.append(odd(block) if before % 2 else block)
    return Representation(tuple(blocks))
