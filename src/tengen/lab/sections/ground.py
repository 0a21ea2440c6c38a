"""The ground all sections stand on: the players that learn nothing, measured against each other.

At full scale it is the shipped ladder, played anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.lab.content import Result
from tengen.lab.steps import Context, Experiment

if TYPE_CHECKING:
    from tengen.arena import Tournament

_RUNGS = {
    "random": "random",
    "maxlib": "maxlib",
    "mcts 10": "mcts:playouts=10",
    "static": "static",
    "mcts 100": "mcts:playouts=100",
}
"""Players by name, weakest first."""
_ANCHOR = "maxlib"
"""Who stands at 0: somebody who wins and loses, so that the others' intervals are narrow."""


@dataclass(frozen=True)
class Size:
    """Who meets whom."""

    games: int | None = 10
    """A pair; None for as many as the ladder asks for."""
    ladder: str = ""
    """A shipped ladder, such as 9x9, that is played anew; without one the rungs above meet."""
    only: tuple[str, ...] = ()
    """The names of the ladder's players that take part; all of them without."""


_QUICK, _FULL = Size(), Size(games=None, ladder="9x9")


def ladder(context: Context, size: Size) -> Result:
    """Let players meet and rate them; players whose programs are missing are left out."""
    from tengen.lab.tournaments import cross_table, elo_plot, play, standings

    tournament, missing = _shipped(size) if size.ladder else (_rungs(size, context.seed), [])
    results = play(
        context.place("ladder") / "games.sqlite",
        tournament,
        workers=context.workers,
        tell=context.between(0, 1, "games"),
    )
    text = (
        "The yardstick for what follows: players that learn nothing, in a round robin on 9x9 with "
        f"{size.games} games a pair from random openings, each played with both colours. A player "
        "that lost (or won) every game has a rating that is only a bound."
    )
    if size.ladder:
        text = "The shipped ladder, played anew."
        if missing:
            text += f" Left out, because their programs are not installed: {', '.join(missing)}."
    lost = results.duplicates
    note = f"{lost} games repeated another and do not count." if lost else ""
    title = f"The ladder on {size.ladder}" if size.ladder else f"Ratings, {_ANCHOR} = 0"
    return Result(
        text=text,
        tables=[
            standings(results, title, note),
            cross_table(results, "Who beat whom: wins of the row against the column"),
        ],
        figures=[elo_plot(results, "Ratings with 95 % intervals")],
    )


def _rungs(size: Size, seed: int) -> dict[str, Any]:
    """Return the round robin of the players that learn nothing."""
    return {
        "kind": "round-robin",
        "games": size.games,
        "size": 9,
        "openings": 4,
        "seed": seed,
        "players": {
            name: {"spec": spec, **({"elo": 0.0} if name == _ANCHOR else {})}
            for name, spec in _RUNGS.items()
        },
    }


def _shipped(size: Size) -> tuple[Tournament, list[str]]:
    """Return the shipped ladder for the players that are here, and who is missing."""
    from tengen.arena import load_tournament
    from tengen.arena.placing import LADDERS, is_installed

    tournament = load_tournament(Path(LADDERS) / f"{size.ladder}.toml")
    wanted = [e for e in tournament.entrants if not size.only or e.name in size.only]
    here = tuple(entrant for entrant in wanted if is_installed(entrant))
    changes: dict[str, Any] = {"entrants": here}
    if size.games is not None:
        changes["games"] = size.games
    missing = [entrant.name for entrant in wanted if entrant not in here]
    return tournament.model_copy(update=changes), missing


EXPERIMENTS = (
    Experiment("ladder", "ground", "Players that learn nothing", ladder, _QUICK, _FULL, (0.2, 240)),
)
