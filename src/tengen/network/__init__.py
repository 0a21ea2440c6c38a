"""A network, equivariant under the board's symmetries, for moves, winner, score and ownership."""

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
