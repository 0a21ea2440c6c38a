"""Players and experts from spec strings such as `mcts:playouts=500`, and the table of players.

A spec is `NAME` or `NAME:key=value,...`. After `gtp:` the rest is a command line. An option that
names another player (`then=`) takes the rest of the string, so it comes last:
`opening:model=td-best-9x9,moves=15,then=mcts:playouts=500`. A value may be put in double quotes
to hold a comma: `greedy:model="a,b.safetensors"`. A module is imported only when one of its players
is made. `plugins` makes `python:package.module:Class`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any, cast

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
            replace(_MODEL, required=True),
            _POLICY,
            Option("depth", "int", "plies", "3, or unlimited with seconds", 1),
            Option("width", "int", _WIDTH, "8 with a policy, else all", 1),
            Option("seconds", "float", "deepen for this many seconds", "no clock", 0),
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
            Option("share", "float", "share of the score", "0.4", 0, parameter="score_share"),
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
        arguments="COMMAND LINE",
    ),
    PlayerKind(
        "python",
        "plugins:make_plugged_player",
        "A class of your own with `choose(board, rng)`, from a module or a file.py.",
        example="python:tengen.players.simple:RandomPlayer:fill_eyes=no",
        arguments="PACKAGE.MODULE:CLASS[:KEY=VALUE,...]",
    ),
)
PLAYERS: dict[str, PlayerKind] = {kind.name: kind for kind in _TABLE}


# ----- Making players and experts -----


def make_player(spec: str) -> Player:
    """Make the player that a spec names.

    >>> make_player("random").name
    'random'
    """
    name, rest = _split_name(spec)
    if name == "python":
        from tengen.players.plugins import make_plugged, split_target

        return cast(Player, make_plugged(*split_target(spec), "player", spec.strip()))
    kind = PLAYERS[name]
    if name == "gtp":
        if not rest.strip():
            raise SpecError(f"{spec!r}: after gtp: comes a command line")
        options: dict[str, Any] = {"command": rest.strip()}
    else:
        options = read_options(kind, rest, spec, _make)
    module, _, maker = kind.target.partition(":")
    try:
        player = getattr(importlib.import_module(f"tengen.players.{module}"), maker)(**options)
    except ModuleNotFoundError as failure:
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
    return name, split_options(PLAYERS[name], rest, spec)


def _split_name(spec: str, what: str = "player") -> tuple[str, str]:
    """Split off the name, which must be a known one."""
    if not isinstance(spec, str):
        raise SpecError(f"{spec!r}: a spec is text, such as 'tengen:visits=80'")
    name, _, rest = spec.strip().partition(":")
    name, known = name.strip().lower(), [*(["builtin"] if what == "expert" else []), *PLAYERS]
    if name not in known:
        raise SpecError(f"{unknown(what, name, known)} (in {spec!r})")
    return name, rest


def reaches_out(spec: str, *, files: bool = False) -> bool:
    """Return whether a spec names a program or a class, or with `files` a model's file.

    Such specs are for the command line; a file or a protocol could run anything by them.

    >>> reaches_out("opening:model=m,then=GTP : rm -r"), reaches_out("mcts:model=a/b", files=True)
    (True, True)
    """
    pattern = r"(gtp|python)\s*:" + (r"|[/\\]|\.safetensors" if files else "")
    return re.search(pattern, spec, re.IGNORECASE) is not None


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
