"""The fast reader's kernels, called as `bulk` and `arrays` call them."""

from __future__ import annotations

import numpy as np

from tengen.board import Board, play_random
from tengen.records import GameRecord, sgf_grammar
from tengen.records import kernels as k
from tengen.records.arrays import from_records
from tengen.records.bulk import EXACT_BATCH, GameBatch
from tengen.records.encodings import LEAD_BYTES
from tengen.records.sgf_grammar import LOOKAHEAD, TOO_LONG, Patterns, parse_game, shifted

TWO = b"text (;SZ[5]AB[aa]KM[6.5];B[bb];W[]) (;SZ[9:7]CA[Big5];B[cc])"


def read(data: bytes, room: int = 4, final: bool = True) -> tuple[int, int, int, int, int]:
    moves, colours = np.zeros(99, np.int16), np.zeros(99, np.int8)
    setup, setup_colours = np.zeros(99, np.int16), np.zeros(99, np.int8)
    games = np.zeros((room, k.FIELDS), np.int64)
    found = k.read_main_lines(
        np.frombuffer(data, np.uint8), 0, len(data), final, moves, colours, setup, setup_colours,
        games,
    )  # fmt: skip
    read.games, read.moves = games, moves[: found[1]]  # type: ignore[attr-defined]
    return tuple(map(int, found))  # type: ignore[return-value]


def test_main_lines_are_read_with_their_places() -> None:
    count, moves, stones, _, status = read(TWO)
    assert (count, moves, stones, status) == (2, 3, 1, k.DONE)
    first, second = read.games[:2]  # type: ignore[attr-defined]
    assert TWO[first[k.START] : first[k.END]].endswith(b"W[])")
    assert TWO[first[k.KOMI] :].startswith(b"6.5")
    assert (second[k.ROWS], second[k.COLS], second[k.SETUP]) == (7, 9, 1)
    assert (first[k.ENCODED], second[k.ENCODED]) == (0, 1)
    assert read.moves[0] == Board(5).point("B4") and read.moves[1] == 0  # type: ignore[attr-defined]


def test_what_is_cut_or_odd_is_left_to_others() -> None:
    assert read(TWO[:40], final=False)[-1] == k.MORE
    assert read(b"(;SZ[5];B[bb];B]")[-1] == k.UNCLEAN
    assert read(TWO, room=1)[0] == 1  # the rest has no room yet
    columns = (k.START, k.END, k.MOVES, k.SETUP, k.ROWS, k.COLS, k.KOMI, k.ENCODED)
    assert len(set(columns)) == 8 and max(columns) < k.FIELDS
    assert len({k.DONE, k.MORE, k.UNCLEAN}) == 3


def test_both_readers_know_the_same_limits() -> None:
    assert k.MAX_GAME_BYTES == sgf_grammar.MAX_GAME_BYTES
    assert k.MAX_NODES == sgf_grammar.MAX_NODES
    assert f"{k.MAX_GAME_BYTES:,}" in TOO_LONG
    assert 0 < EXACT_BATCH and LOOKAHEAD < k.MAX_GAME_BYTES


def test_a_game_has_one_hash_in_every_orientation() -> None:
    board = play_random(Board(5), 12, np.random.default_rng(4))
    spots = [(int(p - 1) // 6 - 1, int(p - 1) % 6) for _, p in board.moves]
    twins = []
    for turn in (
        lambda r, c: (r, c),
        lambda r, c: (c, r),
        lambda r, c: (4 - r, c),
        lambda r, c: (r, 4 - c),
        lambda r, c: (4 - c, 4 - r),
    ):
        image = Board(5)
        for colour, (r, c) in zip((colour for colour, _ in board.moves), spots, strict=True):
            image.play(turn(r, c), colour)
        twins.append(GameRecord(rows=5, cols=5, moves=image.moves))
    shorter = GameRecord(rows=5, cols=5, moves=board.moves[:-1])
    games = from_records([*twins, shorter])
    hashes = np.empty(6, np.uint64)
    k.canonical_hashes(
        games.moves, games.colours, games.offsets, games.setup, games.setup_colours,
        games.setup_offsets, games.rows, games.cols, hashes,
    )  # fmt: skip
    assert len(set(hashes[:5].tolist())) == 1 and hashes[5] != hashes[0]


def test_a_batch_makes_records_of_its_games_and_of_some_of_them() -> None:
    records = [GameRecord(rows=n, cols=n) for n in (5, 7, 9)]
    nothing = np.zeros((3, 2), np.int64)
    batch = GameBatch(from_records(records), b"", nothing, np.zeros(3, np.bool_), 0, records)
    assert batch.where(np.ones(3, np.bool_)) is batch
    some = batch.where(np.array([True, False, True]))
    assert [record.rows for record in some.records()] == [5, 9] == some.arrays.rows.tolist()


def test_offsets_of_a_game_move_with_the_place_of_its_window() -> None:
    game = parse_game(b"(;SZ[5];B[bb)", 0)
    offsets, repairs = list(game.tree.offsets), game.repairs
    moved = shifted(game, 100)
    assert moved.tree.offsets == [offset + 100 for offset in offsets]
    assert (moved.start, moved.end) == (game.start + 100, game.end + 100)
    assert [r.offset for r in moved.repairs] == [r.offset + 100 for r in repairs] != []
    assert shifted(moved, 0) is moved


def test_a_pair_of_bytes_is_taken_whole_where_its_second_looks_like_an_end() -> None:
    value = b"[\xa5]x]"
    plain, double = Patterns(b""), Patterns(LEAD_BYTES["big5"])
    assert plain.value.match(value)[1] == b"\xa5"  # type: ignore[index]
    assert double.value.match(value)[1] == b"\xa5]x"  # type: ignore[index]
