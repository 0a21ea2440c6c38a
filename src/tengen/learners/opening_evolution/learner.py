"""Evolved openings: games that an expert finishes, generations, and the estimator.

A run depends on its settings and seed alone: not on the number of threads, nor on Ray, nor on where
it was stopped. A checkpoint is written every half minute and every `snapshot_every` generations;
the best networks of the latter, and of generation 0, are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import Any, Self

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import BLACK, PASS, Board, Point
from tengen.contracts import Expert, Player
from tengen.errors import ModelError
from tengen.learners.opening_evolution.networks import Shape, Weights
from tengen.learners.opening_evolution.settings import COLOURS, DEFAULTS, EvolutionSettings
from tengen.learners.opening_evolution.strategy import STRATEGIES, Breeder
from tengen.models import Card, StoredLearner
from tengen.models.runs import Run
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Tensors
from tengen.parallel import map_jobs

KIND = "opening-evolution"

# ----- Games -----


@dataclass
class NetworkPlayer:
    """A network as a player: the best point, or a pass if that is illegal."""

    shape: Shape
    weights: Weights
    name: str = "evolved"

    def __post_init__(self) -> None:
        self._shape, self._weights = self.shape.unfold(self.weights)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move; uses no randomness."""
        move = board.answer(self._shape.move(self._weights, board))
        return move if board.is_legal(move) else PASS


def _play_opening(black: Player, white: Player, terms: EvolutionSettings, seed: int) -> Board:
    """Return the board after both sides' opening moves."""
    board = terms.start(seed)
    rng = np.random.default_rng([seed, 1])
    for _ in range(2 * terms.moves):
        player = black if board.turn == BLACK else white
        move = player.choose(board, rng)
        board.push(move if move >= 0 else PASS)
    return board


def fitness(
    me: Player,
    opponents: Player | Sequence[Player],
    expert: Expert,
    terms: EvolutionSettings,
    seeds: Sequence[int],
) -> float:
    """Return a player's mean final score over starts and colours, on the terms of settings.

    `opponents` is one for all starts, or one per seed. With a `bend` a score s counts as
    bend * tanh(s / bend), since beyond so many points a game is won anyway.
    """
    others = opponents if isinstance(opponents, Sequence) else [opponents] * len(seeds)
    boards, signs, finish_seeds = [], [], []
    for seed, other in zip(seeds, others, strict=True):
        for colour in COLOURS[terms.colours]:
            black, white = (me, other) if colour == BLACK else (other, me)
            boards.append(_play_opening(black, white, terms, seed))
            signs.append(1.0 if colour == BLACK else -1.0)
            finish_seeds.append(seed)
    scores = np.asarray(expert.finish(boards, finish_seeds)) * signs
    bend = terms.bend
    return float(np.mean(bend * np.tanh(scores / bend) if bend else scores))


def match(
    a: Player, b: Player, expert: Expert, terms: EvolutionSettings, seeds: Sequence[int]
) -> FloatArray:
    """Return the scores of `a` against `b`: each seed's start is played with both colours.

    Entry 2 i has `a` as Black, entry 2 i + 1 as White.
    """
    twice = [seed for seed in seeds for _ in range(2)]
    sides = cycle([(a, b), (b, a)])
    boards = [_play_opening(*next(sides), terms, seed) for seed in twice]
    scores = np.asarray(expert.finish(boards, twice))
    return np.where(np.arange(len(boards)) % 2 == 0, scores, -scores)


# ----- Generations -----


