"""Say which rules a game is played by; know nothing of boards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tengen.errors import TengenError

KoRule = Literal["simple", "positional", "situational"]
Scoring = Literal["area", "territory"]
HandicapBonus = Literal["none", "n", "n-1"]

KO_NUMBERS: dict[str, int] = {"simple": 0, "positional": 1, "situational": 2}
"""The number by which kernels know each ko rule."""


@dataclass(frozen=True)
class Rules:
    """The rules of a game: ko, suicide, how it is counted, what White gets for handicap stones.

    >>> Rules.preset("japanese").scoring
    'territory'
    """

    ko: KoRule = "positional"
    suicide: bool = False
    scoring: Scoring = "area"
    handicap_bonus: HandicapBonus = "none"
    """Points to White for N handicap stones under area counting: none, N, or N - 1."""
    komi: float = 7.5
    """The usual compensation under these rules; a board may be given another."""

    def __post_init__(self) -> None:
        if self.ko not in KO_NUMBERS:
            raise TengenError(f"ko rule {self.ko!r} is none of {', '.join(KO_NUMBERS)}")
        if self.scoring not in ("area", "territory"):
            raise TengenError(f"scoring {self.scoring!r} is neither area nor territory")
        if self.handicap_bonus not in ("none", "n", "n-1"):
            raise TengenError(
                f"no handicap compensation {self.handicap_bonus!r}; there are none, n and n-1"
            )

    @classmethod
    def preset(cls, name: str) -> Rules:
        """Return the rules of this name, with the spellings found in game records.

        Raises
        ------
        TengenError
            If no rules go by this name.
        """
        key = name.strip().lower().replace("-", "_").replace(" ", "_")
        key = _ALIASES.get(key, key)
        if key not in PRESETS:
            raise TengenError(f"no rules called {name!r}; there are {', '.join(PRESETS)}")
        return PRESETS[key]

    def compensation(self, handicap: int) -> float:
        """Return White's points for so many handicap stones; none where territory is counted.

        >>> Rules(handicap_bonus="n-1").compensation(4)
        3.0
        """
        points = {"none": 0, "n": handicap, "n-1": handicap - 1}
        due = handicap >= 2 and self.scoring == "area"
        return float(points[self.handicap_bonus] if due else 0)

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
}
