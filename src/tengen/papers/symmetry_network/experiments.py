"""Internal symmetry networks (Blair 2008): trainings and the games of their networks, as rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from tengen.arena.database import Database
from tengen.arena.match import play_match
from tengen.arena.placing import place
from tengen.errors import SpecError
from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, Journal, LabContext
from tengen.models import Run
from tengen.models.runs import read_metrics
from tengen.models.settings import fingerprint, to_plain
from tengen.papers.symmetry_network import SymmetryNetwork, SymmetrySettings
from tengen.papers.symmetry_network import network as definition
from tengen.papers.symmetry_network.learner import SIMPLE, play_games

Rows = list[dict[str, Any]]

DESIGNS: dict[str, dict[str, Any]] = {
    "paper": {},
    "liberties": {"categories": "liberties"},
    "untied": {"tied": False},
    "colours": {"colour": True},
    "recurrent": {"recurrent": True, "mixture": {"T": 3, "S": 2, "D": 1, "C": 1, "F": 2}},
}
"""What differs from the paper's settings; the recurrent cell has exactly as many weights."""


# ----- Weights -----


@dataclass(frozen=True)
class WeightsSize:
    """The boards and the number of random networks on which the symmetry is checked."""

    boards: tuple[int, ...] = (5, 9, 13)
    networks: int = 10


def weights(context: LabContext, size: WeightsSize) -> Sequence[NewRows]:
    """Count the weights of designs, and measure how exactly random networks are symmetric."""
    designs = {name: SymmetrySettings(**changed).architecture for name, changed in DESIGNS.items()}
    counts: Rows = [
        {
            "design": design, "part": part, "dense": int(np.prod(tying.shape)),
            "connections": tying.connections, "free": tying.free,
        }
        for design, architecture in designs.items()
        for part, tying in architecture.parts.items()
    ]  # fmt: skip
    seeds = range(context.seed, context.seed + size.networks)
    errors: Rows = []
    for design in ("paper", "untied"):
        architecture = designs[design]
        for seed in seeds:
            free = np.random.default_rng(seed).normal(0, 0.3, architecture.size)
            for board in size.boards:
                error = definition.equivariance_error(architecture, free, size=board, seed=seed)
                errors.append({"design": design, "seed": seed, "board": board, "error": error})
    settings = to_plain(size)
    return [
        NewRows("symmetry-weights", counts, [], {}),
        NewRows("symmetry-errors", errors, list(seeds), settings),
    ]


# ----- Trainings -----


@dataclass(frozen=True)
class TrainingSize:
    """Trainings with different seeds; by default as long as the paper's."""

    seeds: int = 5
    games: int = 860_000
    linear_games: int = 5_000
    rate: float = 5e-6
    snapshot_every: int = 20_000
    board: int = 9

    def __post_init__(self) -> None:
        """Check that the trainings end with a snapshot."""
        if self.games % self.snapshot_every:
            raise SpecError(f"games={self.games}: not a multiple of {self.snapshot_every}")

    def settings(self, seed: int, design: str = "paper") -> SymmetrySettings:
        """Return the settings of a training."""
        if design not in DESIGNS:
            raise SpecError(f"design {design!r}: not one of {', '.join(DESIGNS)}")
        return SymmetrySettings(
            games=self.games, linear_games=self.linear_games, rate=self.rate, size=self.board,
            seed=seed, snapshot_every=self.snapshot_every,
            checkpoint_every=min(2_000, self.snapshot_every), **DESIGNS[design],
        )  # fmt: skip

    def seed_list(self, context: LabContext) -> list[int]:
        """Return the seeds of the trainings."""
        return list(range(context.seed, context.seed + self.seeds))


Trained = dict[tuple[str, int], Path]
"""The folders of trainings by design and seed."""


