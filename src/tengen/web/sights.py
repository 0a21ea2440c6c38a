"""Let each machine say what it sees in a position; plain values, in a worker process.

A machine is a shipped model with a sentence and its paper. What it shows follows from what it
offers (maps, wishes, ownership, a value, the fate of blocks), so that a new kind of model needs no
code here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.arrays import FloatArray
from tengen.board import Board, index_of
from tengen.contracts import Evaluator, OwnershipEvaluator, Policy, Scorer, win_probability
from tengen.errors import TengenError
from tengen.game.endgame import candidates
from tengen.lab.papers import PAPERS
from tengen.learners.network import DeepNetwork
from tengen.models import list_models, load_learner
from tengen.players.simple import scores_after
from tengen.web.positions import finite, judged_blocks, likely_moves, to_board
from tengen.web.workers import Context

_WISHES = 8
"""Moves that a machine names."""


@dataclass(frozen=True)
class Machine:
    """One way of looking at a position."""

    id: str
    title: str
    about: str
    paper: str
    guide: str
    """The page of the guide in `docs/guide`."""
    models: dict[str, str]
    """Model by board (`9x9`), or for all boards (empty key)."""

    def model_for(self, rows: int, cols: int) -> str | None:
        """Return the model that looks at boards of this size, None if there is none."""
        return self.models.get(f"{rows}x{cols}", self.models.get(""))


_MACHINES: tuple[Machine, ...] = (
    Machine(
        "symmetry-network",
        "Symmetry network",
        "714 weights, tied by the symmetries of the square, judge every point: who will own it, "
        "which stones die, where eyes will be.",
        PAPERS["symmetry-network"].authors,
        "symmetry-network",
        {"": "isn-9x9"},
    ),
    Machine(
        "opening-td",
        "Opening by temporal differences",
        "A network that learned openings by playing itself, told only how an expert's games from "
        "there ended. Shades are the moves it wishes for.",
        PAPERS["opening-td"].authors,
        "opening-td",
        {"9x9": "td-best-9x9"},
    ),
    Machine(
        "opening-evolution",
        "Evolved opening",
        "A network bred over generations by the final scores its openings led to. Shades are the "
        "moves it wishes for.",
        PAPERS["opening-evolution"].authors,
        "opening-evolution",
        {"13x13": "evolved-spatial-13x13"},
    ),
    Machine(
        "move-prediction",
        "Move predictor",
        "Patterns of experts' games, re-ranked by maximum entropy, give every move a probability.",
        PAPERS["move-prediction"].authors,
        "move-prediction",
        {"19x19": "predictor-paper"},
    ),
    Machine(
        "scoring",
        "Scorer",
        "Learned from final scores alone which stones live and which are dead. Shades say who "
        "owns a point, faint stones are dead.",
        PAPERS["scoring"].authors,
        "scoring",
        {"": "scorer"},
    ),
    Machine(
        "deep-network",
        "Deep network",
        "Residual blocks tied by the symmetries of the square, learned from experts' games: the "
        "moves they would play, who will own each point, and the score with its spread.",
        "",
        "network",
        {"": "tengen-large"},
    ),
)

_SPOKEN_FOR = {"tengen-small"}
"""Models that a larger one of their kind speaks for."""

_PAPERS_KINDS = {
    "symmetry-network",
    "opening-td",
    "opening-evolution",
    "move-prediction",
    "scoring",
}


def machines() -> list[Machine]:
    """List all machines: the papers', the deep network, then every model of another kind."""
    taken = _SPOKEN_FOR.union(*(machine.models.values() for machine in _MACHINES))
    others = [
        Machine(
            entry.name, entry.name, entry.card.what, "", entry.card.kind, _boards(entry.card, entry)
        )
        for entry in list_models()
        if entry.card is not None
        and entry.card.kind not in _PAPERS_KINDS
        and entry.name not in taken
    ]
    return [*_MACHINES, *others]


def _boards(card: Any, entry: Any) -> dict[str, str]:
    sizes: Iterable[tuple[int, int]] = getattr(card, "sizes", None) or ()
    return {f"{r}x{c}": entry.name for r, c in sizes} or {"": entry.name}


def see(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Return everything that one machine says about a position."""
    board = to_board(arguments["board"])
    machine = next((m for m in machines() if m.id == arguments["machine"]), None)
    if machine is None:
        raise TengenError(f"there is no machine {arguments['machine']!r}")
    name = machine.model_for(board.rows, board.cols)
    if name is None:
        boards = " and ".join(machine.models)
        raise TengenError(f"{machine.title} looks only at {boards}")
    model = load_learner(name, shared=True)
    found: dict[str, Any] = {"model": name}
    if isinstance(model, DeepNetwork):
        return found | _view(model, board)
    if hasattr(model, "heat_maps"):
        maps = model.heat_maps(board)
        found["maps"] = {key.replace("_", " "): _flat(values) for key, values in maps.items()}
    if isinstance(model, Scorer):
        found |= _fates(model, board)
    elif isinstance(model, OwnershipEvaluator):
        found["ownership"] = _flat(model.ownership(board))
    if isinstance(model, Evaluator) and not isinstance(model, Scorer):
        value = float(model.values([board])[0])
        scale = getattr(model, "scale", None)
        found["value"] = finite(value)
        found["winrate"] = win_probability(value, float(scale)) if scale else None
    if not isinstance(model, Scorer):
        found |= _wishes(model, board)
    return found


def _view(model: Any, board: Board) -> dict[str, Any]:
    """Return all that a network says of a position, asking it once."""
    [view] = model.evaluate([board])
    return {
        "ownership": _flat(view.ownership),
        "value": view.score,
        "spread": view.spread,
        "winrate": view.win_probability,
        "wishes": likely_moves(view.priors, board, _WISHES),
        "policy": _flat(view.priors[:-1]),
    }


def _wishes(model: Any, board: Board) -> dict[str, Any]:
    """Return the moves that a model wants, as probabilities or as values one ply deep."""
    priors = wanted(model, board)
    return {"wishes": likely_moves(priors, board, _WISHES), "policy": _flat(priors[:-1])}


def wanted(model: Any, board: Board) -> FloatArray:
    """Return a share for every move and a pass: probabilities, or values one ply deep softened."""
    if isinstance(model, Policy):
        return np.asarray(model.priors(board), np.float64)
    return _softened(model, board)


def _softened(model: Evaluator, board: Board) -> FloatArray:
    """Turn the values after each move into shares: one standard deviation is a factor of e^2."""
    shares = np.zeros(board.rows * board.cols + 1)
    moves = candidates(board)
    if not moves:
        shares[-1] = 1.0
        return shares
    values = scores_after(model, board, moves)
    weights = np.exp(2.0 * (values - values.max()) / (float(values.std()) or 1.0))
    shares[[index_of(p, board.rows, board.cols) for p in moves]] = weights / weights.sum()
    return shares


def _fates(model: Scorer, board: Board) -> dict[str, Any]:
    """Return what a scorer says of every block."""
    verdict = model.status(board)
    found: dict[str, Any] = {
        "safe": verdict.safe,
        "blocks": judged_blocks(verdict, board),
    }
    if verdict.ownership is not None:
        found["ownership"] = _flat(verdict.ownership)
    return found


def _flat(values: Any) -> list[float | None]:
    """Return an array as a flat list of short numbers, None for what is not a number."""
    return [
        round(float(v), 4) if math.isfinite(v) else None
        for v in np.asarray(values, np.float64).ravel()
    ]
