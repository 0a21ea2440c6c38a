"""The table of players with the options of their specs, and the reader of such options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tengen.errors import SpecError, unknown


@dataclass(frozen=True)
class Option:
    """One key of a player's spec."""

    name: str
    kind: str
    """How its text is read: a key of `_READERS` of `spec`."""
    help: str
    default: str = ""
    """What happens without the option, in words."""
    least: float = -math.inf
    """Lower bound of a number."""
    required: bool = False
    choices: tuple[str, ...] = ()
    parameter: str = ""
    """The argument of the player's class, if its name differs."""


@dataclass(frozen=True)
class PlayerKind:
    """One row of the table of players: name, class, help and options."""

    name: str
    target: str
    help: str
    options: tuple[Option, ...] = ()
    example: str = ""

    @property
    def syntax(self) -> str:
        """Return the syntax of this player's spec."""
        if self.name == "gtp":
            return "gtp:COMMAND LINE"
        if self.name == "python":
            return "python:PACKAGE.MODULE:CLASS[:KEY=VALUE,...]"
        parts = [
            f"{o.name}={o.kind.upper()}" if o.required else f"[{o.name}={o.kind.upper()}]"
            for o in self.options
        ]
        return self.name + (":" + ",".join(parts) if parts else "")


def gnugo(level: int = 10) -> str:
    """Return the spec of GNU Go for matches: area rules, dead stones captured.

    >>> gnugo(1)
    'gtp:gnugo --mode gtp --level 1 --chinese-rules --positional-superko --capture-all-dead'
    """
    rules = "--chinese-rules --positional-superko --capture-all-dead"
    return f"gtp:gnugo --mode gtp --level {level} {rules}"


_MODEL = Option("model", "evaluator", "evaluates positions: a model, `playouts`, `static`, `area`")
_POLICY = Option("policy", "policy", "proposes moves: a model, `static`, `uniform`")
_WIDTH = "consider only this many moves, the best of the policy or else of the model"
_TIMES = ("wall", "processor")
_CLOCK = Option(
    "clock", "choice", "`processor` counts only this program's time", "wall", choices=_TIMES
)
_SECONDS = Option("seconds", "float", "seconds per move instead", "no clock", 0)
_HOPELESS = Option("resign", "bool", "resign when the game is hopeless", "no")
_RESIGN = Option("resign", "float", "win rate below which it resigns", "0.02", 0)
_AVERAGES = ("block", "stone")

