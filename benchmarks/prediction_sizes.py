"""Time the paper's recipe on several numbers of games at once, to see how its cost grows.

Run: python benchmarks/prediction_sizes.py tom9d-train.sgf --sizes 2000,5000,10000,20000

The trainings are those of `tengen move-prediction experiment --table sizes`, cut into steps of 250
games. They take turns, always the one that is furthest behind, so that whatever else the machine
does slows all of them alike.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator

import numpy as np

from tengen.learners.move_prediction.dictionary import GAMES_PER_JOB, PatternCounter, cut_into_jobs
from tengen.learners.move_prediction.paper_games_kernels import count_games, learn_games
from tengen.learners.move_prediction.paper_training import count_job, halves, untrained
from tengen.learners.move_prediction.reading import read_games
from tengen.learners.move_prediction.settings import PaperSettings
from tengen.records.arrays import GameArrays


def training(games: GameArrays, settings: PaperSettings) -> Iterator[str]:
    """Train as `train_paper` does, and yield the phase after every step of 250 games."""
    part_a, part_b = halves(games, settings)
    counter = PatternCounter()
    for job in cut_into_jobs(games, part_a, 19, 19):
        counter.add(*count_job((job, settings.templates)))
        yield "patterns"
    keys, _ = counter.chosen(settings.minimum)
    del counter
    model = untrained(keys, np.zeros(len(keys) + 1), settings, (19, 19))
    used, unused = np.zeros(len(keys) + 1, np.int64), np.zeros(len(keys) + 1, np.int64)
    record, tables = (games.moves, games.colours, games.offsets), model.tables(19, 19)
    for part in steps(part_a):
        count_games(*record, part, 19, 19, tables, used, unused)
        yield "frequencies"
    model.frequency = (used + 1) / (used + unused + 2)
    memory = np.zeros((len(model.weights), 2))
    penalty, nothing = settings.width * settings.passes, np.zeros((0, 0), np.int64)
    for _ in range(settings.passes):
        for part in steps(part_b):
            learn_games(
                *record, part, 19, 19, tables, model.frequency, settings.top, memory, penalty,
                settings.alpha, nothing,
            )  # fmt: skip
            yield "re-ranker"


def steps(which: np.ndarray) -> list[np.ndarray]:
    """Cut the numbers of games into steps."""
    return [which[i : i + GAMES_PER_JOB] for i in range(0, len(which), GAMES_PER_JOB)]


def main() -> None:
    """Train all sizes side by side and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games")
    parser.add_argument("--sizes", default="2000,5000,10000,20000")
    args = parser.parse_args()
    games, _ = read_games([args.games], 19)
    sizes = [int(size) for size in args.sizes.split(",")]
    for _ in training(games, PaperSettings(games=2, minimum=1)):  # compiles before the clock
        pass
    runs = {size: training(games, PaperSettings(games=size)) for size in sizes}
    took: dict[int, dict[str, float]] = {size: {} for size in sizes}
    done = dict.fromkeys(sizes, 0)
    while runs:
        size = min(runs, key=lambda size: done[size] / size)
        begin = time.process_time()
        phase = next(runs[size], None)
        seconds = time.process_time() - begin
        if phase is None:
            del runs[size]
            continue
        took[size][phase] = took[size].get(phase, 0.0) + seconds
        done[size] += 1
    for size, phases in took.items():
        total = sum(phases.values())
        row = {"games": size, "seconds": total, "ms_a_game": 1000 * total / size, **phases}
        print(json.dumps({k: round(v, 2) for k, v in row.items()}), flush=True)


if __name__ == "__main__":
    main()
