"""The readers' smaller parts, each by its own name: where games begin, what a game's bytes say."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from tengen.board import BLACK, PASS, WHITE
from tengen.records import Corpus, Fault, sgf
from tengen.records.archives import BrokenStreamError, open_sources
from tengen.records.arrays import from_records
from tengen.records.faults import Damage
from tengen.records.oneline import looks_oneline
from tengen.records.record import GameRecord
from tengen.records.replay import rules_named
from tengen.records.sgf_grammar import (
    NeedMoreError,
    Repair,
    find_root,
    find_start,
    parse_game,
    parse_slices,
    protect,
)
from tengen.records.sgf_properties import parse_point
from tengen.records.summary import Summary

GAME = b"(;GM[1]SZ[5];B[aa](;W[bb])(;W[cc]))"


def test_games_begin_at_a_parenthesis_and_roots_have_root_properties() -> None:
    text = b"junk " + GAME + b" more (;FF[4])"
    assert find_start(text) == 5 and find_start(b"nothing") == -1
    behind = text.index(b"(;W[bb]")
    assert find_start(text, behind) == behind
    assert text[find_root(text, behind) :] == b"(;FF[4])"


def test_each_game_comes_with_its_own_bytes() -> None:
    found = list(parse_slices(io.BytesIO(b"x" + GAME + b"(;SZ[")))
    game, raw = found[0]
    assert raw == GAME
    assert not isinstance(game, Damage) and (game.start, game.end) == (1, 1 + len(GAME))


def test_a_game_that_goes_on_asks_for_more_and_a_mended_one_says_where() -> None:
    with pytest.raises(NeedMoreError):
        parse_game(GAME[:-1], final=False)
    mended = parse_game(GAME[:-1])
    assert mended.repairs and isinstance(mended.repairs[0], Repair)
    assert 0 <= mended.repairs[0].offset <= len(GAME)


def test_a_value_that_looks_like_a_game_is_escaped() -> None:
    assert protect(b"see (;FF[") == b"see \\(;FF["
    assert protect(b"see (this)") == b"see (this)"


def test_points_are_two_letters_of_this_board() -> None:
    assert str(parse_point(b" ba ", 5, 5)) == "B5"
    for wrong in (b"", b"tt", b"zz", b"b", b"bbb"):
        with pytest.raises(ValueError, match="no point of a board of 5x5"):
            parse_point(wrong, 5, 5)


def test_a_tree_becomes_a_record_or_says_what_makes_no_sense() -> None:
    record = sgf.interpret(parse_game(GAME).tree)
    assert [(colour, str(point)) for colour, point in record.moves] == [
        (BLACK, "A5"),
        (WHITE, "B4"),
    ]
    with pytest.raises(Damage, match="not a game of Go"):
        sgf.interpret(parse_game(b"(;GM[2])").tree)


def test_faults_are_told_and_records_know_their_place() -> None:
    faults: list[Fault] = []
    game = parse_game(b"  " + GAME, 2)
    record = sgf.record_of(game, GAME, "a.sgf", 3, faults.append)
    assert record is not None and (record.file, record.game, record.offset) == ("a.sgf", 3, 2)
    assert sgf.record_of(Damage("torn", 7), b"", "a.sgf", 4, faults.append) is None
    assert [str(fault) for fault in faults] == ["a.sgf: game 4, byte 7: torn"]
    assert sgf.no_game("a.sgf", 0).reason == "an empty file"
    assert sgf.no_game("a.sgf", 9).reason == "no SGF game in it"


def test_the_encoding_is_the_declared_one_else_a_guess() -> None:
    declared = b"(;CA[GBK]PB[x])"
    assert sgf.encoding_of(parse_game(declared).tree, declared) == "gb18030"
    plain = "(;PB[é])".encode()
    assert sgf.encoding_of(parse_game(plain).tree, plain) == "utf-8"


def test_sources_are_opened_in_order_and_a_torn_one_says_so(tmp_path: Path) -> None:
    (tmp_path / "b.sgf").write_bytes(GAME)
    (tmp_path / "a.sgf.gz").write_bytes(gzip.compress(GAME))
    (tmp_path / "c.txt.png").write_bytes(b"no game")
    read = [(Path(s.name).name, s.stream.read()) for s in open_sources(tmp_path, pytest.fail)]
    assert read == [("a.sgf.gz", GAME), ("b.sgf", GAME)]
    (tmp_path / "torn.sgf.gz").write_bytes(gzip.compress(GAME)[:-12])
    for torn in open_sources(tmp_path / "torn.sgf.gz", pytest.fail):
        assert torn.asked
        with pytest.raises(BrokenStreamError):
            torn.stream.read()


def test_the_one_line_form_is_known_by_its_beginning() -> None:
    assert looks_oneline(b"17\t;B[qd];W[dp]\n") and not looks_oneline(GAME)
    assert not looks_oneline(b"")


def test_unknown_rules_are_taken_for_others() -> None:
    assert rules_named("Chinese").scoring == "area"
    assert rules_named("house rules").scoring == "territory"
    assert rules_named("house rules", "aga").handicap_bonus == "n-1"


def test_a_summary_counts_sizes_and_results(tmp_path: Path) -> None:
    summary = Summary()
    summary.add(from_records([GameRecord(9, 13, moves=[(BLACK, PASS)]), GameRecord(9, 9)]))
    assert (summary.games, summary.moves) == (2, 1)
    assert summary.sizes == {"9x13": 1, "9x9": 1} and summary.results == {"?": 2}


def test_batches_lead_back_to_their_records(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes(GAME * 2)
    [batch] = Corpus([path]).record_batches()
    assert len(batch.arrays) == 2
    assert [record.game for record in batch.records()] == [1, 2]
