"""The rules of a game: ko, suicide, counting, komi and handicap."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from tengen.board.coordinates import Point, point_of_move
from tengen.errors import TengenError

KoRule = Literal["simple", "positional", "situational"]
Scoring = Literal["area", "territory"]
HandicapBonus = Literal["none", "n", "n-1"]

KO_NUMBERS: dict[str, int] = {"simple": 0, "positional": 1, "situational": 2}
"""The number of each ko rule in kernels."""


@dataclass(frozen=True)
class Rules:
    """The rules of a game: ko, suicide, how it is counted, what White gets for handicap stones."""

    ko: KoRule = "positional"
    suicide: bool = False
    scoring: Scoring = "area"
    handicap_bonus: HandicapBonus = "none"
    """Points to White for N handicap stones under area counting: none, N, or N - 1."""
    komi: float = 7.5
    """The usual compensation under these rules; a board may use another."""

    def __post_init__(self) -> None:
        choices = {"ko": KoRule, "scoring": Scoring, "handicap_bonus": HandicapBonus}
        for name, kinds in choices.items():
            if (value := getattr(self, name)) not in get_args(kinds):
                raise TengenError(f"{name} {value!r} is none of {', '.join(get_args(kinds))}")
        if not isinstance(self.suicide, bool):
            raise TengenError(f"suicide {self.suicide!r} is neither True nor False")

    @classmethod
    def of(cls, rules: Rules | str) -> Rules:
        """Return `rules` unchanged, or the preset of that name."""
        if isinstance(rules, str):
            return cls.preset(rules)
        if not isinstance(rules, Rules):
            raise TengenError(f"rules {rules!r}: give Rules or a name: {', '.join(PRESETS)}")
        return rules

    @classmethod
    def preset(cls, name: str, *, nearest: bool = False) -> Rules:
        """Return the rules of this name; accepts the spellings found in game records.

        With `nearest`, rules known by name that boards do not support become similar ones.
        """
        key = name.strip().lower().replace("-", "_").replace(" ", "_")
        key = _ALIASES.get(key, key)
        if key in _NEAREST:
            other, lacking = _NEAREST[key]
            if not nearest:
                raise TengenError(
                    f"{name.strip()} rules {lacking}, which is not supported; {other} is nearest"
                )
            key = other
        if key in PRESETS:
            return PRESETS[key]
        if (found := _SPELLED_OUT.fullmatch(key)) is None:
            raise TengenError(f"no rules called {name!r}; there are {', '.join(PRESETS)}")
        given: dict[str, Any] = found.groupdict("none")
        bonus = given["handicap_bonus"].replace("_", "-").replace("0", "none")
        return cls(**given | {"suicide": given["suicide"] == "1", "handicap_bonus": bonus})

    @property
    def name(self) -> str:
        """The name of the preset, or else KataGo's word for such rules; `preset` reads both."""
        same = (name for name, rules in PRESETS.items() if rules.with_(komi=self.komi) == self)
        bonus = "" if self.handicap_bonus == "none" else f"whb{self.handicap_bonus.upper()}"
        tax = "SEKI" if self.scoring == "territory" else "NONE"
        return next(
            same,
            f"ko{self.ko.upper()}score{self.scoring.upper()}tax{tax}sui{self.suicide:d}{bonus}",
        )

    def compensation(self, handicap: int) -> float:
        """Return White's points for `handicap` stones; 0 under territory scoring."""
        points = {"none": 0, "n": handicap, "n-1": handicap - 1}
        due = handicap >= 2 and self.scoring == "area"
        return float(points[self.handicap_bonus] if due else 0)

    def komi_or(self, komi: object) -> float:
        """Return a checked komi; None stands for the usual one."""
        try:
            points = self.komi if komi is None else float(komi)  # type: ignore[arg-type]
        except OverflowError:
            raise TengenError("komi is too large a number") from None
        except (TypeError, ValueError):
            points = math.nan
        if not math.isfinite(points):
            raise TengenError(f"komi {komi!r} is not a number of points")
        return points

    def with_(self, **changes: object) -> Rules:
        """Return the same rules with some of them changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


PRESETS: dict[str, Rules] = {
    "tromp_taylor": Rules(ko="positional", suicide=True, scoring="area"),
    "chinese": Rules(ko="simple", scoring="area", handicap_bonus="n"),
    "japanese": Rules(ko="simple", scoring="territory", komi=6.5),
    "aga": Rules(ko="situational", scoring="area", handicap_bonus="n-1"),
    "new_zealand": Rules(ko="situational", suicide=True, scoring="area", komi=7.0),
    "cgos": Rules(ko="positional", scoring="area"),
}
"""Named rules. `cgos` (positional superko, no suicide, area) is the default of matches."""

_ALIASES = {
    "": "japanese",
    "jp": "japanese",
    "korean": "japanese",
    "cn": "chinese",
    "nz": "new_zealand",
    "goe": "tromp_taylor",
    "ing": "tromp_taylor",
    "tt": "tromp_taylor",
    "area": "cgos",
    "territory": "japanese",
    "bga": "aga",
    "french": "aga",
    # On these servers a position must not be repeated at all.
    "chinese_ogs": "kopositionalscoreareataxnonesui0whbn",
    "chinese_kgs": "kopositionalscoreareataxnonesui0whbn",
}
_TAX = "take two points for each group"
_NEAREST = {
    "stone_scoring": ("chinese", _TAX),
    "ancient_area": ("chinese", _TAX),
    "ancient_chinese": ("chinese", _TAX),
    "ancient_territory": ("japanese", _TAX),
    "aga_button": ("aga", "have a button"),
}
"""Rules that boards do not know: the most similar ones, and what these lack."""
_SPELLED_OUT = re.compile(
    r"ko(?P<ko>simple|positional|situational)score(?P<scoring>area|territory)tax(?:none|seki)"
    r"sui(?P<suicide>[01])(?:button0)?(?:whb(?P<handicap_bonus>0|n|n_1))?(?:fpok[01])?"
)

HANDICAP_KOMI = 0.5
"""Default komi of a game with handicap stones."""


def most_handicap(rows: int, cols: int) -> int:
    """Return the most handicap stones that have usual points."""
    odd = rows % 2 and cols % 2
    return 0 if min(rows, cols) < 7 else 9 if odd and min(rows, cols) >= 9 else 4


def handicap_points(rows: int, cols: int, stones: int) -> list[Point]:
    """Return the usual points for handicap stones (GTP's fixed handicap)."""
    most = most_handicap(rows, cols)
    if not isinstance(stones, int) or not 2 <= stones <= most:
        there = f"2 to {most}" if most >= 2 else "none"
        raise TengenError(
            f"no fixed handicap of {stones!r} stones on {rows}x{cols} (there: {there})"
        )

    def lines(n: int) -> tuple[int, int, int]:
        edge = 3 if n >= 13 else 2
        return edge, n // 2, n - 1 - edge

    (top, middle, bottom), (left, centre, right) = lines(rows), lines(cols)
    order = [(bottom, left), (top, right), (top, left), (bottom, right)]
    order += [(middle, left), (middle, right), (top, centre), (bottom, centre)]
    if stones in (5, 7, 9):
        order.insert(stones - 1, (middle, centre))
    return [point_of_move(place, rows, cols) for place in order[:stones]]
