"""Rows of the paper's two experiments: fitness by generation, tournaments, games against a panel.

`training` has one row per generation, from which `Breeding.replay` rebuilds every network;
`tournament` one per game between the best networks of some generations of one training; `panel`
one per game of such a network against a fixed opponent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

from tengen.board import BLACK, WHITE
from tengen.contracts import Expert, Player
from tengen.errors import TengenError
from tengen.lab.evidence import Cell
from tengen.models.runs import SNAPSHOTS, read_metrics
from tengen.papers.opening_evolution.learner import OpeningEvolution, play_opening
from tengen.parallel import map_jobs, spawn_seeds
from tengen.players import make_expert, make_player
from tengen.progress import Report

PANEL = ("random", "maxlib", "static")
"""Opponents that stay the same."""
START_PLIES = 4  # random plies before each game against the panel, since most players repeat games

Row = dict[str, Cell]


def snapshots(folder: Path, every: int = 1) -> dict[int, Path]:
    """Return the best networks of a run, one file per `every` generations; fail if none."""
    files = sorted((folder / SNAPSHOTS).glob("*.safetensors"))
    found = {int(path.stem): path for path in files if int(path.stem) % every == 0}
    if not found:
        raise TengenError(f"{folder}: no snapshots of a run")
    return found


def training_rows(folder: Path, seed: int) -> Iterator[Row]:
    """Return a run's fitness by generation and individual."""
    for row in read_metrics(folder):
        fits = {f"fitness_{i}": float(fit) for i, fit in enumerate(row["fitness"])}
        yield {"seed": seed, "generation": row["step"], **fits}


@dataclass(frozen=True)
class _Job:
    """The games of one network: against later ones, or against the panel."""

    seed: int  # of the training
    generation: int
    path: str
    others: tuple[tuple[str, str], ...]  # names and files, or names and specs
    starts: tuple[int, ...]  # seeds of the random plies; a start is played with both colours
    random_plies: int


def tournament_rows(
    runs: dict[int, Path],
    every: int,
    *,
    workers: int = 1,
    report: Report = lambda done, total: None,
) -> Iterator[Row]:
    """Play the paper's double round robin within each training, given by its seed.

    All pairs meet twice, with both colours, from the empty board.
    """
    jobs = []
    for seed, folder in runs.items():
        kept = {str(generation): str(path) for generation, path in snapshots(folder, every).items()}
        for me in kept:
            later = tuple((g, path) for g, path in kept.items() if int(g) > int(me))
            [start] = spawn_seeds(seed, 1, int(me))
            jobs.append(_Job(seed, int(me), kept[me], later, (start,), 0))
    for row in _play_all(jobs, workers, report):
        pair = row["generation"], int(row["opponent"])
        black, white = pair if row["colour"] == "black" else pair[::-1]
        score = float(row["score"]) * (1 if row["colour"] == "black" else -1)
        yield {"seed": row["seed"], "black": black, "white": white, "score": score}


def panel_rows(
    runs: dict[int, Path],
    every: int,
    starts: int,
    *,
    seed: int = 1,
    workers: int = 1,
    report: Report = lambda done, total: None,
) -> Iterator[Row]:
    """Play the networks against the panel, each start with both colours; all have the same."""
    common = tuple(spawn_seeds(seed, starts))
    panel = tuple((name, name) for name in PANEL)
    jobs = [
        _Job(run, generation, str(path), panel, common, START_PLIES)
        for run, folder in runs.items()
        for generation, path in snapshots(folder, every).items()
    ]
    yield from _play_all(jobs, workers, report)


def _play_all(jobs: Sequence[_Job], workers: int, report: Report) -> Iterator[Row]:
    for done, rows in enumerate(map_jobs(_play, jobs, workers=workers), 1):
        report(done, len(jobs))
        yield from rows


def _play(job: _Job) -> list[Row]:
    """Play one network's games; scores are from its view."""
    model, expert = _model(job.path), _expert("static")
    terms = replace(model.settings, random_plies=job.random_plies)
    rows: list[Row] = []
    me = model.player()
    for name, spec in job.others:
        other = _side(spec)
        for (number, start), colour in product(enumerate(job.starts), (BLACK, WHITE)):
            black, white = (me, other) if colour == BLACK else (other, me)
            [score] = expert.finish([play_opening(black, white, terms, start)], [start])
            rows.append(
                {
                    "seed": job.seed, "generation": job.generation, "opponent": name,
                    "colour": "black" if colour == BLACK else "white", "start": number,
                    "score": float(score if colour == BLACK else -score),
                }
            )  # fmt: skip
    return rows


@cache
def _model(path: str) -> OpeningEvolution:
    return OpeningEvolution.load(path)


@cache
def _expert(spec: str) -> Expert:
    return make_expert(spec)


def _side(spec: str) -> Player:
    return _model(spec).player() if spec.endswith(".safetensors") else make_player(spec)
