"""Rate the levels for people on a shipped ladder: levels play their neighbours and some rungs.

    python benchmarks/levels.py 9 --games 24 --out levels-9x9.sqlite --record ratings.json

plays the missing games of the database, rates all players together with the ladder's own games,
and prints Elo, interval and rank of every level. With `--no-play` it plays nothing.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

from tengen.arena.database import Database
from tengen.arena.placing import Placing, rank_of, record, shipped_ladder
from tengen.arena.ratings import PairScore, Rating, rate
from tengen.arena.results import pair_scores, unique_games
from tengen.arena.runner import run_tournament
from tengen.arena.tournament import Entrant, Tournament
from tengen.players.tengen import LEVELS

LINKS: dict[int, dict[int, tuple[str, ...]]] = {
    9: {1: ("random", "mcts-10"), 2: ("mcts-10", "maxlib"), 3: ("maxlib", "static"),
        4: ("static", "gnugo-0"), 5: ("static", "gnugo-0"), 6: ("gnugo-0",), 7: ("gnugo-10",)},
    13: {1: ("maxlib",), 2: ("maxlib",), 3: ("static",), 4: ("static", "gnugo-0"),
         5: ("gnugo-0", "gnugo-10"), 6: ("gnugo-10",), 7: ("gnugo-10",)},
    19: {1: ("maxlib",), 2: ("maxlib",), 3: ("static",), 4: ("static", "gnugo-0"),
         5: ("gnugo-0", "gnugo-10"), 6: ("gnugo-10",)},
}  # fmt: skip
"""Rungs of about the strength of each level, which it plays besides its neighbours."""
WIDEST = 2000.0
"""Levels with a wider interval, in Elo, are not rated."""


def plan(size: int, games: int, levels: list[int], seed: int) -> Tournament:
    """Return the tournament of these levels, under the ladder's conditions."""
    with Database.look(shipped_ladder(str(size))) as ladder:
        base = ladder.tournament
    pairs = [(name(a), name(b)) for a, b in pairwise(levels)]
    pairs += [(name(level), rung) for level in levels for rung in LINKS[size].get(level, ())]
    met = {player for pair in pairs for player in pair}
    players = [Entrant(name=name(level), spec=f"tengen:level={level}") for level in levels]
    rungs = [entrant for entrant in base.entrants if entrant.name in met]
    return base.model_copy(
        update={
            "kind": "pairs",
            "games": games,
            "seed": seed,
            "entrants": (*players, *rungs),
            "pairs": tuple(pairs),
            "max_failures": 1000,
        }
    )


def name(level: int) -> str:
    """Return the name of a level in the tables."""
    return f"level-{level}"


def main() -> None:
    """Play, rate, print, and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, choices=sorted(LINKS))
    parser.add_argument("--games", type=int, default=24, help="of each pair")
    parser.add_argument("--levels", type=int, nargs=2, default=(min(LEVELS), max(LEVELS)))
    parser.add_argument("--out", type=Path, nargs="*", default=[], help="more are only read")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--no-play", action="store_true")
    parser.add_argument("--least", type=int, default=10, help="games of a level that is rated")
    options = parser.parse_args()
    levels = list(range(options.levels[0], options.levels[1] + 1))
    if not options.no_play:
        if not options.out:
            parser.error("--out: say where the games are kept")
        tournament = plan(options.size, options.games, levels, options.seed)
        with Database.open(options.out[0], tournament) as database:
            run_tournament(tournament, database)
    with Database.look(shipped_ladder(str(options.size))) as ladder:
        anchors = ladder.tournament.anchors
        old = pair_scores(unique_games(ladder.games()))
    played = []
    for path in options.out:
        with Database.look(path) as database:
            played += unique_games(database.games())
    new = pair_scores(played)
    found = {rating.name: rating for rating in rate([*old, *new], anchors=anchors)}
    for level in LEVELS:
        own = name(level)
        if own not in found or not is_sure(found[own], options.least):
            print(f"level {level}: not rated")
            continue
        rating = found[own]
        mine = [_seen_from(own, s) for s in [*old, *new] if own in (s.first, s.second)]
        met = ", ".join(f"{s.wins}:{s.losses} {s.second}" for s in mine)
        interval = f"{rating.low:.0f} to {rating.high:.0f}"
        print(f"level {level}: {rating.elo:.0f} ({interval}), {rank_of(rating.elo)}; {met}")
        if options.record is not None:
            rungs = [(score, found[score.second].elo) for score in mine]
            placed = Placing(f"tengen:level={level}", rating.elo, (rating.low, rating.high), rungs)
            record(placed, str(options.size), options.seed, options.record)


def is_sure(rating: Rating, least: int) -> bool:
    """Return whether a rating may be shown: enough games, and a narrow enough interval."""
    return rating.games >= least and rating.high - rating.low <= WIDEST


def _seen_from(player: str, score: PairScore) -> PairScore:
    """Return a score with this player first."""
    if score.first == player:
        return score
    return PairScore(player, score.first, score.losses, score.wins, score.draws)


if __name__ == "__main__":
    main()
