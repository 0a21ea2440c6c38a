"""Count the mistakes that a quick review names and a longer search does not.

    python benchmarks/quick_mistakes.py GAMES.sgf [--games 60] [--visits 4 8 16] --rows FOLDER

Every position of a game is evaluated once. The moves that this alone would call mistakes are then
searched, the position before and the one after, with each number of visits. A mistake is false if
the longest search does not call the move a mistake. Every game is a row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tengen.lab.evidence import record_of, write_evidence
from tengen.players.network_search import SearchPlayer
from tengen.records import GameRecord, read_games
from tengen.reviews import ReviewSettings
from tengen.reviews.game import (
    EvaluatedPosition,
    find_reviewer,
    first_pass,
    legal_part,
    review_move,
    search_position,
)


def row_of(record: GameRecord, visits: Sequence[int]) -> dict[str, int]:
    """Return how many mistakes one evaluation and each search name, and how many are false."""
    network = find_reviewer(record.rows, record.cols, ReviewSettings(quick=True)).network
    assert network is not None
    boards, _ = legal_part(record)
    found = list(first_pass(boards, network))
    known: dict[tuple[int, int], EvaluatedPosition] = {}

    def searched(number: int, count: int) -> EvaluatedPosition:
        if (number, count) not in known:
            player = SearchPlayer(network, visits=count)
            known[number, count] = search_position(boards[number], player)
        return known[number, count]

    row = {"game": record.game, "moves": len(record.moves), "true": 0}
    row |= {f"{what}_{n}": 0 for n in (1, *visits[:-1]) for what in ("named", "false")}
    for number, played in enumerate(record.moves[: len(boards) - 1], 1):
        once = review_move(number, played, found[number - 1], found[number])
        if not once.exceeds(3.0):
            continue
        pairs = [(searched(number - 1, n), searched(number, n)) for n in visits]
        reviews = [review_move(number, played, *pair) for pair in pairs]
        named = dict(zip(visits, (one.verdict == "mistake" for one in reviews), strict=True))
        right = named[visits[-1]]
        row["true"] += right
        for n in (1, *visits[:-1]):
            row[f"named_{n}"] += named.get(n, True)
            row[f"false_{n}"] += named.get(n, True) and not right
        lost = ", ".join(
            f"{n} visits {one.points_lost:.1f} {one.verdict}"
            for n, one in zip(visits, reviews, strict=True)
        )
        print(f"  move {number}: once {once.points_lost:.1f}, {lost}", flush=True)
    print(f"{record.file} game {record.game}: {row}", flush=True)
    return row


def main() -> None:
    """Print a line for every mistake, and write the rows."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("file")
    ask.add_argument("--games", type=int, default=60)
    ask.add_argument("--visits", type=int, nargs="+", default=[4, 8, 16])
    ask.add_argument("--longer", type=int, default=100, help="visits of the search that decides")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--rows", type=Path, required=True)
    wanted = ask.parse_args()
    began, spent = time.perf_counter(), time.process_time()
    games = list(read_games(wanted.file))
    chosen = np.random.default_rng(wanted.seed).permutation(len(games))[: wanted.games]
    rows = [row_of(games[i], [*wanted.visits, wanted.longer]) for i in chosen]
    visits = " ".join(map(str, wanted.visits))
    record = record_of(
        f"python benchmarks/quick_mistakes.py {Path(wanted.file).name} --games {wanted.games} "
        f"--visits {visits} --longer {wanted.longer} --seed {wanted.seed}",
        [wanted.seed],
        {"games": Path(wanted.file).name, "visits": wanted.visits, "longer": wanted.longer},
        seconds=time.perf_counter() - began,
        cpu_seconds=time.process_time() - spent,
    )
    write_evidence(wanted.rows, rows, record)


if __name__ == "__main__":
    main()
