"""The loop of self-play: play a move in all games, learn from the games that ended, play on.

A *room* holds the games of one board size and the buffer of their latest positions; one network
plays in all rooms and learns from all. The whole state can be saved and restored. Games are played
on this device, or by other processes and machines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.errors import SpecError
from tengen.learners.network.batches import Batch
from tengen.learners.network.inputs import TERRITORY_PLANE
from tengen.learners.network.inputs_kernels import HISTORY
from tengen.learners.network.torch_network import FoldedNetwork, network_arrays, network_of
from tengen.learners.network.training import Trainer
from tengen.learners.self_play.parallel_games import Tally, ask_for_memory, make_games, play_out
from tengen.learners.self_play.settings import FIRST_BATCHES, SelfPlaySettings, design_of
from tengen.parallel import Team, spawn_seeds

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


# ----- The replay buffer -----

_NAMES = Batch._fields[2:]


class ReplayBuffer:
    """The latest positions on boards of one size, on a device."""

    def __init__(self, lines: int, capacity: int, device: torch.device) -> None:
        def zeros(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros((capacity, *shape), dtype=dtype, device=device)

        points = lines * lines
        self.capacity, self.device, self.total, self.lost = capacity, device, 0, 0
        """`total` counts all positions ever added, `lost` those that were not kept."""
        self.rows = Batch(
            rows=lines,
            cols=lines,
            codes=zeros(points, dtype=torch.uint8),
            history=zeros(HISTORY, dtype=torch.int16),
            passed=zeros(dtype=torch.bool),
            komi=zeros(dtype=torch.float32),
            territory=zeros(dtype=torch.bool),
            moves=zeros(points + 1, dtype=torch.float16),
            winner=zeros(dtype=torch.float32),
            score=zeros(dtype=torch.float32),
            scored=zeros(dtype=torch.bool),
            owner=zeros(points, dtype=torch.int8),
            owned=zeros(dtype=torch.bool),
        )

    def __len__(self) -> int:
        return min(self.total - self.lost, self.capacity)

    def _batch(self, tensors: Mapping[str, Tensor]) -> Batch:
        return self.rows._replace(**tensors)

    def add(self, batch: Batch) -> None:
        """Add positions; the oldest make room."""
        count = len(batch.codes)
        batch = batch.part(slice(-self.capacity, None))
        kept = len(batch.codes)
        places = torch.arange(self.total + count - kept, self.total + count, device=self.device)
        places %= self.capacity
        for mine, new in zip(self.rows[2:], batch[2:], strict=True):
            mine[places] = new.to(mine.dtype)
        self.total += count

    def blank(self, count: int) -> Batch:
        """Return empty rows, shaped as drawn ones."""
        tensors = zip(_NAMES, self.rows[2:], strict=True)
        return self._batch({n: part.new_zeros((count, *part.shape[1:])) for n, part in tensors})

    def draw(self, count: int, latest: int, generator: torch.Generator) -> Batch:
        """Draw positions by chance from the `latest` ones."""
        span = min(len(self), latest)
        ago = torch.randint(1, span + 1, (count,), generator=generator, device=self.device)
        return self._batch(self._at((self.total - ago) % self.capacity))

    def _at(self, places: Tensor) -> dict[str, Tensor]:
        return {name: getattr(self.rows, name)[places] for name in _NAMES}

    def tensors(self, most: int | None = None) -> dict[str, Tensor]:
        """Return the latest positions (all, or `most`), by name, oldest first."""
        count = len(self) if most is None else min(len(self), most)
        return self._at(
            torch.arange(self.total - count, self.total, device=self.device) % self.capacity
        )

    def restore(self, tensors: Mapping[str, Tensor], total: int) -> None:
        """Take over what `tensors` returned; `total` as it was then."""
        batch = self._batch({name: tensors[name].to(self.device) for name in _NAMES})
        self.total = self.lost = total - len(batch.codes)
        self.add(batch)


# ----- Games played by other processes or machines -----

# A piece of a round is one job: weights and a seed go out, positions of finished games come back.
# So a worker that is lost costs only its unfinished games, which another plays again, the same.

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


def make_loop(settings: SelfPlaySettings, device: torch.device) -> Loop:
    """Make a loop that plays and learns on one device, in this process."""
    pupil = Pupil(settings, device)
    generator = torch.Generator(device)
    generator.manual_seed(settings.seed)
    try:
        ask_for_memory(sum(4 * lines * lines * settings.window for lines in settings.size), device)
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
