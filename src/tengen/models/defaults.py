"""Name the shipped model that serves a purpose on a board of some size; load none."""

from __future__ import annotations

_NETWORK_SIZES = range(5, 26)
"""Lines a side of the boards that the deep networks judge."""


def predictor_for(rows: int, cols: int) -> str:
    """Return the name of the maximum-entropy predictor for a board.

    >>> predictor_for(19, 19), predictor_for(9, 9)
    ('predictor-19x19', 'predictor-small')
    """
    return "predictor-19x19" if rows == cols == 19 else "predictor-small"


def policy_for(rows: int, cols: int) -> str:
    """Return the name of the model that best foresees people's moves on a board.

    >>> policy_for(19, 19), policy_for(9, 9), policy_for(4, 4)
    ('tengen-large', 'tengen-mixed', 'predictor-small')
    """
    return network_for(rows, cols) or predictor_for(rows, cols)


def network_for(rows: int, cols: int) -> str:
    """Return the name of the network that best foresees people's games; nothing without one.

    >>> network_for(9, 9), network_for(9, 13), network_for(4, 4)
    ('tengen-mixed', 'tengen-large', '')
    """
    if rows not in _NETWORK_SIZES or cols not in _NETWORK_SIZES:
        return ""
    return "tengen-mixed" if rows == cols == 9 else "tengen-large"
