"""The paper's two evaluations of one position, and matches that answer its questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from monte_carlo_go.player import HEAT, move_values
from tengen.arena import Database, play_match
from tengen.board import Board, format_gtp
from tengen.game.endgame import candidates
from tengen.lab.evidence import NewRows
from tengen.lab.steps import Experiment, LabContext
from tengen.models import CheckedSettings, setting, to_plain
from tengen.parallel import spawn_seeds

BEST = 6  # moves that the paper's figures show at either end

Row = dict[str, Any]


@dataclass(frozen=True)
class TwiceSize(CheckedSettings):
    """How many positions are evaluated twice, and how."""

    positions: int = setting(100, "Positions.", least=2)
    games: int = setting(2000, "Games per evaluation; the paper's.", least=1)
    heat: float = setting(HEAT, "Temperature of the first game.", least=0)


def twice(context: LabContext, size: TwiceSize) -> list[NewRows]:
    """Evaluate positions after a handicap of two stones and White's answer, each of them twice."""
    seeds = spawn_seeds(context.seed, size.positions)
    rows = (row for number, seed in enumerate(seeds) for row in _evaluated(number, seed, size))
    return [NewRows("twice", rows, [context.seed], to_plain(size))]


def _evaluated(number: int, seed: int, size: TwiceSize) -> Iterator[Row]:
    board, rng = Board(9), np.random.default_rng(seed)
    board.place_handicap(2)
    board.play(board.to_point(rng.choice(candidates(board))))
    for evaluation in (1, 2):
        own = int(rng.integers(2**62))
        values, mean = move_values(board, size.games, own, heat=size.heat)
        played = [point for point in candidates(board) if np.isfinite(values[point])]
        names = [format_gtp(p, 9, 9) for p in sorted(played, key=lambda p: -values[p])]
        yield {
            "position": number, "evaluation": evaluation, "mean": mean, "moves": len(names),
            "border": sum(map(on_border, names)),
            "best": " ".join(names[:BEST]), "worst": " ".join(names[-BEST:]),
        }  # fmt: skip


def on_border(name: str) -> bool:
    """Return whether a point of the 9x9 board is on its first line."""
    return name[0] in "AJ" or name[1] in "19"


@dataclass(frozen=True)
class MatchSize(CheckedSettings):
    """How the matches are played."""

    openings: int = setting(25, "Openings per match, each with both colours.", least=2)
    games: int = setting(100, "Games per move.", least=1)
    size: int = setting(9, "Board size.", least=2, most=25)


def matches(context: LabContext, size: MatchSize) -> list[NewRows]:
    """Play Gobble against others: moves at random, no annealing, a quarter of the games."""
    gobble = f"gobble:games={size.games}"
    others = {
        "random": "random",
        "annealing": f"{gobble},heat=1000000,cooling=no",
        "games": f"gobble:games={max(size.games // 4, 1)}",
    }
    rows: list[Row] = []
    for number, (name, other) in enumerate(others.items()):
        path = context.place("monte-carlo-go") / f"{name}.sqlite"
        context.at(number / len(others), name)
        play_match(
            gobble, other, games=2 * size.openings, size=size.size, seed=context.seed,
            workers=context.workers, out=path,
        )  # fmt: skip
        with Database.look(path) as played:
            for game in played.games():
                won = 0.5 if game.winner is None else float(game.winner == gobble)
                row = {"match": name, "other": other, "opening": game.number // 2}
                rows.append({**row, "colour": game.number % 2 + 1, "won": won, "plies": game.plies})
    return [NewRows("matches", rows, [context.seed], to_plain(size))]


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment(
        "monte-carlo-go", "Figures 4 and 5: a position evaluated twice", twice,
        quick=TwiceSize(positions=10), full=TwiceSize(), minutes=(0.1, 0.5),
    ),
    Experiment(
        "monte-carlo-go-matches", "Matches of Gobble", matches,
        quick=MatchSize(openings=10, games=50), full=MatchSize(), minutes=(0.2, 1.5),
    ),
)  # fmt: skip
