"""The predictor's smaller parts, each by its own name: tables, layouts, counts, reports."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from prediction_games import tasteful_games

from tengen.board import Board
from tengen.learners.move_prediction import (
    MovePredictor,
    feature_kernels,
    network_kernels,
    paper_kernels,
    tactics_kernels,
)
from tengen.learners.move_prediction import family_kernels as families
from tengen.learners.move_prediction.dictionary import Job
from tengen.learners.move_prediction.evaluation import TOPS, Measured
from tengen.learners.move_prediction.maxent import Solution, solve
from tengen.learners.move_prediction.model import FullModel
from tengen.learners.move_prediction.paper_kernels import fill_sieve
from tengen.learners.move_prediction.paper_model import PaperModel
from tengen.learners.move_prediction.paper_training import (
    ReRankerState,
    count_job,
    halves,
    learn_frequencies,
    learn_reranker,
    train_paper,
)
from tengen.learners.move_prediction.pattern_kernels import (
    ORIENTATIONS,
    REACH,
    RING_LIMITS,
    SPAN,
    add_counts,
    lookup,
    ring_table,
    spread_keys,
    store_all,
)
from tengen.learners.move_prediction.patterns import PatternHasher, random_keys
from tengen.learners.move_prediction.reading import LeftOut
from tengen.learners.move_prediction.reasons import Reasons, reasons_of
from tengen.learners.move_prediction.settings import PAPER_TEMPLATES, FullSettings, PaperSettings
from tengen.learners.move_prediction.tables import Dictionary
from tengen.learners.move_prediction.training import Report, train_full

# ----- Tables and layouts -----


def test_every_orientation_of_a_key_is_there_once() -> None:
    base = random_keys(5, 3)
    assert base.shape == (SPAN * SPAN, 3) and len(np.unique(base)) == base.size
    keys = spread_keys(base)
    assert keys.shape == (SPAN * SPAN, 3, ORIENTATIONS)
    for orientation in range(ORIENTATIONS):
        assert sorted(keys[:, 0, orientation]) == sorted(base[:, 0])
    corner = keys[0, 0]  # at the far end of a diagonal: four images, two orientations each
    assert len(set(corner.tolist())) == 4


def test_rings_grow_outwards_from_the_centre() -> None:
    rings = ring_table(np.array(RING_LIMITS, np.int64)).reshape(SPAN, SPAN)
    assert rings[REACH, REACH] == -1 and (rings == rings.T).all() and (rings[::-1] == rings).all()
    assert (np.diff(rings[REACH, REACH:]) >= 0).all()


def test_a_dictionary_gives_each_key_its_number_and_strangers_none() -> None:
    keys = np.array([5, -9, 2**40, 77], np.int64)
    known = Dictionary.of(keys, 3)
    find = inspect.unwrap(lookup)
    assert [int(find(known.table, known.values, key)) for key in keys] == [3, 4, 5, 6]
    assert find(known.table, known.values, np.int64(6)) == -1
    table, values = np.zeros(16, np.int64), np.zeros(16, np.int32)
    store_all(table, values, keys, np.arange(4, dtype=np.int32))
    assert sorted(table[table != 0]) == sorted(keys)


def test_counting_stops_before_the_table_is_full() -> None:
    table, counts, used = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(1, np.int64)
    keys = np.array([1, 2, 1, 0, 3, 4, 5, 6], np.int64)
    done = add_counts(table, counts, used, keys, np.ones(8, np.int64))
    assert used[0] == 4 and done == 6  # 60 % of eight; a key 0 is none
    assert counts[table == 1] == 2


def test_a_sieve_lets_through_what_was_put_in() -> None:
    keys = np.random.default_rng(1).integers(1, 2**62, 40)
    once, twice = np.zeros(64, np.uint64), np.zeros(64, np.uint64)
    fill_sieve(keys, once)
    fill_sieve(np.concatenate([keys, keys]), twice)
    assert (once == twice).all() and 0 < np.bitwise_count(once).sum() <= 40


def test_features_of_a_move_follow_each_other_without_overlap() -> None:
    f = feature_kernels
    starts = [
        *(f.COORDINATE, f.RELATIVE, f.PAIR, f.ESCAPE, f.ATARI, f.DOUBLE, f.SELF_ATARI),
        *(f.LIBERTY, f.ENEMY, f.OF_LAST, f.OF_ATTACKED, f.CONTACT, f.KO_MOVE, f.NEAREST),
        *(f.DENSITY, f.CROWD, f.MOVE_END),
    ]
    assert starts == sorted(set(starts))
    shared = [f.LAST_COORDINATE, f.LAST_STEP, f.OWN_ATARI]
    assert shared == sorted(set(shared)) and shared[0] >= f.MOVE_END
    stones = [f.STONE, f.STONE_LADDER, f.FORBIDDEN]
    assert stones == sorted(set(stones)) and stones[0] > shared[-1]
    assert f.FORBIDDEN == f.DIRECT - 1


def test_tactical_facts_have_a_place_each() -> None:
    t = tactics_kernels
    facts = [
        *(t.CAPTURED, t.CAPTURES_LAST, t.CAPTURE_SAVES, t.SAVED, t.LIBERTIES, t.SIZE_AFTER),
        *(t.ATARIED, t.ATARIS, t.ATARI_LAST, t.OWN_BLOCKS, t.ENEMY_BLOCKS, t.OWN_LIBERTIES),
        *(t.ENEMY_LIBERTIES, t.ENEMY_SIZE, t.EMPTY_NEIGHBOURS),
    ]
    assert sorted(facts) == list(range(len(facts)))


def test_the_networks_layers_fill_its_vector() -> None:
    n = network_kernels
    layer = n.SEEN * n.DIM + n.DIM * n.DIM + n.DIM
    assert n.LAYERS * layer + n.DIM == n.DENSE_SIZE
    assert paper_kernels.WIDTH == 2 + 2 * paper_kernels.EARLIER


def test_families_of_patterns_have_a_number_each() -> None:
    numbers = [
        *(families.PLAIN, families.WITH_LIBERTIES, families.WITH_LAST, families.WITH_BOTH),
        *(families.WITH_OWN_LAST, families.AT_LAST),
    ]
    assert sorted(numbers) == list(range(families.FAMILIES)) and families.MARKS > 0


# ----- Learning -----


def test_the_papers_patterns_are_counted_at_the_experts_moves() -> None:
    games = tasteful_games(1, plies=6)
    job = Job(games.moves, games.colours, games.offsets, 7, 7)
    keys, counts = count_job((job, PAPER_TEMPLATES))
    assert counts.sum() == 6 * len(PAPER_TEMPLATES) and len(set(keys.tolist())) == len(keys)
    assert PatternHasher(7).hashes(3, 3, 1).shape == (len(RING_LIMITS),)


def test_a_reranker_goes_on_from_its_state_as_if_never_stopped() -> None:
    games, settings = tasteful_games(6), PaperSettings(top=3, passes=2)
    first, second = halves(games, settings)
    states: list[ReRankerState] = []

    def keep(state: ReRankerState) -> None:
        states.append(ReRankerState(state.memory.copy(), state.passes, state.loss))

    whole = learn_frequencies(games, first, settings)
    assert isinstance(whole, PaperModel) and whole.top == 0
    learn_reranker(games, second, whole, settings, keep=keep)
    assert [state.passes for state in states] == [0, 1, 2] and whole.top == 3
    resumed = learn_frequencies(games, first, settings)
    learn_reranker(games, second, resumed, settings, state=states[1])
    assert (resumed.weights == whole.weights).all() and whole.weights.any()


def test_reports_count_the_games_of_a_training() -> None:
    told: list[Report] = []
    train_full(tasteful_games(5), FullSettings(minimum=2, side=2), on_report=told.append)
    assert told and all(isinstance(report, Report) for report in told)
    assert told[-1].games == told[-1].total and 0 <= told[-1].top1 <= 1


def test_a_solution_without_samples_that_matter_is_zero() -> None:
    features, labels = np.array([[0], [1]]), np.array([1, 0])
    found = solve(features, labels, 2, width=5.0)
    assert isinstance(found, Solution) and not found.weights.any() and found.violation == 0
    assert found.objective == pytest.approx(2 * np.log(2))


def test_other_recipes_give_no_reasons() -> None:
    predictor = MovePredictor(settings=PaperSettings(top=0)).fit(tasteful_games(3))
    assert reasons_of(predictor, Board(7), [9, 10]) == [Reasons([], 0)] * 2


def test_rates_are_shares_of_the_positions() -> None:
    measured = Measured(games=1)
    measured.counts[:2] = 3, 1
    measured.hits[0, TOPS.index(1)] = 2
    measured.hits[:2, TOPS.index(5)] = 3, 1
    assert (measured.positions, measured.rate(1), measured.rate(5)) == (4, 0.5, 1.0)
    assert [phase["positions"] for phase in measured.phases()] == [3, 1]
    assert measured.interval(1)[0] < 0.5 < measured.interval(1)[1]


def test_what_was_left_out_is_told_by_reason() -> None:
    out = LeftOut(damaged=2, first_damage="a.sgf: cut", illegal=1)
    assert out.total == 3 and len(out.lines()) == 2 and "a.sgf: cut" in out.lines()[0]
    assert LeftOut().lines() == []


def test_models_come_back_from_their_tensors_and_strange_tensors_are_refused() -> None:
    games = tasteful_games(3)
    full = train_full(games, FullSettings(minimum=2, side=2))
    again = FullModel.from_tensors(full.exact(), absolute=full.absolute)
    assert all((again.exact()[name] == array).all() for name, array in full.exact().items())
    with pytest.raises(ValueError, match="do not fit"):
        FullModel.from_tensors({**full.exact(), "weights": full.weights[:-1]}, absolute=True)
    paper = train_paper(games, PaperSettings(minimum=1, passes=1, top=3))
    back = PaperModel.from_tensors(paper.tensors(), paper.sizes)
    assert all((back.tensors()[name] == array).all() for name, array in paper.tensors().items())
    with pytest.raises(ValueError, match="frequencies"):
        PaperModel.from_tensors(
            {**paper.tensors(), "keys": paper.dictionary.keys[:-1]}, paper.sizes
        )
