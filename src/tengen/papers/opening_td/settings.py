"""Settings of an opening player: its input features and its training.

Feature A is the stones (with one input for prisoners and komi), B the distances to the edges, C the
liberties of a stone's block, D its size, E the stones near it. Each of B to E is scalar or binary.
B as the paper has it is the same in every position; with `edges="stones"` only stones have it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from tengen.errors import SpecError
from tengen.models.settings import CheckedSettings, setting

_FEATURES = "BCDE"  # the features that can be added to A

QUANTITIES = {"B": 2, "C": 1, "D": 1, "E": 2}  # numbers per intersection of each feature

ENCODINGS: dict[str, dict[str, bool]] = {
    "scalar": dict.fromkeys(_FEATURES, False),
    "binary": dict.fromkeys(_FEATURES, True),
    # The paper's own suggestion, which it did not try.
    "mixed": {"B": False, "C": True, "D": True, "E": False},
}
"""Which features are binary under each name."""

SETS = tuple("A" + "".join(c) for n in range(5) for c in combinations(_FEATURES, n))
"""The sixteen players of the paper, by their features."""

EVERYWHERE, STONES = "everywhere", "stones"  # the points that feature B is given for

SELF = "self"  # the opponent of a player that trains by self-play


@dataclass(frozen=True)
class TDSettings(CheckedSettings):
    """How an opening player is built and trained; players are specs for records and commands."""

    features: str = setting("ABCDE", "A and some of B, C, D, E.")
    encoding: str = setting("binary", "Encoding of B to E.", choices=tuple(ENCODINGS))
    edges: str = setting(
        EVERYWHERE, "Points with feature B: everywhere, as in the paper, or stones.",
        choices=(EVERYWHERE, STONES),
    )  # fmt: skip
    games: int = setting(3000, "Openings to play; rate and exploration change over them.", least=0)
    rows: int = setting(9, "Board size.", least=2, most=25, option="size")
    cols: int | None = None  # columns of the board; None for a square
    plies: int | None = setting(None, "Plies of an opening; a quarter of the points.", least=1)
    corner: int | None = setting(None, "Lines of a corner that moves are confined to.", least=2)
    knowledge: int | None = setting(None, "Best moves by static rules to choose from.", least=1)
    komi: float = setting(5.5, "White's compensation.")
    hidden: int = setting(40, "Hidden units.", least=1)
    alpha: float = setting(0.5, "Learning rate.", least=0)
    alpha_end: float | None = setting(None, "Learning rate of the last game.", least=0)
    trace: float = setting(0.0, "Lambda of TD(lambda).", least=0, most=1, option="lambda")
    explore: float = setting(0.1, "Share of moves drawn by softmax.", least=0, most=1)
    explore_end: float = setting(0.02, "The same at the last game.", least=0, most=1)
    temperature: float = setting(1.0, "Of that softmax, in points.", least=0)
    random_plies: int = setting(0, "Most random plies at the start.", least=0)
    random_opponent: float = setting(0.0, "Share of openings against random.", least=0, most=1)
    opponent: str = setting(SELF, "Train against this player, not by self-play.")
    expert: str = setting("builtin", "Who finishes openings: builtin, playouts:N or a player.")
    referee: str | None = setting(None, "Judge of the curve; the expert.", changeable=True)
    curve_every: int = setting(50, "Games per point of the curve.", least=1, changeable=True)
    curve_games: int = setting(100, "Games against random per point.", least=0, changeable=True)
    seed: int = setting(0, "Seed of all random choices.", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features not in SETS:
            raise SpecError(
                f"features {self.features!r} are not A followed by some of B, C, D, E in order"
            )
        if self.temperature == 0:
            raise SpecError("temperature is 0, not above it")
        if self.alpha == 0 and self.alpha_end is not None:
            raise SpecError("alpha is 0: a rate that changes by a factor stays there")
        if self.random_plies >= self.opening_plies:
            raise SpecError(
                f"{self.random_plies} random plies in an opening of {self.opening_plies}"
            )

    @property
    def name(self) -> str:
        """A short name: features and encoding."""
        return f"{self.features} {self.encoding}"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the board."""
        return self.rows, self.rows if self.cols is None else self.cols

    @property
    def binary(self) -> Mapping[str, bool]:
        """Which features are binary."""
        return ENCODINGS[self.encoding]

    def nodes(self, feature: str) -> int:
        """Return the number of inputs of a feature per intersection."""
        from tengen.papers.opening_td.kernels import STEPS  # here, so that options need no kernels

        return QUANTITIES[feature] * (STEPS if self.binary[feature] else 1)

    @property
    def n_inputs(self) -> int:
        """Length of the input vector."""
        return 1 + math.prod(self.shape) * (2 + sum(map(self.nodes, self.features[1:])))

    @property
    def opening_plies(self) -> int:
        """Plies of an opening."""
        return max(2, round(math.prod(self.shape) / 4)) if self.plies is None else self.plies

    @property
    def largest(self) -> float:
        """The score that an output of 1 means: all points and komi, rounded up to tens."""
        return math.ceil((math.prod(self.shape) + abs(self.komi)) / 10) * 10.0

    def rate(self, number: int) -> float:
        """Return the learning rate of a game; it falls geometrically."""
        if self.alpha_end is None:
            return self.alpha
        return float(self.alpha * (self.alpha_end / self.alpha) ** self._share(number))

    def exploration(self, number: int) -> float:
        """Return the chance of exploring in a game; it falls linearly."""
        return self.explore + (self.explore_end - self.explore) * self._share(number)

    def _share(self, number: int) -> float:
        """Return the progress of the training at a game, 0 to 1."""
        return number / max(self.games - 1, 1)


DEFAULTS = TDSettings()
