"""Values of properties: sizes, points, komi, results, text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.board import BLACK, EMPTY, WHITE
from tengen.records import loads
from tengen.records.sgf_properties import (
    Result,
    codec_name,
    format_number,
    format_point,
    format_size,
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
    assert parse_size(format_size(rows, cols)) == (rows, cols)


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


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"6.5", 6.5),
        (b"6.50", 6.5),
        (b"6,5", 6.5),
        (b"-3.5", -3.5),
        (b"0", 0.0),
        (b"7 points", 7.0),
        (b"375", 7.5),
        (b"275", 5.5),
        (b"650", 6.5),
        (b"", 0.0),
        (b"none", 0.0),
        (b"nan", 0.0),
        (b"9" * 400, 0.0),
    ],
)
def test_komi(raw: bytes, expected: float) -> None:
    assert parse_komi(raw) == expected


def test_small_values() -> None:
    assert [parse_handicap(raw) for raw in (b"3", b" 0 ", b"many", b"-1", b"9999")] == [
        3,
        0,
        0,
        0,
        0,
    ]
    assert [parse_player(raw) for raw in (b"B", b"white", b"1", b"")] == [BLACK, WHITE, 0, 0]
    assert format_number(6.5) + format_number(7.0) == b"6.57"


# Every spelling met in records: (text, kind, winner, margin).
RESULTS = [
    ("B+R", "resign", BLACK, None),
    ("W+Resign", "resign", WHITE, None),
    ("w+res", "resign", WHITE, None),
    ("White wins by resignation", "resign", WHITE, None),
    ("White resigns", "resign", BLACK, None),
    ("B+T", "time", BLACK, None),
    ("W+Time", "time", WHITE, None),
    ("Black wins on time", "time", BLACK, None),
    ("W+F", "forfeit", WHITE, None),
    ("B+Forfeit", "forfeit", BLACK, None),
    ("B+3.5", "score", BLACK, 3.5),
    ("W+12.50", "score", WHITE, 12.5),
    ("B+3,5", "score", BLACK, 3.5),
    ("W+3½", "score", WHITE, 3.5),
    ("B+1/2", "score", BLACK, 0.5),
    ("B+ 4", "score", BLACK, 4.0),
    ("Black + 4 points", "score", BLACK, 4.0),
    ("White wins by 2.5", "score", WHITE, 2.5),
    ("B+", "win", BLACK, None),
    ("W+Offline", "win", WHITE, None),
    ("Black wins", "win", BLACK, None),
    ("0", "draw", EMPTY, None),
    ("Draw", "draw", EMPTY, None),
    ("Jigo", "draw", EMPTY, None),
    ("B+0", "draw", EMPTY, None),
    ("Void", "void", EMPTY, None),
    ("?", "unknown", EMPTY, None),
    ("", "unknown", EMPTY, None),
    ("unfinished", "unknown", EMPTY, None),
    ("黑中盘胜", "resign", BLACK, None),
    ("白中盤勝", "resign", WHITE, None),
    ("黑胜3又3/4子", "score", BLACK, 7.5),
    ("白胜1/4子", "score", WHITE, 0.5),
    ("黑3.5目胜", "score", BLACK, 3.5),
    ("白超时负", "time", BLACK, None),
    ("和棋", "draw", EMPTY, None),
    ("黒中押し勝ち", "resign", BLACK, None),
    ("白番2目半勝", "score", WHITE, 2.5),
    ("白番半目勝", "score", WHITE, 0.5),
    ("持碁", "draw", EMPTY, None),
    ("흑불계승", "resign", BLACK, None),
    ("백 3집반승", "score", WHITE, 3.5),
    ("흑시간승", "time", BLACK, None),
    ("무승부", "draw", EMPTY, None),
]


@pytest.mark.parametrize(("text", "kind", "winner", "margin"), RESULTS)
def test_results_in_all_spellings(text: str, kind: str, winner: int, margin: float | None) -> None:
    assert parse_result(text) == Result(kind, winner, margin)


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: row[0] or "empty")
def test_results_round_trip(row: tuple[str, str, int, float | None]) -> None:
    result = Result(*row[1:])
    assert parse_result(str(result)) == result


@given(st.text(max_size=300))
def test_any_text_is_some_result(text: str) -> None:
    result = parse_result(text)
    assert parse_result(str(result)).kind == result.kind


def test_score_is_positive_for_black() -> None:
    assert [parse_result(text).score for text in ("B+3.5", "W+2", "0", "B+R")] == [
        3.5,
        -2.0,
        0.0,
        None,
    ]


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
        ("UTF-8", "utf-8"),
        ("utf8", "utf-8"),
        ("GB2312", "gb18030"),
        ("gbk", "gb18030"),
        ("Shift_JIS", "cp932"),
        ("EUC-KR", "cp949"),
        ("euc-jp", "euc_jp"),
        ("Big5", "big5"),
        ("ISO-8859-1", "iso8859-1"),
        ("hex", None),
        ("utf-16", None),
        ("martian", None),
        ("\x00", None),
    ],
)
def test_declared_encodings(declared: str, codec: str | None) -> None:
    assert codec_name(declared) == codec
