"""The paper's network, which learns from final scores which blocks are dead; and one repaired.

For every block r = v . [W (x + a) + b]; r > 0 means dead. For every empty region the numbers of
black and white blocks next to it, the sums of their r and its size go through
s = g . [V (. + c) + d]. The score, positive for White, is komi, prisoners, the regions' s and twice
the dead stones; the energy is its distance from the recorded score. `Version` says which of the
paper's faults are removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tengen.arrays import BoolArray, FloatArray
from tengen.board import BLACK, WHITE
from tengen.papers.scoring_failure import program
from tengen.papers.scoring_failure.games import PaperGames, Scaling, counted
from tengen.scoring import network
from tengen.scoring.features import Parts
from tengen.scoring.network import Rprop

HIDDEN = 20  # of the author's program; the paper names no number
_HUGE = 1e300  # stands for numbers beyond it, which JSON cannot hold
_HOPELESS = 1e15  # mean error at which training stops


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
    program: bool = False  # as the author's program does it, see `program`
    adaptive: bool = False  # of the program: steps that grow and shrink as RPROP's should


RPNC = Version()
GDXNC = Version(optimiser="gdx")
_FIXED: dict[str, Any] = {
    "printed": False, "deaths": "smooth", "squash": True, "product": True, "checked": True,
}  # fmt: skip
VERSIONS: dict[str, Version] = {
    "rpnc": RPNC,
    "program": Version(program=True, printed=False, single=True, scaled=False),
    "program-steps": Version(program=True, adaptive=True, printed=False, single=True, scaled=False),
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
    vectors = games.region_vectors(r)
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
    games: PaperGames, *, steps: int = 150, hidden: int = 25, starts: int = 3, seed: int = 0
) -> tuple[Parameters, list[float]]:
    """Fit the repaired network by iRprop- in full batches; return its weights and the losses.

    Some starts end where no block is dead: the one with the least loss on its games counts.
    """
    found: list[tuple[Parameters, list[float]]] = []
    for start in range(starts):
        weights = network.initial(games.x.shape[1], hidden, starts * seed + start)
        weights[3][:] = 1.0  # most blocks live
        way, losses = Rprop(first=0.01, most=1.0), []
        for _ in range(steps):
            loss, gradients = soft_loss(weights, games)
            losses.append(loss)
            way.step(weights, gradients, loss)
        found.append((weights, [*losses, soft_loss(weights, games)[0]]))
    return min(found, key=lambda pair: pair[1][-1])


# ----- Training and measuring -----


@dataclass
class Trained:
    """A trained version, and its curve."""

    version: Version
    parameters: Parameters
    curve: list[float]  # the mean error before each step and at the end
    scaling: Scaling | None = None  # of the features

    def scaled(self, games: PaperGames) -> PaperGames:
        """Return games as the network takes them."""
        return games if self.scaling is None else self.scaling(games)

    def predict(self, games: PaperGames) -> tuple[FloatArray, BoolArray]:
        """Return the predicted scores, positive for White, and which blocks are dead."""
        games = self.scaled(games)
        if self.version.program:
            return program.predict(self.parameters, games)
        if self.version.soft:
            alive = chances(self.parameters, games)
            return games.offset - expected_margins(alive, games)[0], alive < 0.5
        with np.errstate(all="ignore"):
            found = energy_and_gradient(self.parameters, games, self.version)
        return np.nan_to_num(found.scores, nan=_HUGE, posinf=_HUGE, neginf=-_HUGE), found.r > 0


def train(
    games: PaperGames,
    version: Version = RPNC,
    *,
    steps: int = 100,
    passes: int = 1,
    seed: int = 0,
) -> Trained:
    """Train one version: `steps` on all games, or `passes` with a step after every game."""
    if version.checked:
        games = games.where(games.explained())
    scaling = Scaling.of(games) if version.scaled else None
    games = games if scaling is None else scaling(games)
    if version.soft:
        weights, losses = train_soft(games, steps=steps, seed=seed)
        return Trained(version, weights, losses, scaling)
    if version.program:
        return Trained(
            version, *program.train(games, steps=passes, seed=seed, adaptive=version.adaptive)
        )
    parameters = initial_parameters(games.x.shape[1], HIDDEN, seed)
    way = Rprop() if version.optimiser == "rprop" else Momentum()
    each = games.one_by_one() if version.single else []
    curve: list[float] = []
    with np.errstate(all="ignore"):
        last = passes if version.single else steps
        for number in range(last + 1):
            found = energy_and_gradient(parameters, games, version)
            curve.append(min(found.error, _HUGE) if np.isfinite(found.error) else _HUGE)
            if curve[-1] > _HOPELESS or number == last:
                break
            for game in each:
                one = energy_and_gradient(parameters, game, version)
                way.step(parameters, one.gradient, one.error)
            if not each:
                way.step(parameters, found.gradient, found.error)
    return Trained(version, parameters, curve, scaling)


def counts(games: PaperGames, dead: BoolArray) -> FloatArray:
    """Return Black's margins by the rules without these blocks, komi and prisoners left out."""
    margins, row = [], 0
    for grid in games.grids:
        position = Parts(grid)
        dead_parts = np.zeros(len(position.size), np.bool_)
        dead_parts[position.blocks] = dead[row : row + len(position.blocks)]
        row += len(position.blocks)
        margins.append(counted(grid, dead_parts[position.part]))
    return np.array(margins, np.float64)


def measure(trained: Trained, games: PaperGames) -> dict[str, int | float]:
    """Measure a network on games: its scores, the count without its dead blocks, its blocks."""
    scores, dead = trained.predict(games)
    error = np.abs(scores - games.score)
    right = np.abs(counts(games, dead) - (games.offset - games.score)) < 0.01
    blocks = {
        "dead_right": (games.alive == 0) & dead,
        "dead_wrong": (games.alive == 0) & ~dead,
        "alive_right": (games.alive == 1) & ~dead,
        "alive_wrong": (games.alive == 1) & dead,
    }
    return {
        "tested": len(games),
        "error": min(float(error.mean()), _HUGE),
        "typical": float(np.median(np.abs(scores))),
        "largest": float(np.abs(scores).max()),
        "exact": int((np.abs(np.round(scores * 2) / 2 - games.score) < 0.01).sum()),
        "winner": int((np.sign(scores) == np.sign(games.score)).sum()),
        "counted": int(right.sum()),
        "komi_error": float(np.abs(games.score - games.offset).mean()),
        **{name: int(mask.sum()) for name, mask in blocks.items()},
    }
