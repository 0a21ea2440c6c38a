"""Trainings of evolved networks, and rows of the games that measure them.

`training` has one row per generation, from which `Breeding.replay` rebuilds every network;
`tournament` one per game between the best networks of some generations of one training; `panel`
one per game of such a network against a fixed opponent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.lab.evidence import Cell
from tengen.lab.steps import Journal
from tengen.models import find_model
from tengen.models.runs import SNAPSHOTS, Run, read_metrics
from tengen.papers.opening_evolution.learner import (
    Breeding,
    Job,
    OpeningEvolution,
    match,
    measure_with,
    play_job,
)
from tengen.papers.opening_evolution.settings import EvolutionSettings
from tengen.parallel import Team, spawn_seeds
from tengen.players import make_expert, make_player
from tengen.progress import OnStep

PANEL = ("random", "maxlib", "static")
"""Opponents that stay the same."""
START_PLIES = 4  # random plies before each game against the panel, since most players repeat games
_COLOURS = ("black", "white")

Row = dict[str, Cell]


# ----- Training -----


def train(
    folder: Path,
    settings: EvolutionSettings,
    *,
    resume: bool = False,
    workers: int = 1,
    ray: str | None = None,
    on_generation: Callable[[Breeding], None] = lambda breeding: None,
) -> Path:
    """Evolve a network in a run folder, continuing the run; return the model's file."""
    model = OpeningEvolution(settings=settings)
    play = partial(play_by_spec, settings.opponent, settings.expert)
    with (
        Run.open(folder, model.kind, settings, resume=resume) as run,
        Team(play, workers=min(workers, settings.individuals), ray=ray) as team,
    ):
        model.fit(measure_with(team), run=run, on_generation=on_generation)
        path = run.folder / "model.safetensors"
        model.save(path)
        return path


def play_by_spec(opponents: str, expert: str, job: Job) -> tuple[float, bool]:
    """Measure one individual against opponents, joined by ` + `; make each player only once."""
    players = [_side(spec) for spec in opponents.split(" + ")]
    return play_job(players, _expert(expert), job)


def snapshots(folder: Path, every: int = 1) -> dict[int, Path]:
    """Return the best networks of a run, one file per `every` generations; fail if none."""
    files = sorted((folder / SNAPSHOTS).glob("*.safetensors"))
    found = {int(path.stem): path for path in files if int(path.stem) % every == 0}
    if not found:
        raise TengenError(f"{folder}: no snapshots of a run")
    return found


def training_rows(runs: Mapping[int, Path]) -> Iterator[Row]:
    """Return the fitness of every individual by generation, of runs given by their seeds."""
    for seed, folder in runs.items():
        for row in read_metrics(folder):
            fits = {f"fitness_{i}": float(fit) for i, fit in enumerate(row["fitness"])}
            yield {"seed": seed, "generation": row["step"], **fits}


# ----- Games between openings -----


@dataclass(frozen=True)
class Duel:
    """Openings of an evolved network against a player, each start played with both colours."""

    model: str  # a shipped name or a file
    opponent: str  # a player's spec, or the file of another evolved network
    starts: tuple[int, ...]  # seeds of the random plies
    expert: str = "static"
    random_plies: int = START_PLIES
    moves: int | None = None  # of each side, those of the model by default
    player: str = ""  # spec of a player that replaces the network on the same terms


def play_duel(duel: Duel) -> dict[str, Any]:
    """Play a duel; scores are from the network's view, black and white for each start."""
    model = _model(duel.model)
    me = _side(duel.player) if duel.player else model.player()
    moves = duel.moves or model.settings.moves
    terms = replace(model.settings, random_plies=duel.random_plies, moves=moves, colours="both")
    opponents = [_side(duel.opponent)] * len(duel.starts)
    scores = match(me, opponents, _expert(duel.expert), terms, duel.starts)
    return {"scores": [float(score) for score in scores]}


@cache
def _model(path: str) -> OpeningEvolution:
    return OpeningEvolution.load(find_model(path))


@cache
def _side(spec: str) -> Player:
    return _model(spec).player() if spec.endswith(".safetensors") else make_player(spec)


@cache
def _expert(spec: str) -> Expert:
    return make_expert(spec)


@dataclass(frozen=True)
class Games:
    """How games that become rows are played: where finished ones are kept, and by how many."""

    journal: Journal
    workers: int = 1
    ray: str | None = None
    on_step: OnStep = lambda done, total: None

    def play(self, duels: Mapping[str, Duel]) -> list[Sequence[float]]:
        """Play the duels that are not in the journal yet; return the scores of all."""
        found = self.journal.complete(
            duels, play_duel, workers=self.workers, ray=self.ray, on_step=self.on_step
        )
        return [row["scores"] for row in found]


def tournament_rows(runs: Mapping[int, Path], every: int, games: Games) -> list[Row]:
    """Play the paper's double round robin within each training, given by its seed.

    All pairs meet twice, with both colours, from the empty board.
    """
    duels: dict[tuple[int, int, int], Duel] = {}
    for seed, folder in runs.items():
        kept = {generation: str(path) for generation, path in snapshots(folder, every).items()}
        for me, other in product(kept, kept):
            if me < other:
                start = tuple(spawn_seeds(seed, 1, me))
                duels[seed, me, other] = Duel(kept[me], kept[other], start, random_plies=0)
    found = games.play({f"{s} {a} {b}": duel for (s, a, b), duel in duels.items()})
    rows: list[Row] = []
    for (seed, me, other), (as_black, as_white) in zip(duels, found, strict=True):
        rows.append({"seed": seed, "black": me, "white": other, "score": as_black})
        rows.append({"seed": seed, "black": other, "white": me, "score": -as_white})
    return rows


def panel_rows(
    networks: Sequence[tuple[Row, Path | str]],
    starts: int,
    games: Games,
    *,
    seed: int = 1,
    expert: str = "static",
    moves: int | None = None,
) -> list[Row]:
    """Play networks against the panel, each start with both colours; all have the same starts.

    Openings are as long as those that a network was bred with, unless their `moves` are given.

    A network is given with the columns that name it in its rows.
    """
    common = tuple(spawn_seeds(seed, starts))
    pairs = list(product(networks, PANEL))
    duels = {
        f"{sorted(name.items())} {opponent} {starts} {expert} {seed}": Duel(
            str(path), opponent, common, expert, moves=moves
        )
        for (name, path), opponent in pairs
    }
    return [
        {**name, "opponent": opponent, "colour": colour, "start": start, "score": score}
        for ((name, _), opponent), scores in zip(pairs, games.play(duels), strict=True)
        for (start, colour), score in zip(product(range(starts), _COLOURS), scores, strict=True)
    ]
