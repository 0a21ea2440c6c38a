"""Compile the network's kernels by using each once on something small."""

from __future__ import annotations

import math

import numpy as np

from tengen.learners.deep_network.design import Design
from tengen.learners.deep_network.learner import DeepNetwork, shapes_of


def untrained(design: Design, *, seed: int = 1) -> DeepNetwork:
    """Return a network of random weights, which plays nonsense; for tests and warming up."""
    rng = np.random.default_rng(seed)
    network = DeepNetwork()
    network.design_ = design
    network.weights_ = {
        name: rng.normal(0, float(max(1, math.prod(shape[1:]))) ** -0.5, shape).astype(np.float32)
        for name, shape in shapes_of(design).items()
    }
    for name, weights in network.weights_.items():
        if name.endswith((".gain", ".variance")):
            network.weights_[name] = np.abs(weights) + np.float32(0.5)
    return network


def warm_up() -> None:
    """Compile everything."""
    from tengen.board import BLACK, Board
    from tengen.learners.deep_network.inputs_kernels import encode_games

    network = untrained(Design(fields=1, blocks=3, head_fields=1, value_hidden=2))
    board = Board(5)
    board.play("C3")
    network.priors(board)
    moves, colours = np.zeros(1, np.int16), np.full(1, BLACK, np.int8)
    offsets, none = np.array([0, 1]), np.zeros(0, np.int16)
    codes = np.empty((1, 25), np.uint8)
    encode_games(
        np.arange(1), moves, colours, offsets, none, none.astype(np.int8), np.zeros(2, np.int64),
        0, 1, 5, 5, True, codes,
    )  # fmt: skip
