"""Have other processes or machines play the games of a round.

A piece of a round is one job: weights and a seed go out, positions of finished games come back. So
a worker that is lost costs only its unfinished games, which another plays again, the very same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.learners.network.batches import Batch
from tengen.learners.network.torch_network import FoldedNetwork, network_arrays, network_of
from tengen.learners.self_play.loop import Loop, Pupil, Room
from tengen.learners.self_play.parallel_games import Tally
from tengen.learners.self_play.recording import play_out
from tengen.learners.self_play.replay_buffer import ReplayBuffer
from tengen.learners.self_play.settings import SelfPlaySettings, design_of
from tengen.parallel import Team, spawn_seeds

_CPU = torch.device("cpu")


@dataclass(frozen=True)
class Piece:
    """Games to play to their end."""

    settings: SelfPlaySettings
    lines: int
    weights: dict[str, NDArray[Any]]
    seed: int


@dataclass(frozen=True)
class Played:
    """What came of a piece."""

    tally: Tally
    arrays: tuple[NDArray[Any], ...]
    """The tensors of a `Batch`."""


def play_piece(piece: Piece) -> Played:
    """Play games side by side until all have ended."""
    network = network_of(piece.weights, design_of(piece.settings))
    player = FoldedNetwork(network, _CPU, torch.float32)
    generator = torch.Generator(_CPU)
    generator.manual_seed(piece.seed)
    tally, batch = play_out(piece.settings, piece.lines, player, generator)
    tally = tally._replace(moves=tally.positions)  # of the games that count
    return Played(tally, tuple(part.numpy() for part in batch[2:]))


class _RemoteGames:
    """Games of one size that workers play, a round at a time."""

    def __init__(
        self, settings: SelfPlaySettings, lines: int, pupil: Pupil, team: Team[Piece, Played]
    ) -> None:
        self.settings, self.lines, self.pupil, self.team = settings, lines, pupil, team
        self.tally = Tally()
        self.round = 0

    def play(self) -> None:
        """Do nothing yet: workers play while we wait in `collect`."""

    def collect(self) -> Batch | None:
        """Have one round played with the weights as they are."""
        weights = network_arrays(self.pupil.network)
        seeds = spawn_seeds(self.settings.seed, self.settings.pieces, self.lines, self.round)
        pieces = [Piece(self.settings, self.lines, weights, seed) for seed in seeds]
        played = self.team.map(pieces)
        self.round += 1
        self.tally = self.tally.plus(*(each.tally for each in played))
        batches = [map(torch.from_numpy, each.arrays) for each in played]
        return Batch.join([Batch(self.lines, self.lines, *batch) for batch in batches])

    def tensors(self) -> dict[str, Tensor]:
        """Return what the next round depends on: only its number."""
        return {"round": torch.tensor([self.round])}

    def restore(self, tensors: Mapping[str, Any]) -> None:
        """Take over what `tensors` returned."""
        self.round = int(tensors["round"][0])


def make_remote_loop(settings: SelfPlaySettings, team: Team[Piece, Played]) -> Loop:
    """Make a loop that learns here and has its games played by others, by `play_piece`."""
    pupil = Pupil(settings, _CPU)
    generator = torch.Generator(_CPU)
    generator.manual_seed(settings.seed)
    rooms = [
        Room(
            lines,
            _RemoteGames(settings, lines, pupil, team),
            ReplayBuffer(lines, settings.window, _CPU),
        )
        for lines in settings.size
    ]
    return Loop(settings, pupil, rooms, generator)
