"""Interpret and format the values of SGF properties: points, sizes, numbers, results, text.

Parsing is lenient and raises `ValueError` with a reason. Formatting writes FF[4].
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tengen.board import BLACK, EMPTY, PASS, WHITE, Point, coordinates

_MIN_SIZE, _MAX_SIZE = 2, 25


def parse_size(raw: bytes) -> tuple[int, int]:
    """Return (rows, columns); SZ writes columns first.

    >>> parse_size(b"19"), parse_size(b"9:13")
    ((19, 19), (13, 9))
    """
    found = re.fullmatch(rb"\s*+(\d{1,4})\s*+(?:[:x]\s*+(\d{1,4})\s*+)?", raw)
    if not found:
        raise ValueError("not a board size")
    cols = int(found[1])
    rows = int(found[2]) if found[2] else cols
    if not (_MIN_SIZE <= rows <= _MAX_SIZE and _MIN_SIZE <= cols <= _MAX_SIZE):
        raise ValueError(f"board sizes go from {_MIN_SIZE} to {_MAX_SIZE}")
    return rows, cols


def parse_move(raw: bytes, rows: int, cols: int) -> Point:
    """Return the point of a move or PASS; `tt` passes on boards up to 19x19.

    >>> parse_move(b"", 9, 9), parse_move(b"tt", 19, 19), parse_move(b"aa", 9, 9)
    (PASS, PASS, Point('A9', 9, 9))
    """
    try:
        return coordinates.parse_sgf(raw.strip().decode("ascii", "replace"), rows, cols)
    except ValueError:
        raise ValueError(f"no point of a board of {cols}x{rows}") from None


def _parse_point(raw: bytes, rows: int, cols: int) -> Point:
    if (point := parse_move(raw, rows, cols)) == PASS:
        raise ValueError(f"no point of a board of {cols}x{rows}")
    return point


def format_point(point: int, rows: int, cols: int) -> bytes:
    """Write a point as two letters, and a pass as empty bytes."""
    return coordinates.format_sgf(point, rows, cols).encode("ascii")


def parse_point_list(raw: bytes, rows: int, cols: int) -> list[Point]:
    """Return the points of one value of a list: a point or a rectangle `aa:cc`."""
    first, colon, second = raw.partition(b":")
    if not colon:
        return [_parse_point(raw, rows, cols)]
    a, b = (_parse_point(corner, rows, cols) for corner in (first, second))
    return [
        coordinates.point_of_move((row, col), rows, cols)
        for row in range(min(a.row, b.row), max(a.row, b.row) + 1)
        for col in range(min(a.col, b.col), max(a.col, b.col) + 1)
    ]


def parse_handicap(raw: bytes) -> int:
    """Return the number of handicap stones; 0 if the value is not a number."""
    digits = raw.strip()
    return int(digits) if digits.isdigit() and len(digits) < 4 else 0


def parse_player(raw: bytes) -> int:
    """Return the colour PL names, in any spelling; 0 when it names none."""
    return {b"b": BLACK, b"w": WHITE}.get(raw.strip()[:1].lower(), 0)


def parse_komi(raw: bytes) -> float:
    """Return komi in points; Chinese servers write hundredths, of points (650) or stones (375).

    >>> parse_komi(b"6,5"), parse_komi(b"375"), parse_komi(b"650"), parse_komi(b"")
    (6.5, 7.5, 6.5, 0.0)
    """
    found = re.match(rb"\s*+([-+]?\d{0,6}(?:[.,]\d{1,9})?)", raw)
    if not found or not re.search(rb"\d", found[1]):
        return 0.0
    komi = float(found[1].replace(b",", b"."))
    if abs(komi) >= 100:
        komi /= 100
        if komi % 0.5:
            komi *= 2
    return komi if abs(komi) <= _MAX_SIZE**2 else 0.0


def format_number(value: float) -> bytes:
    """Write a number without needless zeros."""
    return f"{value:g}".encode("ascii")


def parse_text(raw: bytes, codec: str) -> str:
    """Return a text value: decoded (wrong bytes as U+FFFD), escapes resolved, line breaks `\\n`.

    >>> parse_text(rb"a\\]b \\\\ c", "utf-8")
    'a]b \\\\ c'
    """
    text = raw.decode(codec, "replace").replace("\r\n", "\n").replace("\n\r", "\n")
    text = re.sub(r"\\\n", "", text.replace("\r", "\n"))
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def format_text(text: str, codec: str = "utf-8") -> bytes:
    """Write a text value with its escapes; characters the encoding lacks become `?`."""
    return re.sub(r"([\]\\])", r"\\\1", text).encode(codec, "replace")


@dataclass(frozen=True)
class Result:
    """How a game ended."""

    kind: str = "unknown"
    """`score`, `resign`, `time`, `forfeit`, `win` (reason unknown), `draw`, `void`, `unknown`."""
    winner: int = EMPTY
    margin: float | None = None
    """Only for `score`."""

    @property
    def score(self) -> float | None:
        """The counted score, positive when Black won; None when nothing was counted."""
        if self.kind == "draw":
            return 0.0
        if self.margin is None:
            return None
        return self.margin if self.winner == BLACK else -self.margin

    def __str__(self) -> str:
        """Return the result as RE writes it."""
        if self.kind in _PLAIN_RESULTS:
            return _PLAIN_RESULTS[self.kind]
        side = "B" if self.winner == BLACK else "W"
        if self.kind == "score" and self.margin is not None:
            return f"{side}+{self.margin:g}"
        return f"{side}+{_KIND_LETTERS.get(self.kind, '')}"


_PLAIN_RESULTS = {"draw": "0", "void": "Void", "unknown": "?"}
_KIND_LETTERS = {"resign": "R", "time": "T", "forfeit": "F", "win": ""}

# Words for results in the languages of records. Order matters: the first match decides.
_DRAW_WORDS = re.compile(r"^0$|\bdraw|\bjigo|\btie\b|和棋|和局|双方和|持碁|ジゴ|빅|무승부", re.I)
_VOID_WORDS = re.compile(r"void|no result|cancel|無勝負|无胜负|無效|无效|무효", re.I)
_BLACK_WORDS = re.compile(r"^b(?:lack)?\b|^b\+|black|黑|黒|흑", re.I)
_WHITE_WORDS = re.compile(r"^w(?:hite)?\b|^w\+|white|白|백", re.I)
_LOSING_WORDS = re.compile(
    r"resigns|resigned|loses|lost|forfeits|[^胜]负|負け|认输|認輸|投了|패", re.I
)
_KIND_WORDS = [
    ("resign", re.compile(r"\+\s*r|resig|中盘|中盤|中押|认输|認輸|投了|投降|불계|기권", re.I)),
    ("time", re.compile(r"\+\s*t|\btime|timeout|超时|超時|時間切|时间|시간", re.I)),
    ("forfeit", re.compile(r"\+\s*f|forfeit|反則|犯规|弃权|棄權|不戦|반칙", re.I)),
]
# Spellings of a margin, the most specific first: (pattern, value of its groups).
_HALF = r"(?:½|半|반)"
_UNIT = r"\s*(?:目|子|집|points?|moku|zi)?\s*"
_WHOLE_AND_FRACTION = re.compile(r"(\d{1,4})\s*(?:\s|又|と|子|目)\s*(\d)\s*/\s*(\d)")
_FRACTION = re.compile(r"(\d)\s*/\s*(\d)")
_AND_HALF = re.compile(r"(\d{1,4})" + _UNIT + _HALF)
_DECIMAL = re.compile(r"\d{1,6}(?:[.,]\d{1,6})?")
_ONLY_HALF = re.compile(_HALF + r"|\bhalf\b", re.I)


def parse_result(text: str) -> Result:
    """Parse the value of RE, in the notation of FF[4] or in words; never raises.

    >>> str(parse_result("B+3.50")), str(parse_result("White wins by resignation"))
    ('B+3.5', 'W+R')
    >>> [str(parse_result(text)) for text in ("黑中盘胜", "白番2目半勝", "백 반집승")]
    ['B+R', 'W+2.5', 'W+0.5']
    """
    text = text.strip()[:200]
    if not text or text == "?":
        return Result()
    if _VOID_WORDS.search(text):
        return Result("void")
    winner = _winner(text)
    if winner == EMPTY:
        return Result("draw") if _DRAW_WORDS.search(text) else Result()
    for kind, words in _KIND_WORDS:
        if words.search(text):
            return Result(kind, winner)
    margin = _margin(text)
    if margin is not None:
        return Result("score", winner, margin) if margin else Result("draw")
    return Result("win", winner)


def _winner(text: str) -> int:
    """Return who is named first as winning; `White resigns` names the loser."""
    black, white = _BLACK_WORDS.search(text), _WHITE_WORDS.search(text)
    if not black and not white:
        return EMPTY
    first = BLACK if black and (not white or black.start() < white.start()) else WHITE
    loses = "+" not in text and _LOSING_WORDS.search(text)
    return BLACK + WHITE - first if loses else first


def _margin(text: str) -> float | None:
    """Read the margin of a result; stones of Chinese counting are worth two points."""
    worth = 2.0 if "子" in text else 1.0
    if worth == 2.0 and re.search(r"1\d\d", text):
        return None  # the winner's whole area (185 stones), not the margin
    if found := _WHOLE_AND_FRACTION.search(text):
        return worth * (int(found[1]) + int(found[2]) / max(int(found[3]), 1))
    if found := _FRACTION.search(text):
        return worth * int(found[1]) / max(int(found[2]), 1)
    if found := _AND_HALF.search(text):
        return worth * (int(found[1]) + 0.5)
    if found := _DECIMAL.search(text):
        return worth * float(found[0].replace(",", "."))
    return worth * 0.5 if _ONLY_HALF.search(text) else None


# ----- Encodings -----
#
# SGF names the encoding in CA, but most Asian records do not have it. The guess takes UTF-8 when
# the bytes are valid UTF-8, and otherwise the legacy encoding in which they read most like the
# names and words of Chinese, Japanese or Korean records; but never one that takes a bracket of the
# record for half of a character. A guess from a few bytes can be wrong.


LEAD_BYTES = {
    "cp932": rb"\x81-\x9f\xe0-\xfc",
    "gb18030": rb"\x81-\xfe",
    "big5": rb"\x81-\xfe",
    "cp949": rb"\x81-\xfe",
}
"""Encodings whose second byte may look like `]` or a backslash, with their first bytes."""

_UNLIKE_LATIN = (re.compile(rb"[\x80-\xbf]"), re.compile(rb"[\xc0-\xff][\x80-\xff]"))
"""Patterns that isolated accented letters do not match; two searches are faster than one."""
_NON_ASCII = re.compile(rb"[\x80-\xff]").search
_SAMPLE = 1 << 12
"""Bytes, from the first non-ASCII one on, that are used to compare encodings."""

# Names that records use, mapped to the widest codec of the family.
_FAMILIES = {
    "gb18030": "gb2312 gbk gb cp936",
    "cp932": "shiftjis sjis xsjis windows31j ms932",
    "cp949": "euckr ksc5601 ksc56011987 uhc",
    "big5": "big5hkscs",
}
_ALIASES = {name: codec for codec, names in _FAMILIES.items() for name in names.split()}

# Characters frequent in names, ranks, events and results of records, per language.
_HANZI = frozenset(
    "黑白中国棋段九八七六五四三二一李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许"
    "傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万"
    "段常钱汤古柯洁时越芈昱廷申真谞朴胜负中盘目子半和局年月日第届杯赛决轮先手贴公开名人天元业余职世界围甲联"
)
_KANJI = frozenset(
    "黒白中押勝負目半持碁段九八七六五四三二一本因坊名人棋聖王座天元十戦杯第期局年月日手番井山裕太藤沢秀行"
    "小林光一武宮正樹趙治勲石田芳夫加藤大竹雄高尾紳路張栩羽根直依田紀基村川介伊結城聡河野臨趙善津碁日院"
)
_HANGUL = frozenset(
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진지원현준호석수영경동훈"
    "철기상창세돌환규찬승태용재희은혜미연아인선명국단급프로흑불계집반대회결승제회국수왕위배전기사본선예선중식"
    "시간년월일삼한국바둑리그"
)


def codec_name(declared: str) -> str | None:
    """Return Python's codec for the value of CA, or None when there is no such encoding.

    >>> codec_name("Shift_JIS"), codec_name("martian")
    ('cp932', None)
    """
    plain = declared.strip().lower()
    if name := _ALIASES.get(re.sub("[-_ ]", "", plain)):
        return name
    try:
        found = codecs.lookup(plain)
        # Refuse codecs that do not turn bytes into text (hex, zip) or are not ASCII-compatible.
        ascii_kept = b"B[aa]".decode(found.name) == "B[aa]"
    except (LookupError, ValueError, TypeError, AttributeError, UnicodeError):
        return None
    if not ascii_kept or found.name in {"utf-7", "idna", "punycode", "unicode_escape"}:
        return None
    return _ALIASES.get(found.name, found.name)


def guess_encoding(raw: bytes) -> str:
    """Return the codec in which `raw` most likely is text.

    >>> [guess_encoding(text.encode("cp932")) for text in ("井山裕太 九段", "plain")]
    ['cp932', 'utf-8']
    >>> guess_encoding(b"PB[Ren\\xe9];B[pd]")
    'latin-1'
    """
    try:
        raw.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        pass
    if not any(pattern.search(raw) for pattern in _UNLIKE_LATIN):
        return "latin-1"
    found = _NON_ASCII(raw)
    start = found.start() if found else 0
    sample = raw[start : start + _SAMPLE]
    whole = start + _SAMPLE >= len(raw)
    scores = {codec: _likeness(sample, codec, whole) for codec in WEIGHTS}
    for codec in sorted(scores, key=lambda codec: -scores[codec]):
        if scores[codec] > 0.3 and _decodes(raw, codec):
            return codec
    return "latin-1"


def _likeness(sample: bytes, codec: str, whole: bool) -> float:
    """Return how well a sample, whose last character may be cut, reads like a record: 0 to 1.3."""
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample, whole)
    except UnicodeDecodeError:
        return 0.0
    counts = {mark: count for mark, count in Counter(text).items() if mark > "\x7f"}
    if not counts:
        return 0.0
    weight = WEIGHTS[codec]
    return sum(weight(mark) * count for mark, count in counts.items()) / sum(counts.values())


def _decodes(raw: bytes, codec: str) -> bool:
    """Return whether all of the text is in this encoding and no bracket is half of a character."""
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError:
        return False
    # Compare the numbers of unmatched brackets.
    return abs(text.count("[") - text.count("]")) <= abs(raw.count(b"[") - raw.count(b"]"))


@cache
def _chinese(character: str) -> float:
    if character in _HANZI:
        return 1.3
    raw = character.encode("gb18030")
    if len(raw) == 2 and raw[0] >= 0xA1 and raw[1] >= 0xA1:
        # Level 1 of GB2312 holds the characters in common use, sorted by sound.
        return 1.0 if 0xB0 <= raw[0] <= 0xD7 else 0.5
    return 0.1


@cache
def _japanese(character: str) -> float:
    if character in _KANJI or "\u3041" <= character <= "\u30fe":
        return 1.3
    raw = character.encode("cp932", "replace")
    if len(raw) == 2:
        return 0.9 if 0x88 <= raw[0] <= 0x97 else 0.4
    return 0.15  # half-width katakana: any byte reads as one


@cache
def _korean(character: str) -> float:
    return 1.3 if character in _HANGUL else 0.85 if "\uac00" <= character <= "\ud7a3" else 0.25


WEIGHTS: dict[str, Callable[[str], float]] = {
    "gb18030": _chinese,
    "cp932": _japanese,
    "cp949": _korean,
    "euc_jp": _japanese,
}
