"""Answer with the maps of a symmetry network, one likelihood a point; know no network itself.

The player's own network is asked if it has one that draws maps, otherwise the shipped one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tengen.errors import ModelError
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
