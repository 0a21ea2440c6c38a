"""Read the arguments of analysis commands and write reports in the forms that programs expect.

Three dialects: `lz` (win rates as integers up to 10000), `kata` (fractions, scores, ownership),
and `cgos` (one JSON line). Win rates and scores are the mover's, as is ownership in `kata`.
Nothing here thinks.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tengen.arrays import FloatArray
from tengen.contracts.values import Analysis, Candidate
from tengen.gtp.protocol import GtpFailure
from tengen.gtp.words import COLOURS

Dialect = Literal["lz", "kata", "cgos"]
_Vertex = Callable[[int], str]
"""Writes a move as a GTP vertex."""

_BOOLEANS = {"true": True, "false": False}
# Seconds between reports when a program names none, and bounds for what it names.
_DEFAULT_INTERVAL, _SHORTEST_INTERVAL, _LONGEST_INTERVAL = 1.0, 0.05, 1e6


@dataclass(frozen=True)
class Wishes:
    """What a report is to tell besides the moves, if the player knows it."""

    ownership: bool = False
    ownership_spread: bool = False
    moves_ownership: bool = False
    pv_visits: bool = False


@dataclass(frozen=True)
class AnalysisOptions(Wishes):
    """What a program asked of an analysis."""

    colour: int | None = None
    interval: float = _DEFAULT_INTERVAL
    root_info: bool = False
    max_moves: int = 1 << 20
    min_moves: int = 0
    allow: tuple[tuple[int, tuple[str, ...]], ...] = ()
    avoid: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """Vertices to look at only, or not at all, by side; as written, how deep does not matter."""


def parse_options(args: Sequence[str]) -> AnalysisOptions:
    """Read `[colour] [interval] (key value)*` in any mix.

    Raises
    ------
    GtpFailure
        For keys that are unknown (programs probe for what is supported) and wrong values.
    """
    found: dict[str, object] = {}
    words = iter(args)
    for word in words:
        key = word.lower()
        if key in COLOURS:
            found["colour"] = COLOURS[key]
        elif _is_number(key):
            found["interval"] = _interval(key)
        elif key in ("allow", "avoid"):
            rule = _restriction(word, [next(words, None) for _ in range(3)])
            found[key] = (*found.get(key, ()), rule)  # type: ignore[misc]
        elif key in _KEYS:
            name, read = _KEYS[key]
            value = next(words, None)
            if value is None:
                raise GtpFailure(f"{word} needs a value")
            found[name] = read(value.lower())
        else:
            raise GtpFailure(f"unknown key {word}")
    return AnalysisOptions(**found)  # type: ignore[arg-type]


def _restriction(word: str, args: Sequence[str | None]) -> tuple[int, tuple[str, ...]]:
    """Read the colour, the vertices with commas between, and the depth of allow or avoid."""
    colour, vertices, depth = args
    if colour is None or vertices is None or depth is None:
        raise GtpFailure(f"{word} needs a colour, vertices and a depth")
    if colour.lower() not in COLOURS:
        raise GtpFailure(f"{colour} is no colour")
    if not depth.isascii() or not depth.isdigit() or int(depth) < 1:
        raise GtpFailure(f"{depth} is no depth")
    return COLOURS[colour.lower()], tuple(v for v in vertices.split(",") if v)


def format_report(
    report: Analysis, vertex: _Vertex, dialect: Dialect, options: AnalysisOptions, turn: int
) -> str:
    """Write one report as one line."""
    if dialect == "cgos":
        return _format_cgos(report, vertex)
    shown = report.candidates[: max(options.max_moves, options.min_moves)]
    sign = 1.0 if turn == 1 else -1.0
    parts = []
    for order, candidate in enumerate(shown):
        parts.append(_format_info(candidate, order, vertex, dialect))
        if dialect == "kata" and options.pv_visits and candidate.pv_visits:
            parts.append("pvVisits " + " ".join(map(str, candidate.pv_visits)))
        if dialect == "kata" and options.moves_ownership and candidate.owners is not None:
            parts.append("movesOwnership " + _points(sign * candidate.owners[0]))
    if dialect != "kata":
        return " ".join(parts)
    if options.root_info:
        parts.append(
            f"rootInfo visits {report.visits} winrate {report.winrate:.6g} "
            f"scoreLead {report.score:.6g}{_spread(report.spread)}{_raw(report)}"
        )
    if options.ownership and report.ownership is not None:
        parts.append("ownership " + _points(sign * report.ownership))
    if options.ownership_spread and report.ownership_spread is not None:
        parts.append("ownershipStdev " + _points(report.ownership_spread))
    return " ".join(parts)


def _points(values: FloatArray) -> str:
    return " ".join(f"{x:.3f}" for x in values.ravel())


def _spread(value: float) -> str:
    """Write the standard deviation of a score, where it is known."""
    return "" if math.isnan(value) else f" scoreStdev {value:.6g}"


def _raw(report: Analysis) -> str:
    """Write what a network says without search, where there is one."""
    if math.isnan(report.raw_winrate):
        return ""
    return f" rawWinrate {report.raw_winrate:.6g} rawLead {report.raw_score:.6g}"


def _format_info(candidate: Candidate, order: int, vertex: _Vertex, dialect: Dialect) -> str:
    """Write one candidate."""
    pv = " ".join(vertex(move) for move in candidate.pv or (candidate.move,))
    head = f"info move {vertex(candidate.move)} visits {candidate.visits}"
    if dialect == "lz":
        return (
            f"{head} winrate {round(candidate.winrate * 10000)} prior "
            f"{round(candidate.prior * 10000)} order {order} pv {pv}"
        )
    return (
        f"{head} winrate {candidate.winrate:.6g} scoreMean {candidate.score:.6g} "
        f"scoreLead {candidate.score:.6g}{_spread(candidate.spread)} "
        f"prior {candidate.prior:.6g} order {order} pv {pv}"
    )


def _format_cgos(report: Analysis, vertex: _Vertex) -> str:
    """Write the JSON line that CGOS shows to watchers."""
    value: dict[str, object] = {
        "winrate": round(report.winrate, 4),
        "score": round(report.score, 2),
        "visits": report.visits,
        "moves": [
            {
                "move": vertex(c.move),
                "winrate": round(c.winrate, 4),
                "score": round(c.score, 2),
                "prior": round(c.prior, 4),
                "visits": c.visits,
                "pv": " ".join(vertex(move) for move in c.pv or (c.move,)),
            }
            for c in report.candidates[:20]
        ],
    }
    if report.ownership is not None:
        value["ownership"] = _pack_ownership(report.ownership.ravel().tolist())
    return json.dumps(value)


def _pack_ownership(values: Sequence[float]) -> str:
    """Pack -1 to +1 into CGOS's 63 characters, one per point from the top left."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(letters[round((min(max(v, -1.0), 1.0) + 1) / 2 * 62)] for v in values)


