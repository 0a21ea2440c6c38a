"""Describe a training's settings once, as a frozen dataclass; check, store and compare them.

A field made by `setting` carries its help, bounds and choices. From them follow the checks (by
pydantic), the TOML of a run's folder, the recipe of a model's card, and the options of a command
(see `commands.options.command`). Plain fields are not offered as options.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True)
... class Walk(CheckedSettings):
...     steps: int = setting(100, "Steps to walk.", least=0, changeable=True)
...     trace: float = setting(0.0, "The lambda of TD(lambda).", least=0, most=1, option="lambda")
>>> Walk(trace=2)
Traceback (most recent call last):
tengen.errors.SpecError: lambda is 2; it should be less than or equal to 1
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from tengen.errors import SpecError

_KEY = "tengen"  # where a field's metadata hold its `Setting`
_Chosen = TypeVar("_Chosen")
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class Setting:
    """Help, bounds and choices of one setting."""

    help: str
    least: float | None = None
    most: float | None = None
    choices: Collection[str] = ()
    option: str = ""  # the name for users, if the field's name is reserved (`lambda`) or unsuitable
    changeable: bool = False  # whether a resumed run may change it


@dataclass(frozen=True)
class SettingField:
    """One field of a settings class, with its type split into parts."""

    name: str
    kind: Any  # int, float, bool, str, a dataclass, dict; of a tuple, the type of its members
    default: Any
    optional: bool
    many: bool
    about: Setting  # without help for a plain field

    @property
    def option(self) -> str:
        """The name for users, as in `--rate-end`."""
        return self.about.option or self.name.replace("_", "-")

    def checked_type(self) -> Any:
        """Return the type with its bounds and choices, for pydantic."""
        kind: Any = self.kind
        if self.about.choices:
            kind = Literal[tuple(self.about.choices)]
        elif kind in (int, float):
            kind = Annotated[kind, Field(ge=self.about.least, le=self.about.most)]
        if self.many:
            kind = tuple[kind, ...]
        return kind | None if self.optional else kind


def setting(default: _Chosen, help: str, **about: Any) -> _Chosen:
    """Make a field of a settings class; `about` are fields of `Setting`.

    Types are int, float, bool, str, tuples of these (`tuple[str, ...]`) and each of them `| None`
    with the default None. A `Literal` type is its own list of choices.
    """
    return dataclasses.field(default=default, metadata={_KEY: Setting(help, **about)})


@dataclass(frozen=True)
class CheckedSettings:
    """A base for frozen dataclasses of `setting` fields that checks their values."""

    def __post_init__(self) -> None:
        """Check every field on its own; a subclass adds checks across fields."""
        kind = type(self)
        try:
            _model(kind).model_validate({name: getattr(self, name) for name in _fields_of(kind)})
        except ValidationError as failure:
            raise _error(kind, failure) from None


def fields_of(kind: type[Any]) -> tuple[SettingField, ...]:
    """List the fields of a settings class, in order."""
    return tuple(_fields_of(kind).values())


def to_plain(settings: Any) -> dict[str, Any]:
    """Return settings as plain values for JSON and TOML: tuples as lists, None left out."""
    plain = json.loads(json.dumps(dataclasses.asdict(settings), default=_of_numpy))
    return {name: value for name, value in plain.items() if value is not None}


def from_plain(kind: type[_Kind], values: Mapping[str, Any], *, where: str = "settings") -> _Kind:
    """Make settings from what `to_plain` returned; an error message begins with `where`."""
    try:
        read = _model(kind).model_validate_json(json.dumps(dict(values)))
        return kind(**{name: getattr(read, name) for name in values})
    except ValidationError as failure:
        raise SpecError(f"{where}: {_error(kind, failure)}") from None
    except (SpecError, TypeError) as failure:
        raise SpecError(f"{where}: {failure}") from None


def from_recipe(kind: type[_Kind], recipe: Mapping[str, Any]) -> _Kind:
    """Make settings of a model's recipe, ignoring entries that are not (or no longer) settings."""
    known = {name: value for name, value in recipe.items() if name in _fields_of(kind)}
    return from_plain(kind, known, where="its recipe")


def fixed(settings: Any) -> dict[str, Any]:
    """Return the plain settings that a resumed run may not change."""
    free = [field.name for field in fields_of(type(settings)) if field.about.changeable]
    return {name: value for name, value in to_plain(settings).items() if name not in free}


def differences(there: _Kind, asked: _Kind) -> list[str]:
    """List differing settings that a resumed run may not change, in words."""
    old, new = fixed(there), fixed(asked)
    return [
        f"{field.option} {_show(old.get(field.name))} there, {_show(new.get(field.name))} asked"
        for field in fields_of(type(asked))
        if old.get(field.name) != new.get(field.name)
    ]


def fingerprint(*parts: Any) -> str:
    """Return a hash of arrays, texts and plain values, sixteen characters long."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"array {part.dtype.str} {part.shape}\n".encode())
            digest.update(np.ascontiguousarray(part).data)
        else:
            plain = to_plain(part) if dataclasses.is_dataclass(part) else part
            digest.update(f"{json.dumps(plain, sort_keys=True, default=_of_numpy)}\n".encode())
    return digest.hexdigest()[:16]


def _take_apart(kind: Any) -> dict[str, SettingField]:
    hints = get_type_hints(kind)
    return {field.name: _field(field, hints[field.name]) for field in dataclasses.fields(kind)}


def _field(field: dataclasses.Field[Any], hint: Any) -> SettingField:
    """Split the type of a field into its parts."""
    about: Setting = field.metadata.get(_KEY, Setting(""))
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
        about, hint = dataclasses.replace(about, choices=get_args(hint)), str
    return SettingField(field.name, hint, default, optional, many, about)


def _make_model(kind: Any) -> type[BaseModel]:
    """Return a pydantic model with the fields of a settings class."""
    config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
    fields: dict[str, Any] = {
        name: (field.checked_type(), field.default) for name, field in _fields_of(kind).items()
    }
    return create_model(kind.__name__, __config__=config, **fields)


# Once per class: evaluating its types costs milliseconds.
_fields_of: Callable[[Any], dict[str, SettingField]] = cache(_take_apart)
_model: Callable[[Any], type[BaseModel]] = cache(_make_model)


def _error(kind: Any, failure: ValidationError) -> SpecError:
    """Turn pydantic's first complaint into one line that names the setting as users do."""
    first = failure.errors()[0]
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        return SpecError(f"no setting is called {name!r}")
    reason = first["msg"].removeprefix("Input ")
    return SpecError(f"{_fields_of(kind)[name].option} is {first['input']!r}; it {reason}")


def _of_numpy(value: Any) -> Any:
    """Convert numpy's numbers for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be stored as a setting")


def _show(value: Any) -> str:
    """Format a plain value for a message."""
    if isinstance(value, list):
        return ", ".join(str(member) for member in value) or "none"
    return "none" if value is None else str(value)
