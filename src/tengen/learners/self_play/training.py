"""Train a network by self-play: play a move in all games, learn from games that ended, repeat.

    FOLDER/config.toml, metrics.jsonl, checkpoints/   as in every run, see `models.runs`
    FOLDER/clock.jsonl       when each row was written: {"step": 40, "seconds": 61.2}
    FOLDER/snapshots/        the network at every twentieth of the run, to be rated later
    FOLDER/model.safetensors the network at the end

A *room* holds the games of one board size and the replay buffer of their latest positions; one
network plays in all rooms and learns from all. A checkpoint holds weights, optimizer, games under
way and buffers; on one processor a stopped run goes on exactly, bit for bit. Games are played on
this device, or by other processes and machines.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.errors import SpecError
from tengen.files import write_atomic
from tengen.learners.network import DeepNetwork
from tengen.learners.network.engine import chosen_device
from tengen.learners.network.inputs import TERRITORY_PLANE
from tengen.learners.network.torch_network import FoldedNetwork, network_arrays, network_of
from tengen.learners.network.training import Batch, ReplayBuffer, Trainer
from tengen.learners.self_play import CLOCK, read_clock
from tengen.learners.self_play.parallel_games import (
    ParallelGames,
    Tally,
    ask_for_memory,
    clear_about_memory,
    copy_into,
    make_games,
    play_out,
)
from tengen.learners.self_play.settings import FIRST_BATCHES, SelfPlaySettings, design_of
from tengen.models.runs import Run
from tengen.models.settings import fields_of
from tengen.parallel import Team, spawn_seeds

MODEL = "model.safetensors"
_ROWS, _SNAPSHOTS = 200, 20
"""Rows of metrics and snapshots in a run."""
SAVE_SECONDS = 60.0
"""A killed run loses no more than this, and the work of one row."""
_WINDOW_ON_DISK = 500_000
"""Positions of each buffer that a state keeps; a larger one fills again after a resumption."""
_YOUNG = 0.5
"""Share of all positions that are drawn from while a buffer is not full: the first are poor."""
_CPU = torch.device("cpu")


class Pupil(Trainer):
    """A network that learns, and the folded one that plays with what was learned."""

    def __init__(self, settings: SelfPlaySettings, device: torch.device) -> None:
        super().__init__(design_of(settings), settings, device, graphs=False)
        # Its games count area. A plane that is never set must not add its random first weights.
        with torch.no_grad():
            self.network.weight("lift.weight")[:, TERRITORY_PLANE] = 0
        self.player = FoldedNetwork(self.network, device, self.dtype)

    def load_weights(self, arrays: Mapping[str, Any]) -> None:
        """Take over weights, for play too."""
        super().load_weights(arrays)
        self.player.take_over(self.network)


# ----- Games played by other processes or machines -----

# A piece of a round is one job: weights and a seed go out, positions of finished games come back.
# So a worker that is lost costs only its unfinished games, which another plays again, the same.


@dataclass(frozen=True)
class Piece:
    """Games to play to their end."""

    settings: SelfPlaySettings
    lines: int
    weights: dict[str, NDArray[Any]]
    seed: int


def play_piece(piece: Piece) -> tuple[Tally, list[NDArray[Any]]]:
    """Play games side by side until all have ended; return also the tensors of their `Batch`."""
    network = network_of(piece.weights, design_of(piece.settings))
    player = FoldedNetwork(network, _CPU, torch.float32)
    generator = torch.Generator(_CPU).manual_seed(piece.seed)
    tally, batch = play_out(piece.settings, piece.lines, player, generator)
    tally = tally._replace(moves=tally.positions)  # of the games that count
    return tally, [part.numpy() for part in batch[2:]]


Workers = Team[Piece, tuple[Tally, list[NDArray[Any]]]]


class RemoteGames:
    """Games of one size that workers play, a round at a time."""

    def __init__(self, lines: int, pupil: Pupil, team: Workers) -> None:
        self.lines, self.pupil, self.team = lines, pupil, team
        self.tally, self.round = Tally(), torch.zeros(1, dtype=torch.int64)

    def play(self) -> None:
        """Do nothing yet: workers play while `collect` waits."""

    def collect(self) -> Batch | None:
        """Have one round played with the weights as they are."""
        settings, weights = self.pupil.settings, network_arrays(self.pupil.network)
        seeds = spawn_seeds(settings.seed, settings.pieces, self.lines, int(self.round))
        played = self.team.map([Piece(settings, self.lines, weights, seed) for seed in seeds])
        self.round += 1
        self.tally = self.tally.plus(*(tally for tally, _ in played))
        batches = [map(torch.from_numpy, arrays) for _, arrays in played]
        return Batch.join([Batch(self.lines, self.lines, *batch) for batch in batches])

    def tensors(self) -> dict[str, Tensor]:
        """Return what the next round depends on: only its number."""
        return {"round": self.round}


# ----- The loop -----


@dataclass
class Room:
    """Games of one size and what is learned from."""

    lines: int
    games: ParallelGames | RemoteGames
    buffer: ReplayBuffer[Batch]
    debt: float = 0.0
    """Positions that are still to be learned from."""


class Loop:
    """A network that plays and learns: here on a device, or here on games that a team plays."""

    def __init__(
        self, settings: SelfPlaySettings, device: torch.device = _CPU, team: Workers | None = None
    ) -> None:
        self.settings, self.rounds = settings, 0
        self.pupil = Pupil(settings, device)
        self.generator = torch.Generator(device).manual_seed(settings.seed)
        sizes, games, window = settings.size, settings.games, settings.window
        wish = f"{games} games of each size and a window of {window} positions"
        hint = "ask for fewer games in parallel, or for a smaller window"
        with clear_about_memory(f"{device}: no memory for {wish}; {hint}"):
            ask_for_memory(sum(4 * lines * lines * window for lines in sizes), device)
            self.rooms = [
                Room(
                    lines,
                    make_games(settings, lines, self.pupil.player, self.generator)
                    if team is None
                    else RemoteGames(lines, self.pupil, team),
                    ReplayBuffer(Batch.blank(lines, 0, device), window),
                )
                for lines in sizes
            ]
            for lines in sizes if device.type == "cuda" else ():
                self.pupil.warm_up(Batch.blank(lines, settings.batch, device))

    def tally(self) -> Tally:
        """Return what was played in all rooms."""
        return Tally().plus(*(room.games.tally for room in self.rooms))

    def advance(self, progress: float) -> None:
        """Play on in every room and learn what is due; `progress` is 0 to 1."""
        for room in self.rooms:
            room.games.play()
        # While a GPU plays, what to learn after that is already handed to it.
        learned = [self._learn(room, progress) for room in self.rooms]
        if any(learned):
            self.pupil.player.take_over(self.pupil.network)
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

    def arrays(self, most: int | None = None) -> dict[str, Any]:
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
        """Return the numbers that belong to `arrays`, as JSON can hold them."""
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
        """Take over what `arrays` and `counts` returned."""
        self.rounds = int(counts["rounds"])
        self.pupil.restore(arrays, int(counts["steps"]))
        self.generator.set_state(torch.from_numpy(arrays["chance"].copy()))
        for room in self.rooms:

            def stored(prefix: str) -> dict[str, Tensor]:
                return {
                    name.removeprefix(prefix): torch.from_numpy(array.copy()).to(self.pupil.device)
                    for name, array in arrays.items()
                    if name.startswith(prefix)
                }

            said = counts["rooms"][str(room.lines)]
            room.games.tally, room.debt = Tally(**said["tally"]), float(said["debt"])
            copy_into(room.games.tensors(), stored(f"{room.lines}.games."))
            room.buffer.restore(stored(f"{room.lines}.buffer."), int(said["added"]))


# ----- Runs -----


def train(
    settings: SelfPlaySettings,
    run: Run[SelfPlaySettings],
    *,
    device: str = "cpu",
    start: DeepNetwork | None = None,
    workers: int = 1,
    ray: str | None = None,
    on_report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> DeepNetwork:
    """Play and learn until the run is done, from where it stands; return the network."""
    alone = workers == 1 and ray is None
    check(settings, device=device, start=start, alone=alone)
    with ExitStack() as stack:
        team = None
        if not alone:
            team = stack.enter_context(Team(play_piece, workers=workers, ray=ray))
        loop = Loop(settings, torch.device(chosen_device(device)), team)
        return _carry_on(loop, start, run, on_report)


def _carry_on(
    loop: Loop,
    start: DeepNetwork | None,
    run: Run[SelfPlaySettings],
    on_report: Callable[[dict[str, Any]], None],
) -> DeepNetwork:
    """Play and learn on from the run's last state."""
    clock = _Clock(run.folder / CLOCK)
    if run.start is not None:
        loop.restore(run.start.arrays, run.start.state["counts"])
        clock.resume(run.start.state["seconds"], run.start.step)
    elif start is not None:
        loop.pupil.load_weights(start.weights_)
    began, first, seen = time.monotonic(), loop.tally(), loop.tally()
    done = _progress(loop, clock)
    while done < 1:
        loop.advance(done)
        after = _progress(loop, clock)
        if int(after * _ROWS) > int(done * _ROWS) or after >= 1:
            row, now, seconds = _row(loop, seen), loop.tally(), clock.seconds
            run.note(loop.rounds, **row)
            clock.note(loop.rounds)
            passed = time.monotonic() - began
            moves = (now.moves - first.moves) / passed
            pace = {
                "progress": after,
                "seconds": seconds,
                "games_per_second": (now.games - first.games) / passed,
                "evaluations_per_second": moves * loop.settings.evaluations,
                "left": seconds / after - seconds,
            }
            on_report({**row, **pace})
            if int(after * _SNAPSHOTS) > int(done * _SNAPSHOTS) or after >= 1:
                _save(loop, run.snapshot(loop.rounds))
            if run.due(SAVE_SECONDS) or after >= 1:
                state = {"counts": loop.counts(), "seconds": clock.seconds}
                run.save(loop.rounds, loop.arrays(_WINDOW_ON_DISK), state)
            seen = now
        done = after
    return _save(loop, run.folder / MODEL)


