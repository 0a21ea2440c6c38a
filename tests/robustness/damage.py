"""Damaged inputs as Hypothesis strategies: bytes, and values of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

ODD: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, 10**400, -1, 0, 1e308])
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["\x00", "\u202e\x1b[31m", "[/red]", "../../etc/passwd", "=1+1", "x" * 5000]),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=4), below),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn, samples: Sequence[bytes], words: Sequence[bytes] = (b"",)) -> bytes:
    """Draw a sample with pieces cut, doubled, inserted or taken from another."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 4))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        pieces = [b"", data[start:end][:200] * 2, draw(st.sampled_from(samples))[:200]]
        piece = draw(
            st.sampled_from(pieces) | st.sampled_from(words) | st.binary(min_size=1, max_size=8)
        )
        data = data[:start] + piece + data[draw(st.sampled_from([start, end])) :]
    return data


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else ()
    parts = enumerate(value) if isinstance(value, list) else parts
    return [path, *(found for key, part in parts for found in _places(part, (*path, key)))]


@st.composite
def bent(draw: st.DrawFn, values: Sequence[Any]) -> Any:
    """Draw a value of JSON with a few parts replaced, dropped, doubled or renamed."""
    copy = json.loads(json.dumps(draw(st.sampled_from(values))))
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from([path for path in _places(copy) if path] or [(None,)]))
        if last is None:
            return draw(ODD)
        parent = copy
        for step in way:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "replace", "drop", "double", "wrap"]))
        if change == "drop":
            del parent[last]
        elif change == "double" and isinstance(parent, list):
            parent.insert(last, deepcopy(parent[last]))
        elif change == "double":
            parent[draw(st.sampled_from([last.upper(), f"{last} ", ""]))] = deepcopy(parent[last])
        else:
            parent[last] = [parent[last]] if change == "wrap" else draw(ODD)
    return copy
