"""Train a network on the answers of a stronger one, KataGo's, which `labelling` keeps in folders.

The network also learns to predict human moves: those played in human games, and elsewhere the
teacher's policy, at a temperature fitted to human play.
"""

# mypy: disallow-subclassing-any=False, disallow-untyped-decorators=False

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tengen.models.runs import Run
from tengen.network.engine import chosen_device
from tengen.network.labelling import OWNER_SCALE, PEOPLE, PHASES, Answers, TaughtBatch
from tengen.network.settings import DESIGNS, SCORE_SCALE, DistillationSettings
from tengen.network.torch_network import Output, network_arrays, planes_of
from tengen.network.training import ReplayBuffer, Trainer, train_steps

_NORM_BATCHES = 250
_SHARES = {PEOPLE: 0.62, "continued": 0.06, "13x13": 0.14, "9x9": 0.18}
"""How often batches come from each kind of positions."""


def softened(policy: Tensor, temperature: float | Tensor) -> Tensor:
    """Return a policy at another temperature, one for all or one per row."""
    powered = policy.clamp(min=1e-7) ** (1 / temperature) * (policy > 0)
    return powered / powered.sum(1, keepdim=True)


def fit_temperatures(policy: Tensor, move: Tensor, phase: Tensor) -> list[float]:
    """Return the temperature that fits moves best, per phase (of all moves, if it has few)."""

    def fit(chosen: Tensor) -> float:
        def surprise(temperature: float) -> float:
            odds = softened(policy[chosen], temperature).gather(1, move[chosen][:, None])
            return float(-odds.clamp(min=1e-6).log().mean())

        return min((0.5 + step * 0.1 for step in range(36)), key=surprise)

    everywhere = fit(torch.ones_like(phase, dtype=torch.bool))
    parts = [phase == number for number in range(len(PHASES))]
    return [fit(part) if int(part.sum()) >= 200 else everywhere for part in parts]


class Student(Trainer):
    """A network in training from a teacher's answers."""

    parts = ("best", "people", "winner", "lead", "spread", "owners")

    def __init__(self, settings: DistillationSettings, device: torch.device) -> None:
        super().__init__(DESIGNS[settings.design], settings, device)
        # Temperature per phase that softens the teacher's policy to match human play.
        self.temperatures = torch.full((len(PHASES),), 1.5, device=device)

    def losses(self, output: Output, batch: TaughtBatch) -> dict[str, Tensor]:
        """Return the parts of the loss of a batch."""
        assert output.best is not None
        by_people, policy = batch.moves >= 0, batch.policy.float()
        played = F.one_hot(batch.moves.long().clamp(min=0), policy.shape[1]).float()
        softer = softened(policy, self.temperatures[batch.phase.long()][:, None])
        expected = torch.where(by_people[:, None], played, softer)
        spread = (batch.spread / SCORE_SCALE).clamp(min=0.01).log()
        owner = (batch.owner.float() / OWNER_SCALE + 1) / 2
        return {
            "best": F.cross_entropy(output.best, policy),
            "people": F.cross_entropy(output.moves, expected),
            "winner": F.binary_cross_entropy_with_logits(output.winner, batch.winner),
            "lead": F.smooth_l1_loss(output.score, batch.lead, beta=2.0),
            "spread": (output.spread - spread).square().mean(),
            "owners": F.binary_cross_entropy_with_logits(output.ownership, owner),
        }

    def draw(self, answers: ReplayBuffer[TaughtBatch], seed: int) -> TaughtBatch:
        """Draw a random batch."""
        generator, size = torch.Generator(self.device).manual_seed(seed), (self.settings.batch,)
        return answers.at(
            torch.randint(len(answers), size, generator=generator, device=self.device)
        )

    def fit_temperatures(self, answers: ReplayBuffer[TaughtBatch]) -> None:
        """Fit the temperatures to a part of people's moves."""
        step = max(1, len(answers) // 50_000)
        known = answers.at(torch.arange(0, len(answers), step, device=self.device))
        found = fit_temperatures(known.policy.float(), known.moves.long(), known.phase)
        self.temperatures.copy_(torch.tensor(found))

    def refresh_norms(self, answers: ReplayBuffer[TaughtBatch]) -> None:
        """Update the norms' statistics, which lag behind while the rate is high."""
        self.network.train()
        for number in range(min(_NORM_BATCHES, self.settings.steps)):
            batch = self.draw(answers, self.settings.seed + number)
            with torch.no_grad(), torch.autocast(self.device.type, self.dtype, enabled=self.mixed):
                self.network(planes_of(batch, self.table.to(self.dtype)))

    def start_from(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Load weights of the same tower; copy missing move outputs, leave wider layers random."""
        state = self.network.state_dict()
        for name, array in weights.items():
            tensor, own = torch.from_numpy(np.asarray(array, np.float32)), state[name]
            if name.startswith(("move.", "pass_move.")):
                tensor = torch.cat([tensor] * (own.shape[0] // tensor.shape[0]))
            own[tuple(slice(n) for n in tensor.shape)].copy_(tensor)
        self.network.load_state_dict(state)

    def learn_from(self, sources: Sequence[tuple[ReplayBuffer[TaughtBatch], float]]) -> None:
        """Make one step; only the first source's board changes the norms' statistics."""
        number = self.settings.seed * 1_000_003 + self.step
        odds = np.array([weight for _, weight in sources])
        chosen = int(np.random.default_rng(number).choice(len(odds), p=odds / odds.sum()))
        batch = self.draw(sources[chosen][0], number)
        main = batch[:2] == sources[0][0].rows[:2]
        self.learn(batch, self.step / self.settings.steps, statistics=main)


def distil(
    answers: Answers,
    settings: DistillationSettings,
    *,
    device: str = "cpu",
    start: Mapping[str, NDArray[Any]] | None = None,
    run: Run[DistillationSettings] | None = None,
    on_row: Callable[[dict[str, Any]], None] = lambda row: None,
) -> dict[str, NDArray[Any]]:
    """Train a network on a teacher's answers; a resumed run continues exactly."""
    place = torch.device(chosen_device(device))
    student = Student(settings, place)
    if run is not None and run.start is not None:
        student.restore(run.start.arrays, run.start.step)
    elif start is not None:
        student.start_from(start)
    buffers = answers.buffers(place)
    positions = {
        kind: sum(len(b) for (k, *_), b in buffers.items() if k == kind) for kind, *_ in buffers
    }
    sources = [
        (buffer, _SHARES[kind] * len(buffer) / positions[kind])
        for (kind, *_), buffer in buffers.items()
    ]
    first = sources[0][0]
    if PEOPLE in positions:
        student.fit_temperatures(first)
    train_steps(student, lambda: student.learn_from(sources), run=run, on_row=on_row)
    student.refresh_norms(first)
    return network_arrays(student.network)
