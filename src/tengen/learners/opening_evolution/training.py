"""Evolve a population generation by generation, with checkpoints; the same result however it is
run.

A run depends on its settings and seed alone: not on the number of threads, nor on Ray, nor on where
it was stopped. A generation boundary can be a checkpoint; one is written every half minute and at
every `snapshot_every` generations, whose best networks are kept for good, as is generation 0's.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.learners.opening_evolution.games import (
    COLOURS,
    Colours,
    NetworkPlayer,
    Setting,
    fitness,
)
from tengen.learners.opening_evolution.networks import SHAPES, Shape
from tengen.learners.opening_evolution.strategy import STRATEGIES, Breeder
from tengen.models import Checkpoints
from tengen.models.files import write_atomic
from tengen.parallel import map_jobs

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
    chances: int = 0
    """Further choices after an illegal one before it counts as a pass."""
    plies: int = 0
    """Look-ahead, 1 or 2; 0 for the paper's: 2 for the dense network, 1 for the spatial one."""
    handicap: int = 0
    handicap_falls_every: int = 0
    """Take one handicap stone away every so many generations; 0 for never."""
    random_plies: int = 0
    """Random plies before each game of a generation; the same for all individuals of it."""
    starts: int = 1
    """Games of each colour an individual; more cut the noise of selection."""
    more_starts_every: int = 0
    """One more start every so many generations, as progress gets harder to see; 0 for never."""
    bend: float = 0.0
    """Points beyond which a score hardly counts for more; 0 for scores as they are."""
    strategy: str = "paper"
    """`paper` for its (mu + mu), `cma` for CMA-ES with a diagonal matrix, `mirror` for small steps
    of the mean of mirrored pairs.
    """
    remember: bool = False
    """Whether survivors keep their fitness. Nothing changes but the time where games do not."""
    hall_every: int = 0
    """Every so many generations the best enters a hall of fame, after the best of generation 0;
    every other start is against somebody in there. 0 for no hall.
    """
    seed: int = 0
    opponent: str = "static"
    """Who plays the other side. Several, joined by ` + `, take the starts in turn."""
    expert: str = "static"
    """Who judges, as `judges.make_judge` reads it."""
    snapshot_every: int = 250

    def __post_init__(self) -> None:
        if self.network not in SHAPES:
            raise TengenError(f"network {self.network!r} is none of {', '.join(SHAPES)}")
        if self.population < 2 or self.population % 2:
            raise TengenError(f"a population of {self.population} has no half")
        if self.colours not in COLOURS:
            raise TengenError(f"colours {self.colours!r} is none of {', '.join(COLOURS)}")
        if self.strategy not in STRATEGIES:
            raise TengenError(f"strategy {self.strategy!r} is none of {', '.join(STRATEGIES)}")
        if self.plies not in (0, 1, 2):
            raise TengenError(f"look-ahead of {self.plies} plies; there are 1 and 2")

    def shape(self) -> Shape:
        """Return the network's shape."""
        return _shape(self.network, self.rows, self.cols, self.free, self.plies)

    def setting(self, generation: int) -> Setting:
        """Return the games of one generation."""
        stones = self.handicap
        if self.handicap_falls_every:
            stones = max(stones - generation // self.handicap_falls_every, 0)
        return Setting(self.rows, self.cols, self.moves, self.komi, self.random_plies, stones)

    def starts_at(self, generation: int) -> int:
        """Return how many games of each colour an individual of a generation plays."""
        more = generation // self.more_starts_every if self.more_starts_every else 0
        return self.starts + more

    def game_seeds(self, generation: int) -> list[int]:
        """Return the seeds of a generation's games: common random numbers for all individuals."""
        sequence = np.random.SeedSequence([self.seed, generation, 7])
        return [int(word) for word in sequence.generate_state(self.starts_at(generation))]


@lru_cache(maxsize=16)
def _shape(network: str, rows: int, cols: int, free: bool, plies: int) -> Shape:
    """Make a shape once: its tables take as long as some games."""
    kind = SHAPES[network]
    return kind(rows, cols, free=free, plies=plies or kind.plies)


@dataclass
class Evolution:
    """A run under way: the individuals of `generation`, and what was seen so far."""

    plan: Plan
    breeder: Breeder
    generation: int = 0
    fitness: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Of the last generation, in the order in which it was measured."""
    hall: list[NDArray[np.float64]] = field(default_factory=list)
    """Earlier bests to play against."""
    first_best: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The best of generation 0, once it is measured."""

    @classmethod
    def begin(cls, plan: Plan) -> Evolution:
        """Draw generation 0."""
        kind = STRATEGIES[plan.strategy]
        return cls(plan, kind.first(plan.population, plan.shape().n_weights, plan.seed))

    @property
    def weights(self) -> NDArray[np.float64]:
        """The individuals of this generation, one a row."""
        return self.breeder.weights

    @property
    def pending(self) -> NDArray[np.float64]:
        """The individuals that have to be measured."""
        return self.weights[len(self.breeder.known) :] if self.plan.remember else self.weights

    def step(self, measure: Measure) -> None:
        """Measure who has to be, select, breed."""
        measured = measure(self)
        known = self.breeder.known if self.plan.remember else np.zeros(0)
        self.fitness = np.concatenate([known, measured])
        if self.generation == 0:
            self.first_best = self.weights[int(self.fitness.argmax())].copy()
            if self.plan.hall_every:
                self.hall.append(self.first_best)
        self.generation += 1
        self.breeder.breed(self.fitness, self.generation)
        if self.plan.hall_every and self.generation % self.plan.hall_every == 0:
            self.hall.append(self.best.copy())

    @property
    def best(self) -> NDArray[np.float64]:
        """The weights that the strategy holds for the best so far."""
        return self.breeder.best

    def games(self) -> Games:
        """Return what an individual of this generation plays."""
        plan, generation = self.plan, self.generation
        rng = np.random.default_rng([plan.seed, generation, 8])
        chosen: list[NDArray[np.float64] | None] = [
            self.hall[int(rng.integers(len(self.hall)))] if i % 2 and self.hall else None
            for i in range(plan.starts_at(generation))
        ]
        return Games(plan, generation, chosen)

    def save(self, checkpoints: Checkpoints) -> None:
        """Write the state of this generation boundary."""
        arrays = {"fitness": self.fitness, "first_best": self.first_best, **self.breeder.arrays()}
        if self.hall:
            arrays["hall"] = np.array(self.hall)
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
        stored = {**asdict(Plan()), **stored}  # as older runs lack what came later
        different = [key for key in wanted if key != "generations" and stored[key] != wanted[key]]
        if different:
            raise TengenError(
                f"{checkpoints.folder}: the run there differs in {', '.join(different)}; "
                "choose another --out or the same settings"
            )
        arrays = found.arrays
        size = plan.population, plan.shape().n_weights, plan.seed
        breeder = STRATEGIES[plan.strategy].restored(*size, arrays)
        hall = list(arrays.get("hall", ()))
        return cls(plan, breeder, found.step, arrays["fitness"], hall, arrays["first_best"])


@dataclass(frozen=True)
class Games:
    """What every individual of a generation plays: the same starts, the same opponents."""

    plan: Plan
    generation: int
    hall: list[NDArray[np.float64] | None]
    """For each start the weights of an earlier best, or None for the plan's opponent."""

    def play(self, weights: NDArray[np.float64], opponent: Opponent, expert: Expert) -> float:
        """Return the fitness of one individual."""
        plan = self.plan
        shape = plan.shape()
        # Whoever is not in the hall takes the other starts in turn.
        turns = cycle(opponent if isinstance(opponent, Sequence) else [opponent])
        others = [next(turns) if w is None else NetworkPlayer(shape, w) for w in self.hall]
        return fitness(
            shape,
            weights,
            others,
            expert,
            plan.setting(self.generation),
            plan.colours,
            plan.game_seeds(self.generation),
            chances=plan.chances,
            bend=plan.bend,
        )


Measure = Callable[[Evolution], NDArray[np.float64]]
"""Returns the fitness of a run's pending individuals."""


Opponent = Player | Sequence[Player]
"""One player, or several that take the starts in turn."""


def measure_with(opponents: Sequence[Opponent], expert: Expert) -> Measure:
    """Return a measure that shares the individuals among as many threads as there are opponents.

    Kernels run without the GIL, so threads are workers; each has an opponent (or several) of its
    own, since an external engine can play only one game at a time.
    """

    def measure(run: Evolution) -> NDArray[np.float64]:
        games, pending, workers = run.games(), run.pending, len(opponents)

        def share(worker: int) -> list[float]:
            return [games.play(w, opponents[worker], expert) for w in pending[worker::workers]]

        result = np.empty(len(pending))
        if workers == 1:
            result[:] = share(0)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for worker, part in enumerate(pool.map(share, range(workers))):
                    result[worker::workers] = part
        return result

    return measure


def measure_on(
    address: str, make_opponent: Callable[[], Opponent], make_expert: Callable[[], Expert]
) -> Measure:
    """Return a measure that gives each individual to a Ray cluster.

    The two functions are called on the nodes, so that they have to be importable there.
    """
    job = partial(_play_there, make_opponent, make_expert)

    def measure(run: Evolution) -> NDArray[np.float64]:
        games = run.games()
        return np.array(list(map_jobs(job, [(games, w) for w in run.pending], ray=address)))

    return measure


def _play_there(
    make_opponent: Callable[[], Opponent],
    make_expert: Callable[[], Expert],
    job: tuple[Games, NDArray[np.float64]],
) -> float:
    """Measure one individual on a node; engines live for that long only."""
    games, weights = job
    opponent, expert = make_opponent(), make_expert()
    try:
        return games.play(weights, opponent, expert)
    finally:
        players = opponent if isinstance(opponent, Sequence) else [opponent]
        for made in (*players, expert):
            getattr(made, "close", lambda: None)()


def evolve(
    plan: Plan,
    measure: Measure,
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
        _forget_after(folder, run.generation)
    saved = time.monotonic()
    while run.generation < plan.generations:
        run.step(measure)
        if folder and checkpoints and snapshots:
            _note(folder, run)
            if run.generation == 1:
                snapshots.save(0, {"weights": run.first_best}, {"plan": asdict(plan)})
            whole = run.generation % plan.snapshot_every == 0
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


def _forget_after(folder: Path, generation: int) -> None:
    """Drop the notes of generations after the checkpoint that the run goes on from."""
    path = folder / "metrics.jsonl"
    rows = path.read_text().splitlines() if path.exists() and generation else []
    write_atomic(path, "".join(row + "\n" for row in rows[:generation]).encode())
