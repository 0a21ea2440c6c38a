"""Make players and experts from spec strings such as `mcts:playouts=500`; know no way of playing.

A spec is `NAME` or `NAME:key=value,...`. After `gtp:` the rest is a command line. An option that
names another player (`then=`) takes the rest of the string, so it comes last:
`opening:model=td-best-9x9,moves=15,then=mcts:playouts=500`. A value may be put in double quotes
to hold a comma: `greedy:model="a,b.safetensors"`. `kinds` has the table of our players; a module
is imported only when one of its players is made. `python:package.module:Class` and the players of
installed packages are `plugins`.
"""

from __future__ import annotations

import difflib
import importlib
import math
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, Literal, cast

from tengen.contracts import Expert, Player
from tengen.errors import SpecError
from tengen.players.kinds import PLAYERS, Option, PlayerKind

_HERE = "tengen.players"


def make_player(spec: str) -> Player:
    """Make the player that a spec names.

    >>> make_player("random").name
    'random'

    Raises
    ------
    SpecError
        For an unknown name, key or value; the message lists what exists.
    """
    name, rest = _split_name(spec)
    if (plugged := _plugged(name, rest, spec)) is not None:
        from tengen.players.plugins import make_plugged_player

        return make_plugged_player(*plugged, spec.strip())
    kind = PLAYERS[name]
    if name == "gtp":
        if not rest.strip():
            raise SpecError(f"{spec!r}: after gtp: comes a command line")
        options: dict[str, Any] = {"command": rest.strip()}
    else:
        options = read_options(kind, rest, spec)
    try:
        player: Player = _import(kind)(**options)
    except (TypeError, SpecError) as mistake:
        raise SpecError(f"{spec!r}: {mistake}") from None
    return _named(player, spec.strip())


def _plugged(
    name: str, rest: str, spec: str, what: Literal["player", "expert"] = "player"
) -> tuple[str, str] | None:
    """Return the class and the options of a player that is not ours; None for one of ours.

    Raises
    ------
    SpecError
        If nobody has a player of this name.
    """
    from tengen.players import plugins

    if name == "python":
        return plugins.split_target(rest, spec)
    if name in PLAYERS:
        return None
    installed = plugins.installed_players()
    if name not in installed:
        known = [*(["builtin"] if what == "expert" else []), *PLAYERS, *installed]
        raise SpecError(f"{_unknown(what, name, known)} (in {spec!r})")
    return installed[name], rest


def _named(player: Player, name: str) -> Player:
    """Call a player by its spec; a frozen one is copied."""
    made: Any = player
    if is_dataclass(made):
        return cast(Player, replace(made, name=name))  # type: ignore[type-var]
    player.name = name
    return player


def make_expert(spec: str = "builtin") -> Expert:
    """Make an expert: `builtin`, `builtin:playouts=N`, or any player spec, playing both sides.

    `static` plays in one kernel; `static:resign=no` move by move, as every other player.

    Raises
    ------
    SpecError
        For anything else.
    """
    name, rest = _split_name(spec)
    if name == "builtin":
        from tengen.players.expert import BuiltinExpert

        return BuiltinExpert(**read_options(_BUILTIN, rest, spec))
    from tengen.players.expert import PlayerExpert, StaticExpert

    _plugged(name, rest, spec, what="expert")
    player = make_player(spec)
    return StaticExpert(player) if spec.strip() == "static" else PlayerExpert(player)


