"""Say which features belong to a family that a training leaves out; the names are settings'."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tengen.learners.move_prediction import family_kernels as p
from tengen.learners.move_prediction import feature_kernels as f

# Family -> the stretches of direct features it has; the others have patterns, or are no features.
_DIRECT: dict[str, tuple[tuple[int, int], ...]] = {
    "coordinates": ((f.COORDINATE, f.RELATIVE), (f.LAST_COORDINATE, f.LAST_STEP)),
    "history": ((f.RELATIVE, f.CAPTURE), (f.OF_LAST, f.CONTACT), (f.LAST_STEP, f.OWN_ATARI)),
    "tactics": ((f.CAPTURE, f.OF_LAST), (f.CONTACT, f.NEAREST), (f.OWN_ATARI, f.STONE)),
    "surroundings": ((f.NEAREST, f.LADDER),),
    "ladders": ((f.LADDER, f.MOVE_END), (f.STONE_LADDER, f.FORBIDDEN)),
}

_PATTERNS = {
    "patterns": (p.PLAIN, p.WITH_LIBERTIES, p.WITH_LAST, p.WITH_BOTH, p.WITH_OWN_LAST, p.AT_LAST),
    "patterns with liberties": (p.WITH_LIBERTIES, p.WITH_BOTH),
    "patterns with last moves": (p.WITH_LAST, p.WITH_BOTH, p.WITH_OWN_LAST, p.AT_LAST),
}


def ranges(without: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of direct features of the named families."""
    for name in without:
        yield from _DIRECT.get(name, ())


def families(without: Sequence[str]) -> tuple[int, ...]:
    """Return the families of patterns that remain."""
    gone = {family for name in without for family in _PATTERNS.get(name, ())}
    return tuple(family for family in range(p.FAMILIES) if family not in gone)
