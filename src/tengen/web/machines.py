"""The opponents to play against, and the machines that evaluate positions.

Requests name an opponent or a machine by its id in these lists; they cannot contain a spec. The
outputs of a machine depend on what its model provides (maps, move preferences, ownership, a value,
the status of blocks), so a new kind of model needs no code here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tengen import extensions
from tengen.arena.placing import ELO_PER_RANK, fair_handicap, rank_of, recorded
from tengen.arrays import FloatArray
from tengen.board import Board, index_of
from tengen.board.rules import most_handicap
from tengen.contracts import Evaluator, OwnershipEvaluator, Policy, Scorer, win_probability
from tengen.errors import TengenError
from tengen.game.endgame import candidates
from tengen.lab.papers import papers
from tengen.models import has_model, list_models, load_learner
from tengen.network import DeepNetwork
from tengen.players import parse_spec, player_kinds
from tengen.players.simple import scores_after
from tengen.players.tengen import LEVELS
from tengen.reviews import usual_threshold
from tengen.web.positions import finite, judged_blocks, likely_moves, to_board
from tengen.web.workers import Context, Json

_WISHES = 8  # preferred moves to show


# ----- Opponents -----


@dataclass(frozen=True)
class Opponent:
    """One entry of the list; `ratings` are Elo by board, GNU Go 3.8 level 10 = 1800."""

    id: str
    name: str
    spec: str
    about: str
    kind: str  # `level`, `person`, `paper`, `simple` or `own` (installed, or on the command line)
    sizes: tuple[int, ...] = ()  # boards it plays on; empty for all
    level: int | None = None
    ratings: dict[str, int] = field(default_factory=dict)
    # Approximate kyu or dan by board, and its 95 % interval; none where that is too wide.
    ranks: dict[str, str] = field(default_factory=dict)
    intervals: dict[str, tuple[str, str]] = field(default_factory=dict)
    # For a level without a rank on a board: the ranks of the next ones below and above.
    between: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    threshold: float = 2.0  # points that a move must lose for a teacher to stop the game


_WIDEST = 10  # ranks: what is less sure is not told as a rank
PERSON = "person"  # the id of the entry for two people on one board
_TWO = Opponent(PERSON, "Two people", "", "Two people on one board", "person")
_SIMPLE = (
    ("static", "Rules of one ply", "static", "Captures, ladders, cuts, shape"),
    ("maxlib", "Liberties", "maxlib", "Wants liberties and nothing else"),
    ("random", "Random", "random", "Any legal move but its own eyes"),
)


def list_opponents(own: Sequence[str] = ()) -> dict[str, Opponent]:
    """Return all opponents by id, the weakest level first."""
    ratings: dict[str, dict[str, int]] = {}
    intervals: dict[str, dict[str, tuple[str, str]]] = {}
    for rated in recorded():
        player, size, (low, high) = rated["player"], rated["size"], rated["interval"]
        ratings.setdefault(player, {})[size] = round(rated["elo"])
        if high - low <= _WIDEST * ELO_PER_RANK:
            intervals.setdefault(player, {})[size] = rank_of(low), rank_of(high)
    entries = []
    for level, how in LEVELS.items():
        about = how.about[0].upper() + how.about[1:]
        names = f"level-{level}", f"Level {level}", f"tengen:level={level}"
        entries.append(Opponent(*names, about, "level", level=level))
    entries.append(_TWO)
    for each in (each for paper in papers().values() for each in paper.opponents):
        if all(map(has_model, re.findall(r"(?:model|policy)=([\w-]+)", each.spec))):
            sizes = tuple(each.sizes)
            entries.append(Opponent(each.id, each.name, each.spec, each.about, "paper", sizes))
    entries += [Opponent(*words, "simple") for words in _SIMPLE]
    added = extensions.from_elsewhere(extensions.PLAYERS)
    for name, kind in player_kinds().items():
        if name in added:
            entries.append(Opponent(f"added-{name}", name, kind.example or name, kind.help, "own"))
    for number, spec in enumerate(own, 1):
        parse_spec(spec)
        entries.append(Opponent(f"own-{number}", spec, spec, "Given on the command line", "own"))
    found = {}
    for one in entries:
        elo = ratings.get(one.spec, {})
        sure = intervals.get(one.spec, {})
        ranks = {size: rank_of(elo[size]) for size in sure}
        threshold = usual_threshold(one.level)
        found[one.id] = replace(one, ratings=elo, ranks=ranks, intervals=sure, threshold=threshold)
    levels = [one for one in found.values() if one.level is not None]
    for place, one in enumerate(levels):
        for size in {size for level in levels for size in level.ranks} - set(one.ranks):
            below = [level.ranks[size] for level in levels[:place] if size in level.ranks]
            above = [level.ranks[size] for level in levels[place:] if size in level.ranks]
            one.between[size] = below[-1] if below else None, above[0] if above else None
    return found


_FIRST = 2  # the level of the first game, without handicap
_BELOW = (4, 3, 2)  # handicap stones for people who lose to level 1


class Rung(NamedTuple):
    """One kind of game; the person plays Black with the handicap stones."""

    level: int
    handicap: int


def rungs_of(opponents: Iterable[Opponent], size: int) -> tuple[list[Rung], int]:
    """Return the ladder of the levels on a square board, weakest first, and where it begins."""
    levels = [one for one in opponents if one.level]
    board = f"{size}x{size}"
    elo = {one.level or 0: one.ratings[board] for one in levels if board in one.ratings}
    return _rungs(len(levels), elo, size**2)


def _rungs(levels: int, ratings: Mapping[int, float], points: int) -> tuple[list[Rung], int]:
    """Return all rungs, and the number of the first game's.

    Below level 1, the person gets handicap stones, where the board has points for them. Where two
    levels are far enough apart, a game with a handicap of half the difference comes between them.
    """
    most = most_handicap(side := math.isqrt(points), side)
    table = [Rung(1, stones) for stones in _BELOW if stones <= most] + [Rung(1, 0)]
    for level in range(2, levels + 1):
        if level - 1 in ratings and level in ratings:
            lower, upper = ratings[level - 1], ratings[level]
            half = fair_handicap((lower + upper) / 2, upper, points)
            if half.stones and upper - lower >= 2 * ELO_PER_RANK:
                table.append(Rung(level, half.stones))
        table.append(Rung(level, 0))
    return table, table.index(Rung(min(_FIRST, levels), 0))


def next_rung(
    results: Iterable[bool | None],
    levels: int,
    ratings: Mapping[int, float] | None = None,
    points: int = 81,
) -> Rung:
    """Return the rung after these results, oldest first; None is a draw.

    `ratings` are the levels' Elo as far as they were measured.
    """
    table, place = _rungs(levels, ratings or {}, points)
    for won in results:
        step = 0 if won is None else 1 if won else -1
        place = min(max(place + step, 0), len(table) - 1)
    return table[place]


# ----- Views of a position -----


@dataclass(frozen=True)
class Machine:
    """A model, or one model per board, that evaluates positions."""

    id: str
    title: str
    about: str
    paper: str
    link: str  # the address that tells more: the paper's exhibit, or a page of the guide
    models: dict[str, str]  # model by board (`9x9`), or for all boards (empty key)


def machines() -> list[Machine]:
    """List all machines: kinds of models that have a view, then every model of another kind."""
    views = [
        (kind, view)
        for kind, made in extensions.load_all(extensions.MODELS, type).items()
        if (view := getattr(made, "view", None)) is not None
    ]
    views.sort(key=lambda pair: pair[1].order)
    known, taken, found = papers(), set[str](), []
    for kind, view in views:
        paper = known[kind].cited if kind in known else ""
        link = _about(kind, known)
        found.append(Machine(view.id or kind, view.title, view.about, paper, link, view.models))
        taken |= {*view.models.values(), *view.instead_of}
    shown = {kind for kind, _ in views if kind in known}  # other models of these are not listed
    for entry in list_models():
        card, name = entry.card, entry.name
        if card is not None and card.kind not in shown and name not in taken:
            boards = {f"{rows}x{cols}": name for rows, cols in getattr(card, "sizes", None) or ()}
            paper = known[card.kind].cited if card.kind in known else ""
            link = _about(card.kind, known)
            found.append(Machine(name, name, card.what, paper, link, boards or {"": name}))
    return found


def _about(kind: str, known: Collection[str]) -> str:
    """Return the address of what tells more about models of a kind."""
    if kind in known:
        return f"#/papers/{kind}"
    return "/guide/network" if kind == "network" else "/guide/extending"


def see(arguments: Json, context: Context) -> Json:
    """Return all outputs of one machine for a position."""
    board = to_board(arguments["board"])
    machine = next((m for m in machines() if m.id == arguments["machine"]), None)
    if machine is None:
        raise TengenError(f"there is no machine {arguments['machine']!r}")
    name = machine.models.get(f"{board.rows}x{board.cols}", machine.models.get(""))
    if name is None:
        boards = " and ".join(machine.models)
        raise TengenError(f"{machine.title} looks only at {boards}")
    return {"model": name, **outputs_of(load_learner(name, shared=True), board)}


def outputs_of(model: Any, board: Board) -> Json:
    """Return all outputs of a model for a position."""
    found: Json = {}
    if isinstance(model, DeepNetwork):
        [view] = model.evaluate([board])
        return {
            "ownership": _flat(view.ownership),
            "value": view.score,
            "spread": view.spread,
            "winrate": view.win_probability,
            **_wishes(view.priors, board),
        }
    if hasattr(model, "heat_maps"):
        maps = model.heat_maps(board)
        found["maps"] = {key.replace("_", " "): _flat(values) for key, values in maps.items()}
    if isinstance(model, Scorer):
        verdict = model.status(board)
        found |= {"safe": verdict.safe, "blocks": judged_blocks(verdict, board)}
        if verdict.ownership is not None:
            found["ownership"] = _flat(verdict.ownership)
        if isinstance(model, Evaluator):
            found["value"] = finite(float(model.values([board])[0]))
        return found
    if isinstance(model, OwnershipEvaluator):
        found["ownership"] = _flat(model.ownership(board))
    if isinstance(model, Evaluator):
        value = float(model.values([board])[0])
        scale = getattr(model, "scale", None)
        found["value"] = finite(value)
        found["winrate"] = win_probability(value, float(scale)) if scale else None
    return found | _wishes(move_probabilities(model, board), board)


def _wishes(priors: FloatArray, board: Board) -> Json:
    return {"wishes": likely_moves(priors, board, _WISHES), "policy": _flat(priors[:-1])}


def move_probabilities(model: Any, board: Board) -> FloatArray:
    """Return a probability for every move and pass: the policy, or a softmax of one-ply values."""
    if isinstance(model, Policy):
        return np.asarray(model.priors(board), np.float64)
    shares = np.zeros(board.rows * board.cols + 1)
    moves = candidates(board)
    if not moves:
        shares[-1] = 1.0
        return shares
    values = scores_after(model, board, moves)
    # One standard deviation of the values is a factor of e^2.
    weights = np.exp(2.0 * (values - values.max()) / (float(values.std()) or 1.0))
    shares[[index_of(p, board.rows, board.cols) for p in moves]] = weights / weights.sum()
    return shares


def _flat(values: Any) -> list[float | None]:
    """Return an array as a flat list of rounded numbers, None for those that are not finite."""
    return [
        round(float(v), 4) if math.isfinite(v) else None
        for v in np.asarray(values, np.float64).ravel()
    ]
