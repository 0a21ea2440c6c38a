"""A search tree of evaluated positions in growing arrays, walked by PUCT.

A node is a position that was reached, an edge a move that may be played there. The edges of a node
are contiguous, likeliest first. Untried moves differ only in their priors, so they are opened in
that order, and selection compares the opened moves and the next one. All sums are for Black.
Positions that wait for evaluation count as losses for the side that moves there (virtual losses),
so that a batch can be gathered before the network is called. Node 0 is the root.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.players.tree_kernels import (
    NOBODY,
    OWNERSHIP_SCALE,
    back_up,
    descend,
    store_evaluation,
)


class NetworkTree:
    """Evaluated positions below one root; `turn` is 1 if Black moves there, -1 for White."""

    def __init__(self, points: int, turn: int) -> None:
        self.used = 0
        self.edges = 0
        self.parent = np.empty(0, np.int32)
        self.move = np.empty(0, np.int32)
        """The move that led to a node."""
        self.turn = np.empty(0, np.int8)
        self.first = np.empty(0, np.int32)
        """The first edge of a node; `count` and `opened` are how many there are and were opened."""
        self.count = np.empty(0, np.int32)
        self.opened = np.empty(0, np.int32)
        self.explored = np.empty(0, np.float32)
        """Sum of the priors of the opened moves."""
        self.evaluated = np.empty(0, np.bool_)
        self.over = np.empty(0, np.bool_)
        """Whether the game has ended here."""
        self.visits = np.empty(0, np.int64)
        self.waiting = np.empty(0, np.int32)
        self.sums = np.empty((0, 4), np.float64)
        """Utility (-1 to 1), win, score and its square, all for Black, over all visits."""
        self.own = np.empty((0, 4), np.float64)
        """The same for the position itself."""
        self.ownership = np.empty((0, points), np.int8)
        self._way = np.empty(0, np.int32)
        """Scratch for the nodes of a descent."""
        self.edge_move = np.empty(0, np.int32)
        self.edge_prior = np.empty(0, np.float32)
        self.edge_child = np.empty(0, np.int32)
        self._add(NOBODY, 0, turn)

    def descend(self) -> IntArray:
        """Walk to a position that is new, over or waiting; mark the nodes on the way as waiting."""
        self._make_room(1)
        nodes = (
            self.evaluated, self.over, self.turn, self.parent, self.move, self.first, self.count,
            self.opened, self.explored, self.visits, self.waiting, self.sums,
        )  # fmt: skip
        length = descend(nodes, self._edges, self.used, self._way)
        path = self._way[:length].astype(np.int64)
        self.used += int(path[-1] == self.used)
        return path

    def store_evaluation(
        self,
        node: int,
        outcome_terms: tuple[float, float, float, float],
        ownership: FloatArray,
        moves: Sequence[int] | IntArray,
        priors: FloatArray,
        *,
        over: bool = False,
    ) -> None:
        """Store an evaluated position; `outcome_terms` as in `sums`, likeliest moves first."""
        count = len(moves)
        self._make_room_for_edges(count)
        known = np.asarray(moves, np.int64), np.asarray(priors, np.float64)
        found = np.array(outcome_terms), ownership, *known
        nodes = self.evaluated, self.over, self.first, self.count, self.own, self.ownership
        store_evaluation(node, over, found, self.edges, nodes, self._edges)
        self.edges += count

    def back_up(self, path: IntArray) -> None:
        """Add the value of the last node of a path to all its nodes."""
        back_up(path, self.waiting, self.visits, self.sums, self.own)

    def cancel_visit(self, path: IntArray) -> None:
        """Undo the visits of a path that was not evaluated."""
        self.waiting[path] -= 1

    def children(self, node: int = 0) -> NDArray[np.int32]:
        """Return the children of a node that were visited, most visits first, then likeliest."""
        first = self.first[node]
        found = self.edge_child[first : first + self.opened[node]]
        found = found[self.visits[found] > 0]
        return np.asarray(found[np.argsort(-self.visits[found], kind="stable")])

    def prior(self, child: int) -> float:
        """Return the prior of the move to a node."""
        parent = self.parent[child]
        first = self.first[parent]
        edges = self.edge_child[first : first + self.opened[parent]]
        return float(self.edge_prior[first + int(np.flatnonzero(edges == child)[0])])

    def means(self, node: int) -> tuple[float, float, float, float]:
        """Return mean utility, win, score and the score's standard deviation, for Black."""
        utility, win, score, square = self.sums[node] / max(int(self.visits[node]), 1)
        return float(utility), float(win), float(score), math.sqrt(max(square - score**2, 0.0))

    def line(self, node: int, length: int) -> list[int]:
        """Return the nodes of the most visited line that begins with a node."""
        found = [node]
        while len(found) < length and len(children := self.children(found[-1])):
            found.append(int(children[0]))
        return found

    def branches(self) -> NDArray[np.int32]:
        """Return, per node, the child of the root it lies below; 0 for the root."""
        parents = self.parent[: self.used].tolist()
        found = [0] * self.used
        for node in range(1, self.used):
            found[node] = found[parents[node]] or node
        return np.array(found, np.int32)

    def owners(self, chosen: BoolArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the ownership over evaluated nodes, each once."""
        evaluated = self.evaluated[: self.used] & (self.visits[: self.used] > 0)
        wanted = np.zeros(self.used, np.bool_)
        wanted[chosen] = True
        seen = self.ownership[: self.used][evaluated & wanted].astype(np.float64) / OWNERSHIP_SCALE
        if not len(seen):
            return np.zeros(self.ownership.shape[1]), np.zeros(self.ownership.shape[1])
        return seen.mean(0), seen.std(0)

    def below(self, node: int) -> NetworkTree:
        """Return a copy of the subtree with this node as the root."""
        parents = self.parent[: self.used].tolist()
        number = [NOBODY] * self.used
        number[node] = 0
        kept = [node]
        for n in range(node + 1, self.used):
            if number[parents[n]] != NOBODY:
                number[n] = len(kept)
                kept.append(n)
        numbers = np.array([*number, NOBODY], np.int32)  # so that NOBODY (-1) maps to NOBODY
        made = NetworkTree(self.ownership.shape[1], int(self.turn[node]))
        made._make_room(len(kept))
        made.used = len(kept)
        for name in _NODE_ARRAYS:
            getattr(made, name)[: made.used] = getattr(self, name)[kept]
        made.parent[: made.used] = numbers[made.parent[: made.used]]
        made.parent[0] = NOBODY
        counts = made.count[: made.used]
        edges = np.concatenate(
            [np.arange(f, f + c) for f, c in zip(made.first[: made.used], counts, strict=True)]
        ).astype(np.int64)
        made._make_room_for_edges(len(edges))
        made.edges = len(edges)
        for name in _EDGE_ARRAYS:
            getattr(made, name)[: made.edges] = getattr(self, name)[edges]
        made.edge_child[: made.edges] = numbers[made.edge_child[: made.edges]]
        made.first[: made.used] = np.cumsum(counts) - counts
        return made

    @property
    def _edges(self) -> tuple[NDArray[Any], ...]:
        return self.edge_move, self.edge_prior, self.edge_child

    def _add(self, parent: int, move: int, turn: int) -> int:
        self._make_room(1)
        node = self.used
        self.used += 1
        self.parent[node], self.move[node], self.turn[node] = parent, move, turn
        return node

    def _make_room(self, more: int) -> None:
        if self.used + more > len(self.parent):
            room = max(2 * len(self.parent), self.used + more, 64)
            for name in _NODE_ARRAYS:
                _enlarge(self, name, room)
            self._way = np.empty(room, np.int32)

    def _make_room_for_edges(self, more: int) -> None:
        if self.edges + more > len(self.edge_move):
            room = max(2 * len(self.edge_move), self.edges + more, 1024)
            for name in _EDGE_ARRAYS:
                _enlarge(self, name, room)


_NODE_ARRAYS = (
    "parent", "move", "turn", "first", "count", "opened", "explored", "evaluated", "over", "visits",
    "waiting", "sums", "own", "ownership",
)  # fmt: skip
_EDGE_ARRAYS = ("edge_move", "edge_prior", "edge_child")


def _enlarge(tree: NetworkTree, name: str, room: int) -> None:
    old = getattr(tree, name)
    new = np.zeros((room, *old.shape[1:]), old.dtype)
    new[: len(old)] = old
    setattr(tree, name, new)
