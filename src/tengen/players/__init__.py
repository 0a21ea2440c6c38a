"""Who picks a move: players by spec string, the built-in expert, and when to pass.

`make_player("mcts:playouts=500")` and `make_expert("builtin")` are the doors; `PLAYERS` lists what
there is. Players know boards, models and the GTP client; nothing of matches or ratings.
"""

from tengen.players.kinds import PLAYERS, Option, PlayerKind, gnugo
from tengen.players.spec import make_expert, make_player, parse_spec

__all__ = ["PLAYERS", "Option", "PlayerKind", "gnugo", "make_expert", "make_player", "parse_spec"]
