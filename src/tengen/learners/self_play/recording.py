"""Let a network play itself to the end of all games and keep them as shards; learn nothing.

So what one network found out by itself can be taught to another, beside the games of people.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from tengen.errors import SpecError
from tengen.learners.deep_network import DeepNetwork
from tengen.learners.deep_network.inputs_kernels import NOWHERE
from tengen.learners.deep_network.network import Network
from tengen.learners.deep_network.shards import Made, Shard, refuse_shards
from tengen.learners.self_play.judge import Judge
from tengen.learners.self_play.making import make_player, use_fast_products
from tengen.learners.self_play.playing import Player, Tally
from tengen.learners.self_play.settings import SelfPlaySettings, longest
from tengen.learners.self_play.window import Lesson, join
from tengen.parallel import spawn_seeds


def play_out(
    settings: SelfPlaySettings,
    lines: int,
    judge: Judge,
    generator: torch.Generator,
    *,
    on_games: Callable[[int], None] = lambda ended: None,
) -> tuple[Tally, Lesson]:
    """Play `settings.games` games side by side until all have ended."""
    player = make_player(settings, lines, judge, generator, endless=False)
    lessons = []
    while bool(player.counts.any()):
        before = player.tally.games
        player.play()
        lesson = player.collect()
        if lesson is not None:
            lessons.append(lesson)
            on_games(player.tally.games - before)
            player = _closed_up(player, settings, judge)
    return player.tally, join(lessons)


def _closed_up(player: Player, settings: SelfPlaySettings, judge: Judge) -> Player:
    """Leave the places of ended games out, once that is worth it."""
    left, games = int(player.counts.sum()), player.search.games
    # A GPU would have to compile and capture anew, which costs it more than empty places.
    if player.device.type != "cpu" or not 0 < left <= games * 3 // 4:
        return player
    smaller = make_player(
        settings, player.search.lines, judge, player.generator, games=left, endless=False
    )
    smaller.restore({k: v[player.counts] for k, v in player.tensors().items()})
    smaller.tally = player.tally
    return smaller


def shard_of(lesson: Lesson, lines: int) -> Shard:
    """Return the games of a lesson that both sides ended by passing; others were cut."""
    points = lines * lines
    last, passed = lesson.history[:, 0].cpu().numpy(), lesson.passed.cpu().numpy()
    starts = np.flatnonzero((last == NOWHERE) & ~passed)
    lengths = np.diff(np.append(starts, len(last)))
    # What was played is what the next position calls the last move; the last move ends the game.
    moves = np.append(np.where(passed, points, last)[1:], points).astype(np.int16)
    moves[starts[1:] - 1] = points
    ply = np.arange(len(last)) - np.repeat(starts, lengths)
    finished = lengths < longest(lines)
    kept, games = np.repeat(finished, lengths), starts[finished]
    score = lesson.score.cpu().numpy()[games].astype(np.float32)  # Black moves first
    return Shard(
        rows=lines,
        cols=lines,
        moves=moves[kept],
        colours=(1 + ply % 2).astype(np.int8)[kept],
        lengths=lengths[finished].astype(np.int32),
        setup=np.zeros(0, np.int16),
        setup_colours=np.zeros(0, np.int8),
        setup_lengths=np.zeros(len(games), np.int32),
        komi=-lesson.komi.cpu().numpy()[games].astype(np.float32),
        territory=np.zeros(len(games), np.int8),
        winner=np.select([score > 0, score < 0], [1, 2], 0).astype(np.int8),
        score=score,
        labelled=np.arange(len(games), dtype=np.int32),
        ownership=lesson.owner.cpu().numpy()[games].astype(np.int8),
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
    learned = Network(network.design_).to(place)
    learned.load_state_dict({k: torch.tensor(v) for k, v in network.weights_.items()})
    judge = Judge(learned, place, torch.bfloat16 if place.type == "cuda" else torch.float32)
    generator = torch.Generator(place)
    folder.mkdir(parents=True, exist_ok=True)
    files, games, positions, cut = [], 0, 0, 0
    for lines in settings.size:
        for number, seed in enumerate(spawn_seeds(settings.seed, rounds, lines)):
            generator.manual_seed(seed)
            try:
                tally, lesson = play_out(settings, lines, judge, generator, on_games=on_games)
            except RuntimeError as failure:  # CUDA's kind is one of these
                if "memory" not in str(failure):
                    raise
                raise SpecError(
                    f"{device}: no memory for {settings.games} games on {lines}x{lines}; ask for "
                    "less by --games, and for more --rounds"
                ) from None
            shard = shard_of(lesson, lines)
            files.append(folder / f"{lines}x{lines}-{number:05d}.safetensors")
            shard.save(files[-1])
            games, positions = games + len(shard), positions + shard.positions
            cut += tally.games - len(shard)
    return Made(tuple(files), games, positions, passed_over=cut, counted=games, labelled=games)
