"""Have a network play itself, and keep the games as shards that other networks can learn from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from tengen.errors import SpecError
from tengen.learners.network import DeepNetwork
from tengen.learners.network.batches import Batch
from tengen.learners.network.inputs_kernels import NOWHERE
from tengen.learners.network.shards import Made, Shard, refuse_shards
from tengen.learners.network.torch_network import FoldedNetwork, network_of
from tengen.learners.network.training import use_fast_products
from tengen.learners.self_play.assembly import make_games
from tengen.learners.self_play.parallel_games import ParallelGames, Tally
from tengen.learners.self_play.settings import SelfPlaySettings, longest
from tengen.parallel import spawn_seeds


def play_out(
    settings: SelfPlaySettings,
    lines: int,
    network: FoldedNetwork,
    generator: torch.Generator,
    *,
    on_games: Callable[[int], None] = lambda ended: None,
) -> tuple[Tally, Batch]:
    """Play `settings.games` games side by side until all have ended."""
    games = make_games(settings, lines, network, generator, endless=False)
    batches = []
    while bool(games.counts.any()):
        before = games.tally.games
        games.play()
        batch = games.collect()
        if batch is not None:
            batches.append(batch)
            on_games(games.tally.games - before)
            games = _closed_up(games, settings, network)
    return games.tally, Batch.join(batches)


def _closed_up(
    games: ParallelGames, settings: SelfPlaySettings, network: FoldedNetwork
) -> ParallelGames:
    """Leave out the places of ended games, once that is worth it."""
    left, lines = int(games.counts.sum()), games.search.lines
    # A GPU would have to compile and capture anew, which costs it more than empty places.
    if games.device.type != "cpu" or not 0 < left <= games.search.games * 3 // 4:
        return games
    smaller = make_games(settings, lines, network, games.generator, games=left, endless=False)
    smaller.restore({k: v[games.counts] for k, v in games.tensors().items()})
    smaller.tally = games.tally
    return smaller


def shard_of(batch: Batch) -> Shard:
    """Return the games of a batch that both sides ended by passing; others were cut."""
    lines, points = batch.rows, batch.rows * batch.cols
    last, passed = batch.history[:, 0].cpu().numpy(), batch.passed.cpu().numpy()
    starts = np.flatnonzero((last == NOWHERE) & ~passed)
    lengths = np.diff(np.append(starts, len(last)))
    # What was played is what the next position calls the last move; the last move ends the game.
    moves = np.append(np.where(passed, points, last)[1:], points).astype(np.int16)
    moves[starts[1:] - 1] = points
    ply = np.arange(len(last)) - np.repeat(starts, lengths)
    finished = lengths < longest(lines)
    kept, games = np.repeat(finished, lengths), starts[finished]
    score = batch.score.cpu().numpy()[games].astype(np.float32)  # Black moves first
    return Shard(
        rows=lines,
        cols=lines,
        moves=moves[kept],
        colours=(1 + ply % 2).astype(np.int8)[kept],
        lengths=lengths[finished].astype(np.int32),
        setup=np.zeros(0, np.int16),
        setup_colours=np.zeros(0, np.int8),
        setup_lengths=np.zeros(len(games), np.int32),
        komi=-batch.komi.cpu().numpy()[games].astype(np.float32),
        territory=np.zeros(len(games), np.int8),
        winner=np.select([score > 0, score < 0], [1, 2], 0).astype(np.int8),
        score=score,
        labelled=np.arange(len(games), dtype=np.int32),
        ownership=batch.owner.cpu().numpy()[games].astype(np.int8),
    )


def record_games(
    network: DeepNetwork,
    settings: SelfPlaySettings,
    folder: Path,
    *,
    rounds: int = 1,
    device: str = "cpu",
    on_games: Callable[[int], None] = lambda ended: None,
) -> Made:
    """Play rounds of games on every size and write each as a shard when it is done.

    Raises
    ------
    RunError
        If the folder holds shards already.
    SpecError
        If the games do not fit into the device's memory.
    """
    refuse_shards(folder)
    place = torch.device(device)
    use_fast_products(place)
    learned = network_of(network.weights_, network.design_).to(place)
    dtype = torch.bfloat16 if place.type == "cuda" else torch.float32
    player = FoldedNetwork(learned, place, dtype)
    generator = torch.Generator(place)
    folder.mkdir(parents=True, exist_ok=True)
    files, games, positions, cut = [], 0, 0, 0
    for lines in settings.size:
        for number, seed in enumerate(spawn_seeds(settings.seed, rounds, lines)):
            generator.manual_seed(seed)
            try:
                tally, batch = play_out(settings, lines, player, generator, on_games=on_games)
            except RuntimeError as failure:  # CUDA's kind is one of these
                if "memory" not in str(failure):
                    raise
                raise SpecError(
                    f"{device}: no memory for {settings.games} games on {lines}x{lines}; ask for "
                    "fewer games, in more rounds"
                ) from None
            shard = shard_of(batch)
            files.append(folder / f"{lines}x{lines}-{number:05d}.safetensors")
            shard.save(files[-1])
            games, positions = games + len(shard), positions + shard.positions
            cut += tally.games - len(shard)
    return Made(tuple(files), games, positions, passed_over=cut, counted=games, labelled=games)