_TABLE = (
    PlayerKind(
        "random",
        "simple:RandomPlayer",
        "Uniformly random legal moves that fill no own eye.",
        (Option("fill_eyes", "bool", "play into own eyes too", "no"),),
        "random",
    ),
    PlayerKind(
        "maxlib",
        "simple:MaxlibPlayer",
        "The move that makes own blocks' average liberties exceed the enemy's the most.",
        (Option("average", "choice", "average per block or stone", "block", choices=_AVERAGES),),
        "maxlib",
    ),
    PlayerKind(
        "static",
        "simple:StaticPlayer",
        "Rules of one ply: captures, ladders, cuts, shape, influence. Deterministic, fast.",
        (_HOPELESS,),
        "static",
    ),
    PlayerKind(
        "sample",
        "simple:SamplePlayer",
        "A move drawn from a policy.",
        (
            Option("model", "policy", _POLICY.help, required=True),
            Option("temperature", "float", "below 1: likely moves become more frequent", "1", 0),
        ),
        "sample:model=tengen-small",
    ),
    PlayerKind(
        "greedy",
        "simple:GreedyPlayer",
        "The best move by a model after one ply, or a policy's likeliest move.",
        (
            _MODEL,
            _POLICY,
            Option("temperature", "float", "points; above 0: Boltzmann sampling", "0", 0),
            Option("width", "int", _WIDTH, "8", 1),
            _HOPELESS,
        ),
        "greedy:model=isn-9x9",
    ),
    PlayerKind(
        "alphabeta",
        "alphabeta:AlphaBetaPlayer",
        "Search to a depth with a model at the leaves.",
        (
            _MODEL,
            _POLICY,
            Option("depth", "int", "plies", "3, or unlimited with seconds", 1),
            Option("width", "int", _WIDTH, "8 with a policy, else all", 1),
            Option("seconds", "float", "deepen for so many seconds", "no clock", 0),
            _HOPELESS,
        ),
        "alphabeta:model=isn-9x9,policy=tengen-small,depth=5,width=8",
    ),
    PlayerKind(
        "mcts",
        "mcts:MctsPlayer",
        "Monte Carlo tree search with RAVE, heavy playouts, priors and leaf values.",
        (
            Option("playouts", "int", "playouts per move", "1000", 1),
            _SECONDS,
            _POLICY,
            replace(_MODEL, parameter="evaluator"),
            Option("scale", "float", "points for a win rate of 73 %", "from its card, or 8", 0),
            Option("threads", "int", "trees grown in parallel", "1", 1),
            _CLOCK,
            replace(_RESIGN, default="0.03"),
        ),
        "mcts:playouts=2000",
    ),
    PlayerKind(
        "search",
        "network_search:SearchPlayer",
        "Tree search with a network that evaluates positions and proposes moves.",
        (
            Option("model", "network", "the network", required=True, parameter="network"),
            Option("visits", "int", "positions to evaluate per move", "400", 1),
            _SECONDS,
            _CLOCK,
            Option("threads", "int", "parts of a batch evaluated in parallel", "1", 1),
            Option("batch", "int", "positions per batch", "by board size", 1),
            Option("temperature", "float", "above 0: varies moves of the opening", "0", 0),
            Option("noise", "float", "share of random priors at the root", "0", 0),
            Option("playouts", "int", "playouts per leaf", "0", 0, parameter="playouts_per_leaf"),
            Option("mix", "float", "share of their result in the evaluation, 0 to 1", "0", 0),
            Option("explore", "float", "weight of the priors", "1", 0),
            Option("urgency", "float", "penalty of moves without visits", "0.2", 0),
            Option("share", "float", "share of the score", "0.1", 0, parameter="score_share"),
            _RESIGN,
        ),
        "search:model=tengen-small,visits=400",
    ),
    PlayerKind(
        "tengen",
        "tengen:TengenPlayer",
        "The strongest for the board: search with the network, or by playouts; 10 levels.",
        (
            Option("level", "int", "1 (beginner) to 10; never blunders on purpose", least=1),
            Option("visits", "int", "positions to evaluate per move", "200; 64 on 19x19", 1),
            _SECONDS,
            Option("threads", "int", "positions evaluated in parallel", "1", 1),
            _CLOCK,
            _RESIGN,
        ),
        "tengen:level=5",
    ),
    PlayerKind(
        "opening",
        "simple:OpeningPlayer",
        "A learned opening for the first plies, then another player.",
        (
            Option("model", "evaluator", "evaluates the opening", required=True),
            Option("moves", "int", "plies of the opening", "the model's, or 1/4 of the points", 0),
            Option("then", "player", "who plays on; takes the rest of the spec", "mcts"),
        ),
        "opening:model=td-best-9x9,then=mcts:playouts=500",
    ),
    PlayerKind(
        "gtp",
        "external:ExternalPlayer",
        "Any GTP engine; the rest of the spec is its command line.",
        example=gnugo(10),
    ),
    PlayerKind(
        "python",
        "plugins:make_plugged_player",
        "A class of your own with `choose(board, rng)`, from a module or a file.py.",
        example="python:tengen.players.simple:RandomPlayer:fill_eyes=no",
    ),
)
PLAYERS: dict[str, PlayerKind] = {kind.name: kind for kind in _TABLE}


# ----- Reading options -----

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


def _read_number(text: str, option: Option) -> float:
    whole = option.kind == "int"
    try:
        value: float = int(text) if whole else float(text)
    except ValueError:
        raise SpecError(f"{text!r} is no {'whole ' if whole else ''}number") from None
    if not math.isfinite(value):
        raise SpecError(f"{text!r} is no finite number")
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
    "int": _read_number,
    "float": _read_number,
    "bool": _read_bool,
    "choice": _read_choice,
    "text": lambda text, option: text,
}
