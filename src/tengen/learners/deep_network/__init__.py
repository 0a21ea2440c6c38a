"""One network tied by the board's symmetries: moves, winner, score and ownership at once."""

from tengen.learners.deep_network.design import DESIGNS, Design, NetworkSettings
from tengen.learners.deep_network.learner import DeepNetwork, View
from tengen.learners.deep_network.shards import Shard, make_shards, read_shards

__all__ = [
    "DESIGNS",
    "DeepNetwork",
    "Design",
    "NetworkSettings",
    "Shard",
    "View",
    "make_shards",
    "read_shards",
]
