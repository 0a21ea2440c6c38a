"""Evaluate stacks of symmetric layers of any width on the CPU, and all moves of a position at once.

For networks that see the stones and whose they are (sorted by liberties, the turn told or colours
tied): what is learned by `imitation`. Only the cells that a candidate move reaches are computed
anew; the products with the weights are matrix products over many candidates. Knows no training.
"""

from __future__ import annotations

import numpy as np

from tengen.arrays import Float32Array, FloatArray, IntArray
from tengen.errors import SpecError
from tengen.learners.symmetry_network import wide_kernels as wk
from tengen.learners.symmetry_network.evaluation_kernels import OUT, make_view, make_work
from tengen.learners.symmetry_network.network import Architecture
from tengen.learners.symmetry_network.packing import MUTE

_Weights = Float32Array
_State = IntArray

_SIDE_BY_SIDE = 24
"""Candidates that are followed at once: enough for matrix products, few enough for the cache."""


class WideNetwork:
    """The weights of a stack as the kernels take them; values are the mover's."""

    def __init__(self, architecture: Architecture, free: FloatArray, cats: IntArray) -> None:
        if architecture.steps or cats[0] not in (1, 2):
            raise SpecError("wide stacks sort by liberties or not at all and have no recurrence")
        self.widths = [layer.size for layer in architecture.layers]
        self.cats = cats
        dense = architecture.expand(free)
        outs = [0, 1, 2] if architecture.single else list(range(7))
        first = self.widths[0]
        table = np.zeros((9, architecture.inputs, first + OUT))
        table[:, :, :first] = dense["HI"].transpose(0, 2, 1)
        table[:, :, [first + k for k in outs]] = dense["OI"].transpose(0, 2, 1)
        self.table = np.ascontiguousarray(table.reshape(-1, first + OUT), np.float32)
        final = np.full(OUT, MUTE)
        final[7] = 0
        final[outs] = dense["BO"]
        self.bias = np.concatenate([dense["B0"], final]).astype(np.float32)
        self.biases = [dense[f"B{i}"].astype(np.float32) for i in range(1, len(self.widths))]
        self.biases.append(np.zeros(OUT, np.float32))
        last = np.zeros((9, OUT, self.widths[-1]))
        last[:, outs] = dense["OH"]
        kernels = [dense[f"H{i}"] for i in range(1, len(self.widths))] + [last]
        # (in, 9 * out): what a unit gives to the nine cells that see it.
        self.spreads: list[_Weights] = [
            np.ascontiguousarray(k.transpose(2, 0, 1).reshape(k.shape[2], -1), np.float32)
            for k in kernels
        ]


class WidePosition:
    """A position seen by its mover: all layers of it, and what candidate moves would change."""

    def __init__(self, network: WideNetwork, state: _State, mover: int, width: int) -> None:
        self.network, self.state, self.mover = network, state, mover
        n = state.shape[1]
        self._view, self._work = make_view(n), make_work(n, width)
        self.x = np.zeros(n, np.int64)
        wk.see(state, self._view, self._work, network.cats, mover, self.x)
        offset = self._work.offset
        first = np.zeros((n, len(network.bias)), np.float32)
        wk.look_up_all(state, self.x, offset, network.table, network.bias, first)
        self.nets: list[_Weights] = [first]
        self.units: list[_Weights] = []
        direct = np.ascontiguousarray(first[:, network.widths[0] :])
        sizes = [*network.widths[1:], OUT]
        for k, size in enumerate(sizes):
            units = np.zeros((n, network.widths[k]), np.float32)
            wk.units_of(state, self.nets[k], network.widths[k], units)
            last = k + 1 == len(sizes)
            net = direct.copy() if last else np.zeros((n, size), np.float32)
            wk.gather_all(state, offset, units @ network.spreads[k], network.biases[k], net)
            self.units.append(units)
            self.nets.append(net)
        self.direct = direct

    @property
    def outputs(self) -> FloatArray:
        """Return the outputs of every bordered point, (N, OUT), for the mover as White."""
        return np.asarray(1 / (1 + np.exp(-self.nets[-1].astype(np.float64))))

    def value(self, worth: Float32Array) -> tuple[float, FloatArray]:
        """Return the position's value and that of every vertex, by a table of their worth."""
        values = np.zeros(self.state.shape[1])
        return float(wk.worth_all(self.state, self.x, self.nets[-1], worth, values)), values

    def after(self, points: IntArray, worth: Float32Array) -> tuple[FloatArray, IntArray]:
        """Return the value of the board after each legal point, and the stones it captures."""
        total, values = self.value(worth)
        out = np.zeros(len(points))
        captured = np.zeros(len(points), np.int64)
        room = min(_SIDE_BY_SIDE, max(len(points), 1))
        buffers = _Buffers(self.network, self.state.shape[1], room)
        for begin in range(0, len(points), room):
            part = slice(begin, min(begin + room, len(points)))
            self._follow(points[part], worth, values, buffers, out[part], captured[part])
        return out + total, captured

    def _follow(
        self,
        points: IntArray,
        worth: Float32Array,
        values: FloatArray,
        room: _Buffers,
        out: FloatArray,
        captured: IntArray,
    ) -> None:
        """Add to `out` what some candidates change."""
        network, state, offset = self.network, self.state, self._work.offset
        net = room.nets[0]
        n = wk.list_first(
            *(state, self._view, self._work, network.cats, self.mover, points, self.x),
            *(network.table, self.nets[0], room.xs, room.slot, room.cells, room.owners, net),
            captured,
        )
        direct = net[:n, network.widths[0] :].copy()
        for k, spread in enumerate(network.spreads):
            change = room.changes[k][:n]
            wk.differences(room.cells, n, net, network.widths[k], self.units[k], change)
            product = np.matmul(change, spread, out=room.products[k][:n])
            net = room.nets[k + 1]
            n = wk.list_next(
                *(state, offset, room.slot, room.cells, room.owners, n, product),
                *(self.nets[k + 1], net),
            )
        wk.gains(
            *(room.cells, room.owners, n, direct, self.direct, net, room.xs, worth, values, out)
        )


class _Buffers:
    """Room for the listed cells of some candidates."""

    def __init__(self, network: WideNetwork, points: int, candidates: int) -> None:
        most = candidates * points
        self.xs = np.zeros((candidates, points), np.int64)
        self.slot = np.zeros((candidates, points), np.int64)
        self.cells = np.zeros(most, np.int64)
        self.owners = np.zeros(most, np.int64)
        sizes = [len(network.bias), *network.widths[1:], OUT]
        self.nets = [np.empty((most, size), np.float32) for size in sizes]
        self.changes = [np.empty((most, size), np.float32) for size in network.widths]
        self.products = [np.empty((most, s.shape[1]), np.float32) for s in network.spreads]
