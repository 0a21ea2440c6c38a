"""Write a network as ONNX, laid out and any board size, for other programs; needs `onnx`.

Inputs: `planes` (positions x planes x rows x columns, see `inputs.PLANES`). Outputs: `moves`,
`winner`, `score`, `spread`, `ownership` and, of designs with several move outputs, `best`, as
`inference.Judgement` has them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.errors import SpecError
from tengen.files import write_atomic
from tengen.learners.deep_network.design import SCORE_SCALE, SIZE_SCALE, USUAL_SIZE
from tengen.learners.deep_network.inference import Engine, spread_kernel
from tengen.learners.deep_network.inputs import KOMI_PLANE, KOMI_SCALE, N_PLANES
from tengen.learners.deep_network.learner import DeepNetwork

_OPSET = 17


class _Graph:
    """Collect nodes and constants; every call returns the name of what it makes."""

    def __init__(self, helper: Any, numpy_helper: Any) -> None:
        self.helper, self.numpy_helper = helper, numpy_helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        array = np.array(value, dtype=dtype, order="C")  # a single number stays one
        self.constants.append(self.numpy_helper.from_array(array, name))
        return name

    def add(self, kind: str, *given: str, name: str = "", **options: Any) -> str:
        made = name or f"n{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(given), [made], **options))
        return made

    def convolved(self, x: str, kernel: NDArray[Any], bias: NDArray[Any] | None = None) -> str:
        edge = kernel.shape[-1] // 2
        given = [x, self.constant(kernel)] + ([] if bias is None else [self.constant(bias)])
        return self.add("Conv", *given, pads=[edge] * 4)

    def scaled(self, x: str, scale: NDArray[Any], shift: NDArray[Any]) -> str:
        shape = (-1, 1, 1)
        product = self.add("Mul", x, self.constant(scale.reshape(shape)))
        return self.add("Add", product, self.constant(shift.reshape(shape)))

    def merged(self, x: str, fields: int, order: int) -> str:
        """Take the mean over orientations, as a convolution with fixed weights."""
        if order == 1:
            return x
        kernel = np.kron(np.eye(fields), np.full((1, order), 1 / order))
        return self.convolved(x, kernel[:, :, None, None])

    def pooled(self, x: str, larger: str) -> str:
        mean = self.add("ReduceMean", x, axes=[2, 3], keepdims=0)
        most = self.add("ReduceMax", x, axes=[2, 3], keepdims=0)
        return self.add("Concat", mean, self.add("Mul", mean, larger), most, axis=1)

    def linear(self, x: str, weight: NDArray[Any], bias: NDArray[Any]) -> str:
        return self.add("Gemm", x, self.constant(weight), self.constant(bias), transB=1)

    def over_board(self, x: str) -> str:
        """Give a row of numbers a row and a column, so that it can be added to maps."""
        return self.add("Unsqueeze", x, self.constant([2, 3], np.int64))


def export_onnx(network: DeepNetwork, path: str | os.PathLike[str]) -> None:
    """Write the network to an ONNX file."""
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise SpecError("exporting needs onnx: pip install tengen[onnx]") from None
    graph = _Graph(helper, numpy_helper)
    _build(graph, network)
    floats = TensorProto.FLOAT
    planes = helper.make_tensor_value_info(
        "planes", floats, ["positions", N_PLANES, "rows", "columns"]
    )
    logits = ["moves", "best"] if network.design_.move_outputs > 1 else ["moves"]
    outputs = [
        *(helper.make_tensor_value_info(n, floats, ["positions", "moves"]) for n in logits),
        *(helper.make_tensor_value_info(n, floats, ["positions"])
          for n in ("winner", "score", "spread")),
        helper.make_tensor_value_info("ownership", floats, ["positions", "points"]),
    ]  # fmt: skip
    made = helper.make_graph(graph.nodes, "tengen", [planes], outputs, graph.constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    write_atomic(path, model.SerializeToString())


def _build(graph: _Graph, network: DeepNetwork) -> None:
    """Write the whole network, block by block."""
    engine, design = network.engine, network.design_
    weights, order = network.weights_, design.order
    larger = _larger(graph)
    x = graph.convolved("planes", spread_kernel(weights["lift.weight"], order))
    for block in engine.blocks:
        x = _block(graph, engine, block, x, larger)
    x = graph.add("Relu", graph.scaled(x, engine.last.scale, engine.last.shift))
    heads = design.head_fields

    def head(name: str) -> str:
        fields = graph.convolved(x, spread_kernel(weights[f"{name}.weight"], order))
        return graph.merged(graph.add("Relu", fields), heads, order)

    def linear(given: str, name: str) -> str:
        return graph.linear(given, weights[f"{name}.weight"], weights[f"{name}.bias"])

    moves = head("move_fields")
    whole = graph.pooled(moves, larger)
    told = graph.add("Relu", graph.add("Add", moves, graph.over_board(linear(whole, "move_bias"))))
    outputs = {"moves": 0} if design.move_outputs == 1 else {"moves": 0, "best": -1}
    for output, row in outputs.items():
        kernel, bias = weights["move.weight"][row], weights["move.bias"][row]
        points = graph.convolved(told, kernel[None], bias[None])
        kernel, bias = weights["pass_move.weight"][row], weights["pass_move.bias"][row]
        passing = graph.linear(whole, kernel[None], bias[None])
        graph.add("Concat", graph.add("Flatten", points), passing, axis=1, name=output)
    values = head("value_fields")
    owner = graph.convolved(values, weights["owner.weight"], weights["owner.bias"])
    half = graph.add("Mul", graph.add("Flatten", owner), graph.constant(0.5))
    graph.add("Tanh", half, name="ownership")
    hidden = graph.add("Relu", linear(graph.pooled(values, larger), "value_hidden"))
    value = linear(hidden, "value")

    def column(i: int, name: str = "") -> str:
        return graph.add("Gather", value, graph.constant(i, np.int64), axis=1, name=name)

    scale = graph.constant(SCORE_SCALE)
    column(0, "winner")
    komi = graph.add("Gather", "planes", graph.constant(KOMI_PLANE, np.int64), axis=1)
    komi = graph.add("ReduceMean", komi, axes=[1, 2], keepdims=0)
    komi = graph.add("Mul", komi, graph.constant(KOMI_SCALE))
    graph.add("Add", graph.add("Mul", column(1), scale), komi, name="score")
    bounded = graph.add("Clip", column(2), graph.constant(-4.0), graph.constant(4.0))
    graph.add("Mul", graph.add("Exp", bounded), scale, name="spread")


def _larger(graph: _Graph) -> str:
    """Write how much larger than usual the board is, from the input's shape."""
    shape = graph.add("Shape", "planes", start=2)
    points = graph.add("Cast", graph.add("ReduceProd", shape, keepdims=0), to=1)
    side = graph.add("Sqrt", points)
    less = graph.add("Sub", side, graph.constant(USUAL_SIZE))
    return graph.add("Div", less, graph.constant(SIZE_SCALE))


def _block(graph: _Graph, engine: Engine, block: Any, x: str, larger: str) -> str:
    """Write one block and return what the tower is behind it."""
    design = engine.design
    seen = graph.add("Relu", graph.scaled(x, block.before.scale, block.before.shift))
    if block.pool is None:
        y = graph.convolved(seen, block.first, block.between.shift)
    else:
        y = graph.convolved(seen, block.first)
        weight, bias = block.pool
        pooled = graph.pooled(graph.merged(y, design.fields, design.order), larger)
        order = design.order
        told = graph.linear(pooled, np.repeat(weight, order, 0), np.repeat(bias, order))
        y = graph.add("Add", y, graph.over_board(told))
        y = graph.scaled(y, block.between.scale, block.between.shift)
    return graph.add("Add", x, graph.convolved(graph.add("Relu", y), block.second))
