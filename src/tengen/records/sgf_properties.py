"""Interpret and format the values of SGF properties: points, sizes, numbers, results, text.

Parsing is lenient and raises `ValueError` with a reason. Formatting writes FF[4]. Functions come in
pairs, `parse_x` and `format_x`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tengen.board import BLACK, EMPTY, PASS, WHITE, Point, coordinates
from tengen.records import encodings

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


def format_size(rows: int, cols: int) -> bytes:
    """Write a board size for SZ."""
    return b"%d" % rows if rows == cols else b"%d:%d" % (cols, rows)


def parse_point(raw: bytes, rows: int, cols: int) -> Point:
    """Return the point of two letters; raises ValueError when it is not on the board."""
    letters = raw.strip()
    if len(letters) != 2:
        raise ValueError(f"no point of a board of {cols}x{rows}")
    try:
        point = coordinates.parse_sgf(letters.decode("ascii", "replace"), rows, cols)
    except ValueError:
        point = PASS
    if point == PASS:
        raise ValueError(f"no point of a board of {cols}x{rows}")
    return point


def format_point(point: int, rows: int, cols: int) -> bytes:
    """Write a point as two letters, and a pass as nothing."""
    return coordinates.format_sgf(point, rows, cols).encode("ascii")


def parse_move(raw: bytes, rows: int, cols: int) -> Point:
    """Return the point of a move or PASS; `tt` passes on boards up to 19x19.

    >>> parse_move(b"", 9, 9), parse_move(b"tt", 19, 19), parse_move(b"aa", 9, 9)
    (PASS, PASS, Point('A9', 9, 9))
    """
    letters = raw.strip()
    if not letters or (letters == b"tt" and rows <= 19 and cols <= 19):
        return PASS
    return parse_point(letters, rows, cols)


def parse_point_list(raw: bytes, rows: int, cols: int) -> list[Point]:
    """Return the points of one value of a list: a point or a rectangle `aa:cc`."""
    first, colon, second = raw.partition(b":")
    if not colon:
        return [parse_point(raw, rows, cols)]
    a, b = parse_point(first, rows, cols), parse_point(second, rows, cols)
    return [
        coordinates.point_of_move((row, col), rows, cols)
        for row in range(min(a.row, b.row), max(a.row, b.row) + 1)
        for col in range(min(a.col, b.col), max(a.col, b.col) + 1)
    ]


def parse_handicap(raw: bytes) -> int:
    """Return the number of handicap stones; what is no number counts as none."""
    digits = raw.strip()
    return int(digits) if digits.isdigit() and len(digits) < 4 else 0


def parse_player(raw: bytes) -> int:
    """Return the colour PL names, in any spelling; 0 when it names none."""
    return {b"b": BLACK, b"w": WHITE}.get(raw.strip()[:1].lower(), 0)


def parse_komi(raw: bytes) -> float:
    """Return komi in points: `6.5`, `6,5`, `6.5 points`; hundredths as `650` and `375`.

    Chinese servers write komi in hundredths, some of points (650), some of stones (375 = 7.5
    points), recognised by a quarter at the end. What is no number counts as 0.

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
    """Return a text value: decoded, escapes resolved, line breaks as `\\n`.

    >>> parse_text(rb"a\\]b \\\\ c", "utf-8")
    'a]b \\\\ c'
    """
    text = encodings.decode(raw, codec).replace("\r\n", "\n").replace("\n\r", "\n")
    text = re.sub(r"\\\n", "", text.replace("\r", "\n"))
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def format_text(text: str, codec: str = "utf-8") -> bytes:
    """Write a text value with its escapes; characters the encoding lacks become `?`."""
    return re.sub(r"([\]\\])", r"\\\1", text).encode(codec, "replace")


@dataclass(frozen=True)
class Result:
    """How a game ended.

    `kind` is `score`, `resign`, `time`, `forfeit`, `win` (how is not told), `draw`, `void` or
    `unknown`. `winner` is BLACK, WHITE or EMPTY (nobody, or not known). `margin` is given
    only for `score`.
    """

    kind: str = "unknown"
    winner: int = EMPTY
    margin: float | None = None

    @property
    def score(self) -> float | None:
        """The counted score, positive when Black won; None when nothing was counted."""
        if self.kind == "draw":
            return 0.0
        if self.margin is None:
            return None
        return self.margin if self.winner == BLACK else -self.margin

    def __str__(self) -> str:
        """Return it as in RE."""
        if self.kind in _PLAIN_RESULTS:
            return _PLAIN_RESULTS[self.kind]
        side = "B" if self.winner == BLACK else "W"
        if self.kind == "score" and self.margin is not None:
            return f"{side}+{self.margin:g}"
        return f"{side}+{_KIND_LETTERS.get(self.kind, '')}"


_PLAIN_RESULTS = {"draw": "0", "void": "Void", "unknown": "?"}
_KIND_LETTERS = {"resign": "R", "time": "T", "forfeit": "F", "win": ""}

# Words of results in the languages of records. Order matters: the first that fits decides.
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
# Spellings of a margin, the most special first: (pattern, value of its groups).
_HALF = r"(?:½|半|반)"
_UNIT = r"\s*(?:目|子|집|points?|moku|zi)?\s*"
_WHOLE_AND_FRACTION = re.compile(r"(\d{1,4})\s*(?:\s|又|と|子|目)\s*(\d)\s*/\s*(\d)")
_FRACTION = re.compile(r"(\d)\s*/\s*(\d)")
_AND_HALF = re.compile(r"(\d{1,4})" + _UNIT + _HALF)
_DECIMAL = re.compile(r"\d{1,6}(?:[.,]\d{1,6})?")
_ONLY_HALF = re.compile(_HALF + r"|\bhalf\b", re.I)


def parse_result(text: str) -> Result:
    """Return what RE says, in the spelling of FF[4] or in words; never raises.

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
    """Tell who is named first as winning; `White resigns` names the loser."""
    black, white = _BLACK_WORDS.search(text), _WHITE_WORDS.search(text)
    if not black and not white:
        return EMPTY
    if black and white:
        first = BLACK if black.start() < white.start() else WHITE
    else:
        first = BLACK if black else WHITE
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
