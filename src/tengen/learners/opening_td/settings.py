"""Say what an opening player is and how it is trained; know no weights and no game."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.errors import SpecError
from tengen.learners.opening_td.features import ENCODINGS, FeatureSet
from tengen.learners.opening_td.network import TARGETS, largest_score
from tengen.models.settings import CheckedSettings, setting

SELF = "self"
"""The opponent of a player that is trained by playing against itself."""


@dataclass(frozen=True)
class TDSettings(CheckedSettings):
    """How an opening player is built and trained.

    `expert`, `referee` and `opponent` are names for the record and for commands: `OpeningTD.fit` is
    given the players themselves.
    """

    features: str = setting("ABCDE", "A and some of B, C, D, E.")
    encoding: str = setting("binary", "How B to E are put.", choices=ENCODINGS)
    games: int = setting(3000, "Openings to play; rate and exploration change over them.", least=0)
    rows: int = setting(9, "Board size.", least=2, most=25, option="size")
    cols: int | None = None
    """Columns of the board; None for a square."""
    plies: int | None = setting(
        None, "Length of the opening, both sides; a quarter of the points, if not said.", least=1
    )
    komi: float = setting(5.5, "White's compensation.")
    hidden: int = setting(40, "Hidden units.", least=1)
    alpha: float = setting(0.5, "Learning rate.", least=0)
    alpha_end: float | None = setting(
        None, "Learning rate of the last game; it falls geometrically.", least=0
    )
    trace: float = setting(
        0.0, "The lambda of TD(lambda); 0 is the paper's.", least=0, most=1, option="lambda"
    )
    target: str = setting("score", "What is predicted.", choices=TARGETS)
    explore: float = setting(0.1, "Share of moves drawn by softmax.", least=0, most=1)
    explore_end: float = setting(0.02, "The same at the last game.", least=0, most=1)
    temperature: float = setting(
        1.0, "Of that softmax, in points; for the target win in hundredths.", least=0
    )
    random_plies: int = setting(0, "Random first plies, up to so many.", least=0)
    random_opponent: float = setting(
        0.0, "Share of openings in which one side plays at random.", least=0, most=1
    )
    opponent: str = setting(SELF, "Train against this player, not by self-play.")
    expert: str = setting("builtin", "Who finishes openings: builtin, playouts:N or a player.")
    referee: str | None = setting(
        None, "Who judges the learning curve; the expert, if not said.", changeable=True
    )
    curve_every: int = setting(
        50, "Games between points of the learning curve.", least=1, changeable=True
    )
    curve_games: int = setting(
        100, "Games against random for each point; 0 for no curve.", least=0, changeable=True
    )
    seed: int = setting(0, "Every random choice follows from it.", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.chosen
        if self.temperature == 0:
            raise SpecError("temperature is 0, not above it")
        if self.random_plies >= self.opening_plies:
            raise SpecError(
                f"{self.random_plies} random plies in an opening of {self.opening_plies}"
            )

    @property
    def name(self) -> str:
        """A short name: features and encoding."""
        return f"{self.features} {self.encoding}"

    @property
    def chosen(self) -> FeatureSet:
        """The inputs."""
        return FeatureSet(self.features, self.encoding)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the board."""
        return self.rows, self.rows if self.cols is None else self.cols

    @property
    def opening_plies(self) -> int:
        """Plies of an opening."""
        rows, cols = self.shape
        return max(2, round(rows * cols / 4)) if self.plies is None else self.plies

    @property
    def outputs(self) -> int:
        """Number of output units."""
        rows, cols = self.shape
        return rows * cols if self.target == "ownership" else 1

    @property
    def largest(self) -> float:
        """The score that an output of 1 stands for."""
        return largest_score(*self.shape, self.komi)

    @property
    def temperature_in_outputs(self) -> float:
        """The temperature in the units of the mean output."""
        if self.target == "win":
            return self.temperature / 100
        if self.target == "score":
            return self.temperature / (2 * self.largest)
        return self.temperature / (2 * self.outputs)

    def rate(self, number: int) -> float:
        """Return the learning rate of a game; it falls geometrically."""
        if self.alpha_end is None:
            return self.alpha
        return float(self.alpha * (self.alpha_end / self.alpha) ** self._share(number))

    def exploration(self, number: int) -> float:
        """Return the chance of exploring in a game; it falls linearly."""
        return self.explore + (self.explore_end - self.explore) * self._share(number)

    def _share(self, number: int) -> float:
        """Return how far the training has come at a game, 0 to 1."""
        return number / max(self.games - 1, 1)


DEFAULTS = TDSettings()
