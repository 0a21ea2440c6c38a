"""Players and experts from spec strings such as `mcts:playouts=500`.

A spec is `NAME` or `NAME:key=value,...`. After `gtp:` the rest is a command line. An option that
names another player (`then=`) takes the rest of the string, so it comes last:
`opening:model=td-best-9x9,moves=15,then=mcts:playouts=500`. A value may be put in double quotes
to hold a comma: `greedy:model="a,b.safetensors"`. `kinds` has the players of this package,
`plugins` makes `python:package.module:Class`.
"""

from __future__ import annotations

import importlib
import math
import re
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, cast

from tengen import extensions
from tengen.contracts import Expert, Player
from tengen.errors import SpecError, unknown


@dataclass(frozen=True)
class Option:
    """One key of a player's spec."""

    name: str
    kind: str
    """How its text is read; see `_read`."""
    help: str
    default: str = ""
    """What happens without the option, in words."""
    least: float = -math.inf
    required: bool = False
    choices: tuple[str, ...] = ()
    parameter: str = ""
    """The argument of the player's class, if its name differs."""


@dataclass(frozen=True)
class PlayerKind:
    """A kind of players; `target` is `module:class`, imported when one is made."""

    name: str
    target: str
    help: str
    options: tuple[Option, ...] = ()
    example: str = ""
    arguments: str = ""
    """What follows the name, if it is not options."""
    order: int = extensions.LAST
    """Place in the list of players."""

    @property
    def syntax(self) -> str:
        """Return the syntax of this player's spec."""
        options = ((o.required, f"{o.name}={o.kind.upper()}") for o in self.options)
        told = self.arguments or ",".join(o if needed else f"[{o}]" for needed, o in options)
        return f"{self.name}:{told}" if told else self.name


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
        options = read_options(kind, rest, spec)
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

    judge, _, number = spec.strip().partition(":")
    if judge == "playouts":
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
    """Return whether a spec names a program or a class, or with `files` a model's file.

    Such specs are for the command line; a file or a protocol could run anything by them.

    >>> reaches_out("opening:model=m,then=GTP : rm -r"), reaches_out("mcts:model=a/b", files=True)
    (True, True)
    """
    pattern = r"(gtp|python)\s*:" + (r"|[/\\]|\.safetensors" if files else "")
    return re.search(pattern, spec, re.IGNORECASE) is not None


# ----- Reading options -----


def read_options(kind: PlayerKind, rest: str, spec: str) -> dict[str, Any]:
    """Convert the options of a spec into arguments of the player's class."""
    texts = split_options(kind, rest, spec)
    values = {}
    for option in kind.options:
        if option.name not in texts:
            if option.required:
                raise SpecError(f"{spec!r}: {kind.name} needs {option.name}=... ({option.help})")
            continue
        try:
            values[option.parameter or option.name] = _read(texts[option.name], option)
        except SpecError as mistake:
            raise SpecError(f"{spec!r}: {option.name}: {mistake}") from None
    return values


def split_options(kind: PlayerKind, rest: str, spec: str) -> dict[str, str]:
    """Read `key=value,...`; a key of kind `player` takes all that follows."""
    table = {option.name: option for option in kind.options}
    found: dict[str, str] = {}
    while rest.strip():
        key, equals, rest = rest.partition("=")
        key = key.strip()
        if key not in table:
            raise SpecError(f"{unknown(f'option of {kind.name}', key, list(table))} (in {spec!r})")
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


_YES_OR_NO = {"yes": True, "true": True, "1": True, "on": True}
_YES_OR_NO |= {"no": False, "false": False, "0": False, "off": False}


def _read(text: str, option: Option) -> object:
    """Turn the text of an option into its value."""
    match option.kind:
        case "int" | "float":
            try:
                value: float = int(text) if option.kind == "int" else float(text)
            except ValueError:
                kind = "whole number" if option.kind == "int" else "number"
                raise SpecError(f"{text!r} is no {kind}") from None
            if not math.isfinite(value):
                raise SpecError(f"{text!r} is no finite number")
            if value < option.least:
                raise SpecError(f"{value} is less than {option.least:g}")
            return value
        case "bool":
            if text.lower() not in _YES_OR_NO:
                raise SpecError(f"{text!r} is neither yes nor no")
            return _YES_OR_NO[text.lower()]
        case "choice":
            if text not in option.choices:
                raise SpecError(f"{text!r} is none of {', '.join(option.choices)}")
        case "player":
            return make_player(text)
        case "evaluator" | "policy" | "network":
            evaluators = importlib.import_module("tengen.players.evaluators")
            return getattr(evaluators, f"make_{option.kind}")(text)
    return text
