"""Evolved openings: games that an expert finishes, generations, and the estimator.

The result of a run depends only on its settings and seed, not on the number of workers, on Ray, or
on interruptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Self

import numpy as np

from tengen.arrays import BoolArray, FloatArray
from tengen.board import BLACK, PASS, WHITE, Board, Point
from tengen.contracts import Expert, Player
from tengen.errors import ModelError
from tengen.models import Card, StoredLearner, View
from tengen.models.params import only_processor
from tengen.models.runs import Checkpoint, Run
from tengen.models.settings import from_recipe, to_plain
from tengen.models.store import Tensors
from tengen.papers.opening_evolution.networks import Shape, Weights
from tengen.papers.opening_evolution.settings import DEFAULTS, EvolutionSettings
from tengen.papers.opening_evolution.strategy import STRATEGIES, Breeder
from tengen.parallel import Team

_COLOURS = {"both": (BLACK, WHITE), "black": (BLACK,), "white": (WHITE,)}
"""Which sides a network plays when its fitness is measured."""

# ----- Games -----


@dataclass
class NetworkPlayer:
    """A network as a player: one of the best points, or a pass if that is illegal."""

    shape: Shape
    weights: Weights
    name: str = "evolved"
    by_chance: bool = False
    """Whether chance chooses among equal values; else the first is chosen."""
    draws: int = field(default=0, init=False)
    """How often chance chose among equal values."""

    def __post_init__(self) -> None:
        self._shape, self._weights = self.shape.unfold(self.weights)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose a move of the highest value."""
        drawn = rng if self.by_chance else None
        point, chance = self._shape.choose(self._weights, board, drawn)
        self.draws += chance
        move = board.to_point(point)
        return move if board.is_legal(move) else PASS


def play_opening(players: Mapping[int, Player], board: Board, moves: int, seed: int) -> Board:
    """Play the opening moves of both sides, whose players are given by colour."""
    rng = np.random.default_rng([seed, 1])
    for _ in range(2 * moves):
        player = players[board.turn]
        move = player.choose(board, rng)
        board.push(move if move >= 0 else PASS)
    return board


def match(
    me: Player,
    opponents: Sequence[Player],
    expert: Expert,
    terms: EvolutionSettings,
    seeds: Sequence[int],
    handicap: int = 0,
) -> FloatArray:
    """Return a player's scores from its own view, for every seed with each of its colours.

    `terms` gives board, komi, colours and length. There is one opponent per seed. The player has
    the handicap stones with either colour.
    """
    colours = _COLOURS[terms.colours]
    boards = [
        play_opening(
            {colour: me, 3 - colour: other}, terms.start(seed, colour, handicap), terms.moves, seed
        )
        for seed, other in zip(seeds, opponents, strict=True)
        for colour in colours
    ]
    scores = expert.finish(boards, [seed for seed in seeds for _ in colours])
    signs = [1.0 if colour == BLACK else -1.0 for colour in colours]
    return np.asarray(scores * np.tile(signs, len(seeds)), np.float64)


def fitness(
    me: Player,
    opponents: Sequence[Player],
    expert: Expert,
    terms: EvolutionSettings,
    seeds: Sequence[int],
    handicap: int = 0,
) -> float:
    """Return the mean score of a match; with a `bend`, of bend * tanh(score / bend)."""
    scores, bend = match(me, opponents, expert, terms, seeds, handicap), terms.bend
    return float(np.mean(bend * np.tanh(scores / bend) if bend else scores))


# ----- Generations -----


class Breeding:
    """An evolution in progress: the individuals of `generation`, and earlier results."""

    def __init__(self, settings: EvolutionSettings, start: Checkpoint | None = None) -> None:
        self.settings = settings
        size = settings.individuals, settings.shape().n_weights, settings.seed
        self.breeder: Breeder = STRATEGIES[settings.strategy](*size)
        self.generation = 0
        self.fitness = np.zeros(0)  # of the last generation, one per individual
        self.known = np.full(settings.individuals, np.nan)
        """The fitness of individuals that need not be measured again, else NaN."""
        self.first_best = np.zeros(0)  # the best of generation 0, once it is measured
        self.hall: list[FloatArray] = []  # earlier bests to play against
        if start is not None:
            self.breeder.restore(start.arrays)
            self.known[:] = start.arrays["known"]
            self.generation, self.hall = start.step, list(start.arrays.get("hall", ()))
            self.fitness, self.first_best = start.arrays["fitness"], start.arrays["first_best"]

    def arrays(self) -> dict[str, FloatArray]:
        """Return everything that later generations depend on."""
        arrays = {"fitness": self.fitness, "first_best": self.first_best, "known": self.known}
        arrays |= self.breeder.arrays()
        return {**arrays, "hall": np.array(self.hall)} if self.hall else arrays

    @property
    def best(self) -> FloatArray:
        """The best weights so far by the strategy."""
        return self.breeder.best

    @property
    def pending(self) -> FloatArray:
        """The individuals that have to be measured."""
        rows: FloatArray = self.breeder.weights[np.isnan(self.known)]
        return rows

    def step(self, measure: Measure) -> None:
        """Measure, select, breed."""
        unknown = np.isnan(self.known)
        self.fitness, certain = self.known.copy(), ~unknown
        self.fitness[unknown], certain[unknown] = measure(self)
        hall_every = self.settings.hall_every
        if self.generation == 0:
            self.first_best = self.breeder.weights[int(self.fitness.argmax())].copy()
            if hall_every:
                self.hall.append(self.first_best)
        self.generation += 1
        survivors = self.breeder.breed(self.fitness, self.generation)
        self.known = np.full(len(self.fitness), np.nan)
        # With fewer handicap stones every game is another.
        handicap_at = self.settings.handicap_at
        same = handicap_at(self.generation) == handicap_at(self.generation - 1)
        if self.settings.remember and same:
            kept = np.where(certain[survivors], self.fitness[survivors], np.nan)
            self.known[: len(survivors)] = kept
        if hall_every and self.generation % hall_every == 0:
            self.hall.append(self.best.copy())

    def replay(self, rows: Iterable[Sequence[float]]) -> Self:
        """Breed as an earlier run did, from the fitness of each generation; play nothing."""
        for row in rows:
            self.known = np.array(row, np.float64)
            self.step(lambda breeding: (np.zeros(0), np.zeros(0, np.bool_)))
        self.known = np.full(self.settings.individuals, np.nan)
        return self

    def games(self) -> GenerationGames:
        """Return the games that each individual of this generation plays."""
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
    """For each start the weights of an earlier best, or None for the settings' opponents."""

    def play(
        self, weights: FloatArray, opponents: Sequence[Player], expert: Expert
    ) -> tuple[float, bool]:
        """Return the fitness of one individual, and whether its choices involved no chance.

        `opponents` take turns where `hall` has None.
        """
        settings, turns = self.settings, cycle(opponents)
        shape = settings.shape()
        chance = settings.by_chance
        me = NetworkPlayer(shape, weights, by_chance=chance)
        others = [
            next(turns) if w is None else NetworkPlayer(shape, w, by_chance=chance)
            for w in self.hall
        ]
        seeds = settings.game_seeds(self.generation)
        handicap = settings.handicap_at(self.generation)
        found = fitness(me, others, expert, settings, seeds, handicap)
        return found, me.draws == 0


