"""Train a network by self-play: play a move in all games, learn from games that ended, repeat.

    FOLDER/config.toml, metrics.jsonl, checkpoints/   as in every run, see `models.runs`
    FOLDER/clock.jsonl       when each row was written: {"step": 40, "seconds": 61.2}
    FOLDER/snapshots/        the network at every twentieth of the run, to be rated later
    FOLDER/model.safetensors the network at the end

One network plays and learns on all board sizes, each with its own games and replay buffer. Games
are played on this device, or by other processes and machines. A checkpoint holds weights,
optimizer, games in progress and buffers; on one processor a stopped run continues bit for bit.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tengen.errors import SpecError
from tengen.files import write_atomic
from tengen.models.runs import Run
from tengen.models.settings import fields_of
from tengen.network import DeepNetwork
from tengen.network.engine import chosen_device
from tengen.network.layers import TERRITORY_PLANE
from tengen.network.torch_network import FoldedNetwork, network_arrays, network_of
from tengen.network.training import Batch, ReplayBuffer, Trainer, joined
from tengen.parallel import Team, spawn_seeds
from tengen.self_play import CLOCK, read_clock
from tengen.self_play.parallel_games import (
    ParallelGames,
    Tally,
    ask_for_memory,
    copy_into,
    explain_out_of_memory,
    make_games,
    play_out,
)
from tengen.self_play.settings import (
    FIRST_BATCHES,
    SelfPlaySettings,
    design_of,
    evaluations_at,
    sizes_at,
)

MODEL = "model.safetensors"
_ROWS, _SNAPSHOTS = 200, 20  # rows of metrics and snapshots in a run
SAVE_SECONDS = 60.0  # a killed run loses no more than this, and the work of one row
_WINDOW_ON_DISK = 500_000  # positions of each buffer that a checkpoint keeps
_YOUNG = 0.5  # while a buffer fills, draw from this latest share of positions: early ones are poor
_CPU = torch.device("cpu")


class SelfPlayTrainer(Trainer):
    """A network in training, and the folded copy that plays."""

    def __init__(self, settings: SelfPlaySettings, device: torch.device) -> None:
        super().__init__(design_of(settings), settings, device, graphs=False)
        # Its games count area, so the territory plane's weights are never trained: zero them.
        with torch.no_grad():
            self.network.weight("lift.weight")[:, TERRITORY_PLANE] = 0
        self.player = FoldedNetwork(self.network, device, self.dtype)

    def load_weights(self, arrays: Mapping[str, Any]) -> None:
        """Load weights, also into the copy that plays."""
        super().load_weights(arrays)
        self.player.take_over(self.network)


# ----- Games played by other processes or machines -----

# A piece of a round is one job: weights and a seed go out, positions of finished games come back.
# A lost worker costs only its unfinished games: another one plays the same again.


class GamesJob(NamedTuple):
    """Games to play to their end."""

    settings: SelfPlaySettings
    lines: int
    weights: dict[str, NDArray[Any]]
    seed: int


def play_piece(piece: GamesJob) -> tuple[Tally, list[NDArray[Any]]]:
    """Play games until all have ended; return their tally and the tensors of their `Batch`."""
    network = network_of(piece.weights, design_of(piece.settings))
    player = FoldedNetwork(network, _CPU, torch.float32)
    generator = torch.Generator(_CPU).manual_seed(piece.seed)
    tally, batch = play_out(piece.settings, piece.lines, player, generator)
    tally = tally._replace(moves=tally.positions)  # of the games that count
    return tally, [part.numpy() for part in batch[2:]]


Workers = Team[GamesJob, tuple[Tally, list[NDArray[Any]]]]


class RemoteGames:
    """Games of one size that workers play, a round at a time."""

    def __init__(self, lines: int, trainer: SelfPlayTrainer, team: Workers) -> None:
        self.lines, self.trainer, self.team = lines, trainer, team
        self.tally, self.round = Tally(), torch.zeros(1, dtype=torch.int64)
        self.evaluations = trainer.settings.evaluations

    def play(self, evaluations: int) -> None:
        """Do nothing yet: workers play while `collect` waits."""
        self.evaluations = evaluations

    def collect(self) -> Batch | None:
        """Play one round with the current weights."""
        settings, weights = self.trainer.settings, network_arrays(self.trainer.network)
        seeds = spawn_seeds(settings.seed, settings.pieces, self.lines, int(self.round))
        told = replace(settings, evaluations=self.evaluations, first_evaluations=0)
        played = self.team.map([GamesJob(told, self.lines, weights, seed) for seed in seeds])
        self.round += 1
        self.tally = self.tally.plus(*(tally for tally, _ in played))
        batches = [map(torch.from_numpy, arrays) for _, arrays in played]
        return joined([Batch(self.lines, self.lines, *batch) for batch in batches])

    def tensors(self) -> dict[str, Tensor]:
        """Return the state: the number of the next round."""
        return {"round": self.round}


# ----- The loop -----


@dataclass
class BoardSizeState:
    """Games of one size and their latest positions."""

    lines: int
    games: ParallelGames | RemoteGames
    buffer: ReplayBuffer[Batch]
    positions_due: float = 0.0  # positions that are still to be learned from


class Loop:
    """A network that plays and learns; with a team, other processes play its games."""

    def __init__(
        self, settings: SelfPlaySettings, device: torch.device = _CPU, team: Workers | None = None
    ) -> None:
        self.settings, self.rounds = settings, 0
        self.trainer = SelfPlayTrainer(settings, device)
        self.generator = torch.Generator(device).manual_seed(settings.seed)
        sizes, games, window = settings.size, settings.games, settings.window
        wish = f"{games} games of each size and a window of {window} positions"
        hint = "ask for fewer games in parallel, or for a smaller window"
        with explain_out_of_memory(f"{device}: no memory for {wish}; {hint}"):
            ask_for_memory(sum(4 * lines * lines * window for lines in sizes), device)
            self.rooms = []
            for lines in sizes:
                played: ParallelGames | RemoteGames
                if team is None:
                    played = make_games(settings, lines, self.trainer.player, self.generator)
                else:
                    played = RemoteGames(lines, self.trainer, team)
                buffer = ReplayBuffer(Batch.blank(lines, 0, device), window)
                self.rooms.append(BoardSizeState(lines, played, buffer))
            for lines in sizes if device.type == "cuda" else ():
                self.trainer.warm_up(Batch.blank(lines, settings.batch, device))

    def tally(self) -> Tally:
        """Return the sum over all rooms."""
        return Tally().plus(*(room.games.tally for room in self.rooms))

    def advance(self, progress: float) -> None:
        """Play on in every room and learn what is due; `progress` is 0 to 1."""
        sizes = sizes_at(self.settings, progress)
        evaluations = evaluations_at(self.settings, progress)
        rooms = [room for room in self.rooms if room.lines in sizes]
        for room in rooms:
            room.games.play(evaluations)
        # While a GPU still plays, queue the training steps that follow.
        learned = [self._learn(room, progress) for room in rooms]
        if any(learned):
            self.trainer.player.take_over(self.trainer.network)
        for room in rooms:
            batch = room.games.collect()
            if batch is not None:
                room.buffer.add(batch)
                room.positions_due += self.settings.reuse * len(batch.codes)
        if any(learned):
            self.trainer.check()  # here, as `collect` has waited for the GPU anyway
        self.rounds += 1

    def _learn(self, room: BoardSizeState, progress: float) -> bool:
        """Train on the batches due from one buffer; return whether there were any."""
        batch = self.settings.batch
        if len(room.buffer) < FIRST_BATCHES * batch:
            room.positions_due = min(room.positions_due, float(batch))
            return False
        learned = room.positions_due >= batch
        latest = max(FIRST_BATCHES * batch, int(_YOUNG * room.buffer.total))
        while room.positions_due >= batch:
            room.positions_due -= batch
            self.trainer.learn(room.buffer.draw(batch, latest, self.generator), progress)
        return learned

    def arrays(self, most: int | None = None) -> dict[str, Any]:
        """Return the whole state; of each buffer the latest `most` positions."""
        found: dict[str, Any] = dict(self.trainer.arrays())
        found["chance"] = self.generator.get_state().numpy()
        found["counts"] = np.array([self.rounds, self.trainer.step])
        for room in self.rooms:
            counts = [*room.games.tally, room.buffer.total, room.positions_due]
            found[f"{room.lines}.counts"] = np.array(counts, np.float64)
            parts = {f"games.{k}": v for k, v in room.games.tensors().items()}
            parts |= {f"buffer.{k}": v for k, v in room.buffer.tensors(most).items()}
            for name, tensor in parts.items():
                found[f"{room.lines}.{name}"] = tensor.detach().cpu().numpy()
        return found

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Continue from what `arrays` returned."""
        self.rounds, steps = arrays["counts"].tolist()
        self.trainer.restore(arrays, steps)
        self.generator.set_state(torch.from_numpy(arrays["chance"].copy()))
        for room in self.rooms:

            def stored(prefix: str) -> dict[str, Tensor]:
                device = self.trainer.device
                return {
                    name.removeprefix(prefix): torch.from_numpy(array.copy()).to(device)
                    for name, array in arrays.items()
                    if name.startswith(prefix)
                }

            *tally, total, room.positions_due = arrays[f"{room.lines}.counts"].tolist()
            room.games.tally = Tally(*map(int, tally))
            copy_into(room.games.tensors(), stored(f"{room.lines}.games."))
            room.buffer.restore(stored(f"{room.lines}.buffer."), int(total))


