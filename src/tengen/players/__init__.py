"""Players by spec string, such as `make_player("mcts:playouts=500")`, and the built-in expert.

`player_kinds` lists them. Those of papers are in the papers' folders; models are used, not trained,
and protocols and matches are built on top.
"""

from tengen.players.options import Option, PlayerKind
from tengen.players.spec import (
    gnugo,
    make_expert,
    make_player,
    parse_spec,
    player_kinds,
    reaches_out,
)

__all__ = [
    "Option",
    "PlayerKind",
    "gnugo",
    "make_expert",
    "make_player",
    "parse_spec",
    "player_kinds",
    "reaches_out",
]
