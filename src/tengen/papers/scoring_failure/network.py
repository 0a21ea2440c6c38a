"""The paper's network, which learns from final scores which blocks are dead; and one repaired.

For every block r = v . [W (x + a) + b]; r > 0 means dead. For every empty region the numbers of
black and white blocks next to it, the sums of their r and its size go through
s = g . [V (. + c) + d]. The score, positive for White, is komi, prisoners, the regions' s and twice
the dead stones; the energy is its distance from the recorded score. `Version` says which of the
paper's faults are removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tengen.arrays import BoolArray, FloatArray, IntArray
from tengen.board import BLACK, WHITE
from tengen.board.counting_kernels import territory_margin
from tengen.records import GameArrays
from tengen.records.corpus import last_positions
from tengen.scoring import BlockScorer, network
from tengen.scoring.features import Parts, PositionFeatures
from tengen.scoring.network import Rprop

SECOND_DISTANCES = (16, 31)  # columns of the 48 features that the 46 leave out
FEATURES = 46
HIDDEN = 10  # the paper names no number
UNKNOWN = -1  # status of a block whose game's recorded score is not explained
_HUGE = 1e300  # stands for numbers beyond it, which JSON cannot hold
_HOPELESS = 1e15  # mean error at which training stops


# ----- Games -----


@dataclass
class PaperGames:
    """Games as flat arrays: blocks, empty regions, their adjacency, and the recorded scores."""

    x: FloatArray  # features of all blocks of all games
    colour: IntArray
    size: FloatArray
    block_game: IntArray
    region_game: IntArray
    region_size: FloatArray
    edge_region: IntArray
    edge_block: IntArray
    offset: FloatArray  # per game: komi minus Black's prisoners plus White's
    score: FloatArray  # per game: the recorded score, White-positive
    alive: IntArray  # per block: 1, 0 or UNKNOWN; only for the measurement
    grids: Sequence[NDArray[np.int8]] = ()  # the positions

    def __len__(self) -> int:
        return len(self.score)

    @property
    def sign(self) -> FloatArray:
        """1 for black blocks and -1 for white ones."""
        return np.where(self.colour == WHITE, -1.0, 1.0)

    def totals(self, start: Any, regions: NDArray[Any], blocks: NDArray[Any]) -> FloatArray:
        """Return `start` plus the values of each game's regions and blocks."""
        found: FloatArray = start + np.bincount(self.region_game, regions, len(self.score))
        return found + np.bincount(self.block_game, blocks, len(self.score))

    def where(self, chosen: BoolArray) -> PaperGames:
        """Return some of the games."""
        blocks, regions = chosen[self.block_game], chosen[self.region_game]
        edges = regions[self.edge_region]
        kinds = {
            **dict.fromkeys(("x", "colour", "size", "alive"), blocks), "region_size": regions,
            "offset": chosen, "score": chosen,
        }  # fmt: skip
        taken = {name: getattr(self, name)[mask] for name, mask in kinds.items()}
        game, block, region = (np.cumsum(mask) - 1 for mask in (chosen, blocks, regions))
        return PaperGames(
            block_game=game[self.block_game[blocks]],
            region_game=game[self.region_game[regions]],
            edge_region=region[self.edge_region[edges]],
            edge_block=block[self.edge_block[edges]],
            grids=[grid for grid, mine in zip(self.grids, chosen, strict=True) if mine],
            **taken,
        )

    def explained(self) -> BoolArray:
        """Return which games have blocks of known status."""
        return np.bincount(self.block_game, self.alive != UNKNOWN, len(self)) > 0

    def one_by_one(self) -> list[PaperGames]:
        """Return every game alone, without its grid."""
        counts = [
            np.bincount(of, minlength=len(self))
            for of in (self.block_game, self.region_game, self.region_game[self.edge_region])
        ]
        blocks, regions, edges = (np.concatenate([[0], np.cumsum(each)]) for each in counts)
        found = []
        for g in range(len(self)):
            b, e = slice(blocks[g], blocks[g + 1]), slice(regions[g], regions[g + 1])
            edge = slice(edges[g], edges[g + 1])
            found.append(
                PaperGames(
                    x=self.x[b], colour=self.colour[b], size=self.size[b], alive=self.alive[b],
                    block_game=self.block_game[b] - g, region_game=self.region_game[e] - g,
                    region_size=self.region_size[e],
                    edge_region=self.edge_region[edge] - regions[g],
                    edge_block=self.edge_block[edge] - blocks[g],
                    offset=self.offset[g : g + 1], score=self.score[g : g + 1],
                )
            )  # fmt: skip
        return found


