"""The evolution strategy: as specified, the same however it is run, and able to learn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, PASS, WHITE, Board
from tengen.errors import ModelError, TengenError
from tengen.models import Run, read_metrics
from tengen.papers.opening_evolution import EvolutionSettings, OpeningEvolution
from tengen.papers.opening_evolution.learner import (
    Breeding,
    Measure,
    NetworkPlayer,
    fitness,
    match,
    measure_with,
    play_job,
)
from tengen.papers.opening_evolution.networks import Dense
from tengen.papers.opening_evolution.strategy import (
    FIRST_SPREAD,
    CmaStrategy,
    MirrorStrategy,
    PaperStrategy,
)
from tengen.parallel import Team
from tengen.players.simple import OpeningPlayer


class Corner:
    """An opponent that takes the first legal point."""

    name = "corner"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return next(iter(board.legal_moves))


class Last:
    """An opponent that takes the last legal point."""

    name = "last"

    def choose(self, board: Board, rng: np.random.Generator) -> int:
        return list(board.legal_moves)[-2]


class Counter:
    """An expert that counts the board as it stands."""

    def finish(self, boards: Sequence[Board], seeds: Sequence[int]) -> np.ndarray:
        return np.array([board.area_score() for board in boards])


PLAN = EvolutionSettings(
    network="dense", rows=5, population=6, generations=6, moves=4, snapshot_every=2
)


MEASURE = measure_with(Team(partial(play_job, [Corner()], Counter())))


def evolve(settings: EvolutionSettings, measure: Measure = MEASURE) -> Breeding:
    return OpeningEvolution(settings=settings).fit(measure).breeding_


def evolve_in(
    folder: Path, settings: EvolutionSettings, measure: Measure = MEASURE
) -> OpeningEvolution:
    """Breed in a run's folder, going on where it stands."""
    with Run.open(folder, OpeningEvolution.kind, settings, resume=True) as run:
        return OpeningEvolution(settings=settings).fit(measure, run=run)


def weights_after(generations: int, **changes: object) -> np.ndarray:
    plan = replace(PLAN, generations=generations, **changes)  # type: ignore[arg-type]
    return evolve(plan).breeder.weights


def test_selection_keeps_the_better_half_and_mutates_it() -> None:
    before, after = (PaperStrategy(4, 1000, seed=1) for _ in range(2))
    assert after.breed(np.array([1.0, 4.0, 2.0, 3.0]), 1).tolist() == [1, 3]
    assert (after.weights[:2] == before.weights[[1, 3]]).all()
    assert (after.steps[:2] == before.steps[[1, 3]]).all()
    change = after.weights[2] - before.weights[1]
    # Step sizes start at 0.05 and change by a factor of exp(tau N).
    assert np.std(change) == pytest.approx(0.05, rel=0.15)
    tau = (2 * np.sqrt(1000)) ** -0.5
    assert np.std(np.log(after.steps[2] / 0.05)) == pytest.approx(tau, rel=0.15)


def test_seeds_matter() -> None:
    assert not (weights_after(5) == weights_after(5, seed=1)).all()


def test_resuming_gives_the_same_as_never_stopping(tmp_path: Path) -> None:
    evolve_in(tmp_path, replace(PLAN, generations=3))
    resumed = evolve_in(tmp_path, PLAN).breeding_
    assert resumed.generation == 6
    assert (resumed.breeder.weights == weights_after(6)).all()
    with pytest.raises(TengenError, match="moves 4 there, 3 asked"):
        evolve_in(tmp_path, replace(PLAN, moves=3))


def test_rows_of_fitness_rebuild_every_network(tmp_path: Path) -> None:
    model = evolve_in(tmp_path, replace(PLAN, random_plies=2))
    rows = [row["fitness"] for row in read_metrics(tmp_path)]
    assert len(rows) == PLAN.generations and all(len(row) == 6 for row in rows)
    rebuilt = Breeding(replace(PLAN, random_plies=2)).replay(rows)
    assert (rebuilt.breeder.weights == model.breeding_.breeder.weights).all()
    goes_on = evolve(replace(PLAN, random_plies=2, generations=8))
    while rebuilt.generation < 8:
        rebuilt.step(MEASURE)
    assert (rebuilt.breeder.weights == goes_on.breeder.weights).all()


def test_snapshots_are_models_that_play(tmp_path: Path) -> None:
    model = evolve_in(tmp_path, PLAN)
    files = sorted((tmp_path / "snapshots").iterdir())
    assert [path.name for path in files] == [f"{g:09d}.safetensors" for g in (0, 2, 4, 6)]
    assert (OpeningEvolution.load(files[-1]).weights_ == model.weights_).all()
    first = Breeding(PLAN)
    first.step(MEASURE)
    assert (OpeningEvolution.load(files[0]).weights_ == first.first_best).all()
    assert model.name == "evolved"


