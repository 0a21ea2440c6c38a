"""The loop of self-play: play a move in all games, learn from the games that ended, play on.

A *room* holds the games of one board size and the buffer of their latest positions; one network
plays in all rooms and learns from all. The whole state can be saved and restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from tengen.learners.network.batches import Batch
from tengen.learners.network.inputs import TERRITORY_PLANE
from tengen.learners.network.torch_network import FoldedNetwork
from tengen.learners.network.training import Trainer
from tengen.learners.self_play.parallel_games import Tally
from tengen.learners.self_play.replay_buffer import ReplayBuffer
from tengen.learners.self_play.settings import FIRST_BATCHES, SelfPlaySettings, design_of

_YOUNG = 0.5
"""Share of all positions that are drawn from while a buffer is not full: the first are poor."""


class Games(Protocol):
    """Who plays the games of one size."""

    tally: Tally

    def play(self) -> None:
        """Begin the next piece of playing; need not wait for it."""

    def collect(self) -> Batch | None:
        """Return what was finished."""

    def tensors(self) -> dict[str, Tensor]:
        """Return everything that the games under way depend on."""

    def restore(self, tensors: Mapping[str, Any]) -> None:
        """Take over what `tensors` returned."""


@dataclass
class Room:
    """Games of one size and what is learned from."""

    lines: int
    games: Games
    buffer: ReplayBuffer
    debt: float = 0.0
    """Positions that are still to be learned from."""


class Pupil(Trainer):
    """A network that learns, and the folded one that plays with what was learned."""

    def __init__(self, settings: SelfPlaySettings, device: torch.device) -> None:
        super().__init__(design_of(settings), settings, device, graphs=False)
        # Its games count area. A plane that is never set must not add its random first weights.
        with torch.no_grad():
            self.network.weight("lift.weight")[:, TERRITORY_PLANE] = 0
        self.player = FoldedNetwork(self.network, device, self.dtype)

    def hand_over(self) -> None:
        """Let the playing network use what was learned."""
        self.player.take_over(self.network)

    def load_weights(self, arrays: Mapping[str, Any]) -> None:
        """Take over weights, for play too."""
        super().load_weights(arrays)
        self.hand_over()


class Loop:
    """A network that plays and learns."""

    def __init__(
        self,
        settings: SelfPlaySettings,
        pupil: Pupil,
        rooms: list[Room],
        generator: torch.Generator,
    ) -> None:
        self.settings, self.pupil, self.rooms, self.generator = settings, pupil, rooms, generator
        self.rounds = 0

    @property
    def moves(self) -> int:
        """Moves played in all rooms."""
        return sum(room.games.tally.moves for room in self.rooms)

    def advance(self, progress: float) -> None:
        """Play on in every room and learn what is due; `progress` is 0 to 1."""
        for room in self.rooms:
            room.games.play()
        # While a GPU plays, it is already told what to learn after that.
        learned = [self._learn(room, progress) for room in self.rooms]
        if any(learned):
            self.pupil.hand_over()
        for room in self.rooms:
            batch = room.games.collect()
            if batch is not None:
                room.buffer.add(batch)
                room.debt += self.settings.reuse * len(batch.codes)
        if any(learned):
            self.pupil.check()  # here a GPU was waited for anyway
        self.rounds += 1

    def _learn(self, room: Room, progress: float) -> bool:
        """Learn from one buffer what is due; tell whether there was anything."""
        batch = self.settings.batch
        if len(room.buffer) < FIRST_BATCHES * batch:
            room.debt = min(room.debt, float(batch))
            return False
        learned = room.debt >= batch
        latest = max(FIRST_BATCHES * batch, int(_YOUNG * room.buffer.total))
        while room.debt >= batch:
            room.debt -= batch
            self.pupil.learn(room.buffer.draw(batch, latest, self.generator), progress)
        return learned

    def tensors(self, most: int | None = None) -> dict[str, Any]:
        """Return everything that the next round depends on; of each buffer the latest `most`."""
        found: dict[str, Any] = dict(self.pupil.arrays())
        found["chance"] = self.generator.get_state().numpy()
        for room in self.rooms:
            parts = {f"games.{k}": v for k, v in room.games.tensors().items()}
            parts |= {f"buffer.{k}": v for k, v in room.buffer.tensors(most).items()}
            for name, tensor in parts.items():
                found[f"{room.lines}.{name}"] = tensor.detach().cpu().numpy()
        return found

    def counts(self) -> dict[str, Any]:
        """Return the numbers that belong to `tensors`, as JSON can hold them."""
        rooms = {
            str(room.lines): {
                "tally": room.games.tally._asdict(),
                "added": room.buffer.total,
                "debt": room.debt,
            }
            for room in self.rooms
        }
        return {"rounds": self.rounds, "steps": self.pupil.step, "rooms": rooms}

    def restore(self, arrays: Mapping[str, Any], counts: Mapping[str, Any]) -> None:
        """Take over what `tensors` and `counts` returned."""
        self.rounds = int(counts["rounds"])
        self.pupil.restore(arrays, int(counts["steps"]))
        self.generator.set_state(torch.from_numpy(arrays["chance"].copy()))
        for room in self.rooms:
            mine = f"{room.lines}."
            tensors = {
                name.removeprefix(mine): torch.from_numpy(array.copy()).to(self.pupil.device)
                for name, array in arrays.items()
                if name.startswith(mine)
            }
            said = counts["rooms"][str(room.lines)]
            room.games.tally = Tally(**said["tally"])
            room.games.restore(_part(tensors, "games."))
            room.buffer.restore(_part(tensors, "buffer."), int(said["added"]))
            room.debt = float(said["debt"])


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
