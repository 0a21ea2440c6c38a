"""The options of players: `key=value,...` after the name in a spec."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengen.errors import SpecError, unknown
from tengen.extensions import LAST


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
    order: int = LAST
    """Place in the list of players."""

    @property
    def syntax(self) -> str:
        """Return the syntax of this player's spec."""
        options = ((o.required, f"{o.name}={o.kind.upper()}") for o in self.options)
        text = self.arguments or ",".join(o if needed else f"[{o}]" for needed, o in options)
        return f"{self.name}:{text}" if text else self.name


# ----- Reading options -----


def read_options(
    kind: PlayerKind, rest: str, spec: str, make: Callable[[str, str], object] | None = None
) -> dict[str, Any]:
    """Convert the options of a spec into arguments of the player's class.

    `make` makes the object of an option of kind player, evaluator, policy or network.
    """
    texts = split_options(kind, rest, spec)
    values = {}
    for option in kind.options:
        if option.name not in texts:
            if option.required:
                raise SpecError(f"{spec!r}: {kind.name} needs {option.name}=... ({option.help})")
            continue
        try:
            values[option.parameter or option.name] = _read(texts[option.name], option, make)
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


def _read(text: str, option: Option, make: Callable[[str, str], object] | None) -> object:
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
        case "player" | "evaluator" | "policy" | "network" if make is not None:
            return make(option.kind, text)
    return text
