"""Time the parts of self-play on a device: the network, the search around it, and learning.

python benchmarks/self_play_speed.py --device cuda --size 13 --games 1536 --evaluations 24
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

from tengen.network.engine import chosen_device
from tengen.network.torch_network import Seen
from tengen.network.training import Batch
from tengen.self_play.parallel_games import ParallelGames, capture
from tengen.self_play.settings import SelfPlaySettings
from tengen.self_play.training import Loop


def main() -> None:
    """Print the time of one move in all games, and what it consists of."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, default=13)
    parser.add_argument("--games", type=int, default=1536)
    parser.add_argument("--evaluations", type=int, default=24)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--design", default="zero")
    parser.add_argument("--turns", type=int, default=10)
    options = parser.parse_args()
    device = torch.device(chosen_device(options.device))
    settings = SelfPlaySettings(
        size=(options.size,), games=options.games, evaluations=options.evaluations,
        batch=options.batch, window=16 * options.batch, design=options.design,
    )  # fmt: skip
    loop = Loop(settings, device)
    games = loop.rooms[0].games
    assert isinstance(games, ParallelGames)
    parts = parts_of(loop, games, options.turns)
    learning = parts.pop("one batch of learning")
    batches = settings.games * settings.reuse / settings.batch
    whole = parts["a move"] + batches * learning
    for name, seconds in (*parts.items(), ("learning from it", batches * learning)):
        print(f"{name}: {1000 * seconds:.2f} ms, {seconds / whole:.0%}")
    evaluations = settings.games * settings.evaluations
    print(f"{evaluations / whole:,.0f} evaluations per second, learning included")


def parts_of(loop: Loop, games: ParallelGames, turns: int) -> dict[str, float]:
    """Return the seconds of a move in all games, and of its parts."""
    search, evaluations = games.search, loop.settings.evaluations
    boards, roots = search.boards, search.roots
    seen = Seen(
        search.lines, search.lines, boards.codes[roots], boards.history[roots],
        boards.facts[roots, 1] > 0, search.komi, search.komi > 1e9,
    )  # fmt: skip

    def ask() -> None:
        with torch.no_grad():
            for _ in range(evaluations):
                search.network(seen)

    def move() -> None:
        games.play(evaluations)
        games.collect()

    batch = Batch.blank(search.lines, loop.settings.batch, loop.trainer.device)
    work: dict[str, Callable[[], object]] = {
        "the network": capture(ask) if loop.trainer.device.type == "cuda" else ask,
        "the search with it": lambda: games.run_search(evaluations),
        "a move": move,
        "one batch of learning": lambda: loop.trainer.learn(batch, 0.1),
    }
    return {name: seconds_of(each, turns, loop.trainer.device) for name, each in work.items()}


def seconds_of(work: Callable[[], object], turns: int, device: torch.device) -> float:
    """Return the mean time of some work, the first two times not counted."""

    def run(times: int) -> float:
        began = time.perf_counter()
        for _ in range(times):
            work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - began

    run(2)
    return run(turns) / turns


if __name__ == "__main__":
    main()