def _is_number(word: str) -> bool:
    """Tell whether a word is a plain non-negative number."""
    return word.isascii() and word.replace(".", "", 1).isdigit()


def _interval(word: str) -> float:
    """Turn centiseconds into seconds within bounds."""
    if not _is_number(word):
        raise GtpFailure(f"interval {word} is no number of centiseconds")
    return min(max(float(word) / 100, _SHORTEST_INTERVAL), _LONGEST_INTERVAL)


def _boolean(word: str) -> bool:
    """Read true or false."""
    if word not in _BOOLEANS:
        raise GtpFailure(f"{word} is neither true nor false")
    return _BOOLEANS[word]


def _count(word: str) -> int:
    """Read a number of moves."""
    if not (word.isascii() and word.isdigit() and len(word) < 9):
        raise GtpFailure(f"{word} is no number of moves")
    return int(word)


_KEYS: dict[str, tuple[str, Callable[[str], object]]] = {
    "interval": ("interval", _interval),
    "ownership": ("ownership", _boolean),
    "ownershipstdev": ("ownership_spread", _boolean),
    "movesownership": ("moves_ownership", _boolean),
    "pvvisits": ("pv_visits", _boolean),
    "rootinfo": ("root_info", _boolean),
    "maxmoves": ("max_moves", _count),
    "minmoves": ("min_moves", _count),
}