_BUILTIN = PlayerKind(
    "builtin",
    "expert:BuiltinExpert",
    "Finish games by static play and playouts in milliseconds.",
    (Option("playouts", "int", "playouts a game", "by board size", least=1),),
)


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split a spec into its name and its options as text; checks names, keys, no values.

    >>> parse_spec("opening:model=m,then=mcts:playouts=5")
    ('opening', {'model': 'm', 'then': 'mcts:playouts=5'})
    """
    name, rest = _split_name(spec)
    if (plugged := _plugged(name, rest, spec)) is not None:
        from tengen.players.plugins import find

        find(plugged[0], spec)
        return name, dict(zip(("class", "options"), plugged, strict=True))
    if name == "gtp":
        return name, {"command": rest.strip()}
    return name, _split_options(PLAYERS[name], rest, spec)


def _split_name(spec: str) -> tuple[str, str]:
    name, _, rest = spec.strip().partition(":")
    return name.strip().lower(), rest


def _split_options(kind: PlayerKind, rest: str, spec: str) -> dict[str, str]:
    """Read `key=value,...`; a key of kind `player` takes all that follows."""
    table = {option.name: option for option in kind.options}
    found: dict[str, str] = {}
    while rest.strip():
        key, equals, rest = rest.partition("=")
        key = key.strip()
        if key not in table:
            raise SpecError(f"{_unknown(f'option of {kind.name}', key, list(table))} (in {spec!r})")
        if not equals:
            raise SpecError(f"{spec!r}: option {key} of {kind.name} needs a value: {key}=...")
        if key in found:
            raise SpecError(f"{spec!r}: option {key} is given twice")
        if table[key].kind == "player":
            found[key] = rest.strip()
            break
        rest = rest.lstrip()
        if rest.startswith('"'):
            found[key], quote, rest = rest[1:].partition('"')
            if not quote or (rest.strip() and not rest.lstrip().startswith(",")):
                raise SpecError(f"{spec!r}: the quotes of option {key} do not end")
            rest = rest.lstrip()[1:]
        else:
            value, _, rest = rest.partition(",")
            found[key] = value.strip()
        if not found[key]:
            raise SpecError(f"{spec!r}: option {key} of {kind.name} is empty")
    return found


def read_options(kind: PlayerKind, rest: str, spec: str) -> dict[str, Any]:
    """Turn the options of a spec into what the player's class takes."""
    texts = _split_options(kind, rest, spec)
    for option in kind.options:
        if option.required and option.name not in texts:
            raise SpecError(f"{spec!r}: {kind.name} needs {option.name}=... ({option.help})")
    values = {}
    for option in kind.options:
        if option.name in texts:
            try:
                value = READERS[option.kind](texts[option.name], option)
            except SpecError as mistake:
                raise SpecError(f"{spec!r}: {option.name}: {mistake}") from None
            values[option.parameter or option.name] = value
    return values


def _read_int(text: str, option: Option) -> int:
    try:
        value = int(text)
    except ValueError:
        raise SpecError(f"{text!r} is no whole number") from None
    return int(_at_least(value, option))


def _read_float(text: str, option: Option) -> float:
    try:
        value = float(text)
    except ValueError:
        raise SpecError(f"{text!r} is no number") from None
    if not math.isfinite(value):
        raise SpecError(f"{text!r} is no finite number")
    return _at_least(value, option)


def _at_least(value: float, option: Option) -> float:
    if value < option.least:
        raise SpecError(f"{value} is less than {option.least:g}")
    return value


def _read_bool(text: str, option: Option) -> bool:
    words = {"yes": True, "true": True, "1": True, "on": True}
    words |= {"no": False, "false": False, "0": False, "off": False}
    if text.lower() not in words:
        raise SpecError(f"{text!r} is neither yes nor no")
    return words[text.lower()]


def _read_choice(text: str, option: Option) -> str:
    if text not in option.choices:
        raise SpecError(f"{text!r} is none of {', '.join(option.choices)}")
    return text


def _read_choices(text: str, option: Option) -> tuple[str, ...]:
    return tuple(_read_choice(word.strip(), option) for word in text.split("+"))


def _read_evaluator(text: str, option: Option) -> object:
    from tengen.players.sources import make_evaluator

    return make_evaluator(text)


def _read_policy(text: str, option: Option) -> object:
    from tengen.players.sources import make_policy

    return make_policy(text)


def _read_network(text: str, option: Option) -> object:
    from tengen.players.sources import make_network

    return make_network(text)


READERS: dict[str, Callable[[str, Option], object]] = {
    "int": _read_int,
    "float": _read_float,
    "bool": _read_bool,
    "choice": _read_choice,
    "choices": _read_choices,
    "evaluator": _read_evaluator,
    "policy": _read_policy,
    "network": _read_network,
    "player": lambda text, option: make_player(text),
    "text": lambda text, option: text,
}
"""How the text of an option of each kind is read; raises `SpecError`."""


def _import(kind: PlayerKind) -> Callable[..., Player]:
    module, _, name = kind.target.partition(":")
    try:
        found: Callable[..., Player] = getattr(importlib.import_module(f"{_HERE}.{module}"), name)
    except ModuleNotFoundError as failure:
        raise SpecError(f"the player {kind.name} cannot be used: {failure}") from None
    return found


def _unknown(what: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no {what} {name!r}{hint} There are: {', '.join(known) or 'none'}"
