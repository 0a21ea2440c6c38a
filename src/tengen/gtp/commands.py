"""The table of all GTP commands, with those about the session and the end of the game.

Names with a dash are extensions, prefixed by whose they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tengen import __version__
from tengen.contracts.values import Status
from tengen.gtp import game_commands as g
from tengen.gtp import gogui_commands as gui
from tengen.gtp import thinking_commands as t
from tengen.gtp.arguments import BLACK, PASS, WHITE, format_score, need, read_integer
from tengen.gtp.engine import Engine
from tengen.gtp.protocol import Call, GtpFailure, Quit

# ----- The session -----


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


# ----- The end of the game -----

_TERRITORY = {"black_territory": BLACK, "white_territory": WHITE}


def final_score(engine: Engine, call: Call) -> str:
    """Count the game without what is dead."""
    return format_score(engine.judge.score(engine.game.board).score)


def estimate_score(engine: Engine, call: Call) -> str:
    """Guess the score at the end of the game."""
    return format_score(round(engine.judge.estimate(engine.game.board).score, 1))


def final_status(engine: Engine, call: Call) -> str:
    """Say the status of one point."""
    point = engine.point(need(call.args, 1)[0])
    if point == PASS:
        raise GtpFailure("invalid coordinate")
    for block in engine.judge.status(engine.game.board).blocks:
        if point in block.stones:
            return block.status.value
    for name, colour in _TERRITORY.items():
        if point in _territory(engine, colour):
            return name
    return "dame"


def final_status_list(engine: Engine, call: Call) -> str:
    """List the stones of one status, a block to a line, or the points of one territory."""
    word = need(call.args, 1)[0].lower()
    if word in _TERRITORY:
        return " ".join(engine.vertex(p) for p in _territory(engine, _TERRITORY[word]))
    try:
        wanted = Status(word)
    except ValueError:
        raise GtpFailure("unknown status") from None
    verdict = engine.judge.status(engine.game.board)
    return "\n".join(
        " ".join(map(engine.vertex, block.stones))
        for block in verdict.blocks
        if block.status is wanted
    )


def _territory(engine: Engine, colour: int) -> list[int]:
    """Find the points that count as one side's territory, dead stones' points included."""
    import numpy as np

    from tengen.board import point_at
    from tengen.game.judging import count_without

    board = engine.game.board
    count = count_without(board, engine.judge.status(board).stones(Status.DEAD))
    places = np.flatnonzero(count.territory(colour))
    return [point_at(int(index), board.rows, board.cols) for index in places]


# ----- The table -----

COMMANDS: dict[str, Callable[[Engine, Call], str]] = {
    # Administration
    "protocol_version": protocol_version,
    "name": name,
    "version": version,
    "known_command": known_command,
    "list_commands": list_commands,
    "quit": quit_,
    "stop": nothing,
    "clear_cache": nothing,
    "set_random_seed": set_random_seed,
    "get_random_seed": get_random_seed,
    "cputime": cputime,
    "gomill-cpu_time": cputime,
    "gomill-describe_engine": describe_engine,
    "gomill-explain_last_move": explain_last_move,
    "kgs-game_over": nothing,
    "kgs-chat": no_chat,
    "cgos-gameover": nothing,
    "cgos-opponent_name": nothing,
    "cgos-opponent_rating": nothing,
    # The game
    "boardsize": g.boardsize,
    "rectangular_boardsize": g.rectangular_boardsize,
    "clear_board": g.clear_board,
    "komi": g.komi,
    "get_komi": g.get_komi,
    "play": g.play,
    "undo": g.undo,
    "gg-undo": g.undo_many,
    "fixed_handicap": g.fixed_handicap,
    "place_free_handicap": g.place_free_handicap,
    "set_free_handicap": g.set_free_handicap,
    "set_position": g.set_position,
    "loadsgf": g.loadsgf,
    "printsgf": g.printsgf,
    "showboard": g.showboard,
    "time_settings": g.time_settings,
    "time_left": g.time_left,
    "kgs-time_settings": g.kgs_time_settings,
    "kata-list_time_settings": g.kata_list_time_settings,
    "kata-time_settings": g.kgs_time_settings,
    "kata-get-rules": g.kata_get_rules,
    "kata-set-rules": g.kata_set_rules,
    "kata-set-rule": g.kata_set_rule,
    "kgs-rules": g.kgs_rules,
    # Thinking
    "genmove": t.genmove,
    "reg_genmove": t.reg_genmove,
    "kgs-genmove_cleanup": t.genmove_cleanup,
    "analyze": t.lz_analyze,
    "lz-analyze": t.lz_analyze,
    "kata-analyze": t.kata_analyze,
    "genmove_analyze": t.lz_genmove_analyze,
    "lz-genmove_analyze": t.lz_genmove_analyze,
    "kata-genmove_analyze": t.kata_genmove_analyze,
    "cgos-genmove_analyze": t.cgos_genmove_analyze,
    # The end
    "final_score": final_score,
    "final_status": final_status,
    "final_status_list": final_status_list,
    "estimate_score": estimate_score,
    # GoGui
    "gogui-analyze_commands": gui.analyze_commands,
    "gogui-interrupt": nothing,
    "gogui-play_sequence": gui.play_sequence,
    "gogui-setup": g.set_position,
    "gogui-setup_player": gui.setup_player,
    "gogui-title": gui.title,
    "tengen-param": gui.param,
    "tengen-ownership": gui.ownership,
    "tengen-influence": gui.influence,
    "tengen-map": gui.network_map,
    "tengen-candidates": gui.candidates,
    "tengen-prediction": gui.prediction,
    "tengen-dead": gui.dead,
    "tengen-safe": gui.safe,
}
