"""Collections: arrays, splitting, duplicates, shuffling, summaries, writing."""

from __future__ import annotations

import os
import random
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tengen.bench import sample_games
from tengen.board import BLACK, BORDER, PASS, WHITE, Board, Move, Point, Rules
from tengen.errors import IllegalMoveError, RecordError, TengenError
from tengen.records import Corpus, GameArrays, GameRecord, Result, arrays, loads, read_games
from tengen.records.arrays import from_records
from tengen.records.corpus import (
    check,
    last_positions,
    packed_games,
    replay_all,
    replay_refusals,
    summarise,
    write,
    write_sgf,
)
from tengen.records.record import Refusal, board_at, positions, rules_named


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
    assert write_sgf(random_games(200), path) == 200
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
    with pytest.raises(TengenError, match="use `where` for a mask"):
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
    write_sgf(doubled, tmp_path / "x.sgf")
    corpus = Corpus(tmp_path / "x.sgf")
    unique = corpus.unique()
    assert [record.game for record in unique] == list(range(1, len(games) + 1))
    assert len(list(unique)) == len(games)  # a second reading starts afresh
    _, first = np.unique(corpus.as_arrays().hashes(), return_index=True)
    assert_same(corpus.as_arrays().take(np.sort(first)), unique.as_arrays())


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


@pytest.mark.parametrize("name", ["out.sgf", "folder/"])
def test_writing(collection: Path, tmp_path: Path, name: str) -> None:
    out = str(tmp_path / "made") + "-" + name
    assert write(Corpus(collection), out, limit=50) == 50
    expected = Corpus(collection).as_arrays().take(np.arange(50))
    np.testing.assert_array_equal(Corpus(out).as_arrays().moves, expected.moves)


def test_writing_needs_a_known_form(collection: Path) -> None:
    with pytest.raises(RecordError, match="end the name with"):
        write(Corpus(collection), "games.doc")


def test_games_travel_with_their_places(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[5];B[aa])(;SZ[5];B[bb];W[cc])")
    (tmp_path / "b.sgf").write_text("(;SZ[7];B[dd])")
    faults: list[str] = []
    games = list(packed_games([str(tmp_path)], faults.append))
    assert not faults
    seen = [(game.number, Path(game.file).name, game.game) for game in games]
    assert seen == [(1, "a.sgf", 1), (2, "a.sgf", 2), (3, "b.sgf", 1)]
    records = [game.record() for game in games]
    assert [len(record.moves) for record in records] == [1, 2, 1]
    assert (records[1].file, records[1].game) == (games[1].file, 2)


