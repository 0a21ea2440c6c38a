"""Read the small words of GTP arguments; every mistake is a `GtpFailure` in the protocol's terms.

Colours and special moves are repeated here as numbers, so that an engine can answer `name` before
the board and its compiled kernels are imported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tengen.gtp.protocol import GtpFailure

SMALLEST, LARGEST = 2, 25
BLACK, WHITE = 1, 2
PASS, RESIGN = 0, -1
COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
COLOUR_LETTERS = {BLACK: "B", WHITE: "W"}


def read_colour(word: str) -> int:
    """Read b, w, black or white in either case."""
    colour = COLOURS.get(word.lower())
    if colour is None:
        raise GtpFailure("invalid color")
    return colour


def read_integer(word: str, *, least: int = 0, most: int = 2**63 - 1) -> int:
    """Read a whole number within bounds."""
    digits = word.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise GtpFailure("not an integer")
    number = int(word)
    if not least <= number <= most:
        raise GtpFailure(f"not an integer between {least} and {most}")
    return number


def read_number(word: str) -> float:
    """Read a finite number."""
    try:
        number = float(word) if word.isascii() and "_" not in word else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise GtpFailure("not a float")
    return number


def need(args: Sequence[str], least: int, most: int | None = None) -> Sequence[str]:
    """Return the arguments if there are as many as a command takes; fail otherwise.

    `most` None means that further ones are ignored, as GTP allows.
    """
    if len(args) < least or (most is not None and len(args) > most):
        raise GtpFailure("syntax error: wrong number of arguments")
    return args


def format_score(score: float) -> str:
    """Write a score for Black as GTP does.

    >>> format_score(3.5), format_score(-12.0), format_score(0)
    ('B+3.5', 'W+12', '0')
    """
    if abs(score) < 1e-9:
        return "0"
    return f"{'B' if score > 0 else 'W'}+{abs(score):.10g}"
