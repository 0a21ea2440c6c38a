"""The innermost loops of the search around the network: down and up the tree, likely moves."""

# mypy: ignore-errors

from __future__ import annotations

import math

import numpy as np

from tengen.board.layout_kernels import COLS, PASS, ROWS, SCALARS, TURN
from tengen.board.tactics_kernels import is_own_eye
from tengen.jit import kernel

NOBODY = -1
"""Parent of the root, and child of an edge that was never taken."""
_EXPLORE_GROWTH, _EXPLORE_BASE = 0.45, 500.0
"""How exploration grows, slowly, with the visits of a node."""


@kernel
def walk(judged, over, turn, first, count, opened, explored, visits, waiting, sums, edge_child,
         edge_prior, explore, urgency, path):  # fmt: skip
    """Write the way from the root to a position to evaluate, or to one that is over, to `path`.

    Return its length, and the edge below its last node that is to be opened, or NOBODY. At each
    node it follows the edge with the best sum of worth and likelihood.
    """
    node, length = 0, 0
    path[0] = 0
    while judged[node] and not over[node]:
        total = visits[node] + waiting[node]
        growth = explore + _EXPLORE_GROWTH * math.log1p(total / _EXPLORE_BASE)
        reach = growth * math.sqrt(total)
        side, start = turn[node], first[node]
        best, edge = -np.inf, start
        for e in range(start, start + opened[node]):
            child = edge_child[e]
            tried = visits[child] + waiting[child]
            worth = (side * sums[child, 0] - waiting[child]) / tried
            worth += np.float32(reach) * edge_prior[e] / (1 + tried)
            if worth > best:
                best, edge = worth, e
        if opened[node] < count[node]:
            e = start + opened[node]
            mean = side * sums[node, 0] / max(visits[node], 1)
            guess = mean - urgency * math.sqrt(explored[node])
            # An equal newcomer comes second: likelier moves stand first.
            if guess + reach * np.float64(edge_prior[e]) > best:
                return length + 1, e
        node = edge_child[edge]
        length += 1
        path[length] = node
    return length + 1, NOBODY


@kernel
def back_up(path, waiting, visits, sums, own):
    """Add what the last node of a path is worth to all of it; its nodes wait no longer."""
    last = path[-1]
    for node in path:
        waiting[node] -= 1
        visits[node] += 1
        for k in range(sums.shape[1]):
            sums[node, k] += own[last, k]


@kernel
def keep_likely(s, order, priors, moves, chances):
    """Write the moves of `order` that fill no own eye, and the pass, with their priors.

    `order` has the likeliest first; it ends where priors are zero. Return how many are kept.
    """
    rows, cols, colour = s[SCALARS, ROWS], s[SCALARS, COLS], s[SCALARS, TURN]
    count, passes = 0, False
    for index in order:
        if not priors[index] > 0:
            break
        point = PASS
        if index == rows * cols:
            passes = True
        else:
            point = (index // cols + 1) * (cols + 1) + index % cols + 1
            if is_own_eye(s, point, colour):
                continue
        moves[count], chances[count] = point, priors[index]
        count += 1
    if not passes:
        moves[count], chances[count] = PASS, priors[-1]
        count += 1
    return count
