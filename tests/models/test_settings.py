"""Settings are described once: checks, files and comparisons follow from the description."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from tengen.errors import SpecError
from tengen.models.settings import (
    CheckedSettings,
    differences,
    fingerprint,
    fixed,
    from_plain,
    from_recipe,
    setting,
    to_plain,
)


@dataclass(frozen=True)
class Inner:
    depth: int = 2
    names: tuple[str, ...] = ("a",)


@dataclass(frozen=True)
class Walk(CheckedSettings):
    steps: int = setting(100, "How far.", least=0, changeable=True)
    rate: float = setting(0.1, "Length of a step.", least=0, most=10)
    rate_end: float | None = setting(None, "The same at the end.", least=0)
    trace: float = setting(0.0, "Lambda.", least=0, most=1, option="lambda")
    kind: str = setting("normal", "What is drawn.", choices=("normal", "flat"))
    colour: Literal["black", "white"] = setting("black", "Who walks.")
    without: tuple[str, ...] = setting((), "Left out.", choices=("left", "right"))
    far: bool = setting(False, "Whether far.")
    inner: Inner = field(default_factory=Inner)
    mixture: dict[str, int] = field(default_factory=lambda: {"T": 4})


walks = st.builds(
    Walk,
    steps=st.integers(0, 10**9),
    rate=st.floats(0, 10),
    rate_end=st.none() | st.floats(0, 1e300),
    kind=st.sampled_from(["normal", "flat"]),
    colour=st.sampled_from(["black", "white"]),
    without=st.lists(st.sampled_from(["left", "right"])).map(tuple),
    far=st.booleans(),
    inner=st.builds(Inner, st.integers(-5, 5), st.lists(st.text(max_size=4)).map(tuple)),
)


@given(walks)
def test_settings_survive_json_and_toml(walk: Walk) -> None:
    plain = to_plain(walk)
    assert from_plain(Walk, json.loads(json.dumps(plain))) == walk
    assert from_plain(Walk, tomllib.loads(tomli_w.dumps(plain))) == walk


@given(walks, walks)
def test_fingerprints_and_differences_agree_with_equality(one: Walk, other: Walk) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
    assert (differences(one, other) == []) == (fixed(one) == fixed(other))
    assert "steps" not in fixed(one)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": -1}, "steps is -1; it should be greater than or equal to 0"),
        ({"rate": 11.0}, "rate is 11.0; it should be less than or equal to 10"),
        ({"rate": float("nan")}, "rate is nan; it should be a finite number"),
        ({"rate": "fast"}, "rate is 'fast'; it should be a valid number"),
        ({"steps": 1.5}, "steps is 1.5; it should be a valid integer"),
        ({"steps": True}, "steps is True; it should be a valid integer"),
        ({"far": 1}, "far is 1; it should be a valid boolean"),
        ({"trace": 2.0}, "lambda is 2.0; it should be"),
        ({"rate_end": -1.0}, "rate-end is -1.0; it should be"),
        ({"kind": "odd"}, "kind is 'odd'; it should be 'normal' or 'flat'"),
        ({"colour": "red"}, "colour is 'red'; it should be 'black' or 'white'"),
        ({"without": ("up",)}, "without is 'up'; it should be 'left' or 'right'"),
        ({"without": "left"}, "without is 'left'; it should be a valid tuple"),
    ],
)
def test_a_bad_value_is_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Walk(**values)  # type: ignore[arg-type]


def test_what_is_read_is_checked_and_a_whole_number_is_a_real_one() -> None:
    assert from_plain(Walk, {"rate": 1, "inner": {"depth": 3}}) == Walk(rate=1.0, inner=Inner(3))
    assert type(from_plain(Walk, {"rate": 1}).rate) is float
    with pytest.raises(SpecError, match="here: no setting is called 'speed'"):
        from_plain(Walk, {"speed": 1}, where="here")
    with pytest.raises(SpecError, match="here: rate is -1"):
        from_plain(Walk, {"rate": -1}, where="here")


def test_a_number_beyond_all_bounds_is_a_bad_value() -> None:
    for sign in (1, -1):
        with pytest.raises(SpecError, match=r"should be a (finite|valid) number"):
            from_plain(Walk, {"rate": sign * 10**400}, where="card")


def test_differences_name_the_setting_as_people_do() -> None:
    assert differences(Walk(), Walk(trace=0.5, steps=7, without=("left",))) == [
        "lambda 0.0 there, 0.5 asked",
        "without none there, left asked",
    ]
    assert differences(Walk(rate_end=0.5), Walk()) == ["rate-end 0.5 there, none asked"]


def test_fingerprints_know_shape_type_and_content() -> None:
    a = np.arange(6)
    prints = [a, a.reshape(2, 3), a.astype(np.int32), a + 1, "a", ("a", a)]
    found = {fingerprint(*(p if isinstance(p, tuple) else (p,))) for p in prints}
    assert len(found) == len(prints)
    assert fingerprint(a[::2]) == fingerprint(a[::2].copy())


def test_a_recipe_may_tell_more_than_settings_but_nothing_wrong() -> None:
    told = {"rate": 0.5, "retired": 3, "history": [1, 2]}
    assert from_recipe(Walk, told) == Walk(rate=0.5)
    with pytest.raises(SpecError, match="its recipe: rate is 'fast'; it should"):
        from_recipe(Walk, {"rate": "fast"})