def check(
    settings: SelfPlaySettings, *, device: str, start: DeepNetwork | None, alone: bool = True
) -> None:
    """Refuse what cannot be trained here, before a folder is made for it."""
    if chosen_device(device) != "cpu" and not alone:
        raise SpecError(f"device {device}: worker processes need the device cpu")
    if start is not None and replace(start.design_, ladders=False) != design_of(settings):
        raise SpecError(f"start: the network's design is not {settings.design}")


def _progress(loop: Loop, clock: _Clock) -> float:
    """Return how much of the run is done."""
    if loop.settings.minutes:
        return min(1.0, clock.seconds / (60 * loop.settings.minutes))
    return min(1.0, loop.tally().moves / loop.settings.positions)


def _row(loop: Loop, seen: Tally) -> dict[str, Any]:
    """Return the metrics since a tally was taken."""
    now = loop.tally()
    row: dict[str, Any] = {
        "games": now.games,
        "positions": now.moves,
        "batches": loop.pupil.step,
        "loss": loop.pupil.report(),
    }
    if games := now.games - seen.games:
        row["length"] = round((now.positions - seen.positions) / games, 2)
        row["black_wins"] = round((now.black_wins - seen.black_wins) / games, 4)
        row["resigned"] = round((now.resigned - seen.resigned) / games, 4)
    return row


