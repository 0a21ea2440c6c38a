"""Describe a network: its size, its work, and how exactly it keeps the symmetries."""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.arrays import Float32Array
from tengen.board import Board
from tengen.board.playouts import play_random
from tengen.board.symmetry import elements, transform
from tengen.learners.network.engine import Engine
from tengen.learners.network.inputs import of_boards
from tengen.learners.network.layers import operations
from tengen.learners.network.learner import DeepNetwork

SIZES = ((5, 5), (6, 6), (7, 7), (9, 9), (13, 13), (19, 19), (25, 25), (5, 9), (13, 8))
"""Boards on which the symmetry is measured."""


def equivariance_error(engine: Engine, *, seed: int = 1) -> float:
    """Return the largest difference between judging a turned board and turning the judgement.

    Positions are those of random games half way, on boards of many sizes in all their symmetries.
    """
    rng = np.random.default_rng(seed)
    worst = 0.0
    for rows, cols in SIZES:
        board = play_random(Board(rows, cols), rows * cols // 2, rng)
        planes = of_boards([board]).planes()
        plain = engine.judge_planes(planes)
        for element in elements(rows, cols)[1:]:
            turned = np.stack([transform(plane, element) for plane in planes[0]])[None]
            said = engine.judge_planes(np.ascontiguousarray(turned))
            expected = {
                **plain._asdict(),
                "moves": _turned_moves(plain.moves, element, rows, cols),
                "ownership": _turned(plain.ownership[0], element, rows, cols),
            }
            if plain.best is not None:
                expected["best"] = _turned_moves(plain.best, element, rows, cols)
            for name, there in said._asdict().items():
                if there is None:
                    continue
                # Numbers beyond one (points, mostly) are held to the same number of digits.
                size = np.maximum(1, np.abs(expected[name]))
                worst = max(worst, float((np.abs(there - expected[name]) / size).max()))
    return worst


def _turned(flat: Float32Array, element: int, rows: int, cols: int) -> Float32Array:
    """Return numbers of a board's points, row by row, as they lie when the board is turned."""
    return np.asarray(transform(flat.reshape(rows, cols), element), np.float32).ravel()


def _turned_moves(logits: Float32Array, element: int, rows: int, cols: int) -> Float32Array:
    return np.append(_turned(logits[0, :-1], element, rows, cols), logits[0, -1])


def describe(network: DeepNetwork) -> dict[str, Any]:
    """Return the size of a network and how exactly it keeps the symmetries."""
    design = network.design_
    return {
        "free_parameters": network.free_parameters,
        "fields": design.fields,
        "channels": design.channels,
        "blocks": design.blocks,
        "symmetric": design.symmetric,
        "ladders": design.ladders,
        "operations": operations(design),
        "equivariance_error": equivariance_error(network.engine),
    }
