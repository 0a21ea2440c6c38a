"""Write a network as ONNX, for any board size and for other programs; needs `onnx`.

Input: `planes` (positions x planes x rows x columns, see `layers.PLANES`). Outputs: `moves`,
`winner`, `score`, `spread`, `ownership` and, for designs with several move outputs, `best`, as in
`engine.EngineOutput`.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.extras import import_extra
from tengen.files import write_atomic
from tengen.network.engine import Engine
from tengen.network.layers import KOMI_PLANE, KOMI_SCALE, N_PLANES, Layers
from tengen.network.learner import DeepNetwork
from tengen.network.settings import LARGEST_SIZE, SCORE_SCALE, SIZE_SCALE, USUAL_SIZE

_OPSET = 17
_NUMBERS = ("winner", "score", "spread")


class _Graph(Layers[str]):
    """Collects nodes and constants; an array is the name of the node that makes it."""

    def __init__(self, engine: Engine, weights: dict[str, NDArray[Any]]) -> None:
        from onnx import helper, numpy_helper

        super().__init__(engine.design)
        self.engine, self.weights = engine, weights
        self.helper, self.numpy_helper = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.larger = self._larger()

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        array = np.array(value, dtype=dtype, order="C")  # a scalar stays a scalar
        self.constants.append(self.numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, *given: str, name: str = "", **options: Any) -> str:
        made = name or f"n{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(given), [made], **options))
        return made

    def _larger(self) -> str:
        """Return how much larger than usual the board is, from the input's shape."""
        shape = self.node("Shape", "planes", start=2)
        points = self.node("Cast", self.node("ReduceProd", shape, keepdims=0), to=1)
        size = self.node("Min", self.node("Sqrt", points), self.constant(LARGEST_SIZE))
        less = self.node("Sub", size, self.constant(USUAL_SIZE))
        return self.node("Div", less, self.constant(SIZE_SCALE))

    def convolve(self, x: str, name: str, fields: int, size: int) -> str:
        return self._convolved(x, self.engine.kernel(name))

    def _convolved(self, x: str, kernel: NDArray[Any], *bias: NDArray[Any]) -> str:
        edge = kernel.shape[-1] // 2
        given = map(self.constant, (kernel, *bias))
        return self.node("Conv", x, *given, pads=[edge] * 4)

    def norm(self, x: str, name: str) -> str:
        factor, addend = (part.reshape(-1, 1, 1) for part in self.engine.affine(name))
        scaled = self.node("Mul", x, self.constant(factor))
        return self.relu(self.node("Add", scaled, self.constant(addend)))

    def relu(self, x: str) -> str:
        return self.node("Relu", x)

    def add(self, x: str, y: str) -> str:
        return self.node("Add", x, y)

    def add_to_maps(self, x: str, whole: str, order: int = 1) -> str:
        if order > 1:
            each = self.node("Unsqueeze", whole, self.constant([2], np.int64))
            times = self.constant([1, 1, order], np.int64)
            whole = self.node("Flatten", self.node("Tile", each, times))
        return self.node("Add", x, self.node("Unsqueeze", whole, self.constant([2, 3], np.int64)))

    def merge(self, x: str) -> str:
        order = self.design.order
        if order == 1:
            return x
        shape = self.node("Shape", x, start=2)
        split = self.node("Concat", self.constant([0, -1, order], np.int64), shape, axis=0)
        return self.node("ReduceMean", self.node("Reshape", x, split), axes=[2], keepdims=0)

    def pool(self, x: str) -> str:
        mean = self.node("ReduceMean", x, axes=[2, 3], keepdims=0)
        most = self.node("ReduceMax", x, axes=[2, 3], keepdims=0)
        return self.node("Concat", mean, self.node("Mul", mean, self.larger), most, axis=1)

    def linear(self, x: str, name: str, outputs: int) -> str:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return self.node("Gemm", x, self.constant(weight), self.constant(bias), transB=1)

    def points(self, x: str, name: str, outputs: int) -> str:
        return self._convolved(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def finish(self) -> list[str]:
        """Write the whole network and return the names of its outputs."""
        points, passing, owner, values = self.run("planes")
        names = {"moves": 0} if self.design.move_outputs == 1 else {"moves": 0, "best": -1}
        for name, output in names.items():
            which = self.constant([output], np.int64)
            board = self.node("Flatten", self.node("Gather", points, which, axis=1))
            self.node(
                "Concat", board, self.node("Gather", passing, which, axis=1), axis=1, name=name
            )
        half = self.node("Mul", self.node("Flatten", owner), self.constant(0.5))
        self.node("Tanh", half, name="ownership")
        scale = self.constant(SCORE_SCALE)
        self._value(values, 0, "winner")
        komi = self.node("Gather", "planes", self.constant(KOMI_PLANE, np.int64), axis=1)
        komi = self.node("ReduceMean", komi, axes=[1, 2], keepdims=0)
        komi = self.node("Mul", komi, self.constant(KOMI_SCALE))
        self.node("Add", self.node("Mul", self._value(values, 1), scale), komi, name="score")
        bounds = self.constant(-4.0), self.constant(4.0)
        bounded = self.node("Clip", self._value(values, 2), *bounds)
        self.node("Mul", self.node("Exp", bounded), scale, name="spread")
        return [*names, *_NUMBERS, "ownership"]

    def _value(self, values: str, column: int, name: str = "") -> str:
        return self.node("Gather", values, self.constant(column, np.int64), axis=1, name=name)


def export_onnx(network: DeepNetwork, path: str | os.PathLike[str]) -> None:
    """Write the network to an ONNX file."""
    onnx = import_extra("onnx", "onnx")
    from onnx import TensorProto, helper

    graph = _Graph(network.engine, network.weights_)
    lengths = {"ownership": ["points"], **{name: [] for name in _NUMBERS}}
    outputs = [
        helper.make_tensor_value_info(
            name, TensorProto.FLOAT, ["positions", *lengths.get(name, ["moves"])]
        )
        for name in graph.finish()
    ]
    shape = ["positions", N_PLANES, "rows", "columns"]
    planes = helper.make_tensor_value_info("planes", TensorProto.FLOAT, shape)
    made = helper.make_graph(graph.nodes, "tengen", [planes], outputs, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    write_atomic(path, model.SerializeToString())
