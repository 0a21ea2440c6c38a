"""Players and experts from spec strings such as `mcts:playouts=500`.

A spec is `NAME` or `NAME:key=value,...`. After `gtp:` the rest is a command line. An option that
names another player (`then=`) takes the rest of the string, so it comes last:
`opening:model=td-best-9x9,moves=15,then=mcts:playouts=500`. A value may be put in double quotes
to hold a comma: `greedy:model="a,b.safetensors"`. `kinds` has the players of this package,
`plugins` makes `python:package.module:Class`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any, cast

from tengen import extensions
from tengen.contracts import Expert, Player
from tengen.errors import SpecError, unknown
from tengen.players.options import Option, PlayerKind, read_options, split_options


def gnugo(level: int = 10) -> str:
    """Return the spec of GNU Go for matches: area rules, dead stones captured.

    >>> gnugo(1)
    'gtp:gnugo --mode gtp --level 1 --chinese-rules --positional-superko --capture-all-dead'
    """
    rules = "--chinese-rules --positional-superko --capture-all-dead"
    return f"gtp:gnugo --mode gtp --level {level} {rules}"


# ----- Making players and experts -----


def player_kinds() -> dict[str, PlayerKind]:
    """Return all registered kinds of players by name."""
    return extensions.load_all(extensions.PLAYERS, PlayerKind)


def _kind(name: str) -> PlayerKind:
    return extensions.load(extensions.PLAYERS, name, PlayerKind)


def make_player(spec: str) -> Player:
    """Make the player that a spec names.

    >>> make_player("random").name
    'random'
    """
    name, rest = _split_name(spec)
    if name == "python":
        from tengen.players.plugins import make_plugged, split_target

        return cast(Player, make_plugged(*split_target(spec), "player", spec.strip()))
    kind = _kind(name)
    if name == "gtp":
        if not rest.strip():
            raise SpecError(f"{spec!r}: after gtp: comes a command line")
        options: dict[str, Any] = {"command": rest.strip()}
    else:
        options = read_options(kind, rest, spec, _make)
    module, _, name = kind.target.partition(":")
    try:
        maker = getattr(importlib.import_module(module), name, None)
        if maker is None:
            raise SpecError(f"the player {kind.name} cannot be used: there is no {kind.target}")
        player = maker(**options)
    except ImportError as failure:
        raise SpecError(f"the player {kind.name} cannot be used: {failure}") from None
    except (TypeError, SpecError) as mistake:
        raise SpecError(f"{spec!r}: {mistake}") from None
    if is_dataclass(player):
        return cast(Player, replace(player, name=spec.strip()))  # type: ignore[type-var]
    player.name = spec.strip()
    return cast(Player, player)


def make_expert(spec: str = "builtin") -> Expert:
    """Make an expert: `builtin`, `builtin:playouts=N`, `playouts:N` or any player spec.

    `playouts:N` is the mean of N playouts without a search; a player plays both sides to the end.

    `static` plays in one kernel; `static:resign=no` move by move, like every other player.
    """
    from tengen.players.evaluators import BuiltinExpert, PlayerExpert, PlayoutExpert, StaticExpert

    name, _, number = spec.strip().partition(":")
    if name == "playouts":
        if number and not (number.isdecimal() and int(number) > 0):
            raise SpecError(f"expert {spec!r}: playouts: must be followed by a number")
        return PlayoutExpert(int(number or 64))
    name, rest = _split_name(spec, "expert")
    if name == "builtin":
        playouts = Option("playouts", "int", "playouts per game", "by board size", least=1)
        kind = PlayerKind("builtin", "", "", (playouts,))
        return BuiltinExpert(**read_options(kind, rest, spec))
    player = make_player(spec)
    return StaticExpert(player) if spec.strip() == "static" else PlayerExpert(player)


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Split a spec into its name and its options as text; names and keys are checked.

    >>> parse_spec("opening:model=m,then=mcts:playouts=5")
    ('opening', {'model': 'm', 'then': 'mcts:playouts=5'})
    """
    name, rest = _split_name(spec)
    if name == "python":
        from tengen.players.plugins import find, split_target

        target, options = split_target(spec)
        find(target, spec)
        return name, {"class": target, "options": options}
    if name == "gtp":
        return name, {"command": rest.strip()}
    return name, split_options(_kind(name), rest, spec)


def _split_name(spec: str, what: str = "player") -> tuple[str, str]:
    """Split off the name, which must be a known one."""
    if not isinstance(spec, str):
        raise SpecError(f"{spec!r}: a spec is text, such as 'tengen:visits=80'")
    name, _, rest = spec.strip().partition(":")
    name, own = name.strip().lower(), ["builtin"] if what == "expert" else []
    if name not in own and name not in extensions.entries(extensions.PLAYERS):
        raise SpecError(f"{unknown(what, name, [*own, *player_kinds()])} (in {spec!r})")
    return name, rest


def reaches_out(spec: str, *, files: bool = False) -> bool:
    """Return whether a spec names a program, a class or another distribution's player.

    With `files` also whether it names a model's file.

    Such specs are for the command line; a file or a protocol could run anything by them.

    >>> reaches_out("opening:model=m,then=GTP : rm -r"), reaches_out("mcts:model=a/b", files=True)
    (True, True)
    """
    pattern = r"(gtp|python)\s*:" + (r"|[/\\]|\.safetensors" if files else "")
    words = set(re.findall(r"[\w-]+", spec.lower()))
    others = extensions.from_elsewhere(extensions.PLAYERS)
    return re.search(pattern, spec, re.IGNORECASE) is not None or not others.isdisjoint(words)


def _make(kind: str, text: str) -> object:
    """Make what an option names: a player, or an evaluator, policy or network."""
    if kind == "player":
        return make_player(text)
    from tengen.players import evaluators

    makers: dict[str, Callable[[str], object]] = {
        "evaluator": evaluators.make_evaluator,
        "policy": evaluators.make_policy,
        "network": evaluators.make_network,
    }
    return makers[kind](text)