@dataclass(frozen=True)
class Scaling:
    """Standardises features; the paper mentions no scaling."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def of(cls, games: PaperGames) -> Scaling:
        """Learn it from games."""
        return cls(games.x.mean(axis=0), np.maximum(games.x.std(axis=0), 1e-9))

    def __call__(self, games: PaperGames) -> PaperGames:
        """Return the games with standardised features."""
        return replace(games, x=(games.x - self.mean) / self.deviation)


def paper_games(
    games: GameArrays,
    judge: BlockScorer | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> PaperGames:
    """Describe finished games by the paper's 46 features.

    A `judge` tells which blocks live in the games whose recorded score it explains.
    """
    padded, taken = last_positions(games)
    offset = games.komi.astype(np.float64) - taken[:, BLACK - 1] + taken[:, WHITE - 1]
    score = -games.score.astype(np.float64)
    sizes = zip(padded, games.rows, games.cols, strict=True)
    grids = [np.ascontiguousarray(grid[:rows, :cols]) for grid, rows, cols in sizes]
    parts: dict[str, list[Any]] = defaultdict(list)
    blocks = regions = 0
    for g, grid in enumerate(grids):
        position = PositionFeatures(grid)
        stones = position.colour > 0
        number = np.where(stones, blocks + np.cumsum(stones) - 1, regions + np.cumsum(~stones) - 1)
        edges = number[np.argwhere(position.adjacent & ~stones[:, None] & stones)]
        status = np.full(len(position.size), UNKNOWN)
        if judge is not None:
            dead = judge.read(grid).dead
            if abs(counted(grid, dead) - (offset[g] - score[g])) < 0.01:
                status[:] = 1
                status[position.part[dead]] = 0
        parts["alive"].append(status[stones])
        parts["x"].append(position.paper()[stones])
        parts["colour"].append(position.colour[stones])
        parts["size"].append(position.size[stones].astype(np.float64))
        parts["block_game"].append(np.full(int(stones.sum()), g))
        parts["region_game"].append(np.full(int((~stones).sum()), g))
        parts["region_size"].append(position.size[~stones].astype(np.float64))
        parts["edge_region"].append(edges[:, 0])
        parts["edge_block"].append(edges[:, 1])
        blocks += int(stones.sum())
        regions += int((~stones).sum())
        done(g + 1)
    joined = {name: np.concatenate(values) for name, values in parts.items()}
    x = np.delete(joined.pop("x"), SECOND_DISTANCES, axis=1)
    return PaperGames(x=x, offset=offset, score=score, grids=grids, **joined)


def counted(grid: NDArray[np.int8], dead: BoolArray) -> int:
    """Return Black's margin by the careful count, without komi and prisoners."""
    return int(territory_margin(grid, dead, True, np.zeros(grid.shape, np.int8)))


# ----- The paper's network, with or without its faults -----

Deaths = Literal["step", "linear", "smooth"]


@dataclass(frozen=True)
class Version:
    """How a network is trained; the default is the paper's RPNC as written."""

    optimiser: Literal["rprop", "gdx"] = "rprop"
    printed: bool = True
    """The printed gradient, whose sign is wrong for all that lies before r."""
    deaths: Deaths = "step"
    """How dead stones count: by a step of r, by r itself (the second energy), or smoothly."""
    squash: bool = False  # both layers end in tanh
    product: bool = False  # a region's award is multiplied by its size
    checked: bool = False  # only games whose recorded score a count explains
    single: bool = False  # a step after every game instead of after all games
    scaled: bool = True  # standardised features
    soft: bool = False  # the repaired network in place of the paper's


