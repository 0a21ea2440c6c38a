"""Answer GoGui's own commands, and offer what the engine knows as pictures in GoGui.

GoGui shows whatever `gogui-analyze_commands` lists: a line is `type/label/command`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.contracts.protocols import Analyser
from tengen.contracts.values import Status
from tengen.errors import ModelError
from tengen.gtp.arguments import RESIGN, need, read_colour, read_integer
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure

MAPS = (
    "territory",
    "white_lives",
    "black_dies",
    "white_eye",
    "black_eye",
    "black_eye_by_capture",
    "white_eye_by_capture",
)
ANALYZE_MAPS = tuple(f"dboard/Network: {name.replace('_', ' ')}/tengen-map {name}" for name in MAPS)
_DEFAULT_NETWORK = "isn-best"
ANALYZE_COMMANDS = (
    "dboard/Ownership/tengen-ownership",
    "dboard/Influence of Playouts/tengen-influence",
    *ANALYZE_MAPS,
    "pspairs/Candidate Moves/tengen-candidates",
    "pspairs/Experts' Moves/tengen-prediction",
    "plist/Dead Stones/tengen-dead",
    "string/Safe to Score/tengen-safe",
    "string/Final Score/final_score",
    "string/Estimated Score/estimate_score",
    "string/Explain Last Move/gomill-explain_last_move",
    "param/Parameters/tengen-param",
)
_CANDIDATES_SHOWN = 20
_LEAST_CHANCE = 0.001


def analyze_commands(engine: Engine, call: Call) -> str:
    """List what GoGui may show."""
    return "\n".join(ANALYZE_COMMANDS)


def play_sequence(engine: Engine, call: Call) -> str:
    """Play many moves at once, or none if one is illegal."""
    engine.game.play_all(engine.pairs(call.args))
    return ""


def setup_player(engine: Engine, call: Call) -> str:
    """Say whose turn it is after a setup."""
    engine.game.board.turn = read_colour(need(call.args, 1)[0])
    return ""


def title(engine: Engine, call: Call) -> str:
    """Name the window."""
    return f"Tengen {engine.spec}"


def param(engine: Engine, call: Call) -> str:
    """List the parameters, or set one."""
    if not call.args:
        return f"[string] player {engine.spec}\n[string] seed {engine.seed}"
    name, *words = call.args
    if name == "player" and words:
        engine.change_player(" ".join(words))
    elif name == "seed" and len(words) == 1:
        engine.game.seed = engine.seed = read_integer(words[0], least=-(2**63))
    else:
        raise GtpFailure(f"no parameter {name} with such a value")
    return ""


def ownership(engine: Engine, call: Call) -> str:
    """Draw who owns each point: by the scorer once the game is over, by the network before."""
    owners = engine.judge.estimate(engine.game.board).ownership
    if owners is None:
        raise GtpFailure("the scorer knows no ownership")
    return _picture(engine, np.asarray(owners))


def influence(engine: Engine, call: Call) -> str:
    """Draw who owns each point at the end of playouts."""
    from tengen.board import playouts

    result = playouts(engine.game.board, 200, seed=engine.seed & 0xFFFFFFFF, threads=1)
    return _picture(engine, result.ownership)


def candidates(engine: Engine, call: Call) -> str:
    """Name the moves that the player thinks of, with their share of its attention."""
    board, player = engine.game.view(engine.game.board.turn), engine.player
    if not isinstance(player, Analyser):
        move = player.choose(board, engine.game.generator())
        return "" if move == RESIGN else f"{engine.vertex(int(move))} 1"
    reports = list(player.analyse(board, engine.game.generator(), interval=1e6, limited=True))
    if not reports:
        return ""
    report = reports[-1]
    total = max(1, sum(c.visits for c in report.candidates))
    return "\n".join(
        f"{engine.vertex(c.move)} {c.visits / total:.3f}"
        for c in report.candidates[:_CANDIDATES_SHOWN]
    )


def prediction(engine: Engine, call: Call) -> str:
    """Name the moves that experts are likely to play, with their chances, whoever plays here."""
    from tengen.board import point_at
    from tengen.models import load_policy
    from tengen.models.defaults import policy_for

    board = engine.game.view(engine.game.board.turn)
    rows, cols = board.rows, board.cols
    try:
        priors = load_policy(policy_for(rows, cols), shared=True).priors(board)
    except ModelError as failure:
        raise GtpFailure(str(failure)) from None
    best = np.argsort(-priors, kind="stable")[:_CANDIDATES_SHOWN]
    shown = (int(i) for i in best if i < rows * cols and priors[i] >= _LEAST_CHANCE)
    return "\n".join(f"{engine.vertex(point_at(i, rows, cols))} {priors[i]:.3f}" for i in shown)


def dead(engine: Engine, call: Call) -> str:
    """List the dead stones."""
    verdict = engine.judge.status(engine.game.board)
    return " ".join(map(engine.vertex, verdict.stones(Status.DEAD)))


def safe(engine: Engine, call: Call) -> str:
    """Tell whether the game can be scored now."""
    return "yes" if engine.judge.status(engine.game.board).safe else "no"


def _picture(engine: Engine, values: FloatArray) -> str:
    """Write one number per point, a row to a line from the top."""
    board = engine.game.board
    rows = np.asarray(values, float).reshape(board.rows, board.cols)
    return "\n" + "\n".join(" ".join(f"{value:.3f}" for value in row) for row in rows)


def network_map(engine: Engine, call: Call) -> str:
    """Draw one of the network's seven maps (territory if none is named); 0 where it is mute."""
    name = call.args[0] if call.args else MAPS[0]
    if name not in MAPS:
        raise GtpFailure(f"no map {name}; there are {' '.join(MAPS)}")
    from tengen.models import load_evaluator

    network: Any = getattr(engine.player, "model", None)
    try:
        if not hasattr(network, "heat_maps"):
            network = load_evaluator(_DEFAULT_NETWORK, shared=True)
        values = network.heat_maps(engine.game.view(engine.game.board.turn))[name]
    except ModelError as failure:
        raise GtpFailure(str(failure)) from None
    rows = np.nan_to_num(np.asarray(values, float))
    return "\n" + "\n".join(" ".join(f"{value:.3f}" for value in row) for row in rows)
