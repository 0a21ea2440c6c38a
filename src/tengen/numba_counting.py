"""Leave counting of references out of kernels whose types show that they make no array.

Numba counts who refers to each array, at every name it is given, so that the last one frees it. A
kernel that only works on the arrays of its arguments frees nothing, and its caller holds them all
the while; yet it counted, with instructions that no two cores may do at once. Knows no kernel.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes

__all__ = ["KernelCompiler"]

_PARTS = frozenset(
    {
        "build_tuple",
        "cast",
        "exhaust_iter",
        "getattr",
        "getiter",
        "iternext",
        "pair_first",
        "pair_second",
        "static_getitem",
    }
)
"""Expressions that give a part or a view of what there is, never a new array."""


@register_pass(mutates_CFG=False, analysis_only=True)
class _CountNothing(AnalysisPass):  # type: ignore[misc]
    """Turn counting off for a kernel that makes no array and gives none back."""

    _name = "tengen_count_nothing"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Look at the types of all that the kernel names."""
        if not _makes_arrays(state):
            state.targetctx.enable_nrt = False
            state.targetctx.__dict__.pop("nrt", None)
        return False


def _makes_arrays(state: Any) -> bool:
    """Tell whether a kernel may make an array; to copy one into a slice is to make one, too."""
    models = state.targetctx.data_model_manager

    def is_counted(kind: Any) -> bool:
        return bool(models[kind].contains_nrt_meminfo())

    def is_new(value: Any) -> bool:
        if value.op == "getitem":  # a view, unless an array of places is asked for
            return is_counted(state.typemap[value.index.name])
        return value.op not in _PARTS

    if is_counted(state.return_type):
        return True
    for block in state.func_ir.blocks.values():
        for step in block.body:
            if isinstance(step, ir.SetItem | ir.StaticSetItem):
                makes = is_counted(state.typemap[step.value.name])
            elif isinstance(step, ir.Assign) and isinstance(step.value, ir.Expr):
                makes = is_counted(state.typemap[step.target.name]) and is_new(step.value)
            else:
                makes = isinstance(step, ir.Assign) and isinstance(step.value, ir.Yield)
            if makes:
                return True
    return False


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's own way, with a look at the types before code is made."""

    def define_pipelines(self) -> list[Any]:
        """Return the one pipeline."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_CountNothing, AnnotateTypes)
        passes.finalize()
        return [passes]