RPNC = Version()
GDXNC = Version(optimiser="gdx")
_FIXED: dict[str, Any] = {
    "printed": False, "deaths": "smooth", "squash": True, "product": True, "checked": True,
}  # fmt: skip
VERSIONS: dict[str, Version] = {
    "rpnc": RPNC,
    "rpnc-unscaled": replace(RPNC, scaled=False),
    "rpnc-single": replace(RPNC, single=True),
    "rpnc-linear": replace(RPNC, deaths="linear"),
    "rpnc-sign": replace(RPNC, printed=False),
    "rpnc-squash": replace(RPNC, squash=True),
    "rpnc-smooth": replace(RPNC, deaths="smooth"),
    "rpnc-product": replace(RPNC, product=True),
    "rpnc-checked": replace(RPNC, checked=True),
    "rpnc-all": replace(RPNC, **_FIXED),
    "gdxnc": GDXNC,
    "gdxnc-linear": replace(GDXNC, deaths="linear"),
    "gdxnc-sign": replace(GDXNC, printed=False),
    "gdxnc-all": replace(GDXNC, **_FIXED),
    "repaired": Version(soft=True, printed=False, checked=False),
}

Parameters = list[FloatArray]


def initial_parameters(features: int, hidden: int, seed: int) -> Parameters:
    """Return small random parameters [W, a, b, v, V, c, d, g]."""
    rng = np.random.default_rng(seed)
    shapes: list[tuple[int, ...]] = [
        (hidden, features), (features,), (hidden,), (hidden,), (4, 5), (5,), (4,), (4,),
    ]  # fmt: skip
    return [rng.uniform(-0.1, 0.1, shape) for shape in shapes]


@dataclass(frozen=True)
class Outcome:
    """What a network says of games: its energy, the gradient, the scores and every block's r."""

    error: float
    gradient: Parameters
    scores: FloatArray
    r: FloatArray


def energy_and_gradient(p: Parameters, games: PaperGames, version: Version = RPNC) -> Outcome:
    """Return the mean of |true - predicted| and its gradient, as printed or the right one."""
    w, a, b, v, big, c, d, g = p
    n = len(games.region_game)
    white = games.colour[games.edge_block] == WHITE
    x = games.x + a
    hidden = x @ w.T + b
    if version.squash:
        hidden = np.tanh(hidden)
    r = hidden @ v
    vectors = np.zeros((n, 5))
    for side, mask in ((0, ~white), (1, white)):
        at, blocks = games.edge_region[mask], games.edge_block[mask]
        vectors[:, side] = np.bincount(at, minlength=n)
        vectors[:, 2 + side] = np.bincount(at, weights=r[blocks], minlength=n)
    vectors[:, 4] = games.region_size
    shifted = vectors + c
    inside = shifted @ big.T + d
    if version.squash:
        inside = np.tanh(inside)
    times = games.region_size if version.product else np.ones(n)
    stake = 2 * games.size * games.sign
    dead, slope = _deaths(r, version.deaths)
    scores = games.totals(games.offset, inside @ g * times, stake * dead)
    error = games.score - scores
    # dE/dscore = -sign(error), zero at zero as the paper says.
    outer = -np.sign(error) / len(error)
    pull = outer[games.region_game] * times
    d_inside = np.outer(pull, g) * (1 - inside**2 if version.squash else 1.0)
    through = d_inside @ big
    at = games.edge_region
    d_r: FloatArray = np.bincount(
        games.edge_block, np.where(white, through[at, 3], through[at, 2]), minlength=len(r)
    ).astype(np.float64)
    d_r += stake * outer[games.block_game] * slope
    if version.printed:
        d_r = -d_r
    d_hidden = np.outer(d_r, v) * (1 - hidden**2 if version.squash else 1.0)
    before = d_hidden.sum(axis=0)
    gradient = [
        d_hidden.T @ x, before @ w, before, d_r @ hidden,
        d_inside.T @ shifted, through.sum(axis=0), d_inside.sum(axis=0), pull @ inside,
    ]  # fmt: skip
    return Outcome(float(np.abs(error).mean()), gradient, scores, r)


