"""A round robin on a Ray cluster of two nodes ends with all games though one node is killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.needs import need

from tengen.arena import Database, run_tournament

pytestmark = [
    pytest.mark.slow,
    # Ray leaves sockets and processes to the end of the interpreter.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def two_nodes() -> Iterator[tuple[Any, Any]]:
    ray = need("ray")
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


class Killer:
    """Kill a node when half of the games are there."""

    def __init__(self, cluster: Any, node: Any) -> None:
        self.cluster, self.node, self.games, self.killed_at = cluster, node, 0, 0

    def begin(self, total: int, done: int) -> None:
        self.total = total

    def finished(self, game: Any) -> None:
        self.games += 1
        if self.games == self.total // 2:
            self.killed_at = self.games
            self.cluster.remove_node(self.node, allow_graceful=False)

    def handed_out(self, job: Any) -> None:
        pass

    def stopping(self) -> None:
        pass


def test_a_lost_node_loses_no_game(tournament, tmp_path, two_nodes) -> None:
    whole = tournament(games=20, conditions={"rows": 13, "cols": 13})
    with Database.open(None, whole) as database:
        run_tournament(whole, database)
        expected = {row.key: (row.moves, row.result) for row in database.games()}
    killer = Killer(*two_nodes)
    with Database.open(tmp_path / "r.sqlite", whole) as database:
        summary = run_tournament(whole, database, ray="auto", listener=killer)
        found = {row.key: (row.moves, row.result) for row in database.games()}
    assert killer.killed_at == 30
    assert (summary.left, len(found)) == (0, 60)
    assert found == expected
