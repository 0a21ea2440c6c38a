"""Collections: arrays, splitting, duplicates, shuffling, summaries, writing."""

from __future__ import annotations

import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tengen.board import BLACK, PASS, Move, Point
from tengen.errors import RecordError, TengenError
from tengen.records import Corpus, GameArrays, GameRecord, Result, arrays, writer
from tengen.records.arrays import from_records
from tengen.records.corpus import Summary, summarise


def random_games(count: int, seed: int = 1) -> list[GameRecord]:
    """Make records of points drawn by chance; they need not be legal."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        rows, cols = rng.choice([(9, 9), (19, 19), (13, 9), (25, 25)])
        points = [(r, c) for r in range(rows) for c in range(cols)]
        chosen = rng.sample(points, rng.randint(0, 40))
        moves = [(1 + i % 2, p if rng.random() < 0.95 else PASS) for i, p in enumerate(chosen)]
        setup = [(1, p) for p in points[:2] if p not in chosen] if rng.random() < 0.3 else []
        result = rng.choice([Result(), Result("score", 1, 3.5), Result("resign", 2)])
        made.append(
            GameRecord(
                rows, cols, moves=moves, setup=setup, komi=6.5, result=result, rules="Chinese"
            )
        )
    return made


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    path = tmp_path / "games.sgf"
    assert writer.write_sgf(random_games(200), path) == 200
    return path


def assert_same(a: GameArrays, b: GameArrays) -> None:
    for item in fields(a):
        x, y = getattr(a, item.name), getattr(b, item.name)
        assert x.dtype == y.dtype, item.name
        np.testing.assert_array_equal(x, y, item.name)


def test_records_come_back_from_a_file(collection: Path) -> None:
    for record, made in zip(Corpus(collection), random_games(200), strict=True):
        assert (record.rows, record.cols) == (made.rows, made.cols)
        assert (record.moves, record.setup) == (made.moves, made.setup)
        assert (record.komi, record.result, record.rules) == (6.5, made.result, "Chinese")
        assert record.tree.nodes == made.tree.nodes


def test_arrays_are_those_of_the_records(collection: Path) -> None:
    corpus = Corpus(collection)
    made = corpus.as_arrays()
    assert_same(made, arrays.from_records(list(corpus)))
    assert len(made) == 200
    assert made.offsets[-1] == len(made.moves) == sum(made.lengths())
    assert made.record(7).moves == list(corpus)[7].moves
    assert_same(arrays.concatenate([made.take([3, 1]), made.take([])]), made.take([3, 1]))
    mask = np.isin(np.arange(len(made)), [1, 3])
    assert_same(made.where(mask), made.take([1, 3]))
    with pytest.raises(TengenError, match="a mask is for"):
        made.take(mask)


def test_games_with_edits_are_left_out_of_arrays(tmp_path: Path) -> None:
    (tmp_path / "x.sgf").write_text("(;SZ[9];B[aa];AW[bb];B[cc])(;SZ[9];B[dd])")
    corpus = Corpus(tmp_path)
    assert len(list(corpus)) == 2
    assert corpus.as_arrays().number.tolist() == [2]


def turned(record: GameRecord, how: int) -> GameRecord:
    """Return the game seen through one of the eight symmetries (square boards)."""

    def turn(point: Point) -> Move:
        if point == PASS:
            return PASS
        row, col = point.row, point.col
        last = record.rows - 1
        if how & 1:
            col = last - col
        if how & 2:
            row = last - row
        if how & 4:
            row, col = col, row
        return row, col

    return GameRecord(
        record.rows,
        record.cols,
        moves=[(colour, turn(point)) for colour, point in record.moves],
        setup=[(colour, turn(point)) for colour, point in reversed(record.setup)],
    )


def test_mirror_images_have_one_hash_and_others_do_not() -> None:
    games = [
        game for game in random_games(120, 3) if game.rows == game.cols and len(game.moves) > 2
    ]
    images = [[turned(game, how) for how in range(8)] for game in games]
    hashes = [arrays.from_records(group).hashes() for group in images]
    assert all(len(set(group.tolist())) == 1 for group in hashes)
    assert len({int(group[0]) for group in hashes}) == len(games)


def test_a_pass_at_the_end_does_not_make_another_game() -> None:
    one = GameRecord(9, 9, moves=[(1, "A9"), (2, "B9")])
    two = GameRecord(9, 9, moves=[(1, "A9"), (2, "B9"), (1, PASS), (2, PASS)])
    other = GameRecord(9, 9, moves=[(1, "A9"), (2, PASS), (1, "B9")])
    hashes = arrays.from_records([one, two, other]).hashes()
    assert hashes[0] == hashes[1] != hashes[2]


def test_duplicates_are_removed(tmp_path: Path) -> None:
    games = [g for g in random_games(60, 4) if g.rows == g.cols and len(g.moves) > 2]
    doubled = [turned(game, i % 8) for i, game in enumerate(games)] + games
    writer.write_sgf(doubled, tmp_path / "x.sgf")
    corpus = Corpus(tmp_path / "x.sgf")
    unique = corpus.unique()
    assert [record.game for record in unique] == list(range(1, len(games) + 1))
    assert len(list(unique)) == len(games)  # a second reading starts afresh
    assert_same(corpus.as_arrays().without_duplicates(), unique.as_arrays())


def test_a_split_is_by_game_and_by_seed(collection: Path) -> None:
    corpus = Corpus(collection)
    with pytest.raises(TengenError, match="a share from 0 to 1"):
        corpus.split(2.0, seed=1)
    train, rest = corpus.split(0.7, seed=1)
    numbers = [{record.game for record in part} for part in (train, rest)]
    assert numbers[0] | numbers[1] == set(range(1, 201))
    assert 0.55 < len(numbers[0]) / 200 < 0.85
    assert {record.game for record in corpus.split(0.7, seed=1)[0]} == numbers[0]
    assert {record.game for record in corpus.split(0.7, seed=2)[0]} != numbers[0]
    a, b = corpus.as_arrays().split(0.5, seed=3)
    assert sorted([*a.number, *b.number]) == list(range(1, 201))


def test_filters_choose_games(collection: Path) -> None:
    small = Corpus(collection).where(lambda games: games.rows == 9)
    assert {record.rows for record in small} == {9}
    assert set(small.as_arrays().rows.tolist()) == {9}


@pytest.mark.parametrize("window", [10, 1000])
def test_shuffling_follows_from_the_seed(collection: Path, window: int) -> None:
    corpus = Corpus(collection)
    orders = [[r.game for r in corpus.shuffled(seed, window)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(1, 201))
    assert corpus.as_arrays().shuffled(5).number.tolist() != list(range(1, 201))


def test_summary(collection: Path, tmp_path: Path) -> None:
    (tmp_path / "z.sgf").write_text("(;SZ[9];B[zz])(;SZ[9];B[aa]RE[0]")
    corpus = Corpus([collection, tmp_path / "z.sgf"])
    summary = summarise(corpus)
    made = random_games(200)
    assert (summary.games, summary.damaged, summary.repairs) == (201, 1, 1)
    assert summary.moves == 1 + sum(len(game.moves) for game in made)
    assert summary.sizes["13x9"] == sum((game.rows, game.cols) == (13, 9) for game in made)
    assert summary.results["W+R"] == sum(game.result.kind == "resign" for game in made)
    assert summary.results["0"] == 1
    assert [fault.game for fault in corpus.faults] == [1, 2]


def test_faults_are_counted_but_not_hoarded(tmp_path: Path) -> None:
    (tmp_path / "x.sgf").write_bytes(b"(;SZ[9];B[zz])" * 3000)
    corpus = Corpus(tmp_path)
    assert list(corpus) == []
    assert (corpus.damaged, len(corpus.faults)) == (3000, 1000)


@pytest.mark.parametrize("name", ["out.sgf", "folder/", "out.npz"])
def test_writing(collection: Path, tmp_path: Path, name: str) -> None:
    out = str(tmp_path / "made") + "-" + name
    assert writer.write(Corpus(collection), out, limit=50) == 50
    expected = Corpus(collection).as_arrays().take(np.arange(50))
    if name.endswith(".npz"):
        assert_same(writer.load_arrays(out), expected)
    else:
        np.testing.assert_array_equal(Corpus(out).as_arrays().moves, expected.moves)


def test_writing_one_line_each(collection: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    count = writer.write(Corpus(collection), str(out))
    kept = [g for g in random_games(200) if g.rows == 19 and not g.setup and g.moves]
    assert count >= len(kept) > 0
    moves = [record.moves for record in Corpus(out) if record.moves]
    assert moves == [game.moves for game in kept]


def test_writing_needs_a_known_form(collection: Path) -> None:
    with pytest.raises(RecordError, match="end the name with"):
        writer.write(Corpus(collection), "games.doc")


def test_arrays_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"not arrays")
    with pytest.raises(RecordError, match="not a collection of arrays"):
        writer.load_arrays(tmp_path / "x.npz")


def test_a_summary_counts_sizes_and_results(tmp_path: Path) -> None:
    summary = Summary()
    summary.add(from_records([GameRecord(9, 13, moves=[(BLACK, PASS)]), GameRecord(9, 9)]))
    assert (summary.games, summary.moves) == (2, 1)
    assert summary.sizes == {"9x13": 1, "9x9": 1} and summary.results == {"?": 2}


def test_batches_lead_back_to_their_records(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(b"(;SZ[5];B[aa](;W[bb])(;W[cc]))" * 2)
    [batch] = Corpus([path]).record_batches()
    assert len(batch.arrays) == 2
    assert [record.game for record in batch.records()] == [1, 2]
