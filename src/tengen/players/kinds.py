"""List the players there are, with the options of their specs; read no spec and make no player."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One key that a player's spec may have.

    `kind` is one of the names in `_READERS` of `spec`; `help` says what it does; `default` is what
    happens without it, for people. `least` bounds numbers from below.
    """

    name: str
    kind: str
    help: str
    default: str = ""
    required: bool = False
    least: float = -math.inf
    choices: tuple[str, ...] = ()
    parameter: str = ""
    """The argument of the player's class, where it is called otherwise."""


@dataclass(frozen=True)
class PlayerKind:
    """One row of the table of players: what it is called, where it lives, what it takes."""

    name: str
    target: str
    help: str
    options: tuple[Option, ...] = ()
    example: str = ""

    @property
    def syntax(self) -> str:
        """Show how a spec of this player is written."""
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
            "static:StaticPlayer",
            "Rules of one ply: captures, ladders, cuts, shape, influence. Deterministic, fast.",
            (_RESIGN,),
            "static",
        ),
        PlayerKind(
            "sample",
            "policy:SamplePlayer",
            "A move drawn from a policy.",
            (
                Option("model", "policy", _POLICY.help, required=True),
                Option("temperature", "float", "below 1: rather the likely moves", "1", least=0.0),
            ),
            "sample:model=predictor-19x19",
        ),
        PlayerKind(
            "greedy",
            "greedy:GreedyPlayer",
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
            "alphabeta:model=isn-9x9,policy=predictor-19x19,depth=5,width=8",
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
            "opening:OpeningPlayer",
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
