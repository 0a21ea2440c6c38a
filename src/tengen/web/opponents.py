"""List whom one can play against: the levels, the papers' machines, and the server's own specs.

Requests name an opponent by its id in this list; no request can bring a spec of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tengen.arena.placing import ELO_PER_RANK, fair_handicap, rank_of, recorded
from tengen.models import has_model
from tengen.players import parse_spec
from tengen.players.tengen import LEVELS
from tengen.reviews.settings import usual_threshold


@dataclass(frozen=True)
class Opponent:
    """One entry of the list; `ratings` are Elo by board, GNU Go 3.8 level 10 = 1800."""

    id: str
    name: str
    spec: str
    about: str
    kind: str
    """`level`, `person`, `paper`, `simple` or `own` (given on the command line)."""
    level: int | None = None
    sizes: tuple[int, ...] = ()
    """Boards it plays on; empty for all."""
    ratings: dict[str, int] = field(default_factory=dict)
    ranks: dict[str, str] = field(default_factory=dict)
    """About what kyu or dan those are, by board."""
    between: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """For a level that was not rated on a board: the ranks of the next rated ones below, above."""

    threshold: float = 2.0
    """Points that a move must lose for a teacher to stop the game, unless told otherwise."""

    def plays_on(self, size: int) -> bool:
        """Tell whether it can play on square boards of this size."""
        return not self.sizes or size in self.sizes


PERSON = "person"
"""The id of the entry for two people on one board."""
_MACHINES: tuple[Opponent, ...] = (
    Opponent(PERSON, "Two people", "", "Two people on one board", "person"),
    Opponent(
        "symmetry-network",
        "Symmetry network",
        "greedy:model=isn-9x9",
        "The 714-weight network of Blair, one ply deep",
        "paper",
        sizes=(9,),
    ),
    Opponent(
        "symmetry-network-best",
        "Symmetry network, colours tied",
        "greedy:model=isn-best",
        "The strongest network of Blair's kind by self-play, one ply deep",
        "paper",
    ),
    Opponent(
        "predictor",
        "Move predictor",
        "greedy:policy=predictor-paper",
        "Always the move that Araki's predictor finds likeliest",
        "paper",
        sizes=(19,),
    ),
    Opponent(
        "opening-td",
        "Opening by temporal differences",
        "opening:model=td-best-9x9,then=mcts:playouts=500",
        "Huang's learned opening, then a tree search",
        "paper",
        sizes=(9,),
    ),
    Opponent(
        "opening-evolution",
        "Evolved opening",
        "opening:model=evolved-spatial-13x13,then=mcts:playouts=500",
        "Kendall's evolved opening, then a tree search",
        "paper",
        sizes=(13,),
    ),
    Opponent("static", "Rules of one ply", "static", "Captures, ladders, cuts, shape", "simple"),
    Opponent("maxlib", "Liberties", "maxlib", "Wants liberties and nothing else", "simple"),
    Opponent("random", "Random", "random", "Any legal move but its own eyes", "simple"),
)


def list_opponents(own: Sequence[str] = ()) -> dict[str, Opponent]:
    """Return everybody one can play against by id, weakest level first.

    Raises
    ------
    SpecError
        For a spec of `own` that names no player.
    """
    ratings: dict[str, dict[str, int]] = {}
    for rated in recorded():
        ratings.setdefault(rated["player"], {})[rated["size"]] = round(rated["elo"])
    found: dict[str, Opponent] = {}
    for level, how in LEVELS.items():
        about = how.about[0].upper() + how.about[1:]
        entry = Opponent(
            f"level-{level}", f"Level {level}", f"tengen:level={level}", about, "level", level
        )
        found[entry.id] = entry
    for machine in _MACHINES:
        if all(has_model(name) for name in _models_of(machine.spec)):
            found[machine.id] = machine
    for number, spec in enumerate(own, 1):
        parse_spec(spec)
        entry = Opponent(f"own-{number}", spec, spec, "Given on the command line", "own")
        found[entry.id] = entry
    rated = {key: _rated(one, ratings.get(one.spec, {})) for key, one in found.items()}
    levels = [one for one in rated.values() if one.level is not None]
    for place, one in enumerate(levels):
        for size in {size for level in levels for size in level.ranks} - set(one.ranks):
            below = [level.ranks[size] for level in levels[:place] if size in level.ranks]
            above = [level.ranks[size] for level in levels[place:] if size in level.ranks]
            one.between[size] = (below or [None])[-1], (above or [None])[0]
    return rated


def _rated(one: Opponent, ratings: dict[str, int]) -> Opponent:
    """Return an opponent with its ratings and what they mean."""
    ranks = {size: rank_of(elo) for size, elo in ratings.items()}
    threshold = usual_threshold(one.level)
    return replace(one, ratings=ratings, ranks=ranks, between={}, threshold=threshold)


def _models_of(spec: str) -> list[str]:
    return re.findall(r"(?:model|policy)=([\w-]+)", spec)


FIRST = 2
"""The level of the first game, without handicap."""
_BELOW = (4, 3, 2)
"""Stones against level 1 for who loses to it."""


@dataclass(frozen=True)
class Rung:
    """One kind of game; the person plays Black with the handicap stones."""

    level: int
    handicap: int


def rungs(levels: int, ratings: Mapping[int, float], points: int) -> list[Rung]:
    """Return all rungs, easiest first: handicap stones below level 1, levels above.

    Where two levels are so far apart that the board knows a handicap of half the way, a game with
    that handicap comes between them. `ratings` are the levels' Elo as far as they were measured.
    """
    table = [Rung(1, stones) for stones in _BELOW] + [Rung(1, 0)]
    for level in range(2, levels + 1):
        if level - 1 in ratings and level in ratings:
            lower, upper = ratings[level - 1], ratings[level]
            half = fair_handicap((lower + upper) / 2, upper, points)
            if half.stones and upper - lower >= 2 * ELO_PER_RANK:
                table.append(Rung(level, half.stones))
        table.append(Rung(level, 0))
    return table


def next_rung(
    results: Iterable[bool | None],
    levels: int,
    ratings: Mapping[int, float] | None = None,
    points: int = 81,
) -> Rung:
    """Return the rung after these results, oldest first; None is a draw.

    >>> next_rung([], 10), next_rung([True, True, False], 10)
    (Rung(level=2, handicap=0), Rung(level=3, handicap=0))
    """
    table = rungs(levels, ratings or {}, points)
    place = table.index(Rung(min(FIRST, levels), 0))
    for won in results:
        step = 0 if won is None else 1 if won else -1
        place = min(max(place + step, 0), len(table) - 1)
    return table[place]
