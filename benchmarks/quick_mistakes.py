"""Count the mistakes that a quick review names and a longer search does not.

Run: python benchmarks/quick_mistakes.py GAMES.sgf --games 20 --visits 8 16 --longer 100 --seed 0

Every position of a game is evaluated once. The moves that this alone would call mistakes are then
searched, the position before and the one after, with each number of visits. A mistake is false if
the longest search does not call the move a mistake. Intervals are bootstrapped over games.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

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

Row = tuple[bool, ...]  # whether the first pass and each search call a move a mistake


def rows_of(record: GameRecord, visits: Sequence[int], say: Callable[[str], None]) -> list[Row]:
    """Return a row for each mistake of the first pass."""
    network = find_reviewer(record.rows, record.cols, ReviewSettings(quick=True)).network
    assert network is not None
    boards, _ = legal_part(record)
    start = time.process_time()
    found = list(first_pass(boards, network))
    first = time.process_time() - start
    known: dict[tuple[int, int], EvaluatedPosition] = {}
    spent = dict.fromkeys(visits, 0.0)

    def searched(number: int, count: int) -> EvaluatedPosition:
        if (number, count) not in known:
            start = time.process_time()
            player = SearchPlayer(network, visits=count)
            known[number, count] = search_position(boards[number], player)
            spent[count] += time.process_time() - start
        return known[number, count]

    rows = []
    for number, played in enumerate(record.moves[: len(boards) - 1], 1):
        once = review_move(number, played, found[number - 1], found[number])
        if not once.exceeds(3.0):
            continue
        reviews = [
            review_move(number, played, searched(number - 1, n), searched(number, n))
            for n in visits
        ]
        rows.append((True, *(one.verdict == "mistake" for one in reviews)))
        lost = ", ".join(
            f"{n} visits {one.points_lost:.1f} {one.verdict}"
            for n, one in zip(visits, reviews, strict=True)
        )
        say(f"  move {number}: once {once.points_lost:.1f}, {lost}")
    times = ", ".join(f"{n} visits {seconds:.1f} s" for n, seconds in spent.items())
    say(
        f"{record.file} game {record.game}: {len(record.moves)} moves, {len(rows)} mistakes; "
        f"processor time: first pass {first:.1f} s, {times}"
    )
    return rows


def share(games: Sequence[Sequence[bool]], rng: np.random.Generator) -> str:
    """Return a share of all moves with its interval, drawing games again."""
    counts = np.array([(sum(game), len(game)) for game in games if game], float)
    if not len(counts):
        return "none"
    draws = counts[rng.integers(0, len(counts), (2000, len(counts)))].sum(axis=1)
    low, high = np.quantile(draws[:, 0] / draws[:, 1], [0.025, 0.975])
    some, every = counts.sum(axis=0)
    return (
        f"{some:.0f} of {every:.0f}, {100 * some / every:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
    )


def main() -> None:
    """Print a line for every mistake, then the shares that are false."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("files", nargs="+")
    ask.add_argument("--games", type=int, default=20, help="games of each file")
    ask.add_argument("--visits", type=int, nargs="+", default=[8, 16])
    ask.add_argument("--longer", type=int, default=100, help="visits of the search that decides")
    ask.add_argument("--seed", type=int, default=0)
    wanted = ask.parse_args()
    rng = np.random.default_rng(wanted.seed)
    files = [list(read_games(file)) for file in wanted.files]
    drawn = [rng.permutation(len(games))[: wanted.games] for games in files]
    visits = [*wanted.visits, wanted.longer]
    found: list[list[Row]] = []
    for place in range(wanted.games):
        for games, chosen in zip(files, drawn, strict=True):
            if place < len(chosen):
                rows = rows_of(games[chosen[place]], visits, lambda text: print(text, flush=True))
                found.append(rows)
    for column, name in enumerate(["one evaluation", *(f"{n} visits" for n in wanted.visits)]):
        named = [[not row[-1] for row in game if row[column]] for game in found]
        kept = [[row[column] for row in game if row[-1]] for game in found]
        per_game = sum(map(sum, named)) / len(found)
        print(
            f"{name}: false {share(named, rng)}, {per_game:.2f} per game; "
            f"true mistakes named: {share(kept, rng)}"
        )


if __name__ == "__main__":
    main()
