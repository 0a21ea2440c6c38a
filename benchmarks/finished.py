"""Measure how many games that were cut short `tengen score` takes for finished.

Run: python benchmarks/finished.py $TENGEN_GAMES/kgs6d-scored-train.sgf --games 300 --seed 0

Each game is cut to parts of its moves, its result left in the record. The row `no passes` is the
whole game without the passes at its end, which should be called finished. The last line tells how
likely the network thinks a pass there (`LEAST_PASS` was fitted to training games by it).
"""

from __future__ import annotations

import argparse
import copy

import numpy as np

from tengen.board import PASS
from tengen.gtp.judging import Judge
from tengen.learners.scoring import BlockScorer
from tengen.learners.scoring.sheet import score_record
from tengen.records import GameRecord, read_games
from tengen.records.replay import board_at
from tengen.statistics import wilson

SHARES = (0.4, 0.65, 0.85)


def cut(record: GameRecord, plies: int) -> GameRecord:
    """Return a game's first moves, with everything else that the record tells."""
    short = copy.copy(record)
    short.moves = record.moves[:plies]
    return short


def main() -> None:
    """Print a line for each way to cut."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("file")
    ask.add_argument("--games", type=int, default=0, help="drawn by the seed; 0 for all")
    ask.add_argument("--seed", type=int, default=0)
    wanted = ask.parse_args()
    scorer = BlockScorer.load("scorer")
    judge = Judge(scorer)
    games = list(read_games(wanted.file))
    order = np.random.default_rng(wanted.seed).permutation(len(games))
    games = [games[i] for i in order[: wanted.games or len(games)]]
    passes: list[float] = []
    for name, share in [(f"{share:.0%}", share) for share in SHARES] + [("no passes", 1.0)]:
        finished = 0
        for record in games:
            plies = round(share * len(record.moves))
            while share == 1.0 and plies and record.moves[plies - 1][1] == PASS:
                plies -= 1
            short = cut(record, plies)
            finished += score_record(scorer, short, judge=judge).estimate is None
            if share == 1.0:
                passes.append(judge.pass_chance(board_at(short)) or 0.0)
        low, high = wilson(finished, len(games))
        print(f"{name}: {finished} of {len(games)} finished, [{low:.1%}, {high:.1%}]", flush=True)
    told = ", ".join(f"{q:.3f}" for q in np.quantile(passes, [0.05, 0.1, 0.25, 0.5]))
    print(f"chance of a pass, whole games, at 5, 10, 25 and 50 %: {told}")


if __name__ == "__main__":
    main()
