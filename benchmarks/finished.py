"""Measure how many games that were cut short `tengen score` takes for finished.

Run: python benchmarks/finished.py $TENGEN_GAMES/kgs6d-scored-train.sgf --games 300 --seed 0

Each game is cut to parts of its moves, its result left in the record. A cut game is settled if all
that counts for someone there counts for the same side at the game's end, and the score is the same
by territory or by area: only dame and lost stones followed. The row `no passes` is the whole game
without the passes at its end, which should be called finished. The last line tells how likely the
network thinks a pass there (`LEAST_PASS` was fitted to training games by it); `--without-network`
judges without its word.
"""

from __future__ import annotations

import argparse
import copy

import numpy as np

from tengen.board import PASS
from tengen.records import GameRecord, read_games
from tengen.records.record import board_at
from tengen.scoring import BlockScorer
from tengen.scoring.game_score import GameScore, score_record
from tengen.scoring.judging import Judge
from tengen.statistics import wilson

SHARES = (0.4, 0.65, 0.85)


def cut(record: GameRecord, plies: int) -> GameRecord:
    """Return a game's first moves, with everything else that the record tells."""
    short = copy.copy(record)
    short.moves = record.moves[:plies]
    return short


def settled(short: GameScore, whole: GameScore) -> bool:
    """Tell whether what counts for someone in a cut game does so at the end, by the same score."""
    owner = short.area.owner
    kept = bool((owner == whole.area.owner)[owner > 0].all())
    pairs = ((short.territory, whole.territory), (short.area, whole.area))
    return kept and any(before.score == after.score for before, after in pairs)


class Alone(Judge):
    """A judge without a network."""

    network = None


def main() -> None:
    """Print a line for each way to cut."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("file")
    ask.add_argument("--games", type=int, default=0, help="drawn by the seed; 0 for all")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--without-network", action="store_true")
    wanted = ask.parse_args()
    scorer = BlockScorer.load("scorer")
    judge = Alone(scorer) if wanted.without_network else Judge(scorer)
    games = list(read_games(wanted.file))
    order = np.random.default_rng(wanted.seed).permutation(len(games))
    games = [games[i] for i in order[: wanted.games or len(games)]]
    whole = [score_record(scorer, record, judge=judge) for record in games]
    passes: list[float] = []
    for name, share in [(f"{share:.0%}", share) for share in SHARES] + [("no passes", 1.0)]:
        finished = unsettled = wrong = 0
        for record, end in zip(games, whole, strict=True):
            plies = round(share * len(record.moves))
            while share == 1.0 and plies and record.moves[plies - 1][1] == PASS:
                plies -= 1
            short = cut(record, plies)
            sheet = score_record(scorer, short, judge=judge)
            called, open_ = sheet.estimate is None, not settled(sheet, end)
            finished += called
            unsettled += open_
            wrong += called and open_
            if share == 1.0:
                passes.append(judge.pass_chance(board_at(short)) or 0.0)
        low, high = wilson(finished, len(games))
        print(f"{name}: {finished} of {len(games)} finished, [{low:.1%}, {high:.1%}]; "
              f"{wrong} of the {unsettled} that were not settled", flush=True)  # fmt: skip
    told = ", ".join(f"{q:.3f}" for q in np.quantile(passes, [0.05, 0.1, 0.25, 0.5]))
    print(f"chance of a pass, whole games, at 5, 10, 25 and 50 %: {told}")


if __name__ == "__main__":
    main()
