"""A network, equivariant under the board's symmetries, for moves, winner, score and ownership.

`learner` is the model, `engine` evaluates it on the processor, `training` and `distillation` teach
it, with PyTorch; `labelling` asks the teacher that `distillation` learns from. Search is in
`players`, learning without games in `self_play`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tengen.lazy import lazy_names

if TYPE_CHECKING:
    from tengen.network.learner import DeepNetwork, Evaluation
    from tengen.network.settings import DESIGNS, Design, NetworkSettings
    from tengen.network.shards import Shard, make_shards, read_shards

__all__ = [
    "DESIGNS",
    "DeepNetwork",
    "Design",
    "Evaluation",
    "NetworkSettings",
    "Shard",
    "make_shards",
    "read_shards",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "tengen.network.learner": ["DeepNetwork", "Evaluation"],
        "tengen.network.settings": ["DESIGNS", "Design", "NetworkSettings"],
        "tengen.network.shards": ["Shard", "make_shards", "read_shards"],
    },
)
