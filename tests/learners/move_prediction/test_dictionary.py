"""Counting patterns: the same whoever shares the work, and whatever the table's size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from prediction_games import tasteful_games
from tests.needs import need

from tengen.learners.move_prediction import dictionary as dictionary_module
from tengen.learners.move_prediction.dictionary import PatternCounter, count_patterns
from tengen.learners.move_prediction.paper_training import learn_frequencies
from tengen.learners.move_prediction.settings import FullSettings, PaperSettings
from tengen.learners.move_prediction.training import train_full

GAMES = 7


@pytest.fixture(autouse=True)
def small_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary_module, "GAMES_PER_JOB", 2)


def test_the_counter_counts_through_growth() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(1, 5000, 20_000)
    counter = PatternCounter(size=16)
    for part in np.array_split(keys, 7):
        counter.add(part, np.ones(len(part), np.int64))
    counter.add(np.array([0]), np.array([9]))
    expected = Counter(keys.tolist())
    found, counts = counter.chosen(3)
    assert len(counter) == len(expected)
    kept = {key: count for key, count in expected.items() if count >= 3}
    assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == kept
    assert np.array_equal(found, np.sort(found))


def same_everywhere(**shared: object) -> None:
    """Compare both recipes' dictionaries, counted alone and by those who share the work."""
    games = tasteful_games(GAMES)
    alone = count_patterns(games, 7, 7).chosen(1)
    together = count_patterns(games, 7, 7, **shared).chosen(1)  # type: ignore[arg-type]
    assert len(alone[0]) > 1000
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
    which, settings = np.arange(GAMES), PaperSettings(top=0)
    one = learn_frequencies(games, which, settings)
    two = learn_frequencies(games, which, settings, **shared)  # type: ignore[arg-type]
    assert np.array_equal(one.dictionary.keys, two.dictionary.keys)
    assert np.array_equal(one.frequency, two.frequency)


def test_two_processes_count_what_one_counts() -> None:
    same_everywhere(workers=2)


@pytest.fixture
def cluster() -> Iterator[None]:
    ray = need("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray leaves sockets to the end of the interpreter
def test_a_cluster_counts_and_trains_as_one_process_does(cluster: None) -> None:
    same_everywhere(ray="auto")
    games, settings = tasteful_games(GAMES), FullSettings(minimum=2, side=2, anywhere=True)
    alone, together = train_full(games, settings), train_full(games, settings, ray="auto")
    assert np.array_equal(alone.weights, together.weights)
    assert np.array_equal(alone.vectors, together.vectors)
