"""A Ray cluster gives what this process gives, even when a node is killed half-way."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tengen.errors import TengenError
from tengen.parallel import map_jobs, spawn_seeds
from tengen.parallel.cluster import _knock, run_on_ray

sys.path.insert(0, str(Path(__file__).parent))
from functions_for_workers import draw, draw_slowly, fail_on_three

pytestmark = [
    pytest.mark.slow,
    # Ray leaves sockets and processes to the end of the interpreter.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def two_nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[object, object]]:
    ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    second = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster, second
    ray.shutdown()
    cluster.shutdown()


def test_a_cluster_gives_the_same_and_survives_a_lost_node(
    two_nodes: tuple[object, object],
) -> None:
    cluster, second = two_nodes
    _knock(cluster.address)  # type: ignore[attr-defined]
    seeds = spawn_seeds(3, 30)
    assert list(map_jobs(draw, seeds, ray="auto")) == [draw(seed) for seed in seeds]
    numbered = dict(run_on_ray(draw, seeds[:3], address="auto", retries=0))
    assert numbered == {number: draw(seed) for number, seed in enumerate(seeds[:3])}
    results = map_jobs(draw_slowly, seeds, ray="auto")
    first = [next(results) for _ in range(8)]
    cluster.remove_node(second, allow_graceful=False)  # type: ignore[attr-defined]
    assert first + list(results) == [draw(seed) for seed in seeds]
    with pytest.raises(TengenError, match="three is wrong"):
        list(map_jobs(fail_on_three, range(6), ray="auto"))
