"""Players, evaluators and policies from users' classes.

`python:package.module:Class` names a class (or a function that makes an object) wherever a spec
goes, and `python:package.module:Class:key=value,...` gives its arguments; `python:file.py:Class`
takes it from a file. Packages may also give their players a name by entry points of the group
`tengen.players`. Their answers are checked, so that mistakes are reported in one line with their
name.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import RESIGN, Board, Point
from tengen.contracts import Evaluator, Player, Policy
from tengen.errors import SpecError, TengenError
from tengen.players.spec import PLAYERS, Option, PlayerKind, read_options

PREFIX = "python:"
_GROUP = "tengen.players"
"""The group of entry points by which packages name their players."""

_Role = Literal["player", "evaluator", "policy"]
_METHODS: dict[_Role, str] = {"player": "choose", "evaluator": "values", "policy": "priors"}


def installed_players() -> dict[str, str]:
    """Return the players that installed packages name: `package.module:Class` by name."""
    return {entry.name: entry.value for entry in importlib.metadata.entry_points(group=_GROUP)}


def installed_kinds() -> dict[str, PlayerKind]:
    """Describe the players that installed packages name; one that cannot be imported says why."""
    kinds = {}
    for name, target in installed_players().items():
        if name in PLAYERS:
            continue
        try:
            maker = find(target, name)
            said, options = (inspect.getdoc(maker) or "").partition("\n")[0], _table(maker)
        except SpecError as failure:
            said, options = str(failure), ()
        kinds[name] = PlayerKind(name, target, said or f"The class {target}.", options, name)
    return kinds


def make_plugged_player(target: str, rest: str, spec: str) -> Player:
    """Make a player of a class `package.module:Class` with options `key=value,...`."""
    made = _make(target, rest, "player", spec)
    try:
        object.__setattr__(made, "name", spec)  # frozen dataclasses too
    except AttributeError:
        if not isinstance(getattr(made, "name", None), str):
            raise SpecError(f"{spec!r}: {target} needs an attribute name") from None
    return checked_player(cast(Player, made), spec)


def make_plugged_evaluator(spec: str) -> Evaluator:
    """Make an evaluator of `python:package.module:Class`, see `make_plugged_player`."""
    made = _make(*split_target(spec.removeprefix(PREFIX), spec), "evaluator", spec)

    def check(given: Any, boards: Sequence[Board]) -> FloatArray:
        return _numbers(given, (len(boards),), f"{spec}: values")

    return cast(Evaluator, _checked(made, "values", check, spec))


def make_plugged_policy(spec: str) -> Policy:
    """Make a policy of `python:package.module:Class`, see `make_plugged_player`."""
    made = _make(*split_target(spec.removeprefix(PREFIX), spec), "policy", spec)

    def check(given: Any, board: Board) -> FloatArray:
        found = _numbers(given, (board.rows * board.cols + 1,), f"{spec}: priors")
        if (found < 0).any() or not found.sum() > 0:
            raise SpecError(f"{spec}: priors are no probabilities")
        return found

    return cast(Policy, _checked(made, "priors", check, spec))


def checked_player(player: Player, label: str) -> Player:
    """Return this player so that whatever it answers is a point of the board, PASS or RESIGN.

    Plain numbers are refused: they may be raw points or row-major indices.
    """
    if not callable(getattr(player, "choose", None)):
        raise SpecError(f"{label}: a player needs a method choose(board, rng)")

    def check(move: Any, board: Board, rng: np.random.Generator) -> Point:
        if move is RESIGN or (isinstance(move, str) and move.strip().lower() == "resign"):
            return RESIGN
        try:
            return board.point(move)
        except TengenError as mistake:
            raise SpecError(f"{label}: choose: {mistake}") from None

    return cast(Player, _checked(player, "choose", check, label))


def split_target(text: str, spec: str) -> tuple[str, str]:
    """Split `package.module:Class:key=value` into the class and its options.

    >>> split_target("a.b:C:x=1,y=2", "")
    ('a.b:C', 'x=1,y=2')
    """
    found = re.fullmatch(r"\s*((?:[A-Za-z]:)?[^:=,]+):\s*([A-Za-z_][\w.]*)\s*(?::(.*))?", text)
    if found is None:
        raise SpecError(f"{spec!r}: write {PREFIX}package.module:Class or with :key=value,...")
    return f"{found[1].strip()}:{found[2]}", found[3] or ""


def find(target: str, spec: str) -> Callable[..., object]:
    """Return the class or function `package.module:Class`, importing its module."""
    place, _, name = target.rpartition(":")
    try:
        found: Any = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
        for part in name.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise SpecError(f"{spec!r}: {place} has no {name}") from None
    except Exception as failure:
        raise SpecError(f"{spec!r}: importing {place} failed: {_told(failure)}") from failure
    if not callable(found):
        raise SpecError(f"{spec!r}: {target} is no class and makes nothing")
    return cast(Callable[..., object], found)


def _import_module(name: str) -> ModuleType:
    """Import a module, of the working folder too, as `python -m` would."""
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


def _make(target: str, rest: str, role: _Role, spec: str) -> object:
    maker = find(target, spec)
    options = _options(maker, rest, spec)
    try:
        made = maker(**options)
    except TengenError as mistake:
        raise SpecError(f"{spec!r}: {mistake}") from None
    except Exception as failure:
        raise SpecError(f"{spec!r}: making it failed: {_told(failure)}") from failure
    method = _METHODS[role]
    if not callable(getattr(made, method, None)):
        raise SpecError(f"{spec!r}: {target} has no method {method}, so it is no {role}")
    return made


def _options(maker: Callable[..., object], rest: str, spec: str) -> dict[str, Any]:
    """Read `key=value,...` as the class's arguments say: numbers, yes or no, else text."""
    kind = PlayerKind(spec.partition("=")[0], "", "", _table(maker))
    return read_options(kind, rest, spec)


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
    """Return how the text of an argument is read: by its annotation, else by its default."""
    said = parameter.annotation
    word = said if isinstance(said, str) else getattr(said, "__name__", str(said))
    for kind in ("bool", "int", "float"):
        if re.match(rf"{kind}\b", word):
            return kind
    default = type(parameter.default).__name__
    return default if default in ("bool", "int", "float") and said is parameter.empty else "text"


def _checked(made: object, name: str, check: Callable[..., object], label: str) -> object:
    """Let one method of an object go through a check; what it raises becomes one line."""
    kind = type(made)
    if getattr(kind, "_plugged", False):
        return made

    def method(self: object, *arguments: Any) -> object:
        try:
            given = getattr(kind, name)(self, *arguments)
        except TengenError:
            raise
        except Exception as failure:
            raise SpecError(f"{label}: {name} failed: {_told(failure)}") from failure
        return check(given, *arguments)

    names = {name: method, "__slots__": (), "__module__": kind.__module__, "_plugged": True}
    try:
        # Not a plain assignment, for frozen dataclasses.
        object.__setattr__(made, "__class__", type(kind.__name__, (kind,), names))
    except TypeError as failure:
        raise SpecError(f"{label}: {kind.__name__} cannot be checked: {failure}") from None
    return made


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


def _told(failure: Exception) -> str:
    text = str(failure).strip().partition("\n")[0]
    return f"{type(failure).__name__}: {text}" if text else type(failure).__name__