def test_notes_of_generations_that_are_played_again_are_dropped(tmp_path: Path) -> None:
    evolve_in(tmp_path, replace(PLAN, generations=3))
    notes = tmp_path / "metrics.jsonl"
    with notes.open("a") as out:  # as a kill after the checkpoint leaves it
        out.write('{"step": 4, "best": 0.0, "mean": 0.0}\n{"step": 5, "be')
    evolve_in(tmp_path, PLAN)
    generations = [json.loads(line)["step"] for line in notes.read_text().splitlines()]
    assert generations == [1, 2, 3, 4, 5, 6]


def test_remembered_fitness_changes_nothing_where_games_do_not() -> None:
    assert (weights_after(6) == weights_after(6, remember=True)).all()
    assert not (
        weights_after(6, random_plies=2) == weights_after(6, random_plies=2, remember=True)
    ).all()

    run = Breeding(replace(PLAN, remember=True))
    assert len(run.pending) == 6
    run.step(MEASURE)
    assert len(run.pending) == 3 and len(run.breeder.weights) == 6


@pytest.mark.parametrize("strategy", ["cma", "mirror"])
@pytest.mark.parametrize("changes", [{}, {"hall_every": 2, "starts": 2}])
def test_other_strategies_go_on_where_they_stopped(
    tmp_path: Path, strategy: str, changes: dict[str, int]
) -> None:
    plan = replace(PLAN, strategy=strategy, **changes)  # type: ignore[arg-type]
    whole = evolve(plan)
    evolve_in(tmp_path, replace(plan, generations=3))
    resumed = evolve_in(tmp_path, plan).breeding_
    assert (resumed.breeder.weights == whole.breeder.weights).all()
    assert (resumed.best == whole.best).all()
    assert len(resumed.hall) == len(whole.hall) == (4 if changes else 0)
    # They start as widely as the paper's does.
    first = Breeding(replace(plan, population=40)).breeder.weights
    assert np.std(first) == pytest.approx(FIRST_SPREAD, rel=0.1)


def test_cma_finds_the_top_of_a_hill() -> None:
    search = CmaStrategy(12, 10, seed=1)
    for generation in range(1, 120):
        search.breed(-((search.weights - 0.7) ** 2).sum(1), generation)
    assert np.abs(search.best - 0.7).max() < 0.01


def test_mirrored_steps_climb_a_hill_that_is_mostly_noise() -> None:
    rng = np.random.default_rng(2)
    search = MirrorStrategy(20, 30, seed=1)
    start = -((search.weights - 0.5) ** 2).sum(1).max()
    for generation in range(1, 300):
        height = -((search.weights - 0.5) ** 2).sum(1)
        search.breed(height + rng.normal(0, 2.0, 20), generation)
        pairs = search.weights[:10] + search.weights[10:]
        assert np.allclose(pairs, 2 * search.mean)
    assert -((search.best - 0.5) ** 2).sum() > 0.2 * start  # start is below zero


def test_a_hall_of_fame_plays_every_other_start() -> None:
    plan = replace(PLAN, hall_every=2, starts=4)
    run = evolve(plan)
    assert len(run.hall) == 4 and (run.hall[0] == run.first_best).all()
    games = run.games()
    assert [w is None for w in games.hall] == [True, False, True, False]
    assert all(any(w is member for member in run.hall) for w in games.hall[1::2])


def test_it_learns_to_beat_a_simple_opponent() -> None:
    # The counter likes whoever has more stones and surrounded points: easy to improve on.
    plan = replace(PLAN, generations=40, population=10)
    run = Breeding(plan)
    first = MEASURE(run)[0].max()
    while run.generation < plan.generations:
        run.step(MEASURE)
    assert run.fitness.max() >= first + 2


def some_player() -> NetworkPlayer:
    shape = PLAN.shape()
    weights = np.random.default_rng(0).normal(0, 0.3, shape.n_weights)
    return NetworkPlayer(shape, weights)


def test_fitness_is_the_mean_over_colours() -> None:
    parts = [
        fitness(some_player(), [Corner()], Counter(), replace(PLAN, colours=colours), [3])
        for colours in ("black", "white", "both")
    ]
    assert parts[2] == pytest.approx((parts[0] + parts[1]) / 2)