def train_all(
    context: LabContext, size: TrainingSize, designs: Sequence[str] = ("paper",), share: float = 0.6
) -> Trained:
    """Train every design with every seed; experiments in one folder share their trainings.

    Trainings advance side by side, one thread each, by a checkpoint at a time, so that an
    interrupted run has lost little.
    """
    asked = {
        (design, seed): size.settings(seed, design)
        for design in designs
        for seed in size.seed_list(context)
    }
    folders = {key: _folder(context, *key, settings) for key, settings in asked.items()}
    step = next(iter(asked.values())).checkpoint_every
    on_step = context.between(0.0, share, "games of self-play of each training,")

    def advance(key: tuple[str, int], games: int) -> None:
        settings = replace(asked[key], games=games)
        with Run.open(folders[key], SymmetryNetwork.kind, settings, resume=True) as run:
            SymmetryNetwork(settings=settings).fit(run=run)

    with ThreadPoolExecutor(min(context.workers, len(asked))) as pool:
        todo = [key for key in asked if not _is_trained(folders[key], size.games)]
        for games in range(step, size.games + step, step):
            goal = min(games, size.games)
            list(pool.map(advance, todo, [goal] * len(todo)))
            on_step(goal, size.games)
    return folders


def _folder(context: LabContext, design: str, seed: int, settings: SymmetrySettings) -> Path:
    """Return the folder of a training; one that differs in more than its length has another."""
    name = fingerprint({**to_plain(settings), "games": 0})[:8]
    return context.place("symmetry-trainings") / f"{design}-{seed}-{name}"


def _is_trained(folder: Path, games: int) -> bool:
    """Return whether a training has gone so far; it saves a snapshot before it notes its error."""
    return _snapshot(folder, games).exists() and any(
        row["step"] >= games for row in read_metrics(folder)
    )


def _snapshot(folder: Path, games: int) -> Path:
    return folder / "snapshots" / f"{games:09d}.safetensors"


def load_at(folder: Path, games: int) -> SymmetryNetwork:
    """Load the snapshot of a training after so many games."""
    return SymmetryNetwork.load(_snapshot(folder, games))


def _match(
    context: LabContext, a: SymmetryNetwork, b: Path | str, games: int, seed: int, board: int
) -> list[float]:
    """Return a network's scores under the conditions of the paper's tournament.

    B is another network's file, a simple player, or the spec of any other player, which meets the
    network's best moves after four random plies and whose games count 1, 0 or -1.
    """
    if isinstance(b, Path) or b in SIMPLE:
        other = SymmetryNetwork.load(b) if isinstance(b, Path) else b
        scores, _ = play_games(
            a, other, games=games, size=board, seed=seed, workers=context.workers
        )
        return [float(score) for score in scores]
    path = context.place("symmetry-players") / "network.safetensors"
    a.save(path)
    found = play_match(f'greedy:model="{path}"', b, games=games, size=board, komi=3.5, seed=seed)
    return [1.0] * found.wins_a + [0.0] * found.draws + [-1.0] * found.wins_b


# ----- Figure 1 -----


@dataclass(frozen=True)
class NetworkSize(TrainingSize):
    """Trainings, a round robin of their snapshots, and games against fixed opponents."""

    pair_games: int = 10
    panel_games: int = 40
    opponents: tuple[str, ...] = ("random", "maxlib", "static")


