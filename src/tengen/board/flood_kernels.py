"""Number the connected sets of points of one kind on a bordered line; know no colours."""

# mypy: ignore-errors
from __future__ import annotations

from tengen.jit import inner_kernel


@inner_kernel
def number_alike(kind, width, number, stack):
    """Number the connected sets of points of one kind, by their first points; return how many.

    Points of a negative kind, the border among them, belong to none and get -1. `stack` is room for
    every point.
    """
    number[:] = -1
    count = 0
    for start in range(kind.shape[0]):
        if kind[start] < 0 or number[start] >= 0:
            continue
        number[start] = count
        stack[0] = start
        top = 1
        while top > 0:
            top -= 1
            p = stack[top]
            for q in (p + 1, p - 1, p + width, p - width):
                if kind[q] == kind[start] and number[q] < 0:
                    number[q] = count
                    stack[top] = q
                    top += 1
        count += 1
    return count
