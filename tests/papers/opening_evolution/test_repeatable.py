"""Fifty generations give the same weights on any number of workers, with Ray, after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.needs import need

from tengen.models import Run
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.opening_evolution.learner import Measure, measure_with
from tengen.papers.opening_evolution.recording import play_by_spec
from tengen.parallel import Team

STATIC = partial(play_by_spec, "static", "static")
SMALL = EvolutionSettings(network="dense", rows=5, population=6, generations=50, moves=4)
REAL = (
    EvolutionSettings(network="dense", population=10, generations=50, colours="black"),
    EvolutionSettings(network="spatial", population=20, generations=50, colours="black"),
)


def evolved(plan: EvolutionSettings, measure: Measure) -> np.ndarray:
    return OpeningEvolution(settings=plan).fit(measure).breeding_.breeder.weights


def weights_of(plan: EvolutionSettings, workers: int) -> np.ndarray:
    with Team(STATIC, workers=workers) as team:
        return evolved(plan, measure_with(team))


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray = need("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


def on_ray(plan: EvolutionSettings) -> np.ndarray:
    with Team(STATIC, ray="auto") as team:
        return evolved(plan, measure_with(team))


def command(plan: EvolutionSettings, folder: Path) -> list[str]:
    return [
        *(sys.executable, "-c", "from tengen.cli import main; main()"),
        *("train", "opening-evolution", "--quiet", "--resume"),
        *("--network", plan.network, "--population", str(plan.population)),
        *("--generations", str(plan.generations), "--size", str(plan.rows)),
        *("--moves", str(plan.moves), "--colours", plan.colours),
        *("--snapshot-every", "5", "--out", str(folder)),
    ]


def killed_and_resumed(plan: EvolutionSettings, folder: Path) -> np.ndarray:
    """Kill a training with signal 9 between two checkpoints, let it go on, return its weights."""
    notes = folder / "metrics.jsonl"
    process = subprocess.Popen(command(plan, folder), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not notes.exists() or notes.read_bytes().count(b"\n") < 12:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    settings = replace(plan, snapshot_every=5)
    with Run.open(folder, OpeningEvolution.kind, settings, resume=True) as run:
        assert run.start is not None and 5 <= run.start.step < plan.generations
    subprocess.run(command(plan, folder), check=True, stdout=subprocess.DEVNULL)
    with Run.open(folder, OpeningEvolution.kind, settings, resume=True) as run:
        assert run.start is not None and run.start.step == plan.generations
        return run.start.arrays["weights"]


def test_small_runs_are_the_same_on_two_workers_and_after_a_kill(tmp_path: Path) -> None:
    expected = weights_of(SMALL, 1)
    assert np.array_equal(expected, weights_of(SMALL, 2))
    assert np.array_equal(expected, killed_and_resumed(SMALL, tmp_path))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray leaves sockets to the end of the interpreter
@pytest.mark.parametrize("plan", REAL, ids=lambda plan: plan.network)
def test_the_papers_runs_are_the_same_however_they_are_run(
    plan: EvolutionSettings, cluster: None, tmp_path: Path
) -> None:
    expected = weights_of(plan, 1)
    assert np.array_equal(expected, weights_of(plan, 2))
    assert np.array_equal(expected, on_ray(plan))
    assert np.array_equal(expected, killed_and_resumed(plan, tmp_path))
