"""Training: slow counting, shared work, resuming, the paper's rules; reading games for it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from prediction_games import pattern_hashes, rings_of, tasteful_game, tasteful_games
from tests.needs import need

from tengen.board import Board, Point
from tengen.errors import TengenError
from tengen.models import Run
from tengen.papers.move_prediction import MovePredictor
from tengen.papers.move_prediction import training as training_module
from tengen.papers.move_prediction.kernels import salt
from tengen.papers.move_prediction.model import TOPS
from tengen.papers.move_prediction.settings import TEMPLATES, PredictionSettings
from tengen.papers.move_prediction.training import (
    join_counts,
    learn_frequencies,
    read_games,
    refuse_unsuitable,
    train,
)
from tengen.records.corpus import write_sgf

SIZE = 7


def slow_keys(board: Board, row: int, col: int, mover: int) -> list[int]:
    hashes = pattern_hashes(rings_of(board), row * board.cols + col, mover)
    return [int(hashes[ring]) ^ int(salt(ring)) for ring in TEMPLATES]


def positions(games):
    """Yield (board, colour, point) before every move, by the public board."""
    for g in range(len(games)):
        board = Board(SIZE)
        for k in range(games.offsets[g], games.offsets[g + 1]):
            yield board, int(games.colours[k]), int(games.moves[k])
            board.play(board.to_point(games.moves[k]), int(games.colours[k]))


def test_dictionary_and_frequencies_are_those_of_slow_counting() -> None:
    games = tasteful_games(4)
    model = train(games, PredictionSettings(top=0))
    seen: Counter[int] = Counter()
    for board, colour, point in positions(games):
        row, col = divmod(point, SIZE + 1)
        seen.update(slow_keys(board, row - 1, col - 1, colour))
    known = {key for key, count in seen.items() if count >= 2}
    assert known == set(model.keys.tolist())
    number = {int(key): k + 1 for k, key in enumerate(model.keys)}
    used, unused = Counter(), Counter()
    for board, colour, point in positions(games):
        mask = board.legal_mask(colour)
        for index in np.flatnonzero(mask[:-1]):
            row, col = divmod(int(index), SIZE)
            match = 0
            for key in slow_keys(board, row, col, colour):
                match = number.get(key, match) if key in known else match
            here = (row + 1) * (SIZE + 1) + col + 1 == point
            (used if here else unused)[match] += 1
    for match in range(len(model.frequency)):
        expected = (used[match] + 1) / (used[match] + unused[match] + 2)
        assert model.frequency[match] == pytest.approx(expected, abs=0)


def test_reranking_changes_nothing_at_and_beyond_its_rank() -> None:
    games, fresh = tasteful_games(40), tasteful_games(10, seed=500)
    predictor = MovePredictor(settings=PredictionSettings(top=5)).fit(games)
    reranked = predictor.evaluate(fresh)
    predictor.model_.top = 0
    plain = predictor.evaluate(fresh)
    for top in TOPS:
        if top >= 10:
            # Ties at the border of the five may share their credit differently, no more.
            assert reranked.rate(top) == pytest.approx(plain.rate(top), abs=0.02)
    assert reranked.rate(1) != plain.rate(1)
    # The games like points near the last move, which only the re-ranker can know.
    assert reranked.rate(1) > plain.rate(1)
    # Without a penalty weights may grow without end; the rule holds for them, too.
    predictor.model_.top = 5
    predictor.model_.weights = predictor.model_.weights * 1e5
    wild = predictor.evaluate(fresh)
    for top in TOPS:
        if top >= 10:
            assert wild.rate(top) == pytest.approx(plain.rate(top), abs=0.02)


def test_a_stopped_training_goes_on_exactly(tmp_path) -> None:
    games = tasteful_games(6)
    settings = PredictionSettings(top=3, passes=3)
    whole = train(games, settings)

    class Stopped(Exception):
        pass

    def stop(line: str) -> None:
        if line.startswith("re-ranker pass 2"):
            raise Stopped

    with pytest.raises(Stopped), Run.open(tmp_path, "paper", settings) as run:
        train(games, settings, run=run, on_line=stop)
    told: list[str] = []
    with Run.open(tmp_path, "paper", settings, resume=True) as run:
        resumed = train(games, settings, run=run, on_line=told.append)
        assert [row["step"] for row in run.rows()] == [0, 1, 2, 3]
    assert len(told) == 1 and told[0].startswith("re-ranker pass 3")
    assert np.array_equal(whole.weights, resumed.weights) and resumed.top == 3
    assert np.array_equal(whole.frequency, resumed.frequency)


def test_priors_do_not_depend_on_how_a_symmetric_board_lies() -> None:
    # Five candidates cannot be mirror images of each other all four or eight ways.
    predictor = MovePredictor(settings=PredictionSettings(top=5)).fit(tasteful_games(30))
    for moves in ("", "B D4"):
        grid = predictor.priors(Board(SIZE, moves=moves))[:-1].reshape(SIZE, SIZE)
        assert grid.max() > 1.5 * grid[grid > 0].min()
        for other in (grid.T, grid[::-1], grid[:, ::-1]):
            assert np.allclose(grid, other)


def test_counts_of_several_parts_are_added() -> None:
    keys = np.random.default_rng(0).integers(-5000, 5000, 20_000)
    parts = [np.unique(part, return_counts=True) for part in np.array_split(keys, 7)]
    found, counts = join_counts(parts)
    assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == Counter(keys.tolist())
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("where", ["here", pytest.param("local", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")  # Ray leaves sockets to the end of the interpreter
def test_two_processes_count_what_one_counts(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_module, "GAMES_PER_JOB", 2)
    task = tasteful_games(7), np.arange(7), PredictionSettings(top=0)
    one = learn_frequencies(*task)
    if where == "here":
        two = learn_frequencies(*task, workers=2)
    else:
        ray = need("ray")
        two = learn_frequencies(*task, ray=where)
        ray.shutdown()
    assert len(one.keys) > 100
    assert np.array_equal(one.keys, two.keys)
    assert np.array_equal(one.frequency, two.frequency)


# ----- Reading -----


@pytest.fixture
def mixed(tmp_path):
    """Write five good games, and one of each sort that cannot be used."""
    good = [tasteful_game(7, 7, 40, seed) for seed in range(5)]
    twice = tasteful_game(7, 7, 40, 5)
    twice.moves[20] = (twice.moves[20][0], twice.moves[19][1])
    handicap = tasteful_game(7, 7, 40, 6)
    handicap.setup = [(1, Point("A7", 7))]
    others = [twice, tasteful_game(9, 9, 40, 7), handicap, tasteful_game(7, 7, 9, 8)]
    path = tmp_path / "mixed.sgf"
    write_sgf([*good[:2], *others, *good[2:]], path)
    with open(path, "ab") as file:
        file.write(b"(;GM[1]SZ[7];B[aa];W[zz9];B[\n")
    return path, good


def test_what_cannot_be_used_is_skipped_and_counted(mixed) -> None:
    path, good = mixed
    games, skipped = read_games([str(path)], 7)
    assert [games.record(g).moves for g in range(len(games))] == [game.moves for game in good]
    assert skipped["of other sizes"] == skipped["with illegal moves"] == 1
    assert skipped["with setup stones or fewer than 10 moves"] == 2
    [damaged] = [reason for reason in skipped if "damaged" in reason]
    assert "mixed.sgf" in damaged and skipped.total() == 5


def test_no_game_left_is_an_error_that_says_why(mixed) -> None:
    path, _ = mixed
    with pytest.raises(TengenError, match=r"no games of size 13; skipped: 9 of other.*1 damaged"):
        read_games([str(path)], 13)


def test_a_full_disk_is_an_error_and_loses_no_moves_silently(mixed) -> None:
    path, _ = mixed
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (101, hard))  # a part of the moves fits
    try:
        with pytest.raises(OSError, match="too large"):
            read_games([str(path)], 7)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_moves_lie_on_disk_and_are_not_copied(mixed, monkeypatch) -> None:
    path, good = mixed
    whole, _ = read_games([str(path)], 7)
    assert isinstance(whole.moves.base, np.memmap) and isinstance(whole.colours.base, np.memmap)
    refuse_unsuitable(whole)
    monkeypatch.setattr(training_module, "MERGE", 1)
    again, _ = read_games([str(path), str(path)], 7)
    assert len(again) == 2 * len(good)
    assert np.array_equal(again.moves, np.tile(whole.moves, 2))
    assert np.array_equal(np.diff(again.offsets), np.tile(np.diff(whole.offsets), 2))
