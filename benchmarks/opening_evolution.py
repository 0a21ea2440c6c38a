"""Time a generation of evolved openings, one game an individual, the finish of the games included.

The paper: 117 s a generation of the spatial experiment (20 networks), 228 s of the minimax one
(10). Prints wall and processor seconds with one and two workers; the best of some generations.
"""

from __future__ import annotations

import json
import time

from tengen.papers.opening_evolution import EvolutionSettings
from tengen.papers.opening_evolution.learner import Breeding, measure_with
from tengen.players import make_expert, make_player

GENERATIONS = 12


def main() -> None:
    rows = []
    for network in ("spatial", "dense"):
        for workers in (1, 2):
            settings = EvolutionSettings(network=network, colours="black")
            run = Breeding(settings)
            opponents = [[make_player("static")] for _ in range(workers)]
            measure = measure_with(opponents, make_expert("static"))
            run.step(measure)
            walls, cores = [], []
            for _ in range(GENERATIONS):
                wall, core = time.perf_counter(), time.process_time()
                run.step(measure)
                walls.append(time.perf_counter() - wall)
                cores.append(time.process_time() - core)
            rows.append(
                {
                    "network": network,
                    "population": settings.individuals,
                    "workers": workers,
                    "wall_best": round(min(walls), 3),
                    "wall_mean": round(sum(walls) / len(walls), 3),
                    "processor_mean": round(sum(cores) / len(cores), 3),
                }
            )
    print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