Job = tuple[GenerationGames, FloatArray]
"""What a worker is given: the games of a generation, and the weights that play them."""
Measure = Callable[[Breeding], tuple[FloatArray, BoolArray]]
"""Returns the fitness of a breeding's pending individuals, and which involved no chance."""


def measure_with(team: Team[Job, tuple[float, bool]]) -> Measure:
    """Return a measure that shares a generation's individuals among the workers of a team."""

    def measure(breeding: Breeding) -> tuple[FloatArray, BoolArray]:
        games = breeding.games()
        found = team.map((games, weights) for weights in breeding.pending)
        return np.array([fit for fit, _ in found]), np.array([sure for _, sure in found], np.bool_)

    return measure


def play_job(opponents: Sequence[Player], expert: Expert, job: Job) -> tuple[float, bool]:
    """Measure one individual, as `GenerationGames.play` does: what a team has to do."""
    games, weights = job
    return games.play(weights, opponents, expert)


# ----- The estimator -----


class OpeningEvolution(StoredLearner):
    """A network evolved to play openings, after Kendall 2004."""

    kind = "opening-evolution"
    view = View(
        "Evolved opening",
        "A network evolved over generations by the final scores of its openings. Shades are the "
        "moves it prefers.",
        {"13x13": "evolved-spatial-13x13"}, order=3,
    )  # fmt: skip
    weights_: Weights
    breeding_: Breeding  # the last state of the evolution

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
        device: str = "auto",
        run: Run[EvolutionSettings] | None = None,
        on_generation: Callable[[Breeding], None] = lambda breeding: None,
    ) -> Self:
        """Evolve up to the last generation; with `run`, resume from it and save snapshots in it.

        `measure_with` makes a measure from a team that does `play_job`.
        """
        only_processor(device)
        settings = self.settings
        state = self.breeding_ = Breeding(settings, run.start if run else None)
        while state.generation < settings.generations:
            state.step(measure)
            generation = state.generation
            whole = generation % settings.snapshot_every == 0
            if run:
                if generation == 1:
                    self._keep(run, 0, state.first_best)
                if whole:
                    self._keep(run, generation, state.best)
                best, mean = float(state.fitness.max()), float(state.fitness.mean())
                # From these rows `replay` rebuilds every network without playing a game.
                shown = {"best": round(best, 3), "mean": round(mean, 3)}
                run.note(generation, **shown, fitness=state.fitness.tolist())
                if whole or run.due() or generation == settings.generations:
                    run.save(generation, state.arrays())
            on_generation(state)
        self.weights_ = state.best.copy()
        return self

    def _keep(self, run: Run[EvolutionSettings], generation: int, weights: Weights) -> None:
        """Save a snapshot."""
        twin = type(self)(settings=self.settings)
        twin.weights_ = weights
        twin.save(run.snapshot(generation))

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
        """Return the network's output from Black's view, scaled to the points of the board."""
        found = []
        for board in boards:
            self._check(board)
            me = 3 - board.turn  # positions are evaluated for the side that has just moved
            value = self.shape.value(self.weights_, board, me) * board.rows * board.cols
            # The network evolved with one komi; another komi shifts the score by the difference.
            komi = board.white_bonus - self.settings.komi
            found.append((value if me == BLACK else -value) - komi)
        return np.array(found)

    def choose(self, board: Board, rng: np.random.Generator) -> Point:
        """Choose the network's move, look-ahead included; a pass if it is illegal."""
        self._check(board)
        return self.player().choose(board, rng)

    def player(self) -> NetworkPlayer:
        """Return the network as a player that does not check the board's size."""
        by_chance = self.settings.by_chance
        return NetworkPlayer(self.shape, self.weights_, self.name, by_chance)

    @property
    def opening_plies(self) -> int:
        """The number of opening plies that the network evolved to play."""
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