def _save(loop: Loop, path: Path) -> DeepNetwork:
    """Write the network as it is now and return it."""
    settings, network = loop.settings, DeepNetwork()
    network.design_ = design_of(settings)
    network.weights_ = network_arrays(loop.pupil.network)
    sizes = " and ".join(f"{lines}x{lines}" for lines in settings.size)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = f"{loop.tally().games} games against itself on {sizes}"
    boards = [(lines, lines) for lines in settings.size]
    network.save(path, name=path.stem, data=data, remake=_command_for(settings), sizes=boards)
    return network


def _command_for(settings: SelfPlaySettings) -> str:
    """Return the command that trains so; on a GPU, with --device cuda.

    >>> _command_for(SelfPlaySettings(size=(7, 9), komi=9.0))
    'tengen train self-play --size 7 --size 9 --komi 9.0 --out runs/self-play'
    """
    words = ["tengen train self-play"]
    for field in fields_of(SelfPlaySettings):
        value = getattr(settings, field.name)
        if value != field.default:
            words += [f"--{field.option} {each}" for each in (value if field.many else (value,))]
    return " ".join([*words, "--out runs/self-play"])


class _Clock:
    """Seconds of a run, over all its pieces, and when its rows were written.

    They are no part of the metrics, which come out the same when a run is stopped and resumed.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._before, self._began = path, 0.0, time.monotonic()
        self._rows: list[dict[str, float]] = []

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def resume(self, seconds: float, step: int) -> None:
        self._before = float(seconds)
        self._rows = [row for row in read_clock(self._path) if row["step"] <= step]

    def note(self, step: int) -> None:
        self._rows.append({"step": step, "seconds": round(self.seconds, 1)})
        write_atomic(self._path, "".join(json.dumps(row) + "\n" for row in self._rows))
