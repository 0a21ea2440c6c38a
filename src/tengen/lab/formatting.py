"""Figures as text: with their intervals and units, in few characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tengen.lab.decisions import Estimate


def show(value: float | None, interval: Sequence[float] | None = None, unit: str = "") -> str:
    """Format a figure with its interval; the unit % takes a fraction.

    >>> show(0.5, (0.4, 0.6), "%"), show(0.065, (-0.004, 0.134), "%"), show(714.0), show(6.02e9)
    ('50.0 % [40, 60]', '6.5 % [-0.4, 13.4]', '714', '6.0e9')
    """
    if value is None or math.isnan(value):
        return ""
    if unit == "%":
        text = f"{100 * value:.1f} %"
        if interval is None:
            return text
        # An end next to zero must tell on which side it lies.
        clear = all(end == 0 or abs(end) >= 0.005 for end in interval)
        digits = 0 if clear and interval[1] - interval[0] > 0.03 else 1
        return f"{text} [{100 * interval[0]:.{digits}f}, {100 * interval[1]:.{digits}f}]"
    text = number(value)
    if interval is not None and tuple(interval) != (value, value):
        text += f" [{number(interval[0])}, {number(interval[1])}]"
    return f"{text} {unit}".rstrip()


def show_estimate(ours: Estimate, unit: str = "") -> str:
    """Format an estimate with its interval."""
    return show(ours.mean, ours.interval, unit)


def show_shares(values: Sequence[float]) -> str:
    """Format the mean of shares, one per independent unit, with its interval."""
    return show_estimate(Estimate.shares(values), "%")


def percent(rate: float, interval: Sequence[float] | None = None) -> str:
    """Format a rate with its interval."""
    return show(rate, interval, "%")


def number(value: float) -> str:
    """Format a number in few characters.

    >>> [number(v) for v in (0.034, 3.14159, 86.0, 12345.6, -58583120.0)]
    ['0.034', '3.14', '86', '12,346', '-5.9e7']
    """
    if value != 0 and abs(value) >= 1e7:
        power = math.floor(math.log10(abs(value)))
        return f"{value / 10**power:.1f}e{power}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if value == int(value):
        return f"{int(value)}"
    return f"{value:.3g}"
