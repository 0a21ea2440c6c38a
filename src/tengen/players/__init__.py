"""Players by spec string, such as `make_player("mcts:playouts=500")`, and the built-in expert.

`PLAYERS` lists them.
"""

from tengen.players.options import Option, PlayerKind
from tengen.players.spec import (
    PLAYERS,
    gnugo,
    make_expert,
    make_player,
    parse_spec,
    reaches_out,
)

__all__ = [
    "PLAYERS",
    "Option",
    "PlayerKind",
    "gnugo",
    "make_expert",
    "make_player",
    "parse_spec",
    "reaches_out",
]
