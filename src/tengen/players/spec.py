"""Players and experts from spec strings such as `mcts:playouts=500`.

A spec is `NAME` or `NAME:key=value,...`. After `gtp:` the rest is a command line. An option that
names another player (`then=`) takes the rest of the string, so it comes last:
`opening:model=td-best-9x9,moves=15,then=mcts:playouts=500`. A value may be put in double quotes
to hold a comma: `greedy:model="a,b.safetensors"`. `kinds` has the table of players; a module is
imported only when one of its players is made. `plugins` makes `python:package.module:Class` and the
players of installed packages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any, Literal, cast

from tengen.contracts import Expert, Player
from tengen.errors import SpecError, unknown
from tengen.players.kinds import (
    PLAIN_READERS,
    PLAYERS,
    Option,
    PlayerKind,
    Reader,
    read_options,
    split_options,
)

_HERE = "tengen.players"


def make_player(spec: str) -> Player:
    """Make the player that a spec names.

    >>> make_player("random").name
    'random'
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
        options = read_options(kind, rest, spec, _READERS)
    try:
        player: Player = _import(kind)(**options)
    except (TypeError, SpecError) as mistake:
        raise SpecError(f"{spec!r}: {mistake}") from None
    return _named(player, spec.strip())


def _plugged(
    name: str, rest: str, spec: str, what: Literal["player", "expert"] = "player"
) -> tuple[str, str] | None:
    """Return the class and the options of a player that is not ours; None for one of ours."""
    from tengen.players import plugins

    if name == "python":
        return plugins.split_target(rest, spec)
    if name in PLAYERS:
        return None
    installed = plugins.installed_players()
    if name not in installed:
        known = [*(["builtin"] if what == "expert" else []), *PLAYERS, *installed]
        raise SpecError(f"{unknown(what, name, known)} (in {spec!r})")
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
    """
    name, rest = _split_name(spec)
    if name == "builtin":
        from tengen.players.expert import BuiltinExpert

        return BuiltinExpert(**read_options(_BUILTIN, rest, spec, _READERS))
    from tengen.players.expert import PlayerExpert, StaticExpert

    _plugged(name, rest, spec, what="expert")
    player = make_player(spec)
    return StaticExpert(player) if spec.strip() == "static" else PlayerExpert(player)


_BUILTIN = PlayerKind(
    "builtin",
    "expert:BuiltinExpert",
    "Finish games by static play and playouts in milliseconds.",
    (Option("playouts", "int", "playouts per game", "by board size", least=1),),
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
    return name, split_options(PLAYERS[name], rest, spec)


def _split_name(spec: str) -> tuple[str, str]:
    if not isinstance(spec, str):
        raise SpecError(f"{spec!r}: a spec is text, such as 'tengen:visits=80'")
    name, _, rest = spec.strip().partition(":")
    return name.strip().lower(), rest


def _model_reader(maker: str) -> Reader:
    def read(text: str, option: Option) -> object:
        return getattr(importlib.import_module(f"{_HERE}.evaluators"), maker)(text)

    return read


_READERS: dict[str, Reader] = {
    **PLAIN_READERS,
    "evaluator": _model_reader("make_evaluator"),
    "policy": _model_reader("make_policy"),
    "network": _model_reader("make_network"),
    "player": lambda text, option: make_player(text),
}
"""How the text of an option of each kind is read; raises `SpecError`."""


def _import(kind: PlayerKind) -> Callable[..., Player]:
    module, _, name = kind.target.partition(":")
    try:
        found: Callable[..., Player] = getattr(importlib.import_module(f"{_HERE}.{module}"), name)
    except ModuleNotFoundError as failure:
        raise SpecError(f"the player {kind.name} cannot be used: {failure}") from None
    return found
