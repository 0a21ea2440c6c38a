"""Kill nodes of a Ray cluster under a tournament, self-play and reviews: nothing lost or doubled.

The cluster is on this machine: a head that stays, and a node that is killed at random moments and
comes back.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from seen import Seen
from victims import Victim, different, files_of, games_of, make_games, tengen, training_of

GAP = 8.0
"""Most seconds that a node works after its first job has come."""
ATTEMPTS = 3
"""How often the start of a node is tried."""
TOO_BUSY = "timed out"
"""What Ray says of a node that did not start in time."""
START = 60.0
"""Seconds that a node has to be given its first job."""
SELF_PLAY = (
    "train", "self-play", "--size", 5, "--design", "tiny", "--games", 8, "--evaluations", 4,
    "--considered", 2, "--batch", 16, "--window", 1000, "--warm-up", 5, "--komi", 1,
    "--device", "cpu",
)  # fmt: skip
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_log_monitor": False}
"""As little as a node of these jobs needs."""


def patiently(start: Callable[[], Any]) -> Any:
    """Start a node, again if it did not start in the 30 s that Ray gives it on a busy machine."""
    for _ in range(ATTEMPTS - 1):
        try:
            return start()
        except Exception as failure:  # Ray has no class for it
            if TOO_BUSY not in str(failure):
                raise
    return start()


@contextmanager
def cluster() -> Iterator[Any]:
    """Run the head of a cluster on this machine; a process that lends its core to jobs, too."""
    from ray.cluster_utils import Cluster

    head = {**NODE, "include_dashboard": False}
    nodes = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
    try:
        yield nodes
    finally:
        nodes.shutdown()


def at_work(node: Any) -> bool:
    """Tell whether a node works on a job, by the titles that Ray gives its processes."""
    for entry in node.all_processes["raylet"]:
        with suppress(psutil.Error):
            for child in psutil.Process(entry.process.pid).children(recursive=True):
                if "".join(child.cmdline()[:1]).startswith("ray::_call"):
                    return True
    return False


def kill_nodes_until_done(
    victim: Victim, nodes: Any, kills: int, rng: random.Random, seen: Seen, busy: list[int]
) -> None:
    """Let a command work on two nodes and kill the second, again and again, until it is done.

    `busy` counts the nodes that were at work in that moment.
    """
    process = victim.start()
    while process.poll() is None and seen.go_on(kills):
        try:
            node = patiently(lambda: nodes.add_node(**NODE))
        except Exception as failure:
            if TOO_BUSY not in str(failure):
                raise
            # No more kills on a machine that is so busy, but the work is to be done all the same.
            seen.until = time.monotonic()
            seen.note += ", then a node did not start"
            break
        deadline = time.monotonic() + START
        while process.poll() is None and not at_work(node) and time.monotonic() < deadline:
            time.sleep(0.1)
        try:
            process.wait(rng.uniform(0.0, GAP))
        except subprocess.TimeoutExpired:
            seen.tried += 1
            busy[0] += at_work(node)
            seen.note = f"{busy[0]} at work"
        nodes.remove_node(node, allow_graceful=False)
    process.wait(1200)
    if process.returncode != 0:
        seen.fault(f"ended with {process.returncode}", victim.errors())
    victim.nothing_left()


Command = Callable[[Path], list[object]]
Read = Callable[[Path], Mapping[Any, Any]]


def attack_nodes(
    seen: Seen, kills: int, rng: random.Random, folder: Path, command: Command, read: Read
) -> None:
    """Compare what a command makes on this machine with what it makes on nodes that die."""
    Victim(seen, [*command(folder / "calm"), "--workers", 2], folder).finish()
    calm, number, busy = read(folder / "calm"), 0, [0]
    with cluster() as nodes:
        while seen.go_on(kills):
            wild = folder / f"wild-{number}"
            words = [*command(wild), "--ray", nodes.address]
            kill_nodes_until_done(Victim(seen, words, folder), nodes, kills, rng, seen, busy)
            if others := different(calm, read(wild)):
                seen.fault("other results", others)
            number += 1


def attack_tournament(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill nodes in the middle of a tournament."""
    lines = ['kind = "round-robin"', "games = 200", "size = 9", "seed = 8"]
    for name, spec in {"maxlib": "maxlib", "search": "mcts:playouts=20", "any": "random"}.items():
        lines += [f"[players.{name}]", f'spec = "{spec}"']
    (folder / "t.toml").write_text("\n".join(lines))

    def command(path: Path) -> list[object]:
        return tengen("arena", "run", folder / "t.toml", "--out", path, "--quiet", "--json")

    def read(path: Path) -> Mapping[Any, Any]:
        return {key: row[:-1] for key, row in games_of(path).items()}

    attack_nodes(seen, kills, rng, folder, command, read)


def attack_self_play(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill nodes in the middle of self-play."""

    def command(path: Path) -> list[object]:
        words = ("--positions", 1000, "--games", 4, "--pieces", 6, "--out", path, "--quiet")
        return tengen(*SELF_PLAY, *words)

    attack_nodes(seen, kills, rng, folder, command, training_of)


def attack_reviews(seen: Seen, kills: int, rng: random.Random, folder: Path) -> None:
    """Kill nodes in the middle of a review of 100 games."""
    games = make_games(folder, 5, 100, ("maxlib", "random"))

    def command(path: Path) -> list[object]:
        judge = ("--player", "mcts", "--visits", 20)
        return tengen("review", games, "--out", path, *judge, "--quiet")

    attack_nodes(seen, kills, rng, folder, command, files_of)


ATTACKS = {
    "kill Ray nodes of a tournament": attack_tournament,
    "kill Ray nodes of self-play": attack_self_play,
    "kill Ray nodes of a review of 100 games": attack_reviews,
}
