"""One network tied by the board's symmetries: moves, winner, score and ownership at once."""

from tengen.learners.network.learner import DeepNetwork, Evaluation
from tengen.learners.network.settings import DESIGNS, Design, NetworkSettings
from tengen.learners.network.shards import Shard, make_shards, read_shards

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
