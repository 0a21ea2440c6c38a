"""Damage inputs, bytes or JSON values, as programs and people do; everything follows a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

MOST = 1 << 16
"""Bytes that a damaged input has at most."""

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**64, -(2**63)),
    *(1e308, float("nan"), float("inf"), 10**400),
    *("", "0", "x" * 5000, "\x00", "\u202e\x1b[31m", "[/red]", "../../etc/passwd", "=1+1"),
    *([], {}, [[]], [None], {"": ""}),
)
"""Values that programs stumble over."""


def damage(
    data: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: random.Random
) -> bytes:
    """Change a few places: bits, pieces taken away, doubled, from elsewhere, or odd words."""
    text = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randint(0, len(text))
        end = min(len(text), at + rng.choice((1, 2, 5, 20, 200)))
        match rng.randrange(8):
            case 0 if text:
                place = rng.randrange(len(text))
                text[place] ^= 1 << rng.randrange(8)
            case 1:
                del text[at:end]
            case 2:
                text[at:at] = text[at:end] * rng.choice((1, 2, 50))
            case 3 | 4:
                text[at:at] = rng.choice(words) * rng.choice((1, 1, 1, 30))
            case 5:
                other = rng.choice(others)
                start = rng.randint(0, len(other))
                text[at:end] = other[start : start + rng.choice((2, 20, 200))]
            case 6:
                text[at:at] = rng.randbytes(rng.choice((1, 4, 40)))
            case _:
                del text[at:]
    return bytes(text[:MOST])


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the ways to all parts of a JSON value."""
    found = [path]
    if isinstance(value, dict):
        for key, part in value.items():
            found += places(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            found += places(part, (*path, number))
    return found


def odd_value(rng: random.Random) -> Any:
    """Return a value that stands where another was expected."""
    kind = rng.randrange(12)
    if kind == 0:
        deep: Any = 0
        for _ in range(rng.choice((10, 200))):
            deep = [deep]
        return deep
    value = deepcopy(rng.choice(ODD))
    return [value] * rng.choice((2, 3000)) if kind == 1 else value


def bent(value: Any, rng: random.Random) -> Any:
    """Return a copy of a JSON value with a few parts replaced, dropped, doubled or moved."""
    copy = json.loads(json.dumps(value))
    for _ in range(rng.choice((1, 1, 2, 3))):
        *way, last = rng.choice([p for p in places(copy) if p] or [(None,)])
        if last is None:
            return odd_value(rng)
        parent = copy
        for step in way:
            parent = parent[step]
        match rng.randrange(5):
            case 0:
                del parent[last]
            case 1 if isinstance(parent, list):
                parent.insert(last, deepcopy(parent[last]))
            case 2 if isinstance(parent, dict):
                name = rng.choice((last.upper(), last + " ", "", "id", last[::-1]))
                parent[name] = deepcopy(parent[last])
            case 3:
                parent[last] = [parent[last]]
            case _:
                parent[last] = odd_value(rng)
    return copy