# ----- Runs -----


def train(
    settings: SelfPlaySettings,
    run: Run[SelfPlaySettings],
    *,
    device: str = "cpu",
    start: DeepNetwork | None = None,
    workers: int = 1,
    ray: str | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
) -> DeepNetwork:
    """Start or resume a run, play and train until it is done; return the network."""
    alone = workers == 1 and ray is None
    check(settings, device=device, start=start, alone=alone)
    with nullcontext() if alone else Team(play_piece, workers=workers, ray=ray) as team:
        loop = Loop(settings, torch.device(chosen_device(device)), team)
        clock, rows, before = run.folder / CLOCK, [], 0.0
        if run.start is not None:
            loop.restore(run.start.arrays)
            before = float(run.start.state["seconds"])
            rows = [row for row in read_clock(clock) if row["step"] <= run.start.step]
        elif start is not None:
            loop.trainer.load_weights(start.weights_)
        began, first, seen = time.monotonic(), loop.tally(), loop.tally()
        done = _progress(loop, before)
        while done < 1:
            loop.advance(done)
            passed = time.monotonic() - began
            seconds = before + passed
            after = _progress(loop, seconds)
            if int(after * _ROWS) > int(done * _ROWS) or after >= 1:
                row, now = _row(loop, seen), loop.tally()
                run.note(loop.rounds, **row)
                rows.append({"step": loop.rounds, "seconds": round(seconds, 1)})
                write_atomic(clock, "".join(json.dumps(each) + "\n" for each in rows))
                row |= {
                    "progress": after,
                    "seconds": seconds,
                    "games_per_second": (now.games - first.games) / passed,
                    "evaluations_per_second": (now.evaluations - first.evaluations) / passed,
                    "left": seconds / after - seconds,
                }
                on_row(row)
                if int(after * _SNAPSHOTS) > int(done * _SNAPSHOTS) or after >= 1:
                    _save(loop, run.snapshot(loop.rounds))
                if run.due(SAVE_SECONDS) or after >= 1:
                    run.save(loop.rounds, loop.arrays(_WINDOW_ON_DISK), {"seconds": seconds})
                seen = now
            done = after
        return _save(loop, run.folder / MODEL)


