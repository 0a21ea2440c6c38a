"""One network tied by the board's symmetries: moves, winner, score and ownership at once."""

from tengen.learners.network.learner import DeepNetwork, View
from tengen.learners.network.settings import DESIGNS, Design, NetworkSettings
from tengen.learners.network.shards import Shard, make_shards, read_shards

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
