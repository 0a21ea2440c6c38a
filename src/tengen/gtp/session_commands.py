"""Answer commands about the session itself: names, versions, seeds; touch no board."""

from __future__ import annotations

import time

from tengen import __version__
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure, Quit
from tengen.gtp.words import need, read_integer


def protocol_version(engine: Engine, call: Call) -> str:
    """Say that this is GTP 2."""
    return "2"


def name(engine: Engine, call: Call) -> str:
    """Say who this is."""
    return "Tengen"


def version(engine: Engine, call: Call) -> str:
    """Say the version of the package."""
    return __version__


def known_command(engine: Engine, call: Call) -> str:
    """Tell whether a command is known."""
    return "true" if need(call.args, 1)[0] in engine.table else "false"


def list_commands(engine: Engine, call: Call) -> str:
    """List all commands."""
    return "\n".join(engine.table)


def quit_(engine: Engine, call: Call) -> str:
    """End the session after the answer."""
    raise Quit


def nothing(engine: Engine, call: Call) -> str:
    """Accept what needs no doing: input itself stops an analysis, and no cache is kept."""
    return ""


def no_chat(engine: Engine, call: Call) -> str:
    """Refuse to talk, as kgsGtp allows."""
    raise GtpFailure("no chat here")


def set_random_seed(engine: Engine, call: Call) -> str:
    """Set the seed from which every random choice follows."""
    engine.game.seed = engine.seed = read_integer(need(call.args, 1)[0], least=-(2**63))
    return ""


def get_random_seed(engine: Engine, call: Call) -> str:
    """Say the seed."""
    return str(engine.seed)


def cputime(engine: Engine, call: Call) -> str:
    """Say how many seconds of processor time this process has used."""
    return f"{time.process_time():.3f}"


def describe_engine(engine: Engine, call: Call) -> str:
    """Describe the player with what is needed to repeat its games."""
    return f"Tengen {__version__}\nplayer {engine.spec}\nseed {engine.seed}"


def explain_last_move(engine: Engine, call: Call) -> str:
    """Say why the last generated move was chosen, if the player can."""
    return engine.explanation