def test_a_file_among_others_is_reported_and_a_single_one_raises(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.sgf", tmp_path / "bad.sgf"
    good.write_text("(;SZ[5];B[aa])")
    bad.write_text("no game")
    faults: list[str] = []
    assert len(list(packed_games([str(bad), str(good)], faults.append))) == 1
    assert len(faults) == 1 and "bad.sgf" in faults[0]
    with pytest.raises(RecordError):
        list(packed_games([str(bad)], faults.append))


KO = "(;SZ[5];B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[cb];W[bb];B[cb])"


def refusals(path: Path, rules: Rules | None = None) -> list[Refusal]:
    return [item for item in check(Corpus(path), rules) if isinstance(item, Refusal)]


def test_the_position_before_a_move() -> None:
    [record] = loads("(;SZ[5]KM[3.5]HA[2]AB[aa][ee];W[cc];B[cd];W[])")
    assert board_at(record, 1).grid().tolist()[0] == [1, 0, 0, 0, 0]
    board = board_at(record, 2)
    assert (board.turn, board.komi, board.handicap) == (BLACK, 3.5, 2)
    assert board.grid()[2, 2] == WHITE
    assert board.grid()[3, 2] == 0
    assert board_at(record).grid()[3, 2] == BLACK
    with pytest.raises(RecordError, match="no move 5"):
        board_at(record, 5)


def test_a_ko_is_filled_after_a_pass_that_was_not_recorded(tmp_path: Path) -> None:
    text = KO.replace(";B[cb])", ";W[cb];B[dd])")
    [record] = loads(text)
    assert board_at(record, 9).legal_mask(WHITE)[7] and board_at(record)["C4"] == WHITE
    (tmp_path / "x.sgf").write_text(text)
    assert not refusals(tmp_path / "x.sgf")


def test_edits_are_applied() -> None:
    [record] = loads("(;SZ[5];B[aa];W[bb];AE[aa]AB[cc];W[dd];AW[ee])")
    assert np.count_nonzero(board_at(record, 3).grid()) == 2
    assert board_at(record).grid()[4, 4] == WHITE
    assert board_at(record).grid()[0, 0] == 0


def test_every_position_is_a_board_of_its_own() -> None:
    [record] = loads("(;SZ[5];B[aa];B[bb];AE[aa]AB[cc];W[dd])")
    found = list(positions(record))
    assert [move for _, move in found] == record.moves
    assert [board.turn for board, _ in found] == [BLACK, BLACK, WHITE]
    for number, (board, _) in enumerate(found, 1):
        assert board.grid().tolist() == board_at(record, number).grid().tolist()


@pytest.mark.parametrize(
    ("text", "move", "reason"),
    [
        (KO, 9, "ko"),
        ("(;SZ[5];B[aa];W[aa])", 2, ""),
        ("(;SZ[5];B[ab];W[cc];B[ba];W[aa])", 4, ""),
        ("(;SZ[3]AB[aa][ab][ac][ba][bb][bc][ca][cb][cc];W[])", 0, ""),
        ("(;SZ[5]AB[aa];W[aa])", 1, ""),
    ],
)
def test_moves_against_the_rules_are_reported(
    tmp_path: Path, text: str, move: int, reason: str
) -> None:
    path = tmp_path / "x.sgf"
    path.write_text("(;SZ[9];B[aa])" + text + "(;SZ[9];B[bb])")
    [refusal] = refusals(path)
    assert (refusal.file, refusal.game, refusal.move) == (str(path), 2, move)
    assert reason in refusal.reason
    with pytest.raises(IllegalMoveError, match=f"x.sgf: game 2, move {move}: "):
        board_at(list(read_games(path))[1])


def test_rules_of_the_record_decide_about_suicide(tmp_path: Path) -> None:
    game = "(;SZ[5]RU[{}];B[ba];W[];B[bb];W[ab];B[ac];W[aa])"
    (tmp_path / "x.sgf").write_text(game.format("Japanese") + game.format("NZ"))
    assert [refusal.game for refusal in refusals(tmp_path)] == [1]
    assert [refusal.game for refusal in refusals(tmp_path, Rules.preset("cgos"))] == [1, 2]


def test_games_played_by_the_board_are_not_refused(tmp_path: Path) -> None:
    (tmp_path / "x.sgf").write_bytes(sample_games(20))
    assert refusals(tmp_path) == []
    games = [item for item in check(Corpus(tmp_path)) if not isinstance(item, Refusal)]
    assert sum(len(batch) for batch in games) == 20


GAMES = os.environ.get("TENGEN_GAMES")
needs_games = pytest.mark.skipif(not GAMES, reason="set TENGEN_GAMES to a folder of records")


@pytest.mark.slow
@needs_games
def test_real_games_are_written_back_unchanged() -> None:
    """Every game, written and read again, has the same tree and the same moves."""
    assert GAMES
    count = 0
    for record in Corpus(GAMES):
        [again] = loads(record.sgf())
        assert again.tree.nodes == record.tree.nodes
        assert again.tree.parents == record.tree.parents
        assert (again.moves, again.setup) == (record.moves, record.setup)
        assert record.raw is None or record.sgf() == record.raw
        count += 1
    assert count > 0


@pytest.mark.slow
@needs_games
def test_real_games_replay() -> None:
    """The board refuses nothing but a ko that the record retakes at once."""
    assert GAMES
    found = refusals(Path(GAMES))
    assert all("retake the ko" in refusal.reason for refusal in found), found


def test_collections_are_replayed_to_their_last_positions() -> None:
    small = loads("(;SZ[3];B[ac];W[ab];B[ca];W[bc])")[0]
    large = loads("(;SZ[5]AB[cc];W[cd];B[cc];W[aa])")[0]  # the second move is onto a stone
    games = from_records([small, large])
    grids, taken = last_positions(games)
    assert grids.shape == (2, 5, 5) and (grids[0, 3:] == BORDER).all()
    assert (grids[0, :3, :3] == Board(3, moves="B A1 W A2 B C3 W B1").grid()).all()
    assert taken.tolist() == [[0, 1], [0, 0]]
    assert grids[1, 0, 0] == WHITE and grids[1, 2, 2] == BLACK
    half, _ = last_positions(games, 0.5)
    assert np.count_nonzero(half[0, :3, :3]) == 2
    assert replay_refusals(games).tolist() == [False, True]  # and there the second game ends
    assert replay_all(games) == 4 + 1


def test_unknown_rules_are_taken_for_others() -> None:
    assert rules_named("Chinese").scoring == "area"
    assert rules_named("house rules").scoring == "territory"
    assert rules_named("house rules", "aga").handicap_bonus == "n-1"
