"""Single trainings of the experiments, timed and resumable, their hits by game, and matches."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from tengen.arena import Database, parse_tournament, results_of, run_tournament
from tengen.arrays import FloatArray
from tengen.lab.steps import LabContext, Resources, Row
from tengen.models.settings import fingerprint
from tengen.papers.move_prediction import MovePredictor, PredictionSettings, training
from tengen.papers.move_prediction.model import TOPS, Measured, PredictionModel
from tengen.records.arrays import GameArrays

WIDTH, TOP = 0.9, 20  # what the paper chose
PLACE = "move-prediction"


@dataclass(frozen=True)
class Training:
    """What distinguishes one training from the others."""

    games: int
    width: float = WIDTH
    top: int = TOP
    solver: str = "optimum"
    seed: int = 0

    def settings(self, iterations: int = 300) -> PredictionSettings:
        """Return the settings of the learner."""
        return PredictionSettings(**asdict(self), iterations=iterations)


@dataclass(frozen=True)
class Trained:
    """A model, and what its training used."""

    model: PredictionModel
    seconds: float
    processor: float
    memory: float  # bytes
    last: Row  # the last row of its metrics


def train(
    context: LabContext, games: GameArrays, settings: PredictionSettings, name: str
) -> Trained:
    """Train in a folder of its own, so that a killed training goes on; time it from the start."""
    folder = context.place(PLACE) / f"{name}-{fingerprint(games.moves, games.offsets, settings)}"
    folder.mkdir(exist_ok=True)
    with Resources(folder / "cost.json") as resources:
        predictor = MovePredictor(settings=settings)
        with predictor.open_run(folder, games, resume=True) as run:
            predictor.fit(games, run=run, workers=context.workers)
            last = run.rows()[-1:]
    shutil.rmtree(folder)  # hundreds of megabytes of checkpoints
    used = resources.used
    return Trained(
        predictor.model_,
        used["seconds"],
        used["processor"],
        used["memory"],
        last[0] if last else {},
    )


def compile_kernels(games: GameArrays, solver: str) -> None:
    """Run everything once on few games, so that no training is timed with its compilation."""
    few = games.take(np.arange(min(4, len(games))))
    settings = PredictionSettings(minimum=1, passes=1, solver=solver, iterations=1)
    hits_by_game(training.train(few, settings), few)


def hits_by_game(
    model: PredictionModel, games: GameArrays, *, workers: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Return the hits by game, phase and rank, and the moves by game and phase."""

    def measure(game: int) -> Measured:
        found = Measured(games=1)
        model.rank_games(games, np.array([game]), top=model.top, measured=found)
        return found

    model.tables(int(games.rows[0]), int(games.cols[0]))  # made once, before the threads begin
    with ThreadPoolExecutor(workers) as pool:
        found = list(pool.map(measure, range(len(games))))
    return np.array([each.hits for each in found]), np.array([each.counts for each in found])


def hit_row(moves: float, hits: FloatArray) -> Row:
    """Return the columns of a row that hold the hits of some moves."""
    ranks = zip(TOPS, hits.tolist(), strict=True)
    return {"moves": int(moves), **{f"hits{top}": round(hit, 3) for top, hit in ranks}}


def play(
    context: LabContext, path: Path, players: dict[str, str], *, games: int, size: int
) -> list[Row]:
    """Play the missing games of a match of two players; return a row for each game that counts."""
    entrants = {name: {"spec": spec} for name, spec in players.items()}
    tournament = parse_tournament(
        {"games": games, "size": size, "seed": context.seed, "players": entrants}
    )
    with Database.open(path, tournament) as database:
        if run_tournament(tournament, database, workers=context.workers).left:
            raise KeyboardInterrupt
        first = next(iter(players))
        return [
            {
                "game": row.number, "seed": row.seed, "black": row.black, "white": row.white,
                "won": 0.5 if row.winner is None else float(row.winner == first),
                "result": row.result, "plies": row.plies,
            }
            for row in results_of(database, resamples=0).unique
        ]  # fmt: skip
