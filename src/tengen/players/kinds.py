"""The table of players with the options of their specs, and the reader of such options."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tengen.errors import SpecError, unknown


@dataclass(frozen=True)
class Option:
    """One key that a player's spec may have.

    `kind` is one of the names in `_READERS` of `spec`; `default` describes what happens without the
    option; `least` is a lower bound of numbers.
    """

    name: str
    kind: str
    help: str
    default: str = ""
    required: bool = False
    least: float = -math.inf
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
    """Return the spec of GNU Go as all matches here play it: area rules, dead stones taken.

    >>> gnugo(1)
    'gtp:gnugo --mode gtp --level 1 --chinese-rules --positional-superko --capture-all-dead'
    """
    rules = "--chinese-rules --positional-superko --capture-all-dead"
    return f"gtp:gnugo --mode gtp --level {level} {rules}"


_MODEL = Option("model", "evaluator", "who judges positions: a model, `playouts`, `static`, `area`")
_POLICY = Option("policy", "policy", "who proposes moves: a model, `static`, `uniform`")
_CLOCK = Option(
    "clock",
    "choice",
    "what seconds count; other programs do not shorten the processor's",
    "wall",
    choices=("wall", "processor"),
)
_RESIGN = Option("resign", "bool", "resign when the game is hopeless", "no")

PLAYERS: dict[str, PlayerKind] = {
    kind.name: kind
    for kind in (
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
            (
                Option(
                    "average",
                    "choice",
                    "one vote a block or a stone",
                    "block",
                    choices=("block", "stone"),
                ),
            ),
            "maxlib",
        ),
        PlayerKind(
            "static",
            "simple:StaticPlayer",
            "Rules of one ply: captures, ladders, cuts, shape, influence. Deterministic, fast.",
            (_RESIGN,),
            "static",
        ),
        PlayerKind(
            "sample",
            "simple:SamplePlayer",
            "A move drawn from a policy.",
            (
                Option("model", "policy", _POLICY.help, required=True),
                Option("temperature", "float", "below 1: rather the likely moves", "1", least=0.0),
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
                Option(
                    "temperature", "float", "points; above 0: Boltzmann sampling", "0", least=0.0
                ),
                Option(
                    "width",
                    "int",
                    "with model and policy: only its best so many moves",
                    "8",
                    least=1,
                ),
                _RESIGN,
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
                Option("depth", "int", "plies", "3, or unlimited with seconds", least=1),
                Option(
                    "width",
                    "int",
                    "search only the best so many moves of the policy, or of the model itself",
                    "8 with a policy, else all",
                    least=1,
                ),
                Option("seconds", "float", "deepen for so long", "no clock", least=0.0),
                _RESIGN,
            ),
            "alphabeta:model=isn-9x9,policy=tengen-small,depth=5,width=8",
        ),
        PlayerKind(
            "mcts",
            "mcts:MctsPlayer",
            "Monte Carlo tree search with RAVE, heavy playouts, priors and leaf values.",
            (
                Option("playouts", "int", "playouts a move", "1000", least=1),
                Option("seconds", "float", "seconds a move instead", "no clock", least=0.0),
                _POLICY,
                Option("model", "evaluator", _MODEL.help, parameter="evaluator"),
                Option(
                    "scale",
                    "float",
                    "points of the model's values that turn even chances into 73 %",
                    "as its card says, or 8",
                    least=0.0,
                ),
                Option("threads", "int", "trees side by side", "1", least=1),
                _CLOCK,
                Option("resign", "float", "win rate below which it resigns", "0.03", least=0.0),
            ),
            "mcts:playouts=2000",
        ),
        PlayerKind(
            "search",
            "network_search:NetworkPlayer",
            "Tree search around a network that judges positions and proposes moves.",
            (
                Option("model", "network", "the network", required=True, parameter="network"),
                Option("visits", "int", "positions to look at for a move", "400", least=1),
                Option("seconds", "float", "seconds a move instead", "no clock", least=0.0),
                _CLOCK,
                Option("threads", "int", "parts of a batch judged side by side", "1", least=1),
                Option("batch", "int", "positions judged at once", "by board size", least=1),
                Option(
                    "temperature",
                    "float",
                    "above 0: early moves are drawn among those as good as the best",
                    "0",
                    least=0.0,
                ),
                Option("noise", "float", "share of chance at the root", "0", least=0.0),
                Option(
                    "playouts",
                    "int",
                    "playouts from every position, beside the network",
                    "0",
                    least=0,
                    parameter="playouts_a_leaf",
                ),
                Option("mix", "float", "their share in what it is worth, 0 to 1", "0", least=0.0),
                Option("explore", "float", "weight of a move's likelihood", "1", least=0.0),
                Option("urgency", "float", "how much worse untried moves seem", "0.2", least=0.0),
                Option(
                    "share",
                    "float",
                    "share of the score beside winning, 0 to 1",
                    "0.1",
                    least=0.0,
                    parameter="score_share",
                ),
                Option("resign", "float", "win rate below which it resigns", "0.02", least=0.0),
            ),
            "search:model=tengen-small,visits=400",
        ),
        PlayerKind(
            "tengen",
            "tengen:TengenPlayer",
            "The strongest for the board: search around the network, or by playouts; 10 levels.",
            (
                Option("level", "int", "1 (beginner) to 10; never blunders on purpose", least=1),
                Option(
                    "visits", "int", "positions to look at for a move", "200; 64 on 19x19", least=1
                ),
                Option("seconds", "float", "seconds a move instead", "no clock", least=0.0),
                Option("threads", "int", "positions judged side by side", "1", least=1),
                _CLOCK,
                Option("resign", "float", "win rate below which it resigns", "0.02", least=0.0),
            ),
            "tengen:level=5",
        ),
        PlayerKind(
            "opening",
            "simple:OpeningPlayer",
            "A learned opening for the first plies, then another player.",
            (
                Option("model", "evaluator", "who judges the opening", required=True),
                Option(
                    "moves",
                    "int",
                    "plies of the game that count as opening",
                    "as the model says, else a quarter of the points",
                    least=0,
                ),
                Option("then", "player", "who plays on; takes the rest of the spec", "mcts"),
            ),
            "opening:model=td-best-9x9,then=mcts:playouts=500",
        ),
        PlayerKind(
            "gtp",
            "external:ExternalPlayer",
            "Any GTP engine; the rest of the spec is its command line.",
            (),
            gnugo(10),
        ),
        PlayerKind(
            "python",
            "plugins:make_plugged_player",
            "A class of your own with `choose(board, rng)`, from a module or a file.py.",
            (),
            "python:tengen.players.simple:RandomPlayer:fill_eyes=no",
        ),
    )
}


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