@dataclass
class Breeding:
    """An evolution in progress: the individuals of `generation`, and earlier results."""

    settings: EvolutionSettings
    breeder: Breeder
    generation: int = 0
    fitness: FloatArray = field(default_factory=lambda: np.zeros(0))
    """Of the last generation, in the order in which it was measured."""
    hall: list[FloatArray] = field(default_factory=list)
    """Earlier bests to play against."""
    first_best: FloatArray = field(default_factory=lambda: np.zeros(0))
    """The best of generation 0, once it is measured."""

    @classmethod
    def begin(cls, settings: EvolutionSettings) -> Breeding:
        """Draw generation 0."""
        size = settings.individuals, settings.shape().n_weights, settings.seed
        return cls(settings, STRATEGIES[settings.strategy](*size))

    @classmethod
    def restored(
        cls, settings: EvolutionSettings, generation: int, arrays: dict[str, FloatArray]
    ) -> Breeding:
        """Continue from `arrays()`."""
        made = cls.begin(settings)
        made.breeder.restore(arrays)
        made.generation, made.hall = generation, list(arrays.get("hall", ()))
        made.fitness, made.first_best = arrays["fitness"], arrays["first_best"]
        return made

    def arrays(self) -> dict[str, FloatArray]:
        """Return everything that later generations depend on."""
        arrays = {"fitness": self.fitness, "first_best": self.first_best, **self.breeder.arrays()}
        return {**arrays, "hall": np.array(self.hall)} if self.hall else arrays

    @property
    def best(self) -> FloatArray:
        """The best weights so far by the strategy."""
        return self.breeder.best

    @property
    def pending(self) -> FloatArray:
        """The individuals that have to be measured."""
        weights = self.breeder.weights
        return weights[len(self.breeder.known) :] if self.settings.remember else weights

    def step(self, measure: Measure) -> None:
        """Measure, select, breed."""
        measured = measure(self)
        known = self.breeder.known if self.settings.remember else np.zeros(0)
        self.fitness = np.concatenate([known, measured])
        hall_every = self.settings.hall_every
        if self.generation == 0:
            self.first_best = self.breeder.weights[int(self.fitness.argmax())].copy()
            if hall_every:
                self.hall.append(self.first_best)
        self.generation += 1
        self.breeder.breed(self.fitness, self.generation)
        if hall_every and self.generation % hall_every == 0:
            self.hall.append(self.best.copy())

    def games(self) -> GenerationGames:
        """Return what an individual of this generation plays."""
        settings, generation = self.settings, self.generation
        rng = np.random.default_rng([settings.seed, generation, 8])
        chosen = [
            self.hall[int(rng.integers(len(self.hall)))] if i % 2 and self.hall else None
            for i in range(settings.starts_at(generation))
        ]
        return GenerationGames(settings, generation, chosen)


@dataclass(frozen=True)
class GenerationGames:
    """The games of every individual of a generation: the same starts, the same opponents."""

    settings: EvolutionSettings
    generation: int
    hall: list[FloatArray | None]
    """For each start the weights of an earlier best, or None for the settings' opponent."""

    def play(self, weights: FloatArray, opponent: _Opponent, expert: Expert) -> float:
        """Return the fitness of one individual."""
        settings = self.settings
        shape = settings.shape()
        # The given opponents take turns at the starts that are not against the hall.
        turns = cycle(opponent if isinstance(opponent, Sequence) else [opponent])
        return fitness(
            NetworkPlayer(shape, weights),
            [next(turns) if w is None else NetworkPlayer(shape, w) for w in self.hall],
            expert,
            settings,
            settings.game_seeds(self.generation),
        )


Measure = Callable[[Breeding], FloatArray]
"""Returns the fitness of a breeding's pending individuals."""


_Opponent = Player | Sequence[Player]
"""One player, or several that take the starts in turn."""


def measure_with(opponents: Sequence[_Opponent], expert: Expert) -> Measure:
    """Return a measure that shares the individuals among as many threads as there are opponents.

    Kernels run without the GIL, so threads are workers; each has an opponent (or several) of its
    own, since an external engine can play only one game at a time.
    """

    def measure(breeding: Breeding) -> FloatArray:
        games, pending, workers = breeding.games(), breeding.pending, len(opponents)

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
    address: str, make_opponent: Callable[[], _Opponent], make_expert: Callable[[], Expert]
) -> Measure:
    """Return a measure that runs each individual on a Ray cluster.

    The two functions are called on the nodes and must be importable there.
    """
    job = partial(_play_there, make_opponent, make_expert)

    def measure(breeding: Breeding) -> FloatArray:
        games = breeding.games()
        return np.array(list(map_jobs(job, [(games, w) for w in breeding.pending], ray=address)))

    return measure


def _play_there(
    make_opponent: Callable[[], _Opponent],
    make_expert: Callable[[], Expert],
    job: tuple[GenerationGames, FloatArray],
) -> float:
    """Measure one individual on a node, with engines that end afterwards."""
    games, weights = job
    opponent, expert = make_opponent(), make_expert()
    try:
        return games.play(weights, opponent, expert)
    finally:
        players = opponent if isinstance(opponent, Sequence) else [opponent]
        for made in (*players, expert):
            getattr(made, "close", lambda: None)()


