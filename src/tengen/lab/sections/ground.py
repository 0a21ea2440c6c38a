"""The ground all sections stand on: the players that learn nothing, measured against each other."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.lab.steps import Context, Result

RUNGS = {
    "random": "random",
    "maxlib": "maxlib",
    "mcts 10": "mcts:playouts=10",
    "static": "static",
    "mcts 100": "mcts:playouts=100",
}
"""Players by name, weakest first."""
ANCHOR = "maxlib"
"""Who stands at 0: somebody who wins and loses, so that the others' intervals are narrow."""


@dataclass(frozen=True)
class Size:
    """How much is played."""

    games: int = 10


QUICK = Size()


def quick(context: Context, size: Size = QUICK) -> Result:
    """Play a small round robin on 9x9 and rate the players."""
    from tengen.lab.tournaments import cross_table, elo_plot, play, standings

    results = play(
        context.place("ladder") / "games.sqlite",
        {
            "kind": "round-robin",
            "games": size.games,
            "size": 9,
            "openings": 4,
            "seed": context.seed,
            "players": {
                name: {"spec": spec, **({"elo": 0.0} if name == ANCHOR else {})}
                for name, spec in RUNGS.items()
            },
        },
        workers=context.workers,
        tell=context.between(0, 1, "games"),
    )
    lost = results.duplicates
    note = f"{lost} games repeated another and do not count." if lost else ""
    return {
        "text": "The yardstick for what follows: players that learn nothing, in a round robin on "
        f"9x9 with {size.games} games a pair from random openings, each played with both colours. "
        "A player that lost (or won) every game has a rating that is only a bound.",
        "tables": [
            standings(results, f"Ratings, {ANCHOR} = 0", note),
            cross_table(results, "Who beat whom: wins of the row against the column"),
        ],
        "figures": [elo_plot(results, "Ratings with 95 % intervals")],
    }
