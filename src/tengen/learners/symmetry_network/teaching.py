"""Learn from the games of others, given as moves and final classes; play none.

The network, the outputs and the reward tables are those of self-play; the games may be of any
strength. Weights are changed by Adam after every batch of games.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tengen.learners.symmetry_network.game_kernels import learn_game
from tengen.learners.symmetry_network.packing import Packing
from tengen.learners.symmetry_network.rewards import target_table, value_table
from tengen.learners.symmetry_network.settings import Settings

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Games:
    """Finished games on one size of board, Black and White alternating.

    moves (games, most plies) points of the bordered board, 0 a pass; plies (games); first (games)
    the first position that is learned from; classes (games, bordered points) as in
    `rewards.CLASSES`, -1 off the board.
    """

    size: int
    moves: NDArray[np.int16]
    plies: NDArray[np.int64]
    first: NDArray[np.int64]
    classes: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.plies)

    def at(self, which: NDArray[np.int64]) -> Games:
        """Return some of the games, by their numbers."""
        return Games(
            *(self.size, self.moves[which], self.plies[which], self.first[which]),
            self.classes[which],
        )

    def within(self, plies: int) -> Games:
        """Return the games cut off so many plies after the first position; classes stay final."""
        return replace(self, plies=np.minimum(self.plies, self.first + plies))


class Teacher:
    """A network that is being taught: `free` numbers and Adam's state; `learn` takes one batch."""

    def __init__(self, settings: Settings, *, free: FloatArray | None = None) -> None:
        self.settings = settings
        self.packing = Packing(settings.architecture)
        start = settings.architecture.initial(settings.seed, settings.hidden_scale)
        self.free = start if free is None else free.copy()
        self.steps = 0
        self._mean = np.zeros(len(self.free))
        self._square = np.zeros(len(self.free))
        self._cats = settings.categories.packed()
        self._table = value_table(settings.capture, settings.stone).astype(np.float32)
        self._targets = target_table(settings.capture).astype(np.float32)

    def gradient(self, games: Games, pool: ThreadPoolExecutor | None) -> tuple[FloatArray, float]:
        """Return the gradient (uphill) per learned output, and the mean squared error."""
        s = self.settings
        flat = self.packing.flat(self.free)
        other = self.packing.exchanged(flat) if s.turn else flat
        split = self.packing.split
        sides = 2 if s.turn else 1
        grads = np.zeros((len(games), sides, self.packing.size), np.float32)

        def learn(i: int) -> tuple[float, float]:
            square, terms = learn_game(
                *((split(flat), split(other)), self._cats, self._table, self._targets, s.trace),
                *(games.size, games.size, games.moves[i], int(games.first[i])),
                *(int(games.plies[i]), games.classes[i].astype(np.int64), False),
                (split(grads[i, 0]), split(grads[i, -1])),
            )
            return float(square), float(terms)

        count = range(len(games))
        rows = np.array(list(pool.map(learn, count)) if pool else [learn(i) for i in count])
        total = grads.sum(0, dtype=np.float64)
        if s.turn:
            total[0] += self.packing.exchanged(total[1])
        square, terms = rows.sum(0)
        return self.packing.collect(total[0]) / max(terms, 1), float(square / max(terms, 1))

    def learn(self, games: Games, rate: float, pool: ThreadPoolExecutor | None = None) -> float:
        """Take one step of Adam on a batch; return the mean squared error before it."""
        gradient, error = self.gradient(games, pool)
        self.steps += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient**2 - self._square)
        mean = self._mean / (1 - 0.9**self.steps)
        root = np.sqrt(self._square / (1 - 0.999**self.steps))
        self.free = self.free + rate * mean / (root + 1e-8)
        return error


def teach(
    settings: Settings,
    games: Games,
    *,
    rate: float = 3e-3,
    batch: int = 16,
    epochs: int = 1,
    free: FloatArray | None = None,
    workers: int = 1,
    watch: Callable[[int, float], None] = lambda _n, _e: None,
) -> FloatArray:
    """Return the free numbers after learning from all games; the rate falls to a hundredth.

    The games are shuffled by the settings' seed for every epoch. `watch` gets games and the mean
    squared error of the last of them, some twenty times.
    """
    teacher = Teacher(settings, free=free)
    rng = np.random.default_rng(settings.seed)
    steps = max(1, len(games) // batch)
    errors: list[float] = []
    with ThreadPoolExecutor(workers) as pool:
        for epoch in range(epochs):
            order = rng.permutation(len(games))
            for step in range(steps):
                part = games.at(np.sort(order[step * batch : (step + 1) * batch]))
                done = (epoch * steps + step) / (epochs * steps)
                now = rate * 0.01**done
                errors.append(teacher.learn(part, now, pool if workers > 1 else None))
                if len(errors) >= max(1, epochs * steps // 20):
                    watch(teacher.steps * batch, float(np.mean(errors)))
                    errors = []
    return teacher.free
