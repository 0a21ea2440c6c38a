"""One player: what the parts do together, how strong every level is, and a game to step through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tengen.lab.content import Replay, Result, Table, percent, table
from tengen.lab.pictures import replay
from tengen.lab.steps import Context, Experiment
from tengen.lab.verdicts import above


@dataclass(frozen=True)
class Size:
    """How much is played."""

    playouts: int = 80
    games: tuple[tuple[int, int], ...] = ((9, 30),)
    """Board size and games against each opponent there."""
    levels: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    level_games: int = 12


_QUICK, _FULL = Size(), Size(playouts=500, games=((9, 100), (13, 40), (19, 20)))
_UNITED = "tengen-playouts"
_TOO_FEW = "cannot be judged by so few games"


def _gauntlet_settings(
    playouts: int, games: int, board: int, seed: int, parts: tuple[str, ...]
) -> dict[str, Any]:
    """Return the tournament of all learners together, without each part, and of plain search."""
    players = {_UNITED: {"spec": f"{_UNITED}:playouts={playouts}"}}
    for part in parts:
        players[f"without {part}"] = {"spec": f"{_UNITED}:playouts={playouts},without={part}"}
    players["mcts"] = {"spec": f"mcts:playouts={playouts}"}
    return {
        "kind": "gauntlet",
        "challengers": [_UNITED],
        "games": games,
        "size": board,
        "seed": seed,
        "players": players,
    }


def parts(context: Context, size: Size) -> Result:
    """Let the united player meet itself with each part left out, and plain search."""
    from tengen.lab.tournaments import play
    from tengen.players.united import PARTS

    tables: list[Table] = []
    replays: list[Replay] = []
    for number, (board, games) in enumerate(size.games):
        share = number / len(size.games), (number + 1) / len(size.games)
        results = play(
            context.place("player") / f"parts-{board}.sqlite",
            _gauntlet_settings(size.playouts, games, board, context.seed, PARTS),
            workers=context.workers,
            tell=context.between(*share, f"{board}x{board}: games"),
        )
        tables.append(_parts_table(results, board))
        if not replays:
            game = next(row for row in results.rows if {row.a, row.b} == {_UNITED, "mcts"})
            replays.append(_step_through(game, board))
    return Result(
        text=f"The united player `{_UNITED}` searches with every learner in its place: the move "
        "predictor orders the search, a learned opening advises it, the symmetry network shares in "
        f"judging, the scorer says when the game is over. Here it has {size.playouts} playouts a "
        "move, and so have the others: what a part costs in time is not in this table.",
        tables=tables,
        replays=replays,
    )


def _parts_table(results: Any, board: int) -> Table:
    """Return how the united player did against the others, and what that says of each part."""
    rows = []
    for entry in results.standings:
        score = results.cross.get((_UNITED, entry.name))
        if score is None:
            continue
        from tengen.statistics import wilson

        played = score.wins + score.losses + score.draws
        points = score.wins + score.draws / 2
        interval = wilson(points, played)
        clear = above(interval)
        word = {True: "helps", False: "harms", None: _TOO_FEW}[clear]
        if entry.name == "mcts":
            word = {
                True: "plain search is weaker",
                False: "plain search is stronger",
                None: _TOO_FEW,
            }[clear]
        rows.append([entry.name, played, percent(points / max(played, 1), interval), word])
    return table(
        f"{board}x{board}: wins against itself without a part, and against plain search",
        ["opponent", "games", f"{_UNITED} wins", "so the part"],
        rows,
        note="So few games show only large effects; docs/results/united-player.md has more.",
    )


def _step_through(row: Any, board: int) -> Replay:
    """Turn a game of the arena into frames, with what a shipped network thinks of each."""
    from tengen.models import has_model, load_evaluator
    from tengen.records import loads
    from tengen.records.replay import board_at, positions

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
    Experiment("player", "player", "What every part adds", parts, _QUICK, _FULL, (0.7, 300)),
    Experiment("levels", "player", "Levels for people", levels, _QUICK, _FULL, (0.3, 1)),
    Experiment(
        "shipped-ladder", "player", "The ladder", lambda context, _: shipped_ladder(context),
        quick=True, full=True, minutes=(0.1, 0.1),
    ),
)  # fmt: skip
