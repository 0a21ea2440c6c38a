"""Players, evaluators and policies from users' classes.

`python:package.module:Class:key=value,...` names a class (or a function that makes an object) and
its arguments wherever a spec is accepted; `python:file.py:Class` takes it from a file. All return
values are checked.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import RESIGN, Board, Point
from tengen.contracts import Player
from tengen.errors import SpecError, TengenError
from tengen.players.options import Option, PlayerKind, read_options

PREFIX = "python:"

Role = Literal["player", "evaluator", "policy"]
_METHODS: dict[Role, str] = {"player": "choose", "evaluator": "values", "policy": "priors"}


def make_plugged(target: str, rest: str, role: Role, spec: str) -> object:
    """Make an object of a class `package.module:Class` with options `key=value,...`."""
    maker = find(target, spec)
    options = read_options(PlayerKind(spec.partition("=")[0], "", "", _table(maker)), rest, spec)
    try:
        made = maker(**options)
    except TengenError as mistake:
        raise SpecError(f"{spec!r}: {mistake}") from None
    except Exception as failure:
        raise SpecError(f"{spec!r}: making it failed: {_format_exception(failure)}") from failure
    if not callable(getattr(made, _METHODS[role], None)):
        raise SpecError(f"{spec!r}: {target} has no method {_METHODS[role]}, so it is no {role}")
    return _checked(made, role, spec)


def checked_player(player: Player, label: str) -> Player:
    """Return this player with its moves checked: points of the board, PASS or RESIGN."""
    if not callable(getattr(player, "choose", None)):
        raise SpecError(f"{label}: a player needs a method choose(board, rng)")
    return cast(Player, _checked(player, "player", label))


def split_target(spec: str) -> tuple[str, str]:
    """Split `python:package.module:Class:key=value` into the class and its options.

    >>> split_target("python:a.b:C:x=1,y=2")
    ('a.b:C', 'x=1,y=2')
    """
    text = spec.strip().partition(":")[2]
    found = re.fullmatch(r"\s*((?:[A-Za-z]:)?[^:=,]+):\s*([A-Za-z_][\w.]*)\s*(?::(.*))?", text)
    if found is None:
        raise SpecError(f"{spec!r}: write {PREFIX}package.module:Class or with :key=value,...")
    return f"{found[1].strip()}:{found[2]}", found[3] or ""


def find(target: str, spec: str) -> Callable[..., object]:
    """Return the class or function `package.module:Class`, importing its module."""
    place, _, name = target.rpartition(":")
    try:
        found: Any = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    except Exception as failure:
        raise SpecError(
            f"{spec!r}: importing {place} failed: {_format_exception(failure)}"
        ) from failure
    try:
        for part in name.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise SpecError(f"{spec!r}: {place} has no {name}") from None
    if not callable(found):
        raise SpecError(f"{spec!r}: {target} is no class and makes nothing")
    return cast(Callable[..., object], found)


def _import_module(name: str) -> ModuleType:
    """Import a module, also from the working directory, as `python -m` does."""
    before = list(sys.path)
    sys.path.append(str(Path.cwd()))
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = before


def _import_file(path: Path) -> ModuleType:
    where = path.resolve()
    name = f"tengen_plugin_{where.stem}"
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(where):
        return known
    spec = importlib.util.spec_from_file_location(name, where)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _table(maker: Callable[..., object]) -> tuple[Option, ...]:
    """Return the arguments of a class as options."""
    return tuple(
        Option(
            parameter.name,
            _kind_of(parameter),
            "",
            "" if parameter.default is parameter.empty else str(parameter.default),
            required=parameter.default is parameter.empty,
        )
        for parameter in inspect.signature(maker, eval_str=False).parameters.values()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def _kind_of(parameter: inspect.Parameter) -> str:
    """Return the type as which an argument is read: from its annotation or else its default."""
    annotation = parameter.annotation
    word = (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
    )
    for kind in ("bool", "int", "float"):
        if re.match(rf"{kind}\b", word):
            return kind
    default = type(parameter.default).__name__
    return (
        default if default in ("bool", "int", "float") and annotation is parameter.empty else "text"
    )


class _Checked:
    """An object of a user's class; results are checked, exceptions become one-line errors.

    Methods are attributes of its own, since protocols do not look at `__getattr__`.
    """

    def __init__(self, made: object, role: Role, label: str) -> None:
        self._made, self._role, self._label = made, role, label
        kind, own = type(made), vars(self)
        for name in dir(kind):
            if not name.startswith("_") and callable(getattr(kind, name)):
                own[name] = getattr(made, name)
        for name in {"within", "only"} & own.keys():  # they return players
            own[name] = partial(self._another, own[name])
        own[_METHODS[role]] = self._call
        if role == "player":
            own["name"] = label

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def __repr__(self) -> str:
        return repr(self._made)

    def _another(self, method: Callable[..., object], *arguments: Any) -> object:
        return _checked(method(*arguments), self._role, self._label)

    def _call(self, board: Any, *arguments: Any) -> object:
        role, label, name = self._role, self._label, _METHODS[self._role]
        try:
            given = getattr(self._made, name)(board, *arguments)
        except TengenError:
            raise
        except Exception as failure:
            raise SpecError(f"{label}: {name} failed: {_format_exception(failure)}") from failure
        if role == "player":
            return _move(given, board, label)
        points = len(board) if role == "evaluator" else board.rows * board.cols + 1
        found = _numbers(given, (points,), f"{label}: {name}")
        if role == "policy" and ((found < 0).any() or not found.sum() > 0):
            raise SpecError(f"{label}: priors are no probabilities")
        return found


def _checked(made: object, role: Role, label: str) -> object:
    return made if isinstance(made, _Checked) else _Checked(made, role, label)


def _move(given: Any, board: Board, label: str) -> Point:
    """Return a move as a point; plain numbers, raw points or indices, are refused."""
    if given is RESIGN or (isinstance(given, str) and given.strip().lower() == "resign"):
        return RESIGN
    try:
        return board.point(given)
    except TengenError as mistake:
        raise SpecError(f"{label}: choose: {mistake}") from None


def _numbers(given: Any, shape: tuple[int, ...], label: str) -> FloatArray:
    try:
        found = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise SpecError(f"{label} are no numbers") from None
    if found.shape != shape:
        raise SpecError(f"{label} have shape {found.shape}, not {shape}")
    if not np.isfinite(found).all():
        raise SpecError(f"{label} are not finite")
    return found


def _format_exception(failure: Exception) -> str:
    text = str(failure).strip().partition("\n")[0]
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__
