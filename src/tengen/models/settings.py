"""Describe a training's settings once, as a frozen dataclass; check, store and compare them.

A field made by `setting` carries its help, bounds and choices. From them follow the checks, the
TOML of a run's folder, the recipe of a model's card, and the options of a command (see
`cli.options.derived_options`). A plain field is stored and compared like the others, but no
command offers it. Nothing here knows a learner.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Walk(CheckedSettings):
...     '''How a random walk goes.'''
...
...     steps: int = setting(100, "How far to walk.", least=0, changeable=True)
...     rate: float = setting(0.1, "Length of a step.", least=0)
...     trace: float = setting(0.0, "The lambda of TD(lambda).", least=0, most=1, option="lambda")
...     kind: str = setting("normal", "What steps are drawn from.", choices=("normal", "flat"))
...     seed: int = setting(0, "Every random choice follows from it.", least=0)
>>> Walk(trace=2)
Traceback (most recent call last):
tengen.errors.SpecError: lambda is 2, more than 1
>>> to_plain(Walk(rate=0.2))
{'steps': 100, 'rate': 0.2, 'trace': 0.0, 'kind': 'normal', 'seed': 0}
>>> from_plain(Walk, {"rate": 0.2}) == Walk(rate=0.2)
True
>>> differences(Walk(), Walk(rate=0.2, steps=200))
['rate 0.1 there, 0.2 asked']
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from tengen.errors import SpecError

_KEY = "tengen"
"""Where a field's metadata hold its `Setting`."""
_Chosen = TypeVar("_Chosen")
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Setting:
    """What is known of one setting besides its name, type and default."""

    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    option: str = ""
    """What people call it, where the name is taken (`lambda`) or unfit."""
    changeable: bool = False
    """Whether a resumed run may change it: it says only how long, how often or where."""


@dataclass(frozen=True)
class SettingField:
    """One field of a settings class, its type taken apart."""

    name: str
    kind: Any
    """int, float, bool, str, a dataclass, dict; of a tuple, the type of its members."""
    default: Any
    optional: bool
    many: bool
    about: Setting | None
    """None for a plain field."""

    @property
    def option(self) -> str:
        """The name for people, as in `--rate-end`."""
        return (self.about.option if self.about else "") or self.name.replace("_", "-")


def setting(
    default: _Chosen,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    choices: Iterable[str] = (),
    option: str = "",
    changeable: bool = False,
) -> _Chosen:
    """Make a field of a settings class; see `Setting` for what each argument means.

    Types are int, float, bool, str, tuples of these (`tuple[str, ...]`) and each of them `| None`
    with the default None. A `Literal` type is its own list of choices.
    """
    about = Setting(help, least, most, tuple(choices), option, changeable)
    return dataclasses.field(default=default, metadata={_KEY: about})


@dataclass(frozen=True)
class CheckedSettings:
    """Settings that cannot be made wrong: a base for frozen dataclasses of `setting` fields."""

    def __post_init__(self) -> None:
        """Check every field by itself; a subclass adds what two fields owe each other."""
        check_settings(self)


def fields_of(kind: type[Any]) -> tuple[SettingField, ...]:
    """List the fields of a settings class, in order."""
    return _fields_of(kind)  # type: ignore[arg-type]  # mypy: classes are hashable


def check_settings(settings: Any) -> None:
    """Raise `SpecError` for the first field whose value has a wrong type, bound or choice."""
    for field in fields_of(type(settings)):
        value = getattr(settings, field.name)
        if value is None and field.optional:
            continue
        if not field.many:
            _check(field, value)
        elif not isinstance(value, tuple):
            raise SpecError(f"{field.option} is {value!r}, not a tuple")
        else:
            for member in value:
                _check(field, member)


def to_plain(settings: Any) -> dict[str, Any]:
    """Return settings as JSON and TOML can hold them: lists for tuples, nothing for None."""
    plain = json.loads(json.dumps(dataclasses.asdict(settings), default=_of_numpy))
    return {name: value for name, value in plain.items() if value is not None}


def from_plain(kind: type[_Kind], values: Mapping[str, Any], *, where: str = "settings") -> _Kind:
    """Make settings of what `to_plain` gave; what is missing has its default.

    Raises
    ------
    SpecError
        For a name that is no setting, or a value that does not fit; `where` begins the message.
    """
    fields = {field.name: field for field in fields_of(kind)}
    unknown = [name for name in values if name not in fields]
    if unknown:
        raise SpecError(f"{where}: no setting is called {unknown[0]!r}")
    try:
        return kind(**{name: _from_plain(fields[name], value) for name, value in values.items()})
    except (SpecError, TypeError) as failure:
        raise SpecError(f"{where}: {failure}") from None


