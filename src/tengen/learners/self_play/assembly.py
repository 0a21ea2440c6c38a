"""Assemble a self-play loop for a device; on a GPU, a search is captured as one graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psutil
import torch

from tengen.errors import SpecError
from tengen.learners.network.torch_network import FoldedNetwork
from tengen.learners.self_play.loop import Loop, Pupil, Room
from tengen.learners.self_play.parallel_games import ParallelGames
from tengen.learners.self_play.replay_buffer import ReplayBuffer
from tengen.learners.self_play.search import Search
from tengen.learners.self_play.settings import SelfPlaySettings, longest

_WARM_UPS = 2
"""Searches before one is captured: kernels are compiled and chosen in them."""


def make_games(
    settings: SelfPlaySettings,
    lines: int,
    network: FoldedNetwork,
    generator: torch.Generator,
    *,
    games: int | None = None,
    endless: bool = True,
) -> ParallelGames:
    """Start games of one size in which a network plays both sides.

    Raises
    ------
    RuntimeError
        If there is no memory for them.
    """
    device = generator.device
    compiled = _compiler(device)
    games = settings.games if games is None else games
    # Four numbers a move for every position of the search, and what is kept of every ply.
    _ask_for(games * lines * lines * (20 * settings.evaluations + 3 * longest(lines)), device)
    search = Search(
        lines,
        games,
        compiled(network),
        device=device,
        evaluations=settings.evaluations,
        considered=settings.considered,
        score_share=settings.score_share,
        compiled=compiled,
    )
    started = ParallelGames(settings, search, generator, endless=endless)
    if device.type == "cuda":
        started.run_search = _captured(search.run)
    return started


def make_loop(settings: SelfPlaySettings, device: torch.device) -> Loop:
    """Make a loop that plays and learns on one device, in this process."""
    pupil = Pupil(settings, device)
    generator = torch.Generator(device)
    generator.manual_seed(settings.seed)
    try:
        _ask_for(sum(4 * lines * lines * settings.window for lines in settings.size), device)
        rooms = [
            Room(
                lines,
                make_games(settings, lines, pupil.player, generator),
                ReplayBuffer(lines, settings.window, device),
            )
            for lines in settings.size
        ]
        if device.type == "cuda":
            for room in rooms:
                pupil.warm_up(room.buffer.blank(settings.batch))
    except RuntimeError as failure:  # CUDA's kind is one of these, the processor has no other
        if "memory" not in str(failure):
            raise
        raise SpecError(
            f"{device}: no memory for {settings.games} games of each size and a window of "
            f"{settings.window} positions; ask for fewer games in parallel, or for a smaller window"
        ) from None
    return Loop(settings, pupil, rooms, generator)


def _ask_for(size: int, device: torch.device) -> None:
    """Raise `RuntimeError` if a processor has not so many bytes: Linux promises them, and kills."""
    if device.type == "cpu" and size > psutil.virtual_memory().available:
        raise RuntimeError(f"no memory for {size} bytes")


def _captured(work: Callable[[], None]) -> Callable[[], None]:
    """Capture work on a GPU that asks the host nothing as one graph; return what runs it again.

    Where capturing fails, the work itself is returned: slower, and right.
    """
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(_WARM_UPS):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            work()
    except RuntimeError:
        torch.cuda.synchronize()
        return work
    again: Callable[[], None] = graph.replay
    return again


def _compiler(device: torch.device) -> Callable[[Any], Any]:
    if device.type != "cuda":
        return lambda function: function
    return lambda function: torch.compile(function, dynamic=False)