def check(
    settings: SelfPlaySettings, *, device: str, start: DeepNetwork | None, alone: bool = True
) -> None:
    """Raise `SpecError` for what cannot be trained here, before a folder is made."""
    if chosen_device(device) != "cpu" and not alone:
        raise SpecError(f"device {device}: worker processes need the device cpu")
    if start is not None and replace(start.design_, ladders=False) != design_of(settings):
        raise SpecError(f"start: the network's design is not {settings.design}")


def _progress(loop: Loop, seconds: float) -> float:
    """Return how much of the run is done."""
    if loop.settings.minutes:
        return min(1.0, seconds / (60 * loop.settings.minutes))
    return min(1.0, loop.tally().moves / loop.settings.positions)


def _row(loop: Loop, seen: Tally) -> dict[str, Any]:
    """Return the metrics since a tally was taken."""
    now = loop.tally()
    row: dict[str, Any] = {
        "games": now.games,
        "positions": now.moves,
        "batches": loop.trainer.step,
        "loss": loop.trainer.mean_losses(),
    }
    if games := now.games - seen.games:
        row["length"] = round((now.positions - seen.positions) / games, 2)
        row["black_wins"] = round((now.black_wins - seen.black_wins) / games, 4)
    return row


def _save(loop: Loop, path: Path) -> DeepNetwork:
    """Write the network as it is now and return it."""
    settings, network = loop.settings, DeepNetwork()
    network.design_ = design_of(settings)
    network.weights_ = network_arrays(loop.trainer.network)
    sizes = " and ".join(f"{lines}x{lines}" for lines in settings.size)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = f"{loop.tally().games} games against itself on {sizes}"
    boards = [(lines, lines) for lines in settings.size]
    network.save(path, name=path.stem, data=data, remake=_command_for(settings), sizes=boards)
    return network


def _command_for(settings: SelfPlaySettings) -> str:
    """Return the command that repeats this training (on a GPU, add --device cuda).

    >>> _command_for(SelfPlaySettings(size=(7, 9), komi=9.0))
    'tengen train self-play --size 7 --size 9 --komi 9.0 --out runs/self-play'
    """
    words = ["tengen train self-play"]
    for field in fields_of(SelfPlaySettings):
        value = getattr(settings, field.name)
        if value != field.default:
            words += [f"--{field.option} {each}" for each in (value if field.many else (value,))]
    return " ".join([*words, "--out runs/self-play"])