def from_recipe(kind: type[_Kind], recipe: Mapping[str, Any]) -> _Kind:
    """Make settings of a model's recipe; what is no setting, or none any more, is passed over.

    Raises
    ------
    SpecError
        For a value that does not fit.
    """
    known = {field.name for field in fields_of(kind)}
    settings = {name: value for name, value in recipe.items() if name in known}
    return from_plain(kind, settings, where="its recipe")


def fixed(settings: Any) -> dict[str, Any]:
    """Return the plain settings that a resumed run may not change."""
    free = [f.name for f in fields_of(type(settings)) if f.about and f.about.changeable]
    return {name: value for name, value in to_plain(settings).items() if name not in free}


def differences(there: _Kind, asked: _Kind) -> list[str]:
    """Say which settings differ that a resumed run may not change."""
    old, new = fixed(there), fixed(asked)
    return [
        f"{field.option} {_show(old.get(field.name))} there, {_show(new.get(field.name))} asked"
        for field in fields_of(type(asked))
        if old.get(field.name) != new.get(field.name)
    ]


def fingerprint(*parts: Any) -> str:
    """Return sixteen characters that stand for arrays, texts and plain values.

    >>> fingerprint(np.arange(3), "kgs") == fingerprint(np.arange(3), "kgs")
    True
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3.0))
    False
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"array {part.dtype.str} {part.shape}\n".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            plain = to_plain(part) if dataclasses.is_dataclass(part) else part
            digest.update(f"{json.dumps(plain, sort_keys=True, default=_of_numpy)}\n".encode())
    return digest.hexdigest()[:16]


@cache
def _fields_of(kind: type[Any]) -> tuple[SettingField, ...]:
    """Take a class apart once: evaluating its types costs milliseconds."""
    hints = get_type_hints(kind)
    return tuple(_field(field, hints[field.name]) for field in dataclasses.fields(kind))


def _field(field: dataclasses.Field[Any], hint: Any) -> SettingField:
    """Take the type of a field apart."""
    about: Setting | None = field.metadata.get(_KEY)
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    optional = many = False
    if get_origin(hint) in (Union, UnionType):
        inner = [arm for arm in get_args(hint) if arm is not NoneType]
        optional, hint = len(inner) < len(get_args(hint)), inner[0]
        if len(inner) > 1 or (optional and default is not None):
            raise TypeError(f"setting {field.name}: X | None with the default None, or one type")
    if get_origin(hint) is tuple:
        many, hint = True, get_args(hint)[0]
    if get_origin(hint) is Literal:
        if about is not None and not about.choices:
            about = dataclasses.replace(about, choices=get_args(hint))
        hint = str
    return SettingField(field.name, hint, default, optional, many, about)


def _check(field: SettingField, value: Any) -> None:
    """Check one value, or one member of a tuple."""
    value = _number(field, value)
    if field.kind in (int, float, bool, str) and type(value) is not field.kind:
        raise SpecError(f"{field.option} is {value!r}, not of type {field.kind.__name__}")
    if isinstance(value, float) and not math.isfinite(value):
        raise SpecError(f"{field.option} is {value}, not a finite number")
    about = field.about
    if about is None:
        return
    if about.choices and value not in about.choices:
        raise SpecError(f"{field.option} is {value!r}, none of {', '.join(about.choices)}")
    if about.least is not None and value < about.least:
        raise SpecError(f"{field.option} is {value:g}, less than {about.least:g}")
    if about.most is not None and value > about.most:
        raise SpecError(f"{field.option} is {value:g}, more than {about.most:g}")


def _from_plain(field: SettingField, value: Any) -> Any:
    """Undo what JSON and TOML do to a value."""
    if isinstance(field.kind, type) and dataclasses.is_dataclass(field.kind):
        return from_plain(field.kind, value, where=field.option)
    if field.many and isinstance(value, list):
        return tuple(_number(field, member) for member in value)
    return _number(field, value)


def _number(field: SettingField, value: Any) -> Any:
    """Let a whole number stand for a real one; one beyond all real ones is infinite."""
    if field.kind is not float or type(value) is not int:
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _of_numpy(value: Any) -> Any:
    """Let JSON hold numpy's numbers."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be stored as a setting")


def _show(value: Any) -> str:
    """Show a plain value as people would write it."""
    if isinstance(value, list):
        return ", ".join(str(member) for member in value) or "none"
    return "none" if value is None else str(value)