def network(context: LabContext, size: NetworkSize) -> Sequence[NewRows]:
    """Train networks; let the snapshots of each training play each other and fixed opponents."""
    seeds, folders = size.seed_list(context), train_all(context, size)
    steps = range(0, size.games + 1, size.snapshot_every)
    errors: Rows = []
    for seed in seeds:
        for row in read_metrics(folders["paper", seed]):
            errors.append({"seed": seed, "games": row.pop("step"), **row})
    pairs = {f"{seed} {a} {b}": (seed, a, b) for seed in seeds for a, b in combinations(steps, 2)}
    panel = {
        f"{seed} {at} {name}": (seed, at, name)
        for seed in seeds
        for at in steps
        for name in size.opponents
    }

    def play_pair(job: tuple[int, int, int]) -> dict[str, Any]:
        seed, a, b = job
        folder = folders["paper", seed]
        number = (seed * 1_000_003 + a // size.snapshot_every) * 1_009 + b // size.snapshot_every
        pair = load_at(folder, a), _snapshot(folder, b)
        return {"scores": _match(context, *pair, size.pair_games, number, size.board)}

    def play_panel(job: tuple[int, int, str]) -> dict[str, Any]:
        seed, at, name = job
        one = load_at(folders["paper", seed], at)
        return {"scores": _match(context, one, name, size.panel_games, seed, size.board)}

    paired = _complete(context, "pairs", pairs, play_pair, (0.6, 0.8))
    met = _complete(context, "panel", panel, play_panel, (0.8, 1.0))
    settings = to_plain(size)
    return [
        NewRows("symmetry-training", errors, seeds, settings),
        NewRows(
            "symmetry-network", _games(("seed", "a", "b"), pairs.values(), paired), seeds, settings
        ),
        NewRows(
            "symmetry-panel", _games(("seed", "games", "opponent"), panel.values(), met), seeds,
            settings,
        ),
    ]  # fmt: skip


def _complete(
    context: LabContext,
    name: str,
    jobs: dict[str, Any],
    work: Callable[[Any], dict[str, Any]],
    shares: tuple[float, float],
) -> list[list[float]]:
    """Play the matches that are not played yet; return the scores of all, in their order."""
    journal = Journal(context.place("symmetry-games") / f"{fingerprint(context.step, name)}.jsonl")
    on_step = context.between(*shares, f"{name}:")
    return [row["scores"] for row in journal.complete(jobs, work, on_step=on_step)]


def _games(
    names: Sequence[str], keys: Sequence[Any] | Any, scores: Sequence[Sequence[float]]
) -> Rows:
    """Return one row per game from the matches' keys and scores; even games are A's with Black."""
    return [
        {**dict(zip(names, key, strict=True)), "game": number, "score": score}
        for key, match in zip(keys, scores, strict=True)
        for number, score in enumerate(match)
    ]


# ----- Designs -----


@dataclass(frozen=True)
class DesignsSize(TrainingSize):
    """Trainings of several designs, each against the paper's of the same seed and players."""

    designs: tuple[str, ...] = tuple(DESIGNS)
    match_games: int = 200
    opponents: tuple[str, ...] = ("random", "maxlib")


def designs(context: LabContext, size: DesignsSize) -> Sequence[NewRows]:
    """Train networks that differ in one thing; let them play the paper's network."""
    names = list(dict.fromkeys(("paper", *size.designs)))
    seeds, folders = size.seed_list(context), train_all(context, size, names)
    jobs = {
        f"{design} {seed} {opponent}": (design, seed, opponent)
        for design, seed in folders
        for opponent in ("paper", *size.opponents)
        if (design, opponent) != ("paper", "paper")
    }

    def play(job: tuple[str, int, str]) -> dict[str, Any]:
        design, seed, opponent = job
        one, against = load_at(folders[design, seed], size.games), opponent
        other = _snapshot(folders["paper", seed], size.games) if against == "paper" else against
        return {"scores": _match(context, one, other, size.match_games, seed, size.board)}

    played = _complete(context, "designs", jobs, play, (0.6, 1.0))
    rows = _games(("design", "seed", "opponent"), jobs.values(), played)
    return [NewRows("symmetry-designs", rows, seeds, to_plain(size))]


# ----- Look-ahead -----


@dataclass(frozen=True)
class SearchSize(TrainingSize):
    """Alpha-beta against one ply with the same network; `model` instead of trainings."""

    depths: tuple[int, ...] = (2, 3, 4, 5)
    width: int = 4
    match_games: int = 40
    model: str = ""


def search(context: LabContext, size: SearchSize) -> Sequence[NewRows]:
    """Let alpha-beta of several depths, pruned by the network, play one ply of it."""
    rows: Rows = []
    models = _models(context, size, 0.3)
    jobs = [(seed, model, depth) for seed, model in models.items() for depth in size.depths]
    for done, (seed, model, depth) in enumerate(jobs):
        context.at(0.3 + 0.7 * done / len(jobs), f"depth {depth}, training {seed}")
        player = f'alphabeta:model="{model}",width={size.width},depth='
        out = (
            context.place(f"symmetry-search/{fingerprint(context.step)}") / f"{seed}-{depth}.sqlite"
        )
        a, b = f"{player}{depth}", f"{player}1"
        play_match(
            a, b, games=size.match_games, size=size.board, komi=3.5, seed=seed, out=out,
            workers=context.workers,
        )  # fmt: skip
        with Database.look(out) as opened:
            games = sorted(opened.games(), key=lambda game: game.number)
        for game in games:
            black = game.black == a
            rows.append(
                {
                    "seed": seed, "depth": depth, "game": game.number,
                    "score": 1 if game.winner == a else 0 if game.winner is None else -1,
                    "plies": game.plies - game.opening,
                    "seconds": game.seconds_black if black else game.seconds_white,
                }
            )  # fmt: skip
    return [NewRows("symmetry-search", rows, list(models), to_plain(size))]


def _models(context: LabContext, size: SearchSize | RatingSize, share: float) -> dict[int, str]:
    """Return the networks to play with by seed: the last snapshots, or the named model."""
    if size.model:
        return {context.seed: size.model}
    folders = train_all(context, size, share=share)
    return {seed: str(_snapshot(folder, size.games)) for (_, seed), folder in folders.items()}


# ----- Ratings -----


@dataclass(frozen=True)
class RatingSize(TrainingSize):
    """Games on the shipped ladders; `model` instead of trainings."""

    sizes: tuple[int, ...] = (9, 19)
    rated_games: int = 40
    model: str = ""


def rating(context: LabContext, size: RatingSize) -> Sequence[NewRows]:
    """Play networks without look-ahead against the rungs of ladders."""
    rows: Rows = []
    models = _models(context, size, 0.5)
    jobs = [(seed, model, board) for seed, model in models.items() for board in size.sizes]
    for done, (seed, model, board) in enumerate(jobs):
        context.at(0.5 + 0.5 * done / len(jobs), f"{board}x{board}, training {seed}")
        out = (
            context.place(f"symmetry-rating/{fingerprint(context.step)}") / f"{seed}-{board}.sqlite"
        )
        placed = place(
            f'greedy:model="{model}"', size=str(board), games=size.rated_games, out=out, seed=seed,
            workers=context.workers,
        )  # fmt: skip
        for score, elo in placed.rungs:
            counts = {name: getattr(score, name) for name in ("wins", "losses", "draws")}
            rows.append({"seed": seed, "board": board, "rung": score.second, "elo": elo, **counts})
    return [NewRows("symmetry-rating", rows, list(models), to_plain(size))]


# ----- Evolution -----


@dataclass(frozen=True)
class EvolutionSize(TrainingSize):
    """Evolution and TD from one snapshot, after `start` games, for as many games."""

    start: int = 20_000
    duel_games: int = 20  # a mutant plays its parent
    needed: float = 0.7  # share that it must win
    spread: float = 0.05  # of a mutation, times the standard deviation of the weights
    stride: float = 0.3  # how far the parent moves towards a mutant that won
    panel_games: int = 200


def evolution(context: LabContext, size: EvolutionSize) -> Sequence[NewRows]:
    """Improve a snapshot by evolution and, for as many games, by TD; measure both on the way."""
    seeds, folders = size.seed_list(context), train_all(context, size, share=0.3)
    steps = range(size.start, size.games + 1, size.snapshot_every)
    starts = {seed: load_at(folders["paper", seed], size.start) for seed in seeds}
    champions = [starts[seed].free_.tolist() for seed in seeds]
    panels = {}
    with ThreadPoolExecutor(min(context.workers, len(seeds))) as pool:

        def grow(parents: list[list[float]], at: int) -> list[list[float]]:
            return list(pool.map(partial(_evolve, size, at), seeds, parents))

        for at in steps:
            if at > size.start:
                champions = context.once(f"evolution {at}", partial(grow, champions, at))
            for seed, champion in zip(seeds, champions, strict=True):
                panels["evolution", seed, at] = champion
            context.at(0.3 + 0.5 * (at - size.start) / max(size.games - size.start, 1), "evolution")
    for seed in seeds:
        for at in steps:
            panels["td", seed, at] = load_at(folders["paper", seed], at).free_.tolist()

    def play(job: tuple[tuple[str, int, int], list[float]]) -> dict[str, Any]:
        (_, seed, _), free = job
        one = SymmetryNetwork.from_free(np.array(free), starts[seed].settings)
        start = _snapshot(folders["paper", seed], size.start)
        return {"scores": _match(context, one, start, size.panel_games, seed, size.board)}

    jobs = {" ".join(map(str, key)): (key, free) for key, free in panels.items()}
    played = _complete(context, "evolution", jobs, play, (0.8, 1.0))
    rows = _games(("method", "seed", "games"), panels, played)
    return [NewRows("symmetry-evolution", rows, seeds, to_plain(size))]


def _evolve(size: EvolutionSize, at: int, seed: int, free: list[float]) -> list[float]:
    """Return a champion after as many games as lie between two snapshots."""
    rng = np.random.default_rng([seed, at])
    champion, settings = np.array(free), size.settings(seed)
    for number in range(size.snapshot_every // size.duel_games):
        mutant = champion + size.spread * champion.std() * rng.normal(size=champion.shape)
        pair = (SymmetryNetwork.from_free(each, settings) for each in (mutant, champion))
        stream = (seed * 1_009 + at) * 100_003 + number
        scores, _ = play_games(
            *pair, games=size.duel_games, size=size.board, seed=stream
        )  # fmt: skip
        if (np.sign(scores).mean() + 1) / 2 >= size.needed:
            champion = champion + size.stride * (mutant - champion)
    return [float(weight) for weight in champion]


# ----- The experiments and their sizes -----

_SHORT: dict[str, Any] = {
    "seeds": 2, "games": 800, "linear_games": 200, "rate": 5e-5, "snapshot_every": 100,
}  # fmt: skip
"""Seconds of training, at ten times the paper's learning rate."""

EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "symmetry-weights", "714 weights, and their symmetry", weights,
        quick=WeightsSize(networks=5), full=WeightsSize(), minutes=(0.02, 0.05),
    ),
    Experiment(
        "symmetry-network", "Self-play and Figure 1", network,
        quick=NetworkSize(**_SHORT, pair_games=10, panel_games=20, opponents=("random", "maxlib")),
        full=NetworkSize(), minutes=(0.4, 650),
    ),
    Experiment(
        "symmetry-designs", "Weighted liberties and other designs", designs,
        quick=DesignsSize(**_SHORT, designs=("liberties",), match_games=40, opponents=()),
        full=DesignsSize(), minutes=(0.25, 3400),
    ),
    Experiment(
        "symmetry-search", "Alpha-beta with the network", search,
        quick=SearchSize(seeds=1, depths=(2,), match_games=4, model="isn-9x9"),
        full=SearchSize(), minutes=(0.08, 640),
    ),
    Experiment(
        "symmetry-rating", "Ratings on 9x9 and 19x19", rating,
        quick=RatingSize(seeds=1, sizes=(9,), rated_games=8, model="isn-9x9"),
        full=RatingSize(), minutes=(0.1, 650),
    ),
    Experiment(
        "symmetry-evolution", "Evolution of the weights beside TD", evolution,
        full=EvolutionSize(), minutes=(0.1, 1060),
    ),
)  # fmt: skip
