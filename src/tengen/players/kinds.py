"""The kinds of players of this package, which its entry points name.

A module is imported only when one of its players is made.
"""

from __future__ import annotations

from dataclasses import replace

from tengen.players.options import Option, PlayerKind
from tengen.players.spec import gnugo

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

RANDOM = PlayerKind(
    "random",
    "tengen.players.simple:RandomPlayer",
    "Uniformly random legal moves that fill no own eye.",
    (Option("fill_eyes", "bool", "play into own eyes too", "no"),),
    "random",
    order=1,
)
MAXLIB = PlayerKind(
    "maxlib",
    "tengen.players.simple:MaxlibPlayer",
    "The move that makes own blocks' average liberties exceed the enemy's the most.",
    (Option("average", "choice", "average per block or stone", "block", choices=_AVERAGES),),
    "maxlib",
    order=2,
)
STATIC = PlayerKind(
    "static",
    "tengen.players.simple:StaticPlayer",
    "Rules of one ply: captures, ladders, cuts, shape, influence. Deterministic, fast.",
    (_HOPELESS,),
    "static",
    order=3,
)
SAMPLE = PlayerKind(
    "sample",
    "tengen.players.simple:SamplePlayer",
    "A move drawn from a policy.",
    (
        Option("model", "policy", _POLICY.help, required=True),
        Option("temperature", "float", "below 1: likely moves become more frequent", "1", 0),
    ),
    "sample:model=tengen-small",
    order=4,
)
GREEDY = PlayerKind(
    "greedy",
    "tengen.players.simple:GreedyPlayer",
    "The best move by a model after one ply, or a policy's likeliest move.",
    (
        _MODEL,
        _POLICY,
        Option("temperature", "float", "points; above 0: Boltzmann sampling", "0", 0),
        Option("width", "int", _WIDTH, "8", 1),
        _HOPELESS,
    ),
    "greedy:model=isn-9x9",
    order=5,
)
ALPHABETA = PlayerKind(
    "alphabeta",
    "tengen.players.alphabeta:AlphaBetaPlayer",
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
    order=6,
)
MCTS = PlayerKind(
    "mcts",
    "tengen.players.mcts:MctsPlayer",
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
    order=7,
)
SEARCH = PlayerKind(
    "search",
    "tengen.players.network_search:SearchPlayer",
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
    order=8,
)
TENGEN = PlayerKind(
    "tengen",
    "tengen.players.tengen:TengenPlayer",
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
    order=9,
)
OPENING = PlayerKind(
    "opening",
    "tengen.players.simple:OpeningPlayer",
    "A learned opening for the first plies, then another player.",
    (
        Option("model", "evaluator", "evaluates the opening", required=True),
        Option("moves", "int", "plies of the opening", "the model's, or 1/4 of the points", 0),
        Option("then", "player", "who plays on; takes the rest of the spec", "mcts"),
    ),
    "opening:model=td-best-9x9,then=mcts:playouts=500",
    order=10,
)
GTP = PlayerKind(
    "gtp",
    "tengen.players.external:ExternalPlayer",
    "Any GTP engine; the rest of the spec is its command line.",
    example=gnugo(10),
    arguments="COMMAND LINE",
    order=11,
)
PYTHON = PlayerKind(
    "python",
    "tengen.players.plugins:make_plugged_player",
    "A class of your own with `choose(board, rng)`, from a module or a file.py.",
    example="python:tengen.players.simple:RandomPlayer:fill_eyes=no",
    arguments="PACKAGE.MODULE:CLASS[:KEY=VALUE,...]",
    order=12,
)