def _deaths(r: FloatArray, deaths: Deaths) -> tuple[FloatArray, FloatArray]:
    """Return by how much every block is dead, and the derivative by r."""
    if deaths == "linear":
        return r, np.ones(len(r))
    if deaths == "step":
        return (r > 0).astype(np.float64), np.zeros(len(r))
    smooth = network.sigmoid(r)
    return smooth, smooth * (1 - smooth)


class Momentum:
    """Gradient descent with momentum and an adaptive rate, with the usual constants.

    A step after which the error has risen by more than 4 % is taken back.
    """

    _UP, _DOWN, _TOLERANCE, _KEPT = 1.05, 0.7, 1.04, 0.9

    def __init__(self, *, rate: float = 0.01) -> None:
        self.rate = rate
        self._error = np.inf
        self._speed: Parameters = []
        self._place: tuple[Parameters, Parameters] = [], []

    def step(
        self, arrays: Sequence[FloatArray], gradients: Sequence[FloatArray], error: float = 0.0
    ) -> None:
        """Change the arrays in place; `error` is the error where they are."""
        if self._speed and not error <= self._error * self._TOLERANCE:
            self.rate *= self._DOWN
            for array, before, speed in zip(arrays, self._place[0], self._speed, strict=True):
                array[...] = before
                speed[...] = 0.0
        else:
            if error < self._error:
                self.rate *= self._UP
            self._error = error
            self._place = [a.copy() for a in arrays], [np.array(g) for g in gradients]
        self._speed = self._speed or [np.zeros(a.shape) for a in arrays]
        for array, gradient, speed in zip(arrays, self._place[1], self._speed, strict=True):
            speed *= self._KEPT
            speed -= self.rate * (1 - self._KEPT) * gradient
            array += speed


# ----- The repaired network -----

_DELTA = 5.0  # errors in points beyond which the loss grows linearly


def expected_margins(alive: FloatArray, games: PaperGames) -> tuple[FloatArray, FloatArray]:
    """Return the expected margins for Black, without komi and prisoners, and their derivatives.

    The derivative of a block is that of its game's margin with respect to its chance of living.
    """
    doomed = np.clip(1.0 - alive, 1e-9, 1.0)
    n = len(games.region_game)
    stake = slope = 2.0 * games.size * games.sign
    held = np.zeros(n)
    for colour, side in ((BLACK, 1.0), (WHITE, -1.0)):
        mine = games.colour[games.edge_block] == colour
        at, blocks = games.edge_region[mine], games.edge_block[mine]
        nobody = np.exp(np.bincount(at, weights=np.log(doomed[blocks]), minlength=n))
        held += side * np.where(np.bincount(at, minlength=n) > 0, 1.0 - nobody, 0.0)
        pull = side * games.region_size[at] * nobody[at] / doomed[blocks]
        slope = slope + np.bincount(blocks, weights=pull, minlength=len(alive))
    return games.totals(0.0, games.region_size * held, stake * (alive - 1.0)), slope


def chances(weights: Sequence[FloatArray], games: PaperGames) -> FloatArray:
    """Return every block's probability of being alive."""
    w, b, v, c = weights
    z = np.tanh(games.x @ w + b) @ v + c[0]
    return network.sigmoid(np.clip(z, -network.LIMIT, network.LIMIT))


def soft_loss(weights: Sequence[FloatArray], games: PaperGames) -> tuple[float, Parameters]:
    """Return the mean Huber loss of the expected margins and its gradient."""
    w, b, v, _ = weights
    hidden = np.tanh(games.x @ w + b)
    alive = chances(weights, games)
    margins, slope = expected_margins(alive, games)
    # The recorded score is White-positive and includes komi and prisoners.
    error = margins - (games.offset - games.score)
    size = np.abs(error)
    loss = np.where(size < _DELTA, 0.5 * error**2, _DELTA * (size - 0.5 * _DELTA))
    outer = np.clip(error, -_DELTA, _DELTA) / len(error)
    dz = outer[games.block_game] * slope * alive * (1.0 - alive)
    dh = np.outer(dz, v) * (1.0 - hidden**2)
    gradient = [games.x.T @ dh, dh.sum(axis=0), hidden.T @ dz, np.array([dz.sum()])]
    return float(loss.mean()), gradient


