"""Read the options `key=value,...` of a spec as a table of options says; make no player.

Knows numbers, words and choices. Whoever has options of other kinds brings the readers for them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tengen.errors import SpecError
from tengen.players.kinds import Option, PlayerKind

Reader = Callable[[str, Option], object]
"""Turns the text of an option into its value; raises `SpecError`."""


def read_options(
    kind: PlayerKind, rest: str, spec: str, readers: Mapping[str, Reader]
) -> dict[str, Any]:
    """Turn the options of a spec into what the player's class takes."""
    texts = split_options(kind, rest, spec)
    for option in kind.options:
        if option.required and option.name not in texts:
            raise SpecError(f"{spec!r}: {kind.name} needs {option.name}=... ({option.help})")
    values = {}
    for option in kind.options:
        if option.name in texts:
            try:
                value = readers[option.kind](texts[option.name], option)
            except SpecError as mistake:
                raise SpecError(f"{spec!r}: {option.name}: {mistake}") from None
            values[option.parameter or option.name] = value
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


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Say that there is none of this name, which one may be meant, and which there are."""
    close = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"there is no {what} {name!r}{hint} There are: {', '.join(known) or 'none'}"


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


PLAIN_READERS: dict[str, Reader] = {
    "int": _read_int,
    "float": _read_float,
    "bool": _read_bool,
    "choice": _read_choice,
    "text": lambda text, option: text,
}