def test_opponents_by_start() -> None:
    me, rest = some_player(), (Counter(), replace(PLAN, random_plies=2))
    alone = [fitness(me, [other], *rest, [seed]) for other, seed in ((Corner(), 3), (Last(), 4))]
    both = fitness(me, [Corner(), Last()], *rest, [3, 4])
    assert both == pytest.approx(np.mean(alone))


def test_who_is_not_in_the_hall_takes_turns() -> None:
    class Asked(Corner):
        games = 0

        def choose(self, board: Board, rng: np.random.Generator) -> int:
            self.games += len(board.moves) < 2
            return super().choose(board, rng)

    plan = replace(PLAN, generations=1, hall_every=9, starts=4)
    run = evolve(plan)
    both = [Asked(), Asked()]
    run.games().play(run.breeder.weights[0], both, Counter())
    assert [other.games for other in both] == [2, 2]


def test_starts_become_more() -> None:
    plan = replace(PLAN, starts=2, more_starts_every=10)
    assert [len(plan.game_seeds(g)) for g in (0, 9, 10, 35)] == [2, 2, 3, 5]
    assert plan.game_seeds(35)[0] != plan.game_seeds(36)[0]
    run = Breeding(plan)
    run.generation = 10
    assert len(run.games().hall) == 3


def test_handicap_stones_become_fewer_and_one_is_none() -> None:
    plan = replace(PLAN, rows=9, handicap=4, handicap_every=10)
    assert [plan.handicap_at(g) for g in (0, 9, 10, 20, 30, 99)] == [4, 4, 3, 2, 0, 0]
    for colour in (BLACK, WHITE):
        board = plan.start(1, colour, plan.handicap_at(0))
        assert (board.grid() == colour).sum() == 4 and board.turn == 3 - colour
    with pytest.raises(TengenError, match="no fixed handicap of 9 stones on 5x5"):
        replace(PLAN, handicap=9)


def test_survivors_are_measured_again_when_the_handicap_changes() -> None:
    plan = replace(PLAN, rows=9, moves=1, remember=True, handicap=3, handicap_every=2)
    run = Breeding(plan)
    measured = []
    for _ in range(6):
        measured.append(len(run.pending))
        run.step(MEASURE)
    assert measured == [6, 3, 6, 3, 6, 3]  # two stones are followed by none


def test_a_bent_score_counts_little_beyond_its_bend() -> None:
    plan = replace(PLAN, colours="black")
    args = some_player(), [Corner()], Counter()
    plain = fitness(*args, plan, [3])
    bent = fitness(*args, replace(plan, bend=2.0), [3])
    assert bent == pytest.approx(2 * np.tanh(plain / 2))


def test_an_illegal_choice_is_a_pass() -> None:
    board, rng = Board(5, moves="B C3 W C2"), np.random.default_rng(0)
    shape = Dense(5, 5, free=True, plies=1)
    weights = np.zeros(shape.n_weights)
    _, w1, w2 = shape.cut(weights)
    w1[12, 0] = w2[0] = 1.0  # likes C3 best, which is taken
    assert NetworkPlayer(shape, weights).choose(board, rng) == PASS


def test_matches_swap_colours_on_the_same_start() -> None:
    me, terms = some_player(), replace(PLAN, moves=3, komi=0.0, random_plies=2)
    scores = match(me, [me] * 3, Counter(), terms, [1, 2, 3])
    # Against itself the two games of a start are one game seen from both sides.
    assert (scores[::2] == -scores[1::2]).all() and len(set(scores[::2])) > 1


def test_it_must_evolve_before_it_plays_and_on_its_own_board() -> None:
    model = OpeningEvolution(settings=replace(PLAN, generations=1))
    with pytest.raises(ModelError, match="evolved nothing yet"):
        model.values([Board(5)])
    with pytest.raises(ModelError, match="plays on 5x5, not on 9x9"):
        model.fit(MEASURE).choose(Board(9), np.random.default_rng(0))


def test_as_an_opening_player_it_looks_ahead_itself() -> None:
    model = OpeningEvolution(settings=replace(PLAN, generations=1)).fit(MEASURE)
    assert model.opening_plies == 8
    player = OpeningPlayer(model=model, then=Corner())
    rng, board = np.random.default_rng(0), Board(5, moves="B C3 W C2")
    assert player.choose(board, rng) == model.choose(board, rng)
    for _ in range(6):
        board.push(PASS)
    assert player.choose(board, rng) == Corner().choose(board, rng)


def test_an_odd_population_is_refused() -> None:
    with pytest.raises(TengenError, match="has no half"):
        replace(PLAN, population=5)
