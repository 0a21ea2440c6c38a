"""Values of properties: sizes, points, komi, results, text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.board import BLACK, WHITE
from tengen.records import GameRecord, loads
from tengen.records.sgf_properties import (
    Result,
    codec_name,
    format_number,
    format_point,
    format_text,
    guess_encoding,
    parse_handicap,
    parse_komi,
    parse_move,
    parse_player,
    parse_point_list,
    parse_result,
    parse_size,
    parse_text,
)


@given(st.integers(2, 25), st.integers(2, 25))
def test_sizes_round_trip(rows: int, cols: int) -> None:
    assert parse_size(b"%d:%d" % (cols, rows)) == (rows, cols)
    assert parse_size(GameRecord(rows, cols).tree.nodes[0]["SZ"][0]) == (rows, cols)


@pytest.mark.parametrize(
    "raw", [b"", b"1", b"26", b"52", b"9:", b"9:99", b"-9", b"nine", b"9" * 50]
)
def test_wrong_sizes_are_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="board size"):
        parse_size(raw)


@given(st.data())
def test_points_round_trip(data: st.DataObject) -> None:
    rows, cols = data.draw(st.integers(2, 25)), data.draw(st.integers(2, 25))
    row, col = data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, cols - 1))
    point = (row + 1) * (cols + 1) + col + 1
    assert format_point(point, rows, cols) == bytes((97 + col, 97 + row))
    assert parse_move(format_point(point, rows, cols), rows, cols) == point


@pytest.mark.parametrize(
    ("raw", "size", "expected"),
    [(b"", 19, 0), (b"tt", 19, 0), (b" ", 9, 0), (b"tt", 25, 20 * 26 + 20), (b"aa", 19, 21)],
)
def test_passes(raw: bytes, size: int, expected: int) -> None:
    assert parse_move(raw, size, size) == expected


@pytest.mark.parametrize("raw", [b"ja", b"aj", b"a", b"aaa", b"A1", b"\xe3\x81", b"tt:tt"])
def test_points_off_the_board_are_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="9x9"):
        parse_move(raw, 9, 9)


def test_rectangles_of_points() -> None:
    assert parse_point_list(b"aa:bc", 9, 9) == [11, 12, 21, 22, 31, 32]
    assert parse_point_list(b"bc:aa", 9, 9) == [11, 12, 21, 22, 31, 32]
    with pytest.raises(ValueError, match="no point"):
        parse_point_list(b"aa:zz", 9, 9)


def test_komi() -> None:
    spellings = {
        6.5: (b"6.5", b"6.50", b"6,5", b"650"),
        7.5: (b"375",),
        5.5: (b"275",),
        7.0: (b"7 points",),
        -3.5: (b"-3.5",),
        0.0: (b"0", b"", b"none", b"nan", b"9" * 400),
    }
    for komi, written in spellings.items():
        assert {parse_komi(raw) for raw in written} == {komi}


def test_small_values() -> None:
    assert parse_handicap(b"3") == 3
    assert not any(map(parse_handicap, (b" 0 ", b"many", b"-1", b"9999")))
    assert [parse_player(raw) for raw in (b"B", b"white", b"1", b"")] == [BLACK, WHITE, 0, 0]
    assert format_number(6.5) + format_number(7.0) == b"6.57"


# Every spelling met in records.
RESULTS = {
    Result("resign", BLACK): ["B+R", "White resigns", "黑中盘胜", "黒中押し勝ち", "흑불계승"],
    Result("resign", WHITE): ["W+Resign", "w+res", "White wins by resignation", "白中盤勝"],
    Result("time", BLACK): ["B+T", "Black wins on time", "白超时负", "흑시간승"],
    Result("time", WHITE): ["W+Time"],
    Result("forfeit", WHITE): ["W+F"],
    Result("forfeit", BLACK): ["B+Forfeit"],
    Result("score", BLACK, 3.5): ["B+3.5", "B+3,5", "黑3.5目胜"],
    Result("score", WHITE, 3.5): ["W+3½", "백 3집반승"],
    Result("score", WHITE, 12.5): ["W+12.50"],
    Result("score", BLACK, 0.5): ["B+1/2"],
    Result("score", WHITE, 0.5): ["白胜1/4子", "白番半目勝"],
    Result("score", BLACK, 4.0): ["B+ 4", "Black + 4 points"],
    Result("score", WHITE, 2.5): ["White wins by 2.5", "白番2目半勝"],
    Result("score", BLACK, 7.5): ["黑胜3又3/4子"],
    Result("win", BLACK): ["B+", "Black wins"],
    Result("win", WHITE): ["W+Offline"],
    Result("draw"): ["0", "Draw", "Jigo", "B+0", "和棋", "持碁", "무승부"],
    Result("void"): ["Void"],
    Result(): ["?", "", "unfinished"],
}


@pytest.mark.parametrize("result", RESULTS, ids=str)
def test_results_in_all_spellings(result: Result) -> None:
    for text in [*RESULTS[result], str(result)]:
        assert parse_result(text) == result, text


@given(st.text(max_size=300))
def test_any_text_is_some_result(text: str) -> None:
    result = parse_result(text)
    assert parse_result(str(result)).kind == result.kind


def test_score_is_positive_for_black() -> None:
    scores = [parse_result(text).score for text in ("B+3.5", "W+2", "0", "B+R")]
    assert scores == [3.5, -2.0, 0.0, None]


@given(st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=60))
def test_text_round_trips(text: str) -> None:
    assert parse_text(format_text(text), "utf-8") == text


def test_text_resolves_escapes_and_line_breaks() -> None:
    assert parse_text(b"a\\\r\nb\r\nc\\:d\\]", "utf-8") == "ab\nc:d]"


# Names and words as they stand in records, and the encoding they must be told apart by.
TEXTS = [
    ("柯洁九段 黑中盘胜 围甲联赛第5轮", "gb18030"),
    ("古力 常昊", "gb18030"),
    ("聂卫平", "gb18030"),
    ("井山裕太 棋聖戦七番勝負", "cp932"),
    ("趙治勲 本因坊", "cp932"),
    ("ヒカルの碁", "cp932"),
    ("이세돌 九단 흑불계승", "cp949"),
    ("박정환 신진서 결승 3국", "cp949"),
    ("黒 白 ひかる", "utf-8"),
]


@pytest.mark.parametrize(("text", "codec"), TEXTS)
def test_encodings_are_guessed(text: str, codec: str) -> None:
    assert guess_encoding(text.encode(codec)) == codec


@pytest.mark.parametrize(
    "name", ["Ren\xe9", "Jos\xe9", "M\xfcller", "\xc9mile No\xebl", "Bj\xf6rn \xd8"]
)
def test_western_names_without_an_encoding_take_no_bracket(name: str) -> None:
    raw = f"(;GM[1]SZ[9]PW[Smith]PB[{name}];B[ee];W[cc])".encode("latin-1")
    [record] = loads(raw)
    assert record.properties["PB"] == [name] and len(record.moves) == 2


@pytest.mark.parametrize("declared", ["GB2312", "Big5", "Shift_JIS", "EUC-KR"])
@pytest.mark.parametrize(
    ("black", "white", "codec"), [("李", "王", "utf-8"), ("Ren\xe9", "Jos\xe9", "latin-1")]
)
def test_a_false_encoding_takes_no_bracket(
    declared: str, black: str, white: str, codec: str
) -> None:
    raw = f"(;GM[1]SZ[9]CA[{declared}]PB[{black}]PW[{white}];B[ee];W[cc];B[gg])".encode(codec)
    [record] = loads(raw)
    assert (record.properties["PB"], record.properties["PW"]) == ([black], [white])
    assert len(record.moves) == 3


@pytest.mark.parametrize(
    ("declared", "codec"),
    [
        ("UTF-8 utf8", "utf-8"),
        ("GB2312 gbk", "gb18030"),
        ("Shift_JIS", "cp932"),
        ("EUC-KR ks_c_5601-1987", "cp949"),
        ("euc-jp", "euc_jp"),
        ("Big5", "big5"),
        ("ISO-8859-1", "iso8859-1"),
        ("hex utf-16 martian \x00", None),
    ],
)
def test_declared_encodings(declared: str, codec: str | None) -> None:
    assert {codec_name(name) for name in declared.split()} == {codec}