def evolve(
    settings: EvolutionSettings,
    measure: Measure,
    *,
    run: Run[EvolutionSettings] | None = None,
    on_best: Callable[[int, FloatArray], None] = lambda generation, weights: None,
    on_generation: Callable[[Breeding], None] = lambda breeding: None,
) -> Breeding:
    """Breed up to the last generation, continuing a run, and return the last state.

    `on_best` gets the best of generation 0 and of every `snapshot_every` generations.
    """
    if run and run.start:
        breeding = Breeding.restored(settings, run.start.step, run.start.arrays)
    else:
        breeding = Breeding.begin(settings)
    while breeding.generation < settings.generations:
        breeding.step(measure)
        generation = breeding.generation
        if generation == 1:
            on_best(0, breeding.first_best)
        if whole := generation % settings.snapshot_every == 0:
            on_best(generation, breeding.best)
        if run:
            best, mean = breeding.fitness.max(), breeding.fitness.mean()
            run.note(generation, best=round(float(best), 3), mean=round(float(mean), 3))
            if whole or run.due() or generation == settings.generations:
                run.save(generation, breeding.arrays())
        on_generation(breeding)
    return breeding


# ----- The estimator -----


class OpeningEvolution(StoredLearner):
    """A network evolved to play openings, after Kendall 2004.

    Parameters
    ----------
    settings
        What to evolve and how; see `EvolutionSettings`.
    """

    kind = KIND
    weights_: Weights

    def __init__(self, *, settings: EvolutionSettings = DEFAULTS) -> None:
        self.settings = settings

    @property
    def shape(self) -> Shape:
        """The kind of network."""
        return self.settings.shape()

    def fit(
        self,
        measure: Measure,
        *,
        run: Run[EvolutionSettings] | None = None,
        on_generation: Callable[[Breeding], None] = lambda breeding: None,
    ) -> Self:
        """Evolve; `measure_with` and `measure_on` make a measure from opponent and expert.

        With a run the evolution continues there and writes checkpoints and snapshots.
        """

        def keep(generation: int, weights: Weights) -> None:
            if run:
                twin = type(self)(settings=self.settings)
                twin.weights_ = weights
                twin.save(run.snapshot(generation))

        breeding = evolve(
            self.settings, measure, run=run, on_best=keep, on_generation=on_generation
        )
        self.weights_ = breeding.best.copy()
        return self

    def _about(self) -> dict[str, Any]:
        return {"what": "an evolved opening player", "recipe": to_plain(self.settings)}

    def _tensors(self) -> Tensors:
        return {"weights": self.weights_}

    @classmethod
    def _restored(cls, tensors: Tensors, card: Card) -> Self:
        model = cls(settings=from_recipe(EvolutionSettings, card.recipe))
        model.weights_ = np.asarray(tensors["weights"], np.float64)
        size = model.shape.n_weights
        if model.weights_.shape != (size,):
            raise ModelError(f"{model.weights_.shape} weights for a network of {size}")
        return model

    # ----- Evaluating and playing -----

    def values(self, boards: Sequence[Board]) -> FloatArray:
        """Return the network's output from Black's view, scaled to the points of the board.

        The output has no unit of its own.
        """
        return np.array([self._value(board) for board in boards])

    def _value(self, board: Board) -> float:
        self._check(board)
        # Positions are evaluated after a move, for the side that made it.
        me = 3 - board.turn
        value = self.shape.value(self.weights_, board, me) * board.rows * board.cols
        # Evolved under one komi; another one changes the score by the difference.
        return (value if me == BLACK else -value) - (board.white_bonus - self.settings.komi)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the network's move, look-ahead included; a pass if it is illegal."""
        self._check(board)
        return self.player().choose(board, rng)

    def player(self) -> NetworkPlayer:
        """Return the network as a player that does not check the board's size."""
        return NetworkPlayer(self.shape, self.weights_, self.name)

    @property
    def opening_plies(self) -> int:
        """The number of plies of a game that it evolved for."""
        return 2 * self.settings.moves

    @property
    def name(self) -> str:
        """The model's name."""
        return self.card_.name if self.card_ else "evolved"

    def _check(self, board: Board) -> None:
        rows, cols = self.shape.rows, self.shape.cols
        if (board.rows, board.cols) != (rows, cols):
            raise ModelError(
                f"model {self.name} plays on {rows}x{cols}, not on {board.rows}x{board.cols}"
            )
        if not hasattr(self, "weights_"):
            raise ModelError(f"model {self.name} has evolved nothing yet: call fit")
