"""A Ray cluster gives what this process gives, even when a node is killed half-way."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.needs import need

from tengen.errors import TengenError
from tengen.parallel import Team, WorkerLostError, map_jobs, spawn_seeds
from tengen.parallel.cluster import check_address

sys.path.insert(0, str(Path(__file__).parent))
from functions_for_workers import die_always, draw, draw_slowly, fail_on_three, wait_for_word

pytestmark = [
    pytest.mark.slow,
    # Ray leaves sockets and processes to the end of the interpreter.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def start_cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], Any]]:
    """Start a cluster by the number of its head's cores, and join it."""
    ray = need("ray")
    from ray.cluster_utils import Cluster

    clusters = []

    def start(cores: int) -> Any:
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
        clusters.append(Cluster(initialize_head=True, head_node_args={"num_cpus": cores}))
        ray.init(address=clusters[-1].address, log_to_driver=False)
        return clusters[-1]

    yield start
    ray.shutdown()
    for cluster in clusters:
        cluster.shutdown()


def test_a_cluster_gives_the_same_and_survives_a_lost_node(
    start_cluster: Callable[[int], Any],
) -> None:
    cluster = start_cluster(1)
    second = cluster.add_node(num_cpus=1)
    check_address(cluster.address)
    seeds = spawn_seeds(3, 30)
    assert list(map_jobs(draw, seeds, ray="auto")) == [draw(seed) for seed in seeds]
    with Team(draw, ray="auto") as team:
        left = team.iterate(seeds)
        next(left)
        left.close()  # type: ignore[attr-defined]
        assert team.map(seeds[:3]) == [draw(seed) for seed in seeds[:3]]
    results = map_jobs(draw_slowly, seeds, ray="auto")
    first = [next(results) for _ in range(8)]
    cluster.remove_node(second, allow_graceful=False)
    assert first + list(results) == [draw(seed) for seed in seeds]
    with pytest.raises(TengenError, match="three is wrong"):
        list(map_jobs(fail_on_three, range(6), ray="auto"))


def test_a_job_outlives_more_nodes_than_workers(
    start_cluster: Callable[[int], Any], tmp_path: Path
) -> None:
    """A node's end is not the job's fault, as a worker's may be."""
    cluster = start_cluster(0)  # so that the job is on the node that is killed
    begun = tmp_path / "begun"
    with ThreadPoolExecutor(1) as aside:
        work = aside.submit(lambda: list(map_jobs(wait_for_word, [str(tmp_path)], ray="auto")))
        for _ in range(4):
            node = cluster.add_node(num_cpus=1)
            while not begun.exists() and not work.done():
                time.sleep(0.05)
            cluster.remove_node(node, allow_graceful=False)
            begun.unlink(missing_ok=True)
        (tmp_path / "word").touch()
        cluster.add_node(num_cpus=1)
        assert work.result() == [str(tmp_path)]
    with pytest.raises(WorkerLostError, match="job 0 lost 3 workers"):
        list(map_jobs(die_always, [1], ray="auto"))