def train_soft(
    games: PaperGames, *, steps: int = 150, hidden: int = 25, seed: int = 0
) -> tuple[Parameters, list[float]]:
    """Fit the repaired network by iRprop- in full batches; return its weights and the losses."""
    weights = network.initial(games.x.shape[1], hidden, seed)
    weights[3][:] = 1.0  # most blocks live
    way, losses = Rprop(first=0.01, most=1.0), []
    for _ in range(steps):
        loss, gradients = soft_loss(weights, games)
        losses.append(loss)
        way.step(weights, gradients, loss)
    return weights, [*losses, soft_loss(weights, games)[0]]


# ----- Training and measuring -----


@dataclass
class Trained:
    """A trained version: its parameters, the scaling of the features, and its curve."""

    version: Version
    parameters: Parameters
    scaling: Scaling | None
    curve: list[float]  # the mean error before each step and at the end

    def scaled(self, games: PaperGames) -> PaperGames:
        """Return games as the network takes them."""
        return games if self.scaling is None else self.scaling(games)

    def predict(self, games: PaperGames) -> tuple[FloatArray, BoolArray]:
        """Return the predicted scores, positive for White, and which blocks are dead."""
        games = self.scaled(games)
        if self.version.soft:
            alive = chances(self.parameters, games)
            return games.offset - expected_margins(alive, games)[0], alive < 0.5
        with np.errstate(all="ignore"):
            found = energy_and_gradient(self.parameters, games, self.version)
        return np.nan_to_num(found.scores, nan=_HUGE, posinf=_HUGE, neginf=-_HUGE), found.r > 0


def train(
    games: PaperGames, version: Version = RPNC, *, steps: int = 100, seed: int = 0
) -> Trained:
    """Train one version."""
    if version.checked:
        games = games.where(games.explained())
    scaling = Scaling.of(games) if version.scaled else None
    games = games if scaling is None else scaling(games)
    if version.soft:
        weights, losses = train_soft(games, steps=steps, seed=seed)
        return Trained(version, weights, scaling, losses)
    parameters = initial_parameters(games.x.shape[1], HIDDEN, seed)
    way = Rprop() if version.optimiser == "rprop" else Momentum()
    each = games.one_by_one() if version.single else []
    curve: list[float] = []
    with np.errstate(all="ignore"):
        for number in range(steps + 1):
            found = energy_and_gradient(parameters, games, version)
            curve.append(min(found.error, _HUGE) if np.isfinite(found.error) else _HUGE)
            if curve[-1] > _HOPELESS or number == steps:
                break
            for game in each:
                one = energy_and_gradient(parameters, game, version)
                way.step(parameters, one.gradient, one.error)
            if not each:
                way.step(parameters, found.gradient, found.error)
    return Trained(version, parameters, scaling, curve)


def measure(trained: Trained, games: PaperGames) -> dict[str, int | float]:
    """Measure a network on games: its scores, the count without its dead blocks, its blocks."""
    scores, dead = trained.predict(games)
    error = np.abs(scores - games.score)
    wanted = games.offset - games.score
    right, row = 0, 0
    for grid, margin in zip(games.grids, wanted, strict=True):
        position = Parts(grid)
        fallen = np.zeros(len(position.size), np.bool_)
        fallen[position.blocks] = dead[row : row + len(position.blocks)]
        row += len(position.blocks)
        right += abs(counted(grid, fallen[position.part]) - margin) < 0.01
    blocks = {
        "dead_right": (games.alive == 0) & dead,
        "dead_wrong": (games.alive == 0) & ~dead,
        "alive_right": (games.alive == 1) & ~dead,
        "alive_wrong": (games.alive == 1) & dead,
    }
    return {
        "tested": len(games),
        "error": min(float(error.mean()), _HUGE),
        "largest": float(np.abs(scores).max()),
        "exact": int((np.abs(np.round(scores * 2) / 2 - games.score) < 0.01).sum()),
        "winner": int((np.sign(scores) == np.sign(games.score)).sum()),
        "counted": int(right),
        "komi_error": float(np.abs(games.score - games.offset).mean()),
        **{name: int(mask.sum()) for name, mask in blocks.items()},
    }
