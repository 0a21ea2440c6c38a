"""List every GTP command of the engine in one table; the functions live by subject.

Names with a dash are extensions, prefixed by whose they are.
"""

from __future__ import annotations

from collections.abc import Callable

from tengen.gtp import game_commands as g
from tengen.gtp import gogui_commands as gui
from tengen.gtp import score_commands as s
from tengen.gtp import session_commands as c
from tengen.gtp import thinking_commands as t
from tengen.gtp.engine import Engine
from tengen.gtp.map_commands import network_map
from tengen.gtp.protocol import Call

COMMANDS: dict[str, Callable[[Engine, Call], str]] = {
    # Administration
    "protocol_version": c.protocol_version,
    "name": c.name,
    "version": c.version,
    "known_command": c.known_command,
    "list_commands": c.list_commands,
    "quit": c.quit_,
    "stop": c.nothing,
    "clear_cache": c.nothing,
    "set_random_seed": c.set_random_seed,
    "get_random_seed": c.get_random_seed,
    "cputime": c.cputime,
    "gomill-cpu_time": c.cputime,
    "gomill-describe_engine": c.describe_engine,
    "gomill-explain_last_move": c.explain_last_move,
    "kgs-game_over": c.nothing,
    "kgs-chat": c.no_chat,
    "cgos-gameover": c.nothing,
    "cgos-opponent_name": c.nothing,
    "cgos-opponent_rating": c.nothing,
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
    "final_score": s.final_score,
    "final_status": s.final_status,
    "final_status_list": s.final_status_list,
    "estimate_score": s.estimate_score,
    # GoGui
    "gogui-analyze_commands": gui.analyze_commands,
    "gogui-interrupt": c.nothing,
    "gogui-play_sequence": gui.play_sequence,
    "gogui-setup": g.set_position,
    "gogui-setup_player": gui.setup_player,
    "gogui-title": gui.title,
    "tengen-param": gui.param,
    "tengen-ownership": gui.ownership,
    "tengen-influence": gui.influence,
    "tengen-map": network_map,
    "tengen-candidates": gui.candidates,
    "tengen-prediction": gui.prediction,
    "tengen-dead": gui.dead,
    "tengen-safe": gui.safe,
}
