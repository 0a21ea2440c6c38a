"""Guess the character encoding of a record and decode its text.

SGF names the encoding in CA, but most Asian records do not have it. The guess takes UTF-8 when
the bytes are valid UTF-8, and otherwise the legacy encoding in which they read most like the
names and words of Chinese, Japanese or Korean records; but never one that takes a bracket of the
record for half of a character. A guess from a few bytes can be wrong.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import AnyStr

LEAD_BYTES = {
    "cp932": rb"\x81-\x9f\xe0-\xfc",
    "gb18030": rb"\x81-\xfe",
    "big5": rb"\x81-\xfe",
    "cp949": rb"\x81-\xfe",
}
"""Encodings whose second byte may look like `]` or a backslash, with their first bytes."""

_UNLIKE_LATIN = (re.compile(rb"[\x80-\xbf]"), re.compile(rb"[\xc0-\xff][\x80-\xff]"))
"""What accented letters, which stand alone, do not look like; two searches are faster than one."""
_NON_ASCII = re.compile(rb"[\x80-\xff]").search
_SAMPLE = 1 << 12
"""Bytes from the first non-ASCII one on by which encodings are compared."""

# Names that records use, mapped to the widest codec of the family.
_ALIASES = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb": "gb18030",
    "cp936": "gb18030",
    "shiftjis": "cp932",
    "sjis": "cp932",
    "xsjis": "cp932",
    "windows31j": "cp932",
    "ms932": "cp932",
    "euckr": "cp949",
    "ksc5601": "cp949",
    "ksc56011987": "cp949",
    "ks_c_5601-1987": "cp949",
    "uhc": "cp949",
    "big5hkscs": "big5",
}

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

    >>> codec_name("Shift_JIS"), codec_name("utf8"), codec_name("martian")
    ('cp932', 'utf-8', None)
    """
    plain = declared.strip().lower()
    key = plain.replace("-", "").replace("_", "").replace(" ", "")
    name = _ALIASES.get(plain) or _ALIASES.get(key)
    if name:
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


def guess(raw: bytes) -> str:
    """Return the codec in which `raw` most likely is text.

    >>> guess("井山裕太 九段".encode("cp932")), guess("이세돌".encode("cp949")), guess(b"plain")
    ('cp932', 'cp949', 'utf-8')
    >>> guess(b"PB[Ren\\xe9];B[pd]")
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
    scores = {codec: _likeness(sample, codec, whole) for codec in _WEIGHTS}
    for codec in sorted(scores, key=lambda codec: -scores[codec]):
        if scores[codec] > 0.3 and _decodes(raw, codec):
            return codec
    return "latin-1"


def decode(raw: bytes, codec: str) -> str:
    """Decode text; bytes that do not belong to the encoding become U+FFFD."""
    return raw.decode(codec, "replace")


def _likeness(sample: bytes, codec: str, whole: bool) -> float:
    """Return how much a sample reads like a record in this encoding: 0 not at all, 1 well.

    The last character of a sample that is not the whole text may be cut.
    """
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample, whole)
    except UnicodeDecodeError:
        return 0.0
    counts = {mark: count for mark, count in Counter(text).items() if mark > "\x7f"}
    if not counts:
        return 0.0
    weight = _WEIGHTS[codec]
    return sum(weight(mark) * count for mark, count in counts.items()) / sum(counts.values())


def _decodes(raw: bytes, codec: str) -> bool:
    """Return whether all of the text is in this encoding and no bracket is half of a character."""
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError:
        return False
    return _open(text, "[", "]") <= _open(raw, b"[", b"]")


def _open(text: AnyStr, left: AnyStr, right: AnyStr) -> int:
    """Return how many brackets have no partner."""
    return abs(text.count(left) - text.count(right))


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
    if character in _HANGUL:
        return 1.3
    return 0.85 if "\uac00" <= character <= "\ud7a3" else 0.25


_WEIGHTS: dict[str, Callable[[str], float]] = {
    "gb18030": _chinese,
    "cp932": _japanese,
    "cp949": _korean,
    "euc_jp": _japanese,
}
