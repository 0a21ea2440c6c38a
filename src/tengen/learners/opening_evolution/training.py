"""Evolve a population generation by generation, with checkpoints; the same result however it is
run.

A run depends on its settings and seed alone: not on the number of threads, nor on Ray, nor on where
it was stopped. Each generation boundary is a checkpoint's state; one is written at least every
minute and at every `snapshot_every` generations, whose best networks are kept for good.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_evolution.games import COLOURS, Colours, Setting, fitness
from tengen.learners.opening_evolution.networks import SHAPES, Shape
from tengen.learners.opening_evolution.strategy import Population, next_generation
from tengen.models import Checkpoints

SECONDS_BETWEEN_CHECKPOINTS = 30.0


@dataclass(frozen=True)
class Plan:
    """Everything a run's result depends on, besides the players it is given."""

    network: str = "dense"
    rows: int = 13
    cols: int = 13
    population: int = 10
    generations: int = 5000
    moves: int = 15
    komi: float = 7.5
    colours: Colours = "both"
    free: bool = False
    """Whether an illegal choice counts as a pass, instead of choosing among legal moves."""
    handicap: int = 0
    handicap_falls_every: int = 0
    """Take one handicap stone away every so many generations; 0 for never."""
    random_plies: int = 0
    """Random plies before each game of a generation; the same for all individuals of it."""
    starts: int = 1
    """Games of each colour an individual; more cut the noise of selection."""
    seed: int = 0
    opponent: str = "static"
    expert: str = "static"
    snapshot_every: int = 250

    def __post_init__(self) -> None:
        if self.network not in SHAPES:
            raise TengenError(f"network {self.network!r} is none of {', '.join(SHAPES)}")
        if self.population < 2 or self.population % 2:
            raise TengenError(f"a population of {self.population} has no half")
        if self.colours not in COLOURS:
            raise TengenError(f"colours {self.colours!r} is none of {', '.join(COLOURS)}")

    def shape(self) -> Shape:
        """Return the network's shape."""
        return SHAPES[self.network](self.rows, self.cols, free=self.free)

    def setting(self, generation: int) -> Setting:
        """Return the games of one generation."""
        stones = self.handicap
        if self.handicap_falls_every:
            stones = max(stones - generation // self.handicap_falls_every, 0)
        return Setting(self.rows, self.cols, self.moves, self.komi, self.random_plies, stones)

    def game_seeds(self, generation: int) -> list[int]:
        """Return the seeds of a generation's games: common random numbers for all individuals."""
        sequence = np.random.SeedSequence([self.seed, generation, 7])
        return [int(word) for word in sequence.generate_state(self.starts)]


@dataclass
class Evolution:
    """A run under way: the population after `generation` selections, and what was seen so far."""

    plan: Plan
    population: Population
    generation: int = 0
    fitness: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Of the individuals as last measured; the survivors stand first."""

    @classmethod
    def begin(cls, plan: Plan) -> Evolution:
        """Draw generation 0."""
        return cls(plan, Population.first(plan.population, plan.shape().n_weights, plan.seed))

    def step(self, measure: Callable[[Evolution], NDArray[np.float64]]) -> None:
        """Measure everybody, select, breed."""
        self.fitness = measure(self)
        self.generation += 1
        self.population = next_generation(
            self.population, self.fitness, self.generation, self.plan.seed
        )

    @property
    def best(self) -> NDArray[np.float64]:
        """The weights of the best individual at the last selection."""
        row: NDArray[np.float64] = self.population.weights[0]
        return row

    def save(self, checkpoints: Checkpoints) -> None:
        """Write the state of this generation boundary."""
        arrays = {
            "weights": self.population.weights,
            "steps": self.population.steps,
            "fitness": self.fitness,
        }
        checkpoints.save(self.generation, arrays, {"plan": asdict(self.plan)})

    @classmethod
    def resume(cls, plan: Plan, checkpoints: Checkpoints) -> Evolution | None:
        """Go on from the newest checkpoint, or return None when there is none.

        Raises
        ------
        TengenError
            If it belongs to another plan (a longer run of the same plan is welcome).
        """
        found = checkpoints.latest()
        if found is None:
            return None
        stored, wanted = dict(found.state["plan"]), asdict(plan)
        different = [
            key for key in wanted if key != "generations" and stored.get(key) != wanted[key]
        ]
        if different:
            raise TengenError(
                f"{checkpoints.folder}: the run there differs in {', '.join(different)}; "
                "choose another --out or the same settings"
            )
        population = Population(found.arrays["weights"], found.arrays["steps"])
        return cls(plan, population, found.step, found.arrays["fitness"])


def measure_with(
    opponents: list[Player], expert: Expert
) -> Callable[[Evolution], NDArray[np.float64]]:
    """Return a measure that shares the individuals among as many threads as there are opponents.

    Kernels run without the GIL, so threads are workers; each has an opponent of its own, since an
    external engine can play only one game at a time.
    """

    def measure(run: Evolution) -> NDArray[np.float64]:
        setting, seeds = run.plan.setting(run.generation), run.plan.game_seeds(run.generation)
        shape = run.plan.shape()

        def one(job: tuple[int, Player]) -> float:
            index, opponent = job
            weights = run.population.weights[index]
            return fitness(shape, weights, opponent, expert, setting, run.plan.colours, seeds)

        def share(worker: int) -> list[float]:
            mine = range(worker, len(run.population), len(opponents))
            return [one((index, opponents[worker])) for index in mine]

        result = np.empty(len(run.population))
        if len(opponents) == 1:
            result[:] = share(0)
        else:
            with ThreadPoolExecutor(len(opponents)) as pool:
                for worker, part in enumerate(pool.map(share, range(len(opponents)))):
                    result[worker :: len(opponents)] = part
        return result

    return measure


def evolve(
    plan: Plan,
    measure: Callable[[Evolution], NDArray[np.float64]],
    *,
    folder: Path | None = None,
    resume: bool = False,
    on_generation: Callable[[Evolution], None] = lambda run: None,
) -> Evolution:
    """Run a plan to its end and return its last state; `folder` keeps checkpoints and snapshots."""
    checkpoints = Checkpoints(folder / "checkpoints", keep=2) if folder else None
    snapshots = Checkpoints(folder / "snapshots", keep=10**9) if folder else None
    run = Evolution.resume(plan, checkpoints) if checkpoints and resume else None
    if run is None:
        run = Evolution.begin(plan)
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "metrics.jsonl").write_text("")
    saved = time.monotonic()
    while run.generation < plan.generations:
        run.step(measure)
        if folder and checkpoints and snapshots:
            _note(folder, run)
            whole = run.generation == 1 or run.generation % plan.snapshot_every == 0
            if whole:
                snapshots.save(run.generation, {"weights": run.best}, {"plan": asdict(plan)})
            late = time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS
            if whole or late or run.generation == plan.generations:
                run.save(checkpoints)
                saved = time.monotonic()
        on_generation(run)
    return run


def _note(folder: Path, run: Evolution) -> None:
    row: dict[str, Any] = {
        "generation": run.generation,
        "best": round(float(run.fitness.max()), 3),
        "mean": round(float(run.fitness.mean()), 3),
    }
    with (folder / "metrics.jsonl").open("a") as out:
        out.write(json.dumps(row) + "\n")
