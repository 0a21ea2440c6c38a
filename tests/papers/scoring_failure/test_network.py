"""The paper's network: gradients as printed and right, its faults, the repaired energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tengen.papers.scoring_failure.experiments import make_games
from tengen.papers.scoring_failure.games import FEATURES, UNKNOWN, PaperGames, paper_games
from tengen.papers.scoring_failure.network import (
    RPNC,
    VERSIONS,
    Momentum,
    Version,
    energy_and_gradient,
    expected_margins,
    initial_parameters,
    measure,
    soft_loss,
    train,
    train_soft,
)
from tengen.records.arrays import from_records
from tengen.scoring import BlockScorer, network

RIGHT = replace(RPNC, printed=False)


def paper_data(seed: int = 0) -> PaperGames:
    rng = np.random.default_rng(seed)
    games, blocks, regions = 4, 24, 12
    block_game = np.repeat(np.arange(games), blocks // games)
    region_game = np.repeat(np.arange(games), regions // games)
    edges = [
        (e, b)
        for e in range(regions)
        for b in range(blocks)
        if region_game[e] == block_game[b] and rng.random() < 0.5
    ]
    return PaperGames(
        x=rng.normal(size=(blocks, 5)),
        colour=rng.integers(1, 3, blocks),
        size=rng.integers(1, 9, blocks).astype(float),
        block_game=block_game,
        region_game=region_game,
        region_size=rng.integers(1, 30, regions).astype(float),
        edge_region=np.array([e for e, _ in edges]),
        edge_block=np.array([b for _, b in edges]),
        offset=rng.normal(size=games),
        score=rng.normal(0, 20, games),
        alive=np.where(block_game == 1, UNKNOWN, rng.integers(0, 2, blocks)),
        grids=[np.zeros((2, 2), np.int8)] * games,
    )


@pytest.fixture(scope="module")
def games() -> PaperGames:
    return paper_games(from_records(make_games(8, 5, seed=2)), BlockScorer.load("scorer"))


def check_gradient(arrays, gradients, loss, tolerance=1e-4):  # type: ignore[no-untyped-def]
    """Compare a gradient with differences of the loss."""
    for array, gradient in zip(arrays, gradients, strict=True):
        for index in np.ndindex(array.shape):
            kept, values = array[index], []
            for change in (1e-7, -1e-7):
                array[index] = kept + change
                values.append(loss())
            array[index] = kept
            assert (values[0] - values[1]) / 2e-7 == pytest.approx(gradient[index], abs=tolerance)


def test_momentum_finds_the_bottom_of_a_bowl_and_takes_bad_steps_back() -> None:
    place, bottom = [np.zeros(3)], np.array([3.0, -2.0, 0.5])
    scale, way = np.array([1.0, 10.0, 0.1]), Momentum(rate=50.0)
    errors = []
    for _ in range(900):
        errors.append(float((scale * (place[0] - bottom) ** 2).sum()))
        way.step(place, [2 * scale * (place[0] - bottom)], errors[-1])
    assert way.rate < 50 and errors[-1] < 0.1


@pytest.mark.parametrize("squash", [False, True])
@pytest.mark.parametrize("product", [False, True])
@pytest.mark.parametrize("deaths", ["step", "linear", "smooth"])
def test_the_right_gradient_agrees_with_differences_and_the_printed_one_does_not(
    deaths, squash, product
) -> None:
    games = paper_data()
    version = Version(printed=False, deaths=deaths, squash=squash, product=product)
    parameters = initial_parameters(5, 3, 2)
    right = energy_and_gradient(parameters, games, version).gradient
    printed = energy_and_gradient(parameters, games, replace(version, printed=True)).gradient
    check_gradient(parameters, right, lambda: energy_and_gradient(parameters, games, version).error)
    for number, gradient in enumerate(right):
        # The first four (W, a, b, v) lie before r: there the paper climbs.
        np.testing.assert_allclose(printed[number], (-1 if number < 4 else 1) * gradient)


def test_the_printed_gradient_diverges_and_the_right_one_does_not() -> None:
    games = paper_data(2)
    bad, good = train(games, RPNC, steps=60), train(games, RIGHT, steps=60)
    assert bad.curve[-1] > 1e4 > 1e2 > good.curve[-1]
    assert measure(bad, games)["exact"] == 0


def test_the_soft_score_has_the_right_gradient_and_learns() -> None:
    games = paper_data(4)
    weights = network.initial(5, 3, 1)
    check_gradient(weights, soft_loss(weights, games)[1], lambda: soft_loss(weights, games)[0])
    _, losses = train_soft(games, steps=60)
    assert losses[-1] < 0.7 * losses[0]


def test_a_sure_soft_score_is_a_count() -> None:
    games = PaperGames(
        x=np.zeros((3, 1)), colour=np.array([1, 2, 2]), size=np.array([5.0, 5.0, 1.0]),
        block_game=np.zeros(3, np.int64), region_game=np.zeros(2, np.int64),
        region_size=np.array([9.0, 4.0]), edge_region=np.array([0, 0, 1]),
        edge_block=np.array([0, 2, 1]), offset=np.zeros(1), score=np.zeros(1),
        alive=np.ones(3, np.int64),
    )  # fmt: skip
    margins, _ = expected_margins(np.array([1.0, 1.0, 0.0]), games)
    assert margins[0] == pytest.approx(9 - 4 + 2)  # nine and a dead stone against four


def test_games_can_be_taken_apart() -> None:
    games = paper_data()
    parameters = initial_parameters(5, 3, 2)
    whole = energy_and_gradient(parameters, games)
    alone = [energy_and_gradient(parameters, game) for game in games.one_by_one()]
    np.testing.assert_allclose([one.scores[0] for one in alone], whole.scores)
    some = games.where(np.array([True, False, False, True]))
    np.testing.assert_allclose(energy_and_gradient(parameters, some).scores, whole.scores[[0, 3]])
    assert games.explained().tolist() == [True, False, True, True]


@pytest.mark.parametrize("name", VERSIONS)
def test_every_version_is_trained_and_measured(name: str, games: PaperGames) -> None:
    assert games.x.shape[1] == FEATURES
    trained = train(games, VERSIONS[name], steps=4)
    found = measure(trained, games)
    assert len(trained.curve) == (2 if VERSIONS[name].single else 5) and found["tested"] == len(
        games
    )
    known = int((games.alive != UNKNOWN).sum())
    kinds = ("dead_right", "dead_wrong", "alive_right", "alive_wrong")
    assert sum(found[kind] for kind in kinds) == known > 0
    assert max(found["exact"], found["counted"], found["winner"]) <= len(games)
