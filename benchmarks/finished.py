"""Measure how many games that were cut short `tengen score` takes for finished.

    python benchmarks/finished.py $TENGEN_GAMES/ogs-scored-9x9-dev.sgf --rows finished-9x9

Each game is cut to parts of its moves, its result left in the record. A cut game is settled if all
that counts for someone there counts for the same side at the game's end, and the score is the same
by territory or by area: only dame and lost stones followed. With a share of 1 it is the whole game
without the passes at its end, which should be called finished; `pass_chance` says how likely the
network thinks a pass there (`LEAST_PASS` was fitted to training games by it). Every record is a
row. `--without-network` does not ask it.
"""

from __future__ import annotations

import argparse
import copy
import time
from pathlib import Path

import numpy as np

from tengen.board import PASS, Board
from tengen.lab.evidence import record_of, write_evidence
from tengen.records import GameRecord, read_games
from tengen.records.record import board_at
from tengen.scoring import BlockScorer
from tengen.scoring.game_score import GameScore, score_record
from tengen.scoring.judging import Judge

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
    """A judge that does not ask the network whether people would pass."""

    def pass_chance(self, board: Board) -> None:
        return None


def main() -> None:
    """Judge each game in each length, and write the rows."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("file", type=Path)
    ask.add_argument("--games", type=int, default=0, help="drawn by the seed; 0 for all")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--without-network", action="store_true")
    ask.add_argument("--rows", type=Path, required=True)
    wanted = ask.parse_args()
    began, spent = time.perf_counter(), time.process_time()
    scorer = BlockScorer.load("scorer")
    judge = Alone(scorer) if wanted.without_network else Judge(scorer)
    games = list(read_games(wanted.file))
    order = np.random.default_rng(wanted.seed).permutation(len(games))
    rows = []
    for number in order[: wanted.games or len(games)].tolist():
        record = games[number]
        whole = score_record(scorer, record, judge=judge)
        for share in (*SHARES, 1.0):
            plies = round(share * len(record.moves))
            while share == 1.0 and plies and record.moves[plies - 1][1] == PASS:
                plies -= 1
            short = cut(record, plies)
            sheet = score_record(scorer, short, judge=judge)
            chance = judge.pass_chance(board_at(short)) if share == 1.0 else None
            rows.append(
                {
                    "game": number,
                    "share": share,
                    "finished": int(sheet.estimate is None),
                    "settled": int(settled(sheet, whole)),
                    "pass_chance": "" if chance is None else chance,
                }
            )
    words = f"{wanted.file.name} --games {wanted.games} --seed {wanted.seed}"
    run = record_of(
        f"python benchmarks/finished.py {words}{' --without-network' * wanted.without_network}",
        [wanted.seed],
        {"games": wanted.file.name, "network": not wanted.without_network},
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - spent,
    )
    write_evidence(wanted.rows, rows, run)


if __name__ == "__main__":
    main()
