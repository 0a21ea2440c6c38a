"""The levels of `tengen` against each other, a game to step through, and the shipped ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.lab.content import Replay, Result, table
from tengen.lab.pictures import replay
from tengen.lab.steps import Context, Experiment


@dataclass(frozen=True)
class Size:
    """How much is played."""

    levels: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    level_games: int = 12


def _step_through(row: Any, board: int) -> Replay:
    """Turn a game of the arena into frames, with what a shipped network thinks of each."""
    from tengen.models import has_model, load_evaluator
    from tengen.records import loads
    from tengen.records.record import board_at, positions

    record = loads(row.sgf)[0]
    owners: list[Any] = []
    values: list[float] = []
    if has_model("isn-best"):
        judge: Any = load_evaluator("isn-best")
        for position in [*(before for before, _ in positions(record)), board_at(record)]:
            owners.append(np.clip(judge.ownership(position), -1, 1))
            values.append(float(judge.values([position])[0]))
    title = f"{row.black} (Black) against {row.white}, {row.result}"
    words = "Squares: who owns each point, and the expected score, by isn-best without look-ahead."
    return replay(title, record.moves, board, board, ownership=owners, values=values, words=words)


def levels(context: Context, size: Size) -> Result:
    """Let neighbouring levels meet, and rate them."""
    from tengen.lab.tournaments import elo_plot, play, standings
    from tengen.players.levels import LEVELS

    known = [n for n in size.levels if n in LEVELS]
    # Somebody who wins and loses, so that the others' intervals are narrow.
    middle = known[len(known) // 2]
    results = play(
        context.place("player") / "levels.sqlite",
        {
            "kind": "ladder",
            "reach": 2,
            "games": size.level_games,
            "size": 9,
            "seed": context.seed,
            "players": {
                f"level {n}": {"spec": f"tengen:level={n}", **({"elo": 0.0} if n == middle else {})}
                for n in known
            },
        },
        workers=context.workers,
        tell=context.between(0.0, 1.0, "games"),
    )
    rows = [[n, level.about] for n, level in LEVELS.items()]
    return Result(
        text=f"Levels for people, from a beginner to full strength. Levels {known[0]} to "
        f"{known[-1]} play their neighbours and the next but one here, {size.level_games} games "
        "each; no level makes mistakes on purpose.",
        tables=[
            standings(results, f"Levels that were played here, level {middle} = 0"),
            table("What the levels are", ["level", "what it does"], rows),
        ],
        figures=[elo_plot(results, f"Levels with 95 % intervals, level {middle} = 0")],
        replays=[_step_through(results.rows[-1], 9)],
    )


def shipped_ladder(context: Context) -> Result:
    """Show the shipped ladder on 9x9 with ratings, intervals and who beat whom."""
    from tengen.arena import results_of
    from tengen.arena.database import reading
    from tengen.arena.placing import shipped_ladder as find
    from tengen.lab.tournaments import cross_table, elo_plot, standings

    with reading(find("9x9")) as database:
        results = results_of(database)
    return Result(
        text=f"The ladder that new players are rated on, as it is shipped: {len(results.rows)} "
        "games, GNU Go level 10 at 1800. These games were not played in this run; they lie in the "
        "package (`tengen arena show`), each with its record and seed.",
        tables=[
            standings(results, "The shipped ladder on 9x9"),
            cross_table(results, "Who beat whom: wins of the row against the column"),
        ],
        figures=[elo_plot(results, "Ratings with 95 % intervals")],
    )


EXPERIMENTS: tuple[Experiment[Any], ...] = (
    Experiment("levels", "player", "Levels for people", levels, Size(), Size(), (0.3, 1)),
    Experiment(
        "shipped-ladder", "player", "The ladder", lambda context, _: shipped_ladder(context),
        quick=True, full=True, minutes=(0.1, 0.1),
    ),
)  # fmt: skip
