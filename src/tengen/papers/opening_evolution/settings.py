"""Settings of an evolution: everything that its result depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

from tengen.errors import SpecError
from tengen.models.settings import CheckedSettings, setting

if TYPE_CHECKING:  # imported where they are used, so that the command's options need no kernels
    from tengen.board import Board
    from tengen.board.rules import Scoring
    from tengen.papers.opening_evolution.networks import Shape

_DENSE = ("dense", "tiled")
"""The networks of the paper's first experiment, which bred 10 individuals; the second bred 20."""


@dataclass(frozen=True)
class EvolutionSettings(CheckedSettings):
    """How openings are evolved; `opponent` and `expert` are specs kept for records and commands."""

    network: str = setting(
        "dense",
        "tiled is dense, shared spatial with weights tied by symmetry.",
        choices=("dense", "spatial", "tiled", "shared"),
    )
    generations: int = setting(5000, "Generations to breed.", least=0, changeable=True)
    population: int = setting(0, "Individuals; 0 for the paper's: dense 10, spatial 20.", least=0)
    rows: int = setting(13, "Board size.", least=3, most=25, option="size")
    cols: int | None = None  # columns of the board; None for a square
    moves: int = setting(15, "Opening moves of each side.", least=1)
    komi: float = setting(7.5, "White's compensation.")
    scoring: str = setting("area", "How games are counted.", choices=("area", "territory"))
    colours: str = setting(
        "both", "Which side the network plays.", choices=("both", "black", "white")
    )
    plies: int = setting(0, "Look-ahead; 0 for the paper's: dense 2, spatial 1.", least=0, most=2)
    free: bool = setting(False, "An illegal choice is a pass.", option="illegal-passes")
    by_chance: bool = setting(False, "Chance chooses among equal values, not their order.")
    random_plies: int = setting(0, "Random plies before each game of a generation.", least=0)
    starts: int = setting(1, "Games per individual and colour.", least=1)
    more_starts_every: int = setting(0, "Generations per additional start; 0 for none.", least=0)
    handicap: int = setting(0, "The network's handicap stones at first.", least=0, most=9)
    handicap_every: int = setting(0, "Generations per stone fewer; 0: none fewer.", least=0)
    bend: float = setting(0.0, "Points beyond which scores hardly count; 0: no limit.", least=0)
    strategy: str = setting(
        "paper",
        "paper (mu + mu), cma (CMA-ES), mirror (mirrored steps).",
        choices=("paper", "cma", "mirror"),
    )
    remember: bool = setting(False, "Survivors keep a fitness that involved no chance.")
    hall_every: int = setting(0, "Generations per entry to the hall of fame; 0: no hall.", least=0)
    opponent: str = setting("static", "The other side; several, joined by ' + ', take turns.")
    expert: str = setting("static", "Who finishes the games and counts them.")
    snapshot_every: int = setting(250, "Generations between snapshots.", least=1, changeable=True)
    seed: int = setting(0, "Seed of all random choices.", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.handicap:
            from tengen.board import handicap_points

            handicap_points(self.rows, self.cols or self.rows, self.handicap)
        if self.population % 2:
            raise SpecError(f"a population of {self.population} has no half")

    @property
    def individuals(self) -> int:
        """The population, by default the paper's."""
        return self.population or (10 if self.network in _DENSE else 20)

    def shape(self) -> Shape:
        """Return the network's shape."""
        return _shape(self.network, self.rows, self.cols or self.rows, self.free, self.plies)

    def start(self, seed: int, colour: int, stones: int = 0) -> Board:
        """Return the board on which an opening begins, with handicap stones of the colour."""
        from tengen.board import BLACK, Board, Rules, handicap_points, play_random

        rules = Rules(ko="simple", scoring=cast("Scoring", self.scoring))
        board = Board(self.rows, self.cols or self.rows, rules=rules, komi=self.komi)
        if stones:
            points = handicap_points(board.rows, board.cols, stones)
            side = "black" if colour == BLACK else "white"
            board.set_stones(**{side: points}, to_play=3 - colour)
        return play_random(board, self.random_plies, np.random.default_rng(seed))

    def handicap_at(self, generation: int) -> int:
        """Return the handicap stones of a generation; one stone would only be the first move."""
        fewer = generation // self.handicap_every if self.handicap_every else 0
        stones = self.handicap - fewer
        return stones if stones >= 2 else 0

    def starts_at(self, generation: int) -> int:
        """Return the number of games per colour that each individual of a generation plays."""
        more = generation // self.more_starts_every if self.more_starts_every else 0
        return self.starts + more

    def game_seeds(self, generation: int) -> list[int]:
        """Return the seeds of a generation's games, common to all individuals."""
        sequence = np.random.SeedSequence([self.seed, generation, 7])
        return [int(word) for word in sequence.generate_state(self.starts_at(generation))]


DEFAULTS = EvolutionSettings()


@lru_cache(maxsize=16)
def _shape(network: str, rows: int, cols: int, free: bool, plies: int) -> Shape:
    """Return a cached shape: building its tables takes as long as several games."""
    from tengen.papers.opening_evolution.networks import SHAPES

    kind = SHAPES[network]
    return kind(rows, cols, free=free, plies=plies or kind.plies)
