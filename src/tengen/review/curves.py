"""Draw the curve of a review as SVG that a page's script can be clicked on; know no game.

The page finds the move under a click from `data-left` and `data-right`, in the picture's own units.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

_WIDTH, _HEIGHT = 560, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 34


def draw_curve(
    values: Sequence[float],
    *,
    label: str,
    marked: Collection[int] = (),
    span: tuple[float, float] | None = None,
    middle: float = 0.0,
) -> str:
    """Return the values over the moves, dots on the marked ones, and a line at the middle.

    `span` are the values at bottom and top; without it they follow from the values.
    """
    low, high = span or _span(values, middle)
    last = max(len(values) - 1, 1)

    def x(number: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * number / last

    def y(value: float) -> float:
        inside = min(max((value - low) / (high - low), 0.0), 1.0)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * inside

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="curve" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'role="img" aria-label="{label}" data-left="{_LEFT}" data-right="{_WIDTH - _RIGHT}" '
        f'data-last="{last}" font-family="system-ui, sans-serif" font-size="12">'
    ]
    for tick in _ticks(low, high):
        line = "middle" if tick == middle else "grid"
        out.append(
            f'<line class="{line}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(tick):.1f}" '
            f'y2="{y(tick):.1f}"/><text x="{_LEFT - 6}" y="{y(tick) + 4:.1f}" '
            f'text-anchor="end">{tick:g}</text>'
        )
    for tick in _ticks(0, last):
        out.append(
            f'<text x="{x(tick):.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{tick:g}'
            "</text>"
        )
    out.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}" text-anchor="end">move</text>')
    line = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in enumerate(values))
    out.append(f'<polyline points="{line}"/>')
    out += [
        f'<circle cx="{x(n):.1f}" cy="{y(values[n]):.1f}" r="4"><title>move {n}</title></circle>'
        for n in sorted(marked)
    ]
    out.append(f'<line class="cursor" x1="-9" x2="-9" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/></svg>')
    return "".join(out)


def _span(values: Sequence[float], middle: float) -> tuple[float, float]:
    """Return round ends around the values and the middle."""
    low, high = min([*values, middle]), max([*values, middle])
    step = _step(low, high)
    return step * math.floor(low / step), step * max(math.ceil(high / step), 1)


def _ticks(low: float, high: float) -> list[float]:
    """Return the round numbers from one end to the other.

    >>> _ticks(0, 100)
    [0, 20, 40, 60, 80, 100]
    """
    step = _step(low, high)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [step * number for number in range(first, last + 1)]


def _step(low: float, high: float) -> float:
    """Return 1, 2 or 5 times a power of ten, so that four to ten steps fit."""
    room = max(high - low, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(room))
    step = next(step for step in (5 * power, 2 * power, power) if step <= room)
    return int(step) if step >= 1 else step
